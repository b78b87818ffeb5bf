package risk

import (
	"context"
	"testing"

	"github.com/gybob/aai-gateway"
)

func TestProtectedWindows(t *testing.T) {
	gate := ProtectedWindows{}
	for _, source := range []string{
		"/usr/bin/pinentry-gtk-2", "/usr/bin/pinentry-qt", "/usr/bin/keepassxc", "/opt/1Password/1password", "/usr/lib/polkit-kde-authentication-agent-1",
		"/usr/libexec/polkit-gnome-authentication-agent-1", "/usr/bin/seahorse", "/usr/bin/gnome-keyring-daemon", "/usr/bin/kwalletmanager5",
		"/System/Library/CoreServices/SecurityAgent", `consent.exe`, "/usr/bin/xscreensaver-auth", "/opt/Bitwarden/bitwarden",
	} {
		for _, tool := range []string{"look", "click"} {
			r := operating(program("x", "d"), tool)
			r.Call.Target.Source = source
			if got := check(gate, r); got != "PERMISSION_DENIED" {
				t.Errorf("%s of %s: %s", tool, source, got)
			}
		}
	}
	for _, app := range []*aai.App{program("KeePassXC", "d"), {ID: "desktop/x", Name: "Keychain Access"}, {ID: "desktop/pinentry", PID: 0}} {
		if got := check(gate, operating(app, "look")); got != "PERMISSION_DENIED" {
			t.Errorf("%s: %s", app.ID, got)
		}
	}
	lock := program("mylock", "d")
	lock.Process.LockReason = func(context.Context) string { return "a lock of the screen" }
	for _, tool := range []string{"look", "click"} {
		if got := check(gate, operating(lock, tool)); got != "PERMISSION_DENIED" {
			t.Errorf("%s of what shows a lock: %s", tool, got)
		}
	}
	lock.Process.LockReason = func(context.Context) string { return "" }
	if got := check(gate, operating(lock, "look")); got != "admits" {
		t.Errorf("when it shows none: %s", got)
	}
	for _, harmless := range []string{"mousepad", "zenity", "org.gnome.Calculator", "consent-manager", "secretsanta"} {
		if got := check(gate, operating(program(harmless, "d"), "click")); got != "admits" {
			t.Errorf("%s: %s", harmless, got)
		}
	}
	if got := check(gate, asking(&aai.App{ID: "org.keepassxc.KeePassXC", Name: "KeePassXC", Tools: []*aai.Tool{{Name: "lock"}}}, "lock")); got != "admits" {
		t.Errorf("an app that declares tools itself: %s", got)
	}
}

// TestTheGatewaysOwnDialog checks that the gateway's own dialog is protected, whatever
// program shows it, and that an open dialog reserves the screen and the keyboard.
func TestTheGatewaysOwnDialog(t *testing.T) {
	open := true
	gate := ProtectedWindows{ShowsDialog: func(pid int) bool { return open && pid == 7 }, IsDialogOpen: func() bool { return open }}
	focused := func() *aai.Request {
		r := operating(&aai.App{ID: "desktop/editor", PID: 8}, "click")
		r.Call.Args["mode"] = "focus"
		return r
	}
	unsaid := operating(&aai.App{ID: "desktop/editor", PID: 8}, "click")
	unsaid.Tool = &aai.Tool{Name: "press"}
	picture := operating(nil, "look")
	picture.Tool = &aai.Tool{Name: "paint", Effect: aai.Reads, Assess: aai.Always(aai.Assessment{TakesScreenshot: true})}
	for _, c := range []struct {
		what   string
		r      *aai.Request
		during string
	}{
		{"to see it", operating(program("zenity", "z"), "look"), "PERMISSION_DENIED"},
		{"to click in it", operating(program("zenity", "z"), "click"), "PERMISSION_DENIED"},
		{"to click elsewhere", operating(&aai.App{ID: "desktop/editor", PID: 8}, "click"), "admits"},
		{"to see something else", operating(&aai.App{ID: "desktop/editor", PID: 8}, "look"), "admits"},
		{"to take the keyboard", focused(), "RATE_LIMITED"},
		{"with a tool that does not say", unsaid, "RATE_LIMITED"},
		{"the clipboard", operating(nil, "click"), "RATE_LIMITED"},
		{"a picture of everything", picture, "RATE_LIMITED"},
		{"a list", operating(nil, "look"), "admits"},
	} {
		open = true
		if got := check(gate, c.r); got != c.during {
			t.Errorf("%s: %s, expected %s", c.what, got, c.during)
		}
		open = false
		if got := check(gate, c.r); got != "admits" {
			t.Errorf("%s when it is closed: %s", c.what, got)
		}
	}
}
