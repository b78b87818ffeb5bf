package policy

import (
	"context"
	"path"
	"path/filepath"
	"strings"

	"aai"
)

// Untouchable is the gate that keeps the tools on windows away from what guards
// the person: the gateway's own dialogs, prompts of the system for passwords and
// rights, locks of the screen, and programs that keep passwords. Nobody can allow
// it; neither is seen nor operated.
type Untouchable struct {
	// Shows reports whether a process shows a dialog of a gateway now; nil: none does.
	Shows func(pid int) bool
	// Asking reports whether any dialog of a gateway is open; nil: never.
	Asking func() bool
}

// guards are the names of the executables, without ".exe", in lower case; patterns
// as in path.Match.
func guards() []string {
	return []string{
		// Prompts for passwords and rights.
		"pinentry*", "gcr-prompter", "gcr4-ssh-askpass", "*ssh-askpass*", "ksshaskpass", "polkit-*-authentication-agent-*", "polkit-gnome-*", "polkit-kde-*",
		"polkitd", "lxpolkit", "mate-polkit", "xfce-polkit", "lxqt-policykit-agent", "lxqt-sudo", "gksu", "gksudo", "kdesu", "kdesudo", "pkexec",
		"securityagent", "coreauthd", "coreautha", "coreauthui", "localauthenticationremoteservice", "authorizationhost", "usernotificationcenter",
		"consent", "credentialuibroker", "credwiz",
		// Keychains.
		"gnome-keyring*", "seahorse", "kwalletd*", "kwalletmanager*", "ksecretd", "keychain access", "passwords", "passwordsmenubarextra",
		// Password managers.
		"keepass", "keepass2", "keepassxc*", "keepassx", "bitwarden*", "1password*", "onepassword*", "enpass*", "dashlane*", "lastpass*", "nordpass*",
		"proton-pass*", "proton pass*", "protonpass*", "buttercup*", "qtpass", "gopass-ui", "strongbox*", "secrets", "org.gnome.world.secrets", "authpass",
		// Locks of the screen.
		"i3lock", "swaylock", "hyprlock", "xscreensaver*", "light-locker", "kscreenlocker*", "gnome-screensaver*", "xsecurelock", "slock", "loginwindow", "logonui", "lockapp",
	}
}

// Check implements aai.Gate.
func (u Untouchable) Check(_ context.Context, r *aai.Request) ([]aai.Question, error) {
	if r.App.Targets == nil {
		return nil, nil
	}
	switch {
	case r.Target.PID != 0 && u.Shows != nil && u.Shows(r.Target.PID):
		return nil, untouchable("a dialog of the gateway itself")
	case r.Target != r.App && isGuard(r.Target):
		return nil, untouchable(aai.CleanLabel(r.Target.ID, 60))
	case takesTheScreen(r) && u.Asking != nil && u.Asking():
		// The keyboard and the screen are the dialog's while it is open.
		e := aai.Errorf(aai.RateLimited, "the person at this computer is being asked something, and the screen is theirs until they answered")
		e.RetryAfter = busyFor
		return nil, e
	}
	return nil, nil
}

// takesTheScreen reports whether the call is about more than one program's
// windows: a picture of all of it, the clipboard, the person's pointer and keyboard.
func takesTheScreen(r *aai.Request) bool {
	if r.Tool.Effect == aai.Reads {
		return r.Target == r.App && r.Tool.Name == "ax_screenshot"
	}
	return r.Target == r.App || r.Call.Args["mode"] == "focus"
}

func untouchable(what string) error {
	e := aai.Errorf(aai.PermissionDenied, "%s is neither seen nor operated by tools: it guards the person at this computer", what)
	e.Hint = "Ask the person to do it."
	return e
}

// isGuard reports whether the program is one of the guards, by its executable, by
// the name that it has for grants, or by what it calls itself.
func isGuard(app *aai.App) bool {
	for _, name := range []string{filepath.Base(app.Source), strings.TrimPrefix(app.ID, aai.DesktopApp+"/"), app.Name} {
		name = strings.TrimSuffix(strings.ToLower(strings.TrimSpace(name)), ".exe")
		for _, guard := range guards() {
			if matches, err := path.Match(guard, name); err == nil && matches {
				return true
			}
		}
	}
	return false
}
