package dbus

import (
	"context"
	"strings"
	"testing"

	"github.com/godbus/dbus/v5"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/dbus/wire"
	"github.com/gybob/aai-gateway/internal/testkit"
)

// dangerousMethods lists methods, by interface and member, that run programs, control the screen,
// reveal passwords or decide about permissions.
func dangerousMethods() []string {
	return []string{
		// GNOME
		"org.gnome.Shell Eval", "org.gnome.Shell FocusApp", "org.gnome.Shell.Extensions InstallRemoteExtension", "org.gnome.Shell.Extensions EnableExtension",
		"org.gnome.Shell.Screenshot Screenshot", "org.gnome.Shell.Screencast Screencast", "org.gnome.Shell.Introspect GetWindows",
		"org.gnome.Mutter.RemoteDesktop CreateSession", "org.gnome.Mutter.RemoteDesktop.Session NotifyKeyboardKeycode",
		"org.gnome.Mutter.ScreenCast CreateSession", "org.gnome.Mutter.InputCapture CreateSession", "org.gnome.Mutter.InputMapping SetMapping",
		"org.gnome.SessionManager Setenv", "org.gnome.ScreenSaver SetActive", "org.gnome.Terminal.Terminal0 Exec", "org.gnome.Terminal.Factory0 CreateInstance",
		"org.gnome.OnlineAccounts.OAuth2Based GetAccessToken", "org.gnome.OnlineAccounts.PasswordBased GetPassword", "ca.desrt.dconf.Writer Change",
		"org.gnome.RemoteDesktop.Rdp.Server Enable", "org.gnome.keyring.internal.Prompter BeginPrompting",
		// KDE
		"org.kde.KLauncher exec_blind", "org.kde.KLauncher kdeinit_exec", "org.kde.kwin.Scripting loadScript", "org.kde.KWin.Scripting loadScript", "org.kde.kwin.Script run",
		"org.kde.KWin.Plugins LoadPlugin", "org.kde.KWin.EIS.RemoteDesktop connectToEIS", "org.kde.KWin.ScreenShot2 CaptureWorkspace",
		"org.kde.PlasmaShell evaluateScript", "org.kde.PlasmaShell loadScriptInInteractiveConsole", "org.kde.KGlobalAccel setShortcut",
		"org.kde.kglobalaccel.Component invokeShortcut", "org.kde.KWallet readPassword", "org.kde.KPasswdServer checkAuthInfo", "org.kde.KCookieServer findCookies",
		"org.kde.konsole.Session runCommand", "org.kde.konsole.Session sendText", "org.kde.konsole.Window newSession", "org.kde.yakuake runCommand", "org.kde.screensaver SetActive",
		// Xfce
		"org.xfce.FileManager Execute", "org.xfce.Terminal5 Launch", "org.xfce.Session.Client SetSmProperties", "org.xfce.ScreenSaver SetActive",
		// Cinnamon, MATE, LXQt, Deepin and others
		"org.Cinnamon Eval", "org.Cinnamon.LookingGlass Eval", "org.cinnamon.Muffin.RemoteDesktop CreateSession", "org.cinnamon.ScreenSaver SetActive", "org.mate.ScreenSaver SetActive",
		"org.lxqt.global_key_shortcuts.daemon addCommandAction", "com.deepin.StartManager RunCommand", "org.deepin.dde.StartManager1 LaunchApp",
		"org.desktopspec.ApplicationManager1.Application Launch", "com.deepin.daemon.Keybinding AddCustomShortcut",
		"org.awesomewm.awful.Remote Eval", "org.guake3.RemoteControl execute_command", "org.freedesktop.compiz.activate activate",
		// Of all of them
		"org.freedesktop.systemd1.Manager StartTransientUnit", "org.freedesktop.systemd1.Unit Start", "org.freedesktop.machine1.Manager OpenMachineShell",
		"org.freedesktop.Flatpak.Development HostCommand", "org.freedesktop.portal.Flatpak Spawn", "io.snapcraft.PrivilegedDesktopLauncher OpenDesktopEntry",
		"org.freedesktop.portal.RemoteDesktop NotifyKeyboardKeysym", "org.freedesktop.portal.ScreenCast Start", "org.freedesktop.portal.Screenshot Screenshot",
		"org.freedesktop.portal.Background RequestBackground", "org.freedesktop.portal.DynamicLauncher Install", "org.freedesktop.portal.Secret RetrieveSecret",
		"org.freedesktop.impl.portal.RemoteDesktop Start", "org.freedesktop.impl.portal.Access AccessDialog",
		"org.freedesktop.PolicyKit1.AuthenticationAgent BeginAuthentication", "org.freedesktop.PolicyKit1.Authority CheckAuthorization",
		"org.freedesktop.PackageKit.Modify InstallPackageNames", "org.freedesktop.PackageKit.Transaction InstallFiles", "org.freedesktop.PackageKit.Transaction RepoEnable",
		"org.debian.apt InstallPackages", "org.freedesktop.fwupd Install",
		"org.freedesktop.Secret.Item GetSecret", "org.freedesktop.Secret.Service GetSecrets", "org.freedesktop.NetworkManager.Settings.Connection GetSecrets",
		"org.freedesktop.login1.Manager UnlockSessions", "org.freedesktop.login1.Session TakeControl", "org.freedesktop.ScreenSaver SetActive",
		"org.freedesktop.Accounts.User SetPassword", "org.a11y.atspi.DeviceEventController GenerateKeyboardEvent",
	}
}

// Dangerous interfaces are denied on every service, object and name.
func TestDangerousInterfacesAreDeniedEverywhere(t *testing.T) {
	d := New(Config{AllowSystemBus: true})
	for _, line := range dangerousMethods() {
		iface, member, _ := strings.Cut(line, " ")
		for _, other := range []string{iface, strings.ToUpper(iface[:1]) + iface[1:], strings.ToLower(iface)} {
			r := methodRecipe(member)
			r.DBus.Object, r.DBus.Interface = "/x", other
			action, err := d.Compile(r)
			e := aai.AsError(err)
			assert.Assert(t, action == nil, "%s %s %v", other, member, err)
			assert.Assert(t, e != nil, "%s %s %v", other, member, err)
			assert.Equal(t, e.Code, aai.PermissionDenied, "%s %s %v", other, member, err)
		}
	}
}

// Other members of the same shells and services stay usable.
func TestWhatIsBesideStaysUsable(t *testing.T) {
	d := New(Config{AllowSystemBus: true})
	for _, line := range []string{
		"org.gnome.Shell org.gnome.Shell.SearchProvider2 GetInitialResultSet", "org.gnome.Shell org.freedesktop.Notifications Notify",
		"org.gnome.ScreenSaver org.gnome.ScreenSaver GetActive", "org.gnome.ScreenSaver org.gnome.ScreenSaver Lock",
		"org.gnome.SessionManager org.gnome.SessionManager Inhibit", "org.kde.KWin org.kde.KWin setCurrentDesktop",
		"org.kde.krunner1.example org.kde.krunner1 Match", "org.xfce.FileManager org.xfce.FileManager DisplayFolder",
		"org.freedesktop.portal.Desktop org.freedesktop.portal.Settings Read", "org.freedesktop.PackageKit org.freedesktop.PackageKit.Transaction GetUpdates",
		"org.freedesktop.login1 org.freedesktop.login1.Manager ListSessions", "org.a11y.Bus org.a11y.Bus GetAddress",
		"org.mpris.MediaPlayer2.mpv org.mpris.MediaPlayer2.Player Play", "org.cinnamon.SettingsDaemon.Power org.cinnamon.SettingsDaemon.Power.Screen StepUp",
	} {
		word := strings.Fields(line)
		r := methodRecipe(word[2])
		r.DBus.Service, r.DBus.Interface = word[0], word[1]
		_, err := d.Compile(r)
		assert.Check(t, err, line)
	}
}

// A shell with dangerous and harmless methods, and a launcher with a second name: neither another
// name, nor another object, nor the unique name, nor the Properties interface reaches the
// dangerous ones.
func TestDangerousMethodsAreNotDelivered(t *testing.T) {
	b := testkit.StartBus(t)
	s := testkit.ServeOnBus(t, b, service, "org.gnome.Shell")
	evals := map[string]any{"Eval": func(string) (bool, string, *dbus.Error) { return true, "ran", nil }}
	for _, path := range []dbus.ObjectPath{"/org/gnome/Shell", "/alias", testkit.ServicePath} {
		assert.NilError(t, s.Conn.ExportMethodTable(evals, path, "org.gnome.Shell"))
	}
	d := newDriver(t, b)
	owner := s.Conn.Names()[0]
	for _, name := range []string{service, "org.gnome.Shell", owner} {
		for _, path := range []string{"/org/gnome/Shell", "/alias", testkit.ServicePath} {
			r := methodRecipe("Eval", "script")
			r.DBus.Service, r.DBus.Object, r.DBus.Interface = name, path, "org.gnome.Shell"
			if action, err := d.Compile(r); action != nil || err == nil {
				t.Errorf("%s %s: %v", name, path, err)
			}
			// The check before sending catches a target that was compiled anyway.
			to := &target{bus: d.session, service: name, path: path, iface: "org.gnome.Shell", member: "Eval"}
			e := encoder{}
			e.Str("1")
			m := &wire.Message{Interface: "org.gnome.Shell", Member: "Eval", Signature: "s", Body: e.Bytes()}
			_, err := to.callPeer(soon(t), func(context.Context, *peer) (*wire.Message, *failure) { return m, nil })
			if e := aai.AsError(err); e == nil || e.Code != aai.PermissionDenied {
				t.Errorf("%s %s, as it is sent: %v", name, path, err)
			}
		}
	}
	n := s.Calls("Eval")
	assert.Check(t, is.Equal(n, 0), "%d scripts ran", n)
	run(t, compile(t, d, methodRecipe("EchoString", "v")), map[string]any{"v": "a"}) // the shell's other tools

	all := methodRecipe("GetAll", "interface_name")
	all.DBus.Interface = propertyInterface
	fail(t, compile(t, d, all), map[string]any{"interface_name": "org.gnome.Shell"}, aai.PermissionDenied, aai.NotDelivered)
	fail(t, compile(t, d, all), map[string]any{"interface_name": []any{"org.gnome.Shell"}}, aai.PermissionDenied, aai.NotDelivered)

	request(t, s, "org.kde.klauncher5") // now it is a launcher too, and entirely denied
	settled(t, d, func(n *nameTable) bool { return len(n.tainted) == 1 })
	fail(t, compile(t, d, methodRecipe("EchoString", "v")), map[string]any{"v": "a"}, aai.PermissionDenied, aai.NotDelivered)
}

// Settings can be changed, except those that hold commands.
func TestSettingsThatHoldCommands(t *testing.T) {
	b := testkit.StartBus(t)
	s := testkit.ServeOnBus(t, b, service)
	set := map[string]any{"SetProperty": func(string, string, dbus.Variant) *dbus.Error { return nil }}
	assert.NilError(t, s.Conn.ExportMethodTable(set, "/org/xfce/Xfconf", "org.xfce.Xfconf"))
	r := methodRecipe("SetProperty", "channel", "property", "value")
	r.DBus.Object, r.DBus.Interface = "/org/xfce/Xfconf", "org.xfce.Xfconf"
	action := compile(t, newDriver(t, b), r)
	args := func(channel string) map[string]any {
		return map[string]any{"channel": channel, "property": "/commands/custom/F1", "value": "xterm -e id"}
	}
	fail(t, action, args("xfce4-keyboard-shortcuts"), aai.PermissionDenied, aai.NotDelivered)
	fail(t, action, args("xfce4-session"), aai.PermissionDenied, aai.NotDelivered)
	run(t, action, args("thunar"))
	n := s.Calls("SetProperty")
	assert.Check(t, is.Equal(n, 1), "%d calls were delivered instead of 1", n)
}

// A redundant or meaningless entry hides a mistake.
func TestDeniedTables(t *testing.T) {
	names, interfaces := deniedNames(), deniedInterfaces()
	for _, table := range [][]string{names, interfaces, deniedMembers(), deniedPaths()} {
		for i, entry := range table {
			begin, _ := strings.CutSuffix(entry, "*")
			others := append(append([]string{}, table[:i]...), table[i+1:]...)
			assert.Assert(t, !isDenied(begin+"x", others), "%s is meant by another entry", entry)
			assert.Assert(t, !isDenied(begin, others), "%s is meant by another entry", entry)
			assert.Assert(t, !strings.ContainsAny(begin, "* "), "%s is no name", entry)
			assert.Assert(t, strings.ContainsAny(begin, "./"), "%s is no name", entry)
		}
	}
	for _, entry := range interfaces {
		assert.Check(t, !isDenied(strings.TrimSuffix(entry, "*"), names), "%s is denied by its name already", entry)
	}
}

// TestNever: Compile rejects the services and interfaces for which IsNeverCalled returns true.
func TestNever(t *testing.T) {
	for _, c := range []struct {
		service, iface string
		never          bool
	}{
		{"org.freedesktop.secrets", "", true},
		{"org.gnome.Shell", "", false},
		{"org.gnome.Shell", "org.gnome.Shell.Screenshot", true},
		{"org.gnome.Shell", "org.gnome.Shell.Extensions", true},
		{"org.example.Notes", "org.example.Notes", false},
		{"org.example.Notes", "", false},
		{"ORG.FREEDESKTOP.SYSTEMD1", "org.example.Notes", true},
	} {
		assert.Check(t, is.Equal(IsNeverCalled(c.service, c.iface), c.never), "%s %s", c.iface, c.service)
		if iface := c.iface; iface != "" {
			assert.Check(t, is.Equal(checkReach(c.service, "/a", iface, "Do") != nil, c.never), "%s %s", iface, c.service)
		}
	}
}
