package discovery_test

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"syscall"
	"testing"

	"github.com/godbus/dbus/v5"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/catalog/discovery"
	"github.com/gybob/aai-gateway/internal/testkit"
)

// A hostileService answers every Introspect, at every path, with the text, and every List.
type hostileService struct {
	text func(path dbus.ObjectPath) string
	list func() []string
}

// LookupObject implements dbus.Handler: it has all objects.
func (l hostileService) LookupObject(path dbus.ObjectPath) (dbus.ServerObject, bool) {
	return object{l, path}, true
}

type object struct {
	hostileService
	path dbus.ObjectPath
}

// LookupInterface implements dbus.ServerObject.
func (o object) LookupInterface(string) (dbus.Interface, bool) { return o, true }

// LookupMethod implements dbus.Interface.
func (o object) LookupMethod(name string) (dbus.Method, bool) { return method{o, name}, true }

type method struct {
	object
	name string
}

// Call implements dbus.Method.
func (m method) Call(...any) ([]any, error) {
	if m.name == "List" && m.list != nil {
		return []any{m.list()}, nil
	}
	if m.name == "Introspect" {
		return []any{m.text(m.path)}, nil
	}
	return nil, errors.New("called: " + m.name)
}

func (method) NumArguments() int     { return 0 }
func (method) NumReturns() int       { return 1 }
func (method) ArgumentValue(int) any { return "" }
func (method) ReturnValue(int) any   { return "" }

// serveHostile puts a hostileService on the bus.
func serveHostile(t *testing.T, bus *testkit.Bus, l hostileService, names ...string) *dbus.Conn {
	t.Helper()
	conn := bus.Connect(t, dbus.WithHandler(l))
	for _, name := range names {
		_, err := conn.RequestName(name, 0)
		assert.NilError(t, err)
	}
	return conn
}

func always(text string) func(dbus.ObjectPath) string {
	return func(dbus.ObjectPath) string { return text }
}

const validIntrospection = `<node><interface name="org.example.Honest"><method name="Do"/></interface></node>`

// TestLiars checks that a program's introspection data affects no other program, and that harmful
// text is cleaned.
func TestLiars(t *testing.T) {
	bus := testkit.StartBus(t)
	serveHostile(t, bus, hostileService{text: always(validIntrospection)}, "org.example.Honest")
	serveHostile(t, bus, hostileService{text: always(`<node><node name="again"/><node name="../x"/><node name=""/><node name="a b"/></node>`)}, "org.example.Endless")
	serveHostile(t, bus, hostileService{text: always(`<node><interface name="org.example.Big">` + strings.Repeat(`<method name="A"/>`, 200_000) + `</interface></node>`)}, "org.example.Big")
	serveHostile(t, bus, hostileService{text: always(strings.Repeat("<node>", 60_000))}, "org.example.Deep")
	serveHostile(t, bus, hostileService{text: always("\x00\xff<<<")}, "org.example.Broken")
	serveHostile(t, bus, hostileService{text: func(dbus.ObjectPath) string {
		var b strings.Builder
		for i := range 5000 {
			fmt.Fprintf(&b, `<node name="n%d"/>`, i)
		}
		return `<node><interface name="bad name"/>` + b.String() + "</node>"
	}}, "org.example.Wide")
	serveHostile(t, bus, hostileService{text: always(`<node><interface name="org.gtk.Actions"/></node>`), list: func() []string {
		return append(slices.Repeat([]string{"x"}, 9000), "\x1b[31mred\u202e", strings.Repeat("long", 5000))
	}}, "org.example.Listing")
	report := look(t, discovery.ScannerConfig{SessionBus: at(bus.Address), CallTimeout: generousTimeout, ScanTimeout: 5 * generousTimeout, Apps: none})
	got := find(t, report, "dbus", "org.example.Honest")
	assert.Check(t, is.Equal(got.State, discovery.StateRunning), "%+v", got)
	assert.Check(t, is.Contains(got.HowTo, "org.example.Honest"), "%+v", got)
	find(t, report, "gtk-actions", "org.example.Listing")
	if got := apps(report, discovery.StateRunning); !slices.Equal(got, []string{"org.example.Honest", "org.example.Listing"}) {
		t.Errorf("ways into %q were found", got)
	}
	assert.Check(t, slices.ContainsFunc(report.Notes, func(n string) bool { return strings.Contains(n, "org.example.Wide has more objects") }), "nobody says that one was not looked at whole: %q", report.Notes)
	assert.Check(t, is.Len(report.Unresponsive, 0), "%q count as silent, though they answer", report.Unresponsive)
}

// TestBusNames checks that thousands of names are limited with a note, and that names of
// instances lose their numbers.
func TestBusNames(t *testing.T) {
	bus := testkit.StartBus(t)
	serveHostile(t, bus, hostileService{text: always(validIntrospection)}, "org.example.App-1234")
	for part := range 9 {
		var names []string
		for i := range 250 {
			names = append(names, fmt.Sprintf("org.example.many.p%d.n%d", part, i))
		}
		serveHostile(t, bus, hostileService{text: always(validIntrospection)}, names...)
	}
	report := look(t, discovery.ScannerConfig{SessionBus: at(bus.Address), CallTimeout: generousTimeout, ScanTimeout: 5 * generousTimeout})
	assert.Check(t, slices.ContainsFunc(report.Notes, func(n string) bool { return strings.Contains(n, "names on the session bus were left out") }), "notes: %q", report.Notes)
	w := find(t, report, "dbus", "org.example.App-1234")
	assert.Check(t, is.Equal(w.ID, "dbus org.example.App"), "its id is %q", w.ID)
}

// TestOnlyQuestions checks that a program receives only Introspect and List, and no service is
// started.
func TestOnlyQuestions(t *testing.T) {
	bus := testkit.StartBus(t)
	bus.AddService(t, "org.example.Sleeping", "/bin/false")
	conn := serveHostile(t, bus, hostileService{text: always(`<node><interface name="org.gtk.Actions"/><interface name="org.freedesktop.Application"/><interface name="org.mpris.MediaPlayer2.Player"/></node>`), list: func() []string { return []string{"quit"} }}, "org.example.Asked")
	counting := make(map[string]int)
	watcher := bus.Connect(t)
	assert.NilError(t, watcher.BusObject().Call("org.freedesktop.DBus.Monitoring.BecomeMonitor", 0, []string{"type='method_call'"}, uint32(0)).Err)
	messages := testkit.MonitorMessages(t, watcher, 1000)
	report := look(t, discovery.ScannerConfig{SessionBus: at(bus.Address), CallTimeout: generousTimeout, ScanTimeout: 5 * generousTimeout})
	if err := conn.BusObject().Call("org.freedesktop.DBus.GetId", 0).Err; err != nil { // the last call that the monitor sees
		t.Fatal(err)
	}
	for m := range messages {
		if m.Type != dbus.TypeMethodCall {
			continue
		}
		member, _ := m.Headers[dbus.FieldMember].Value().(string)
		if member == "GetId" {
			break
		}
		counting[member]++
	}
	for member := range counting {
		assert.Check(t, is.Contains([]string{"Hello", "ListNames", "ListActivatableNames", "GetNameOwner", "Introspect", "List", "Get"}, member))
	}
	assert.Check(t, counting["Introspect"] != 0, "the monitor saw %v", counting)
	assert.Check(t, counting["List"] != 0, "the monitor saw %v", counting)
	got := apps(report, discovery.StateStartable)
	assert.Check(t, slices.Equal(got, []string{"org.example.Sleeping"}), "%q can be started", got)
	w := find(t, report, "dbus", "org.example.Sleeping")
	assert.Check(t, strings.HasPrefix(w.HowTo, "Its methods are known once it runs: aai-gateway generate --start org.example.Sleeping "), "it promises what nobody knows: %q", w.HowTo)
	var owned bool
	err := conn.BusObject().Call("org.freedesktop.DBus.NameHasOwner", 0, "org.example.Sleeping").Store(&owned)
	assert.NilError(t, err, owned)
	assert.Assert(t, !owned, "it runs: %v, %v", owned, err)
}

// TestReportedOnce checks that a service that does not run is described by its desktop entry if
// that has more, and by its name if no other integration describes it.
func TestReportedOnce(t *testing.T) {
	bus := testkit.StartBus(t)
	bus.AddService(t, "org.example.Both", "/bin/false")
	bus.AddService(t, "org.example.Commands", "/bin/false")
	dir := folder(t, map[string]string{
		"org.example.Both.desktop":     "[Desktop Entry]\nType=Application\nName=Both\nDBusActivatable=true\n",
		"org.example.Commands.desktop": editor,
	})
	report := look(t, discovery.ScannerConfig{SessionBus: at(bus.Address), EntryFolders: []string{dir}, CallTimeout: generousTimeout, ScanTimeout: 5 * generousTimeout})
	var got []string
	for _, w := range report.Integrations {
		got = append(got, w.ID)
	}
	want := []string{"application org.example.Both", "dbus org.example.Commands", "desktop-actions org.example.Commands"}
	assert.Check(t, slices.Equal(got, want), "the ways are %q; want %q", got, want)
}

// TestFrozen checks that a program without replies is named, and does not delay others.
func TestFrozen(t *testing.T) {
	bus := testkit.StartBus(t)
	serveHostile(t, bus, hostileService{text: always(validIntrospection)}, "org.example.Honest")
	never := make(chan struct{})
	t.Cleanup(func() { close(never) })
	serveHostile(t, bus, hostileService{text: func(dbus.ObjectPath) string { <-never; return "" }}, "org.example.Frozen", "org.example.FrozenToo")
	report := look(t, discovery.ScannerConfig{SessionBus: at(bus.Address)}) // the default timeouts
	assert.Check(t, is.Contains(report.Unresponsive, "org.example.Frozen"))
	if slices.Contains(apps(report, discovery.StateRunning), "org.example.Frozen") {
		t.Errorf("ways into what never answered: %+v", report.Integrations)
	}
}

// TestFrozenBus checks that a bus without replies is named too.
func TestFrozenBus(t *testing.T) {
	bus := testkit.StartBus(t)
	pid := daemonOf(t, bus)
	assert.NilError(t, syscall.Kill(pid, syscall.SIGSTOP))
	t.Cleanup(func() { _ = syscall.Kill(pid, syscall.SIGCONT) })
	report := look(t, discovery.ScannerConfig{SessionBus: at(bus.Address)})
	assert.Assert(t, is.Len(report.Integrations, 0), "%+v", report)
	assert.Assert(t, len(report.Notes) != 0 || len(report.Unresponsive) != 0, "the report of a bus that hangs: %+v", report)
}

// daemonOf returns the process of a bus.
func daemonOf(t *testing.T, bus *testkit.Bus) int {
	t.Helper()
	var pid uint32
	assert.NilError(t, bus.Connect(t).BusObject().Call("org.freedesktop.DBus.GetConnectionUnixProcessID", 0, "org.freedesktop.DBus").Store(&pid))
	return int(pid)
}

// A tray is a tray's watcher or one of its icons: an object with one property.
type tray struct{ value any }

// Get implements org.freedesktop.DBus.Properties.
func (y tray) Get(string, string) (dbus.Variant, *dbus.Error) {
	return dbus.MakeVariant(y.value), nil
}

// TestTray checks that the tray's watcher provides icons of programs without a name; invalid
// items are ignored.
func TestTray(t *testing.T) {
	bus := testkit.StartBus(t)
	icon, keeper := bus.Connect(t), bus.Connect(t)
	listed := []string{icon.Names()[0] + "/org/ayatana/icon", "::/x", ":1.99999", "org.example.Named/StatusNotifierItem", "", "/", ":1.2/\x1b"}
	for _, err := range []error{
		icon.Export(tray{"Sync\x1b[31m tool"}, "/org/ayatana/icon", "org.freedesktop.DBus.Properties"),
		keeper.Export(tray{listed}, "/StatusNotifierWatcher", "org.freedesktop.DBus.Properties"),
	} {
		assert.NilError(t, err)
	}
	_, err := keeper.RequestName("org.kde.StatusNotifierWatcher", 0)
	assert.NilError(t, err)
	report := look(t, discovery.ScannerConfig{SessionBus: at(bus.Address), CallTimeout: generousTimeout, ScanTimeout: 5 * generousTimeout})
	if got := apps(report, discovery.StateRunning); len(got) != 1 || got[0] != "Sync[31m tool" {
		t.Errorf("icons: %q; silent: %q", got, report.Unresponsive)
	}
}

// TestRefused checks that a denied program is not called, and marked as denied, by any of its
// names; others are unaffected.
func TestRefused(t *testing.T) {
	bus := testkit.StartBus(t)
	asked := make(chan struct{}, 100)
	serveHostile(t, bus, hostileService{text: func(dbus.ObjectPath) string { asked <- struct{}{}; return validIntrospection }}, "org.example.Diary")
	serveHostile(t, bus, hostileService{text: always(validIntrospection)}, "org.example.Open")
	bus.AddService(t, "org.example.Sleeper", "/bin/false")
	entries := folder(t, map[string]string{"org.example.Shown.desktop": "[Desktop Entry]\nType=Application\nName=Journal\nDBusActivatable=true\n"})
	report := look(t, discovery.ScannerConfig{
		SessionBus: at(bus.Address), CallTimeout: generousTimeout, ScanTimeout: 5 * generousTimeout, Apps: none, EntryFolders: []string{entries},
		Denied: func(names []string) bool {
			return slices.Contains(names, "Diary") || slices.Contains(names, "org.example.Sleeper") || slices.Contains(names, "Journal")
		},
	})
	for kind, app := range map[string]string{"dbus": "org.example.Diary", "dbus ": "org.example.Sleeper", "application": "org.example.Shown"} {
		assert.Check(t, is.Equal(find(t, report, strings.TrimSpace(kind), app).HowTo, discovery.DeniedHowTo), app)
	}
	assert.Check(t, len(asked) <= 0, "it was asked %d times", len(asked))
	got := find(t, report, "dbus", "org.example.Open").HowTo
	assert.Check(t, got != discovery.DeniedHowTo, "open: %q", got)
}

// TestNever checks that services that the gateway never calls are marked.
func TestNever(t *testing.T) {
	bus := testkit.StartBus(t)
	serveHostile(t, bus, hostileService{text: always(`<node><interface name="org.example.Closed"/><interface name="org.example.Open"/></node>`)}, "org.example.Half")
	serveHostile(t, bus, hostileService{text: always(validIntrospection)}, "org.example.Secrets")
	never := func(service, iface string) bool {
		return service == "org.example.Secrets" || iface == "org.example.Closed"
	}
	report := look(t, discovery.ScannerConfig{SessionBus: at(bus.Address), NeverCalled: never, CallTimeout: generousTimeout, ScanTimeout: 5 * generousTimeout, Apps: none})
	assert.Check(t, is.Equal(find(t, report, "dbus", "org.example.Secrets").HowTo, discovery.NeverCalledHowTo))
	got := find(t, report, "dbus", "org.example.Half").HowTo
	assert.Assert(t, is.Contains(got, "org.example.Open"))
	assert.Assert(t, !strings.Contains(got, "Closed"), "half: %q", got)
}
