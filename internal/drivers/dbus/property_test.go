package dbus

import (
	"strings"
	"testing"

	"github.com/godbus/dbus/v5"
	"github.com/godbus/dbus/v5/introspect"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/testkit"
)

func TestPropertyIsReadAndSet(t *testing.T) {
	b := testkit.StartBus(t)
	s := testkit.ServeOnBus(t, b, service)
	d := newDriver(t, b)
	for _, path := range []string{testkit.ServicePath, testkit.OpaqueServicePath} {
		at := func(r *aai.Recipe) aai.Action {
			r.DBus.Object = path
			return compile(t, d, r)
		}
		// Level is a byte: the type comes from the introspection at one path, and from the current
		// value at the other.
		got := run(t, at(propertyRecipe("Level", "set", "level")), map[string]any{"level": 200})
		if got.Text != "The app accepted the new value of Level." || got.Data != nil {
			t.Errorf("%s: %+v", path, got)
		}
		if got := run(t, at(propertyRecipe("Level", "get")), nil); got.Data != int64(200) || got.Text != "200" {
			t.Errorf("%s: %+v", path, got)
		}
		run(t, at(propertyRecipe("Level", "set", "level")), map[string]any{"level": 7})
		err := fail(t, at(propertyRecipe("Level", "set", "level")), map[string]any{"level": 256}, aai.InvalidParams, aai.NotDelivered)
		if want := "level: expected an integer from 0 to 255, got 256"; err.Message != want {
			t.Errorf("%s: %s", path, err.Message)
		}
		fail(t, at(propertyRecipe("Level", "set", "level")), nil, aai.InvalidParams, aai.NotDelivered)
	}
	if n := s.Calls("Set"); n != 4 {
		t.Errorf("%d deliveries of 4", n)
	}
}

func TestReadOnlyProperty(t *testing.T) {
	b := testkit.StartBus(t)
	s := testkit.ServeOnBus(t, b, service)
	d := newDriver(t, b)
	r := propertyRecipe("Version", "set", "v")
	fail(t, compile(t, d, r), map[string]any{"v": "2"}, aai.AutomationFailed, aai.NotDelivered)
	if n := s.Calls("Set"); n != 0 {
		t.Errorf("%d deliveries", n)
	}
	r.DBus.Object = testkit.OpaqueServicePath // only the app itself knows
	err := fail(t, compile(t, d, r), map[string]any{"v": "2"}, aai.AutomationFailed, aai.Delivered)
	if !strings.Contains(err.Message, "Version is read-only") {
		t.Error(err.Message)
	}
}

func TestUnknownProperty(t *testing.T) {
	b := testkit.StartBus(t)
	testkit.ServeOnBus(t, b, service)
	d := newDriver(t, b)
	fail(t, compile(t, d, propertyRecipe("Absent", "get")), nil, aai.AutomationFailed, aai.Delivered)
	fail(t, compile(t, d, propertyRecipe("Absent", "set", "v")), map[string]any{"v": 1}, aai.AutomationFailed, aai.Delivered)
	fail(t, compile(t, d, propertyRecipe("Absent", "set", "v")), map[string]any{"v": nil}, aai.InvalidParams, aai.NotDelivered)
}

// The reply to Get must be one value.
func TestPropertyReplyOfAnotherForm(t *testing.T) {
	b := testkit.StartBus(t)
	s := testkit.ServeOnBus(t, b, service)
	two := map[string]any{"Get": func(_, _ string) (string, string, *dbus.Error) { return "a", "b", nil }}
	if err := s.Conn.ExportMethodTable(two, testkit.ServicePath, propertyInterface); err != nil {
		t.Fatal(err)
	}
	fail(t, compile(t, newDriver(t, b), propertyRecipe("Volume", "get")), nil, aai.AutomationFailed, aai.Delivered)
}

// If one of these were used, the method would not be found.
func TestIntrospectionThatIsUnusable(t *testing.T) {
	b := testkit.StartBus(t)
	args := map[string]any{"v": "a"}
	for name, text := range map[string]string{
		"not XML":       "{}",
		"cut off":       `<node><interface name="org.example.Test"><method name="Echo`,
		"too large":     `<node><interface name="org.example.Test"/>` + strings.Repeat(" ", maxIntrospection) + "</node>",
		"too deep":      `<node><interface name="org.example.Test"/>` + strings.Repeat("<node>", 1000) + strings.Repeat("</node>", 1001),
		"no types":      `<node><interface name="org.example.Test"><method name="EchoString"><arg type="Z"/></method></interface></node>`,
		"stray element": `<node><arg type="s"/><method name="x"/><interface/></node>`,
		"child's only":  `<node><node><interface name="org.example.Test"/></node></node>`,
	} {
		t.Run(name, func(t *testing.T) {
			s := testkit.ServeOnBus(t, b, service)
			defer gone(t, b, service)
			defer func() { _ = s.Conn.Close() }()
			if err := s.Conn.Export(introspect.Introspectable(text), testkit.ServicePath, "org.freedesktop.DBus.Introspectable"); err != nil {
				t.Fatal(err)
			}
			if got := run(t, compile(t, newDriver(t, b), methodRecipe("EchoString", "v")), args); got.Data != "a" {
				t.Errorf("got %v", got.Data)
			}
		})
	}
}

func FuzzIntrospection(f *testing.F) {
	f.Add(testkit.ServiceIntrospection)
	f.Add(`<node><interface><method><arg type="a{sv}"/></method><property/></interface></node>`)
	f.Add(`<method/>`)
	f.Fuzz(func(_ *testing.T, text string) {
		_, _ = parseIntrospection(strings.NewReader(text))
	})
}
