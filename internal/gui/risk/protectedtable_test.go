package risk

import (
	"path"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway"
)

// TestProtectedProgramsByName lists installed executables and scripts.
func TestProtectedProgramsByName(t *testing.T) {
	for what, names := range map[string]string{
		"prompts for passwords": `pinentry pinentry-gtk-2 pinentry-qt pinentry-qt5 pinentry-gnome3 pinentry-x11 pinentry-fltk pinentry-mac wayprompt-pinentry
			ssh-askpass x11-ssh-askpass gnome-ssh-askpass gnome-ssh-askpass3 ssh-askpass-fullscreen ksshaskpass lxqt-openssh-askpass openssh-askpass
			git-gui--askpass git-askpass git-credential-askpass gcr-prompter gcr4-ssh-askpass gcr4-prompter razor-openssh-askpass`,
		"agents for rights": `polkit-gnome-authentication-agent-1 polkit-kde-authentication-agent-1 polkit-mate-authentication-agent-1 lxpolkit mate-polkit xfce-polkit
			lxqt-policykit-agent dde-polkit-agent hyprpolkitagent ts-polkitagent polkit-dumb-agent budgie-polkit-dialog io.elementary.desktop.agent-polkit
			ukui-polkit cmst-polkit-agent soteria pkexec gksu kdesu kdesud lxqt-sudo`,
		"shells": `gnome-shell cinnamon budgie-wm`,
		"locks": `i3lock i3lock-color swaylock swaylock-effects hyprlock gtklock waylock xlock slock xsecurelock auth_x11 xtrlock physlock light-locker
			xscreensaver xscreensaver-auth xfce4-screensaver xfce4-screensaver-dialog mate-screensaver mate-screensaver-dialog
			cinnamon-screensaver cinnamon-screensaver-main.py cinnamon-screensaver-pam-helper gnome-screensaver gnome-screensaver-dialog
			budgie-screensaver ukui-screensaver-dialog kscreenlocker_greet dde-lock lightdm-gtk-greeter sddm-greeter sddm-greeter-qt6 slick-greeter LogonUI.exe LockApp.exe`,
		"keychains and keys": `gnome-keyring-daemon gnome-keyring-3 seahorse kwalletd5 kwalletd6 kwalletmanager5 ksecretd kleopatra kgpg gpa`,
		"disks":              `veracrypt VeraCrypt.exe truecrypt zuluCrypt-gui sirikali cryptomator`,
		"passwords": `keepassxc keepassx keepass2 KeePass.exe keepassxc-proxy keeweb bitwarden bitwarden-desktop 1password enpass qtpass secrets
			gnome-passwordsafe pwsafe revelation password-gorilla otpclient authy ente_auth`,
	} {
		for name := range strings.FieldsSeq(names) {
			assert.Check(t, isProtected(&aai.App{ID: "desktop/x", Source: "/usr/libexec/" + name}), "%s: %s is none", what, name)
			assert.Check(t, isProtected(&aai.App{ID: "desktop/" + name, Source: "/usr/bin/python3.12"}), "%s: %s is none where an interpreter runs it", what, name)
		}
	}
	for name := range strings.FieldsSeq(`mousepad zenity kdialog org.gnome.Calculator firefox chromium thunderbird code gnome-terminal xterm nautilus thunar
		consent-manager secretsanta gnome-shell-extension-prefs cinnamon-settings plasmashell gnome-disks passenger block lock-free keyboard auth
		authority-control gparted git-gui sudoku passwords-generator-game`) {
		assert.Check(t, !isProtected(&aai.App{ID: "desktop/" + name, Name: name, Source: "/usr/bin/" + name}), "%s is one", name)
	}
}

// TestProtectedProgramsTable checks that no pattern is invalid, in upper case, or redundant.
func TestProtectedProgramsTable(t *testing.T) {
	for i, guard := range protectedPrograms() {
		_, err := path.Match(guard, "")
		assert.NilError(t, err)
		assert.Equal(t, guard, strings.ToLower(guard))
		assert.Assert(t, strings.Trim(guard, "*") != "", "%q is no pattern", guard)
		for j, other := range protectedPrograms() {
			matches, _ := path.Match(other, strings.ReplaceAll(guard, "*", "0"))
			assert.Check(t, !matches || i == j, "%q is meant by %q", guard, other)
		}
	}
}
