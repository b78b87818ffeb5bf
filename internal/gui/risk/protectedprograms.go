package risk

import (
	"path"
	"path/filepath"
	"strings"

	"github.com/gybob/aai-gateway"
)

// protectedPrograms returns patterns (path.Match) of executables, without ".exe", in lower
// case. A superfluous pattern costs the person one click; a missing one may cost them a
// password.
func protectedPrograms() []string {
	return []string{
		// Prompts for passwords and rights.
		"*pinentry*", "*askpass*", "*polkit*", "*policykit*", "gcr*-prompter", "*secretprompter", "*-auth-dialog", "hyprland-share-picker",
		"gksu", "gksudo", "kdesu*", "lxsu", "lxsudo", "lxqt-sudo", "beesu", "ktsuss", "su-to-root", "xdg-su", "pkexec", "soteria",
		"dde-auth*", "deepin-auth*", "io.elementary.desktop.agent*", "ukui-auth*",
		"securityagent", "coreauthd", "coreautha", "coreauthui", "localauthenticationremoteservice", "authorizationhost", "usernotificationcenter",
		"consent", "credentialuibroker", "credwiz", "credentialenrollmentmanager",
		// Desktop shells that show prompts and the lock screen themselves.
		"gnome-shell", "cinnamon", "budgie-wm", "budgie-daemon", "budgie-session*",
		// Keychains and keys.
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
		// Screen locks and login screens.
		"*screensaver*", "i3lock*", "swaylock*", "hyprlock", "gtklock*", "waylock", "light-locker*", "kscreenlocker*", "xsecurelock*", "auth_x11", "authproto_*",
		"slock", "xlock", "xlockmore", "xtrlock", "alock", "vlock*", "physlock", "sxlock", "jaylock", "lxlock", "dde-lock*", "deepin-lock*", "*-greeter", "*-greeter-*",
		"loginwindow", "logonui", "lockapp",
	}
}

// isProtected reports whether the app is a protected program, by its executable, by its ID
// without the prefix, or by its display name.
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
