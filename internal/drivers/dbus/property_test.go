package dbus

import (
	"strings"
	"testing"

	"github.com/godbus/dbus/v5"
	"github.com/godbus/dbus/v5/introspect"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

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
		assert.Check(t, is.Equal(got.Text, "The app accepted the new value of Level."), "%s %+v", path, got)
		assert.Check(t, got.Data == nil, "%s %+v", path, got)
		got = run(t, at(propertyRecipe("Level", "get")), nil)
		assert.Check(t, is.Equal(got.Data, int64(200)), "%s %+v", path, got)
		assert.Check(t, is.Equal(got.Text, "200"), "%s %+v", path, got)
		run(t, at(propertyRecipe("Level", "set", "level")), map[string]any{"level": 7})
		err := fail(t, at(propertyRecipe("Level", "set", "level")), map[string]any{"level": 256}, aai.InvalidParams, aai.NotDelivered)
		assert.Check(t, is.Equal(err.Message, "level: expected an integer from 0 to 255, got 256"), path)
		fail(t, at(propertyRecipe("Level", "set", "level")), nil, aai.InvalidParams, aai.NotDelivered)
	}
	assert.Check(t, is.Equal(s.Calls("Set"), 4))
}

func TestReadOnlyProperty(t *testing.T) {
	b := testkit.StartBus(t)
	s := testkit.ServeOnBus(t, b, service)
	d := newDriver(t, b)
	r := propertyRecipe("Version", "set", "v")
	fail(t, compile(t, d, r), map[string]any{"v": "2"}, aai.AutomationFailed, aai.NotDelivered)
	assert.Check(t, is.Equal(s.Calls("Set"), 0))
	r.DBus.Object = testkit.OpaqueServicePath // only the app itself knows
	err := fail(t, compile(t, d, r), map[string]any{"v": "2"}, aai.AutomationFailed, aai.Delivered)
	assert.Check(t, is.Contains(err.Message, "Version is read-only"))
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
	assert.NilError(t, s.Conn.ExportMethodTable(two, testkit.ServicePath, propertyInterface))
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
			assert.NilError(t, s.Conn.Export(introspect.Introspectable(text), testkit.ServicePath, "org.freedesktop.DBus.Introspectable"))
			assert.Check(t, is.Equal(run(t, compile(t, newDriver(t, b), methodRecipe("EchoString", "v")), args).Data, "a"))
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
