package dbus

import (
	"context"
	"encoding/binary"
	"os"
	"strings"
	"testing"

	"github.com/godbus/dbus/v5"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/dbus/wire"
	"github.com/gybob/aai-gateway/internal/testkit"
)

func TestDeniedRecipesDoNotCompile(t *testing.T) {
	type recipe = aai.DBusRecipe
	const ok = "org.example.App"
	d := New(Config{AllowSystemBus: true})
	for _, r := range []recipe{
		{Service: "org.freedesktop.systemd1", Object: "/x", Interface: ok},
		{Service: "org.freedesktop.PolicyKit1", Object: "/x", Interface: ok},
		{Service: "org.freedesktop.secrets", Object: "/x", Interface: ok},
		{Service: "org.gnome.keyring", Object: "/x", Interface: ok},
		{Service: "org.gnome.keyring.SystemPrompter", Object: "/x", Interface: ok},
		{Service: "org.kde.kwalletd6", Object: "/x", Interface: ok},
		{Service: "org.freedesktop.impl.portal.desktop.gnome", Object: "/x", Interface: ok},
		{Service: "org.freedesktop.Flatpak", Object: "/x", Interface: ok},
		{Service: ok, Object: "/x", Interface: "org.freedesktop.systemd1.Manager"},
		{Service: ok, Object: "/x", Interface: "org.freedesktop.Secret.Collection"},
		{Service: ok, Object: "/x", Interface: "org.freedesktop.impl.portal.Access"},
		{Service: ok, Object: "/x", Interface: "org.freedesktop.DBus.Monitoring"},
		{Service: ok, Object: "/org/freedesktop/secrets/collection/login", Interface: ok},
		{Service: ok, Object: "/modules/kwalletd5", Interface: ok},
		{Service: ok, Object: "/org/freedesktop/systemd1/unit/x", Interface: ok},
	} {
		for _, bus := range []string{"session", "system"} {
			r.Bus = bus
			method, property := r, r
			method.Method = "Get"
			property.Property = "Name"
			for _, one := range []recipe{method, property} {
				action, err := d.Compile(&aai.Recipe{DBus: &one})
				refused(t, err, aai.PermissionDenied)
				assert.Assert(t, action == nil)
			}
		}
		ipc := &aai.IPCRecipe{Service: r.Service, Object: r.Object, Interface: r.Interface}
		_, err := d.Compile(&aai.Recipe{IPC: ipc})
		assert.Check(t, err != nil, "%+v compiles", ipc)
	}
}

func TestOnlyTheBusItselfMayChangeTheBus(t *testing.T) {
	b := testkit.StartBus(t)
	d := newDriver(t, b)
	at := func(iface, method string, params ...string) *aai.Recipe {
		return &aai.Recipe{Params: params, DBus: &aai.DBusRecipe{Service: wire.BusName, Object: wire.BusPath, Interface: iface, Method: method}}
	}
	for _, method := range []string{
		"UpdateActivationEnvironment", "RequestName", "ReleaseName", "AddMatch", "RemoveMatch", "StartServiceByName",
		"BecomeMonitor", "ReloadConfig", "Hello", "Set",
	} {
		_, err := d.Compile(at(wire.BusInterface, method))
		refused(t, err, aai.PermissionDenied)
	}
	r := at(wire.BusInterface, "")
	r.DBus.Property, r.DBus.Access, r.Params = "Features", "set", []string{"v"}
	_, err := d.Compile(r)
	assert.Check(t, err != nil, "a property of the bus may be set")
	assert.Check(t, is.Equal(run(t, compile(t, d, at(wire.BusInterface, "NameHasOwner", "name")), map[string]any{"name": wire.BusName}).Data, true))
}

// A guarded service cannot be reached by another name that its process owns.
func TestOwnerOfADeniedNameIsDenied(t *testing.T) {
	b := testkit.StartBus(t)
	holder := testkit.ServeOnBus(t, b, "org.freedesktop.secrets", service)
	d := newDriver(t, b)
	action := compile(t, d, methodRecipe("EchoString", "v"))
	args := map[string]any{"v": "a"}
	fail(t, action, args, aai.PermissionDenied, aai.NotDelivered)
	n := holder.Calls("EchoString")
	assert.Equal(t, n, 0, "%d calls were delivered", n)

	// Later name changes on the bus count as well.
	release(t, holder, "org.freedesktop.secrets")
	settled(t, d, func(n *nameTable) bool { return len(n.tainted) == 0 })
	run(t, action, args)
	request(t, holder, "org.kde.kwalletd6")
	settled(t, d, func(n *nameTable) bool { return len(n.tainted) == 1 })
	fail(t, action, args, aai.PermissionDenied, aai.NotDelivered)
	n = holder.Calls("EchoString")
	assert.Check(t, is.Equal(n, 1), "%d calls were delivered instead of 1", n)
}

// Any app may send a signal; only the bus's signals count.
func TestOnlyTheBusSpeaksOfNames(t *testing.T) {
	l := &busLink{names: newNameTable(), objects: newObjectCache()}
	l.names.owners[service] = ":1.5"
	body := encoder{}
	for _, s := range []string{service, ":1.5", ":1.6"} {
		body.Str(s)
	}
	m := wire.Message{Sender: ":1.6", Member: "NameOwnerChanged", Signature: "sss", Body: body.Bytes(), Order: binary.LittleEndian}
	l.handleSignal(&m)
	assert.Check(t, is.Equal(l.names.owner(service), ":1.5"), "an app was believed")
	m.Sender = wire.BusName
	l.handleSignal(&m)
	assert.Check(t, is.Equal(l.names.owner(service), ""))
	m.Signature = "s" // no bus sends this
	l.handleSignal(&m)
}

// Desktop shells own the name for keyring prompts; their other tools stay usable.
func TestOwnerOfAPromptNameIsReachable(t *testing.T) {
	b := testkit.StartBus(t)
	testkit.ServeOnBus(t, b, "org.gnome.keyring.SystemPrompter", "org.freedesktop.impl.portal.desktop.gnome", service)
	run(t, compile(t, newDriver(t, b), methodRecipe("EchoString", "v")), map[string]any{"v": "a"})
}

func TestPropertiesOfDeniedInterfacesAreDenied(t *testing.T) {
	_, s, d := served(t)
	r := methodRecipe("Get", "interface_name", "property_name")
	r.DBus.Interface = propertyInterface
	action := compile(t, d, r)
	args := map[string]any{"interface_name": "org.freedesktop.Secret.Item", "property_name": "Label"}
	fail(t, action, args, aai.PermissionDenied, aai.NotDelivered)
	assert.Check(t, is.Equal(s.Calls("Get"), 0))
	args["interface_name"], args["property_name"] = testkit.ServiceInterface, "Version"
	assert.Check(t, is.Equal(run(t, action, args).Data, "1.2"))
}

// Dangerous interfaces are denied on every service, object and name.
func TestDangerousInterfacesAreDeniedEverywhere(t *testing.T) {
	d := New(Config{AllowSystemBus: true})
	list, err := os.ReadFile("testdata/dangerous.txt")
	assert.NilError(t, err)
	for line := range strings.Lines(string(list)) {
		iface, member, method := strings.Cut(strings.TrimSuffix(line, "\n"), " ")
		if iface == "#" {
			continue
		}
		assert.Assert(t, method, line)
		for _, other := range []string{iface, strings.ToUpper(iface[:1]) + iface[1:], strings.ToLower(iface)} {
			r := methodRecipe(member)
			r.DBus.Object, r.DBus.Interface = "/x", other
			action, err := d.Compile(r)
			refused(t, err, aai.PermissionDenied)
			assert.Assert(t, action == nil)
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
	assert.Check(t, is.Equal(s.Calls("Eval"), 0))
	run(t, compile(t, d, methodRecipe("EchoString", "v")), map[string]any{"v": "a"}) // the shell's other tools

	all := methodRecipe("GetAll", "interface_name")
	all.DBus.Interface = propertyInterface
	fail(t, compile(t, d, all), map[string]any{"interface_name": "org.gnome.Shell"}, aai.PermissionDenied, aai.NotDelivered)
	fail(t, compile(t, d, all), map[string]any{"interface_name": []any{"org.gnome.Shell"}}, aai.PermissionDenied, aai.NotDelivered)
}

// Settings can be changed, except those that hold commands.
func TestSettingsThatHoldCommands(t *testing.T) {
	_, s, d := served(t)
	set := map[string]any{"SetProperty": func(string, string, dbus.Variant) *dbus.Error { return nil }}
	assert.NilError(t, s.Conn.ExportMethodTable(set, "/org/xfce/Xfconf", "org.xfce.Xfconf"))
	r := methodRecipe("SetProperty", "channel", "property", "value")
	r.DBus.Object, r.DBus.Interface = "/org/xfce/Xfconf", "org.xfce.Xfconf"
	action := compile(t, d, r)
	args := func(channel string) map[string]any {
		return map[string]any{"channel": channel, "property": "/commands/custom/F1", "value": "xterm -e id"}
	}
	fail(t, action, args("xfce4-keyboard-shortcuts"), aai.PermissionDenied, aai.NotDelivered)
	fail(t, action, args("xfce4-session"), aai.PermissionDenied, aai.NotDelivered)
	run(t, action, args("thunar"))
	assert.Check(t, is.Equal(s.Calls("SetProperty"), 1))
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
