package policy

import (
	"path"
	"path/filepath"
	"strings"

	"github.com/gybob/aai-gateway"
)

// protectedPrograms are the names of the executables, without ".exe", in lower case; patterns
// as in path.Match. A name too many costs a person one click of their own; one too
// few may cost them a password.
func protectedPrograms() []string {
	return []string{
		// Prompts for passwords and rights.
		"*pinentry*", "*askpass*", "*polkit*", "*policykit*", "gcr*-prompter", "*secretprompter", "*-auth-dialog", "hyprland-share-picker",
		"gksu", "gksudo", "kdesu*", "lxsu", "lxsudo", "lxqt-sudo", "beesu", "ktsuss", "su-to-root", "xdg-su", "pkexec", "soteria",
		"dde-auth*", "deepin-auth*", "io.elementary.desktop.agent*", "ukui-auth*",
		"securityagent", "coreauthd", "coreautha", "coreauthui", "localauthenticationremoteservice", "authorizationhost", "usernotificationcenter",
		"consent", "credentialuibroker", "credwiz", "credentialenrollmentmanager",
		// Shells of a desktop that show prompts and the lock themselves.
		"gnome-shell", "cinnamon", "budgie-wm", "budgie-daemon", "budgie-session*",
		// Keychains, and keys.
		"gnome-keyring*", "seahorse*", "kwallet*", "ksecretd", "keychain access", "passwords", "passwordsmenubarextra",
		"kleopatra", "kgpg", "gpa", "gpg-agent", "gpgfrontend", "yubico-authenticator", "yubioath*", "ykman-gui",
		// Encrypted disks.
		"veracrypt*", "truecrypt*", "zulucrypt*", "zulumount*", "sirikali", "cryptkeeper", "cryptomator*", "gnome-encfs-manager",
		// Password managers, and codes for logging in.
		"keepass*", "keeweb*", "macpass", "kypass*", "bitwarden*", "goldwarden*", "1password*", "onepassword*", "enpass*", "dashlane*", "lastpass*", "nordpass*",
		"proton-pass*", "proton pass*", "protonpass*", "buttercup*", "qtpass", "gopass-ui", "strongbox*", "secrets", "org.gnome.world.secrets", "gnome-passwordsafe",
		"org.gnome.passwordsafe", "passwordsafe", "pwsafe*", "password-gorilla", "revelation", "figaro-password-manager*", "fpm2", "authpass", "padloc*", "passbolt*",
		"psono*", "roboform*", "keeperpasswordmanager*", "keeper password manager*", "elpass*", "heylogin*", "passky*", "pearpass*",
		"authenticator", "com.belmoussaoui.authenticator", "gnome-authenticator", "otpclient*", "numberstation", "keysmith", "authy*", "ente-auth", "ente_auth",
		// Locks of the screen, and where people log in.
		"*screensaver*", "i3lock*", "swaylock*", "hyprlock", "gtklock*", "waylock", "light-locker*", "kscreenlocker*", "xsecurelock*", "auth_x11", "authproto_*",
		"slock", "xlock", "xlockmore", "xtrlock", "alock", "vlock*", "physlock", "sxlock", "jaylock", "lxlock", "dde-lock*", "deepin-lock*", "*-greeter", "*-greeter-*",
		"loginwindow", "logonui", "lockapp",
	}
}

// isProtected reports whether the program is one of the guards, by its executable, by
// the name that it has for grants, or by what it calls itself.
func isProtected(app *aai.App) bool {
	for _, name := range []string{filepath.Base(app.Source), strings.TrimPrefix(app.ID, aai.DesktopApp+"/"), app.Name} {
		name = strings.TrimSuffix(strings.ToLower(strings.TrimSpace(name)), ".exe")
		for _, guard := range protectedPrograms() {
			if matches, err := path.Match(guard, name); err == nil && matches {
				return true
			}
		}
	}
	return false
}
