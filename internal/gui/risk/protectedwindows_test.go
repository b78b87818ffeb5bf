package risk

import (
	"context"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

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
			assert.Check(t, is.Equal(check(gate, r), "PERMISSION_DENIED"), "%s %s", tool, source)
		}
	}
	for _, app := range []*aai.App{program("KeePassXC", "d"), {ID: "desktop/x", Name: "Keychain Access"}, {ID: "desktop/pinentry", PID: 0}} {
		assert.Check(t, is.Equal(check(gate, operating(app, "look")), "PERMISSION_DENIED"), app.ID)
	}
	lock := program("mylock", "d")
	lock.Process.LockReason = func(context.Context) string { return "a lock of the screen" }
	for _, tool := range []string{"look", "click"} {
		got := check(gate, operating(lock, tool))
		assert.Check(t, is.Equal(got, "PERMISSION_DENIED"), "%s of what shows a lock: %s", tool, got)
	}
	lock.Process.LockReason = func(context.Context) string { return "" }
	got := check(gate, operating(lock, "look"))
	assert.Check(t, is.Equal(got, "admits"), "when it shows none: %s", got)
	for _, harmless := range []string{"mousepad", "zenity", "org.gnome.Calculator", "consent-manager", "secretsanta"} {
		assert.Check(t, is.Equal(check(gate, operating(program(harmless, "d"), "click")), "admits"), harmless)
	}
	got = check(gate, asking(&aai.App{ID: "org.keepassxc.KeePassXC", Name: "KeePassXC", Tools: []*aai.Tool{{Name: "lock"}}}, "lock"))
	assert.Check(t, is.Equal(got, "admits"), "an app that declares tools itself: %s", got)
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
		assert.Check(t, is.Equal(check(gate, c.r), c.during), c.what)
		open = false
		got := check(gate, c.r)
		assert.Check(t, is.Equal(got, "admits"), "%s when it is closed: %s", c.what, got)
	}
}
