package catalog

import (
	"bytes"
	"fmt"
	"path/filepath"
	"strings"

	"aai"
)

// desktopKey is the key of a .desktop file that names the app's descriptor.
const desktopKey = "X-AAI-Config"

// desktopTarget returns the descriptor that a .desktop file names, or "" if it
// names none, or says why it cannot be followed.
func desktopTarget(name string) (target, fault string) {
	source, _, err := readRegular(name)
	if err != nil {
		return "", aai.AsError(err).Message
	}
	value, found := desktopValue(source)
	switch {
	case !found:
		return "", ""
	case !filepath.IsAbs(value):
		return "", fmt.Sprintf("%s is %q; expected an absolute path", desktopKey, aai.CleanLabel(value, 2*maxName))
	}
	return filepath.Clean(value), ""
}

// desktopValue finds the key in the group [Desktop Entry], by the Desktop Entry
// Specification, "Basic format of the file".
func desktopValue(source []byte) (value string, found bool) {
	if !bytes.Contains(source, []byte(desktopKey)) {
		return "", false // as nearly all
	}
	inEntry := false
	for line := range strings.Lines(string(source)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") {
			inEntry = line == "[Desktop Entry]"
			continue
		}
		key, v, ok := strings.Cut(line, "=")
		if inEntry && ok && strings.TrimSpace(key) == desktopKey {
			return unescapeDesktop(strings.TrimSpace(v)), true
		}
	}
	return "", false
}

// unescapeDesktop undoes the escapes of a value of type string.
func unescapeDesktop(s string) string {
	return strings.NewReplacer(`\\`, `\`, `\s`, " ", `\n`, "\n", `\t`, "\t", `\r`, "\r").Replace(s)
}
