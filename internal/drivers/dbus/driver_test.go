package dbus

import (
	"encoding/json"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/dbus/wire"
	"github.com/gybob/aai-gateway/internal/testkit"
)

func TestCompileNamesTheField(t *testing.T) {
	d := New(Config{})
	for _, c := range []struct {
		field  string
		change func(*aai.Recipe)
	}{
		{"service", func(r *aai.Recipe) { r.DBus.Service = "nodots" }},
		{"service", func(r *aai.Recipe) { r.DBus.Service = "" }},
		{"service", func(r *aai.Recipe) { r.DBus.Service = ":1.42" }},
		{"service", func(r *aai.Recipe) { r.DBus.Service = "org.1st.App" }},
		{"service", func(r *aai.Recipe) { r.DBus.Service = "org.example.App\x00" }},
		{"service", func(r *aai.Recipe) { r.DBus.Service = "org." + strings.Repeat("a", 252) }},
		{"object", func(r *aai.Recipe) { r.DBus.Object = "org/example" }},
		{"object", func(r *aai.Recipe) { r.DBus.Object = "/org/example/" }},
		{"object", func(r *aai.Recipe) { r.DBus.Object = "/org//example" }},
		{"object", func(r *aai.Recipe) { r.DBus.Object = "/org/example-app" }},
		{"interface", func(r *aai.Recipe) { r.DBus.Interface = "" }},
		{"interface", func(r *aai.Recipe) { r.DBus.Interface = "org.example-app.A" }},
		{"method", func(r *aai.Recipe) { r.DBus.Method = "" }},
		{"method", func(r *aai.Recipe) { r.DBus.Method = "a.b" }},
		{"bus", func(r *aai.Recipe) { r.DBus.Bus = "starter" }},
		{"access", func(r *aai.Recipe) { r.DBus.Access = "get" }},
		{"property", func(r *aai.Recipe) { r.DBus.Property = "Volume" }},
		{"property", func(r *aai.Recipe) { r.DBus.Method, r.DBus.Property = "", "no dashes-" }},
		{"access", func(r *aai.Recipe) { r.DBus.Method, r.DBus.Property, r.DBus.Access = "", "Volume", "write" }},
		{"parameters", func(r *aai.Recipe) { r.DBus.Method, r.DBus.Property, r.DBus.Access = "", "Volume", "get" }},
		{"parameters", func(r *aai.Recipe) {
			r.DBus.Method, r.DBus.Property, r.DBus.Access = "", "Volume", "set"
			r.Params = []string{"a", "b"}
		}},
		{"parameters", func(r *aai.Recipe) { r.Params = []string{"a", "b", "a"} }},
		{"output_parser", func(r *aai.Recipe) { r.OutputParser = "xml" }},
		{"execution", func(r *aai.Recipe) { r.DBus = nil }},
		{"service", func(r *aai.Recipe) { r.DBus, r.IPC = nil, &aai.IPCRecipe{Service: "x"} }},
	} {
		r := methodRecipe("Open", "v")
		c.change(r)
		action, err := d.Compile(r)
		e := aai.AsError(err)
		if action != nil || e == nil || e.Code != aai.DescriptorInvalid || !strings.HasPrefix(e.Message, c.field+":") {
			t.Errorf("expected AAI_JSON_INVALID of %s for %+v, got %v", c.field, r.DBus, err)
		}
	}
}

func TestSystemBusIsOffUnlessAllowed(t *testing.T) {
	r := methodRecipe("Open")
	r.DBus.Bus = "system"
	_, err := New(Config{}).Compile(r)
	assert.Check(t, is.Contains(refused(t, err, aai.PermissionDenied), "dbus.allowSystemBus"))
	action := compile(t, New(Config{AllowSystemBus: true, Getenv: func(name string) string {
		if name == "DBUS_SYSTEM_BUS_ADDRESS" {
			return "unix:path=/nowhere/at/all"
		}
		return ""
	}}), r)
	assert.Check(t, is.Contains(fail(t, action, nil, aai.AppNotRunning, aai.NotDelivered).Message, "no system bus"))
}

// fixed sets a recipe's arguments from a JSON list.
func fixed(t *testing.T, r *aai.Recipe, list string) *aai.Recipe {
	t.Helper()
	assert.NilError(t, json.Unmarshal([]byte(list), &r.DBus.Args))
	return r
}

func TestFixedArguments(t *testing.T) {
	_, _, d := served(t)
	for _, c := range []struct {
		method, args string
		given        map[string]any
		want         any
	}{
		{"Join", `["${a}", "to ${a} and ${b}", 7]`, map[string]any{"a": "ann", "b": json.Number("2")}, "to=ann subject=to ann and 2 urgency=7"},
		{"Join", `["${a}", "x", "${b}"]`, map[string]any{"a": "${b}", "b": 3}, "to=${b} subject=x urgency=3"},
		{"Join", `["$ {a} }", "${a}${b}", 0]`, map[string]any{"a": "${", "b": "}"}, "to=$ {a} } subject=${} urgency=0"},
		{"EchoStrings", `[["first", "${a}", "b=${b}"]]`, map[string]any{"a": "x", "b": true}, []any{"first", "x", "b=true"}},
		{"EchoStrings", `["${a}"]`, map[string]any{"a": []any{"x", "y"}}, []any{"x", "y"}},
		{"EchoVariant", `[{"signature": "y", "value": "${a}"}]`, map[string]any{"a": 9}, int64(9)},
		{"EchoInt64", `[9007199254740993]`, nil, int64(9007199254740993)},
		{"Nothing", `[]`, nil, nil},
	} {
		names := make([]string, 0, 2)
		for _, name := range []string{"a", "b"} {
			if _, given := c.given[name]; given {
				names = append(names, name)
			}
		}
		got := run(t, compile(t, d, fixed(t, methodRecipe(c.method, names...), c.args)), c.given)
		assert.Check(t, is.DeepEqual(c.want, got.Data), "%s %s", c.method, c.args)
	}
	set := compile(t, d, fixed(t, propertyRecipe("Volume", "set"), `[0.75]`))
	run(t, set, nil)
	assert.Check(t, is.Equal(run(t, compile(t, d, propertyRecipe("Volume", "get")), nil).Data, 0.75))
}

// Arguments that do not fit are not sent.
func TestFixedArgumentsThatDoNotFit(t *testing.T) {
	_, app, d := served(t)
	within := compile(t, d, fixed(t, methodRecipe("Join", "a"), `["x", "about ${a}", 1]`))
	for _, given := range []map[string]any{nil, {"a": nil}, {"a": []any{"x"}}} {
		fail(t, within, given, aai.InvalidParams, aai.NotDelivered)
	}
	fail(t, compile(t, d, fixed(t, methodRecipe("Join", "a"), `["${a}"]`)), map[string]any{"a": "x"}, aai.DescriptorInvalid, aai.NotDelivered)
	fail(t, compile(t, d, fixed(t, methodRecipe("Join"), `["x", "y", 300]`)), nil, aai.InvalidParams, aai.NotDelivered)
	assert.Check(t, is.Equal(app.Calls("Join"), 0))
	for list, want := range map[string]string{
		`["${nobody}"]`: "args[0]", `["x", ["${a"]]`: "args[1]", `["x"]`: "args: expected", `["${}"]`: "args[0]",
	} {
		_, err := d.Compile(fixed(t, methodRecipe("Join", "a"), list))
		assert.Check(t, is.ErrorContains(err, want), list)
	}
	for _, r := range []*aai.Recipe{
		fixed(t, propertyRecipe("Volume", "get"), `[1]`), fixed(t, propertyRecipe("Volume", "set"), `[1, 2]`), fixed(t, propertyRecipe("Volume", "set"), `[]`),
	} {
		if _, err := d.Compile(r); err == nil || !strings.Contains(err.Error(), "args: expected") {
			t.Errorf("%s with %d: %v", r.DBus.Access, len(r.DBus.Args), err)
		}
	}
}

func BenchmarkCall(b *testing.B) {
	bus := testkit.StartBus(b)
	testkit.ServeOnBus(b, bus, service)
	action := compile(b, newDriver(b, bus), methodRecipe("Join", "to", "subject_line", "urgency"))
	call := &aai.Call{Args: map[string]any{"to": "a", "subject_line": "b", "urgency": 1.0}}
	b.ReportAllocs()
	for b.Loop() {
		_, err := action(b.Context(), call)
		assert.NilError(b, err)
	}
}

// BenchmarkWork measures the driver alone: arguments to wire and wire to result, without a bus.
func BenchmarkWork(b *testing.B) {
	args := map[string]any{"a": "text", "n": 3.0, "list": []any{"x", "y"}, "deep": map[string]any{"k": []any{1.0, 2.0}}}
	t, err := wire.ParseType("a{sv}")
	assert.NilError(b, err)
	b.ReportAllocs()
	for b.Loop() {
		_, _, err := throughTheWire(args, t)
		assert.NilError(b, err)
	}
}
