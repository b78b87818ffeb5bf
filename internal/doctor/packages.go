package doctor

import (
	"os/exec"
	"strings"
)

// InstallCommand returns the command that installs packages on this system. The names are Debian's; the
// table maps them for other systems.
func InstallCommand(names ...string) string {
	for _, manager := range []struct {
		program, command string
		others           map[string]string
	}{
		{"apt-get", "apt-get install -y", nil},
		{"dnf", "dnf install -y", map[string]string{"xvfb": "xorg-x11-server-Xvfb", "libatk-wrapper-java": "java-atk-wrapper"}},
		{"pacman", "pacman -S --noconfirm", map[string]string{"xvfb": "xorg-server-xvfb", "dbus-daemon": "dbus"}},
		{"zypper", "zypper install -y", map[string]string{"xvfb": "xorg-x11-server-Xvfb", "dbus-daemon": "dbus-1"}},
		{"apk", "apk add", map[string]string{"dbus-daemon": "dbus"}},
		{"brew", "brew install", map[string]string{"tesseract-ocr": "tesseract"}},
		{"winget", "winget install", map[string]string{"tesseract-ocr": "UB-Mannheim.TesseractOCR"}},
	} {
		if _, err := exec.LookPath(manager.program); err != nil {
			continue
		}
		called := make([]string, len(names))
		for i, name := range names {
			called[i] = name
			if other, ok := manager.others[name]; ok {
				called[i] = other
			}
		}
		command := manager.command + " " + strings.Join(called, " ")
		if manager.program == "brew" || manager.program == "winget" { // they refuse or ask for rights themselves
			return command
		}
		return asRoot(command)
	}
	return "install " + strings.Join(names, " ")
}
