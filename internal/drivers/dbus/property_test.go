package dbus

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/godbus/dbus/v5"
	"github.com/godbus/dbus/v5/introspect"
	"github.com/google/go-cmp/cmp"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/testkit"
)

func TestPropertyIsReadAndSet(t *testing.T) {
	_, s, d := served(t)
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
	_, s, d := served(t)
	r := propertyRecipe("Version", "set", "v")
	fail(t, compile(t, d, r), map[string]any{"v": "2"}, aai.AutomationFailed, aai.NotDelivered)
	assert.Check(t, is.Equal(s.Calls("Set"), 0))
	r.DBus.Object = testkit.OpaqueServicePath // only the app itself knows
	err := fail(t, compile(t, d, r), map[string]any{"v": "2"}, aai.AutomationFailed, aai.Delivered)
	assert.Check(t, is.Contains(err.Message, "Version is read-only"))
}

func TestUnknownProperty(t *testing.T) {
	_, _, d := served(t)
	fail(t, compile(t, d, propertyRecipe("Absent", "get")), nil, aai.AutomationFailed, aai.Delivered)
	fail(t, compile(t, d, propertyRecipe("Absent", "set", "v")), map[string]any{"v": 1}, aai.AutomationFailed, aai.Delivered)
	fail(t, compile(t, d, propertyRecipe("Absent", "set", "v")), map[string]any{"v": nil}, aai.InvalidParams, aai.NotDelivered)
}

// The reply to Get must be one value.
func TestPropertyReplyOfAnotherForm(t *testing.T) {
	_, s, d := served(t)
	two := map[string]any{"Get": func(_, _ string) (string, string, *dbus.Error) { return "a", "b", nil }}
	assert.NilError(t, s.Conn.ExportMethodTable(two, testkit.ServicePath, propertyInterface))
	fail(t, compile(t, d, propertyRecipe("Volume", "get")), nil, aai.AutomationFailed, aai.Delivered)
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

// reversible returns a recipe without secrets.
func reversible(property string, params ...string) *aai.Recipe {
	r := propertyRecipe(property, "set", params...)
	r.App, r.Tool, r.Reversible = "org.example.App", "set", true
	return r
}

// propertyObject is an object with one writable property, in another library.
type propertyObject struct {
	value   dbus.Variant
	made    func(dbus.Variant) dbus.Variant // changes a new value; nil: unchanged
	refuses bool                            // rejects reads
	sets    int
}

func (s *propertyObject) Get(_, name string) (dbus.Variant, *dbus.Error) {
	if s.refuses || name != "Held" {
		return dbus.Variant{}, dbus.NewError("org.example.No", []any{"not to be read"})
	}
	return s.value, nil
}

func (s *propertyObject) Set(_, _ string, v dbus.Variant) *dbus.Error {
	s.sets++
	if s.value = v; s.made != nil {
		s.value = s.made(v)
	}
	return nil
}

func servePropertyObject(t *testing.T, value any) (*propertyObject, *Driver) {
	t.Helper()
	b := testkit.StartBus(t)
	held := &propertyObject{value: dbus.MakeVariant(value)}
	assert.NilError(t, testkit.ServeOnBus(t, b, service).Conn.Export(held, testkit.OpaqueServicePath, propertyInterface))
	return held, newDriver(t, b)
}

func undoableRecipe(params ...string) *aai.Recipe {
	r := reversible("Held", params...)
	r.DBus.Object = testkit.OpaqueServicePath
	return r
}

// The undo step sets the old value with its type if the property still has the act's value.
func TestAPropertyIsSetBack(t *testing.T) {
	for name, c := range map[string]struct{ was, now any }{
		"text":        {"old ${v}", "new"},
		"number":      {uint64(1<<63 + 1), uint64(7)},
		"byte":        {byte(3), 200},
		"double":      {0.4, 1},
		"truth":       {false, true},
		"list":        {[]string{"a", ""}, []any{"b"}},
		"bytes":       {[]byte{0xff, 0}, "text"},
		"dict":        {map[string]int32{"a": -1}, map[string]any{"b": 2}},
		"object path": {dbus.ObjectPath("/a"), "/b"},
	} {
		t.Run(name, func(t *testing.T) {
			s, d := servePropertyObject(t, c.was)
			was := s.value
			set := compile(t, d, undoableRecipe("v"))
			got := run(t, set, map[string]any{"v": c.now})
			u := got.Undo
			assert.Assert(t, u != nil, "%+v", u)
			assert.Assert(t, u.StateStep == nil, "%+v", u)
			assert.Equal(t, u.Step.App, "org.example.App", "%+v", u)
			assert.Equal(t, u.Step.Tool, "set", "%+v", u)
			assert.Assert(t, strings.HasPrefix(u.Description, "Held is "), "%+v", u)
			changed := s.value
			call := &aai.Call{Args: u.Step.Args, CheckUnchanged: func(now any) error {
				if diff := cmp.Diff(u.ExpectedState, now); diff != "" {
					return errors.New(diff)
				}
				return nil
			}}
			_, err := set(soon(t), call)
			assert.NilError(t, err)
			assert.Check(t, is.Equal(s.value.String(), was.String()), "%v %v %v", s.value, was, changed)
			assert.Check(t, is.Equal(s.value.Signature(), was.Signature()), "%v %v %v", s.value, was, changed)
			assert.Check(t, changed.String() != was.String(), "it is %v, was %v, and in between %v", s.value, was, changed)
		})
	}
}

func TestWhatThePropertyBecameIsWhatWasLeft(t *testing.T) {
	s, d := servePropertyObject(t, 0.4)
	s.made = func(dbus.Variant) dbus.Variant { return dbus.MakeVariant(1.0) }
	got := run(t, compile(t, d, undoableRecipe("v")), map[string]any{"v": 7})
	assert.Assert(t, got.Undo != nil, "%+v", got.Undo)
	assert.Equal(t, got.Undo.ExpectedState, 1.0, "%+v", got.Undo)
	s.made = func(dbus.Variant) dbus.Variant { return dbus.MakeVariant(1.0) } // not done yet
	got = run(t, compile(t, d, undoableRecipe("v")), map[string]any{"v": 0.2})
	assert.Assert(t, got.Undo != nil, "%+v", got.Undo)
	assert.Equal(t, got.Undo.ExpectedState, 0.2, "%+v", got.Undo)
}

func TestWhatIsOtherwiseIsNotSet(t *testing.T) {
	s, d := servePropertyObject(t, "mine")
	newer := aai.Errorf(aai.AutomationFailed, "newer")
	var told any
	call := &aai.Call{Args: map[string]any{"v": "x"}, CheckUnchanged: func(now any) error { told = now; return newer }}
	_, err := compile(t, d, undoableRecipe("v"))(soon(t), call)
	if e := aai.AsError(err); e == nil || e.Message != "newer" || e.Delivery != aai.NotDelivered || told != "mine" || s.sets != 0 {
		t.Errorf("%v, told %v, %d sets", err, told, s.sets)
	}
	s.refuses = true
	call.CheckUnchanged = func(any) error { return nil }
	_, err = compile(t, d, undoableRecipe("v"))(soon(t), call)
	if e := aai.AsError(err); e == nil || e.Delivery != aai.NotDelivered || s.sets != 0 {
		t.Errorf("%v, %d sets", err, s.sets)
	}
}

func TestWhatCannotBeSetBackHasNoUndo(t *testing.T) {
	with := func(change func(*aai.Recipe), params ...string) *aai.Recipe {
		r := undoableRecipe(params...)
		change(r)
		return r
	}
	for name, c := range map[string]struct {
		was  any
		r    *aai.Recipe
		args map[string]any
	}{
		"of secrets":         {"a", with(func(r *aai.Recipe) { r.Reversible = false }, "v"), map[string]any{"v": "b"}},
		"a constant":         {"a", with(func(r *aai.Recipe) { r.DBus.Args = []json.RawMessage{json.RawMessage(`"b"`)} }), nil},
		"a part of a text":   {"a", with(func(r *aai.Recipe) { r.DBus.Args = []json.RawMessage{json.RawMessage(`"no. ${v}"`)} }, "v"), map[string]any{"v": 7}},
		"variants within":    {map[string]dbus.Variant{"a": dbus.MakeVariant(byte(1))}, undoableRecipe("v"), map[string]any{"v": map[string]any{}}},
		"a value not a type": {[]dbus.Variant{dbus.MakeVariant("a")}, undoableRecipe("v"), map[string]any{"v": []any{}}},
	} {
		t.Run(name, func(t *testing.T) {
			s, d := servePropertyObject(t, c.was)
			if got := run(t, compile(t, d, c.r), c.args); got.Undo != nil || s.sets != 1 {
				t.Errorf("%+v, %d sets", got.Undo, s.sets)
			}
		})
	}
	s, d := servePropertyObject(t, "a")
	s.refuses = true
	if got := run(t, compile(t, d, undoableRecipe("v")), map[string]any{"v": "b"}); got.Undo != nil || s.sets != 1 {
		t.Errorf("%+v, %d sets", got.Undo, s.sets)
	}
}

// A secret property is not read.
func TestASecretPropertyIsNotRead(t *testing.T) {
	_, s, d := served(t)
	r := reversible("Volume", "v")
	r.Reversible = false
	run(t, compile(t, d, r), map[string]any{"v": 0.5})
	assert.Check(t, is.Equal(s.Calls("Get"), 0))
}

// overload returns a recipe for a method of testkit.Overloads.
func overload(method, signature string, params ...string) *aai.Recipe {
	r := methodRecipe(method, params...)
	r.DBus.Interface, r.DBus.Signature = "org.example.Osd", signature
	return r
}

func TestOverloadIsChosen(t *testing.T) {
	b := testkit.StartBus(t)
	testkit.ServeDescribed(t, b, service, testkit.Overloads)
	d := newDriver(t, b)
	files := []any{"a"}
	for _, c := range []struct {
		name   string
		recipe *aai.Recipe
		args   map[string]any
		want   string
	}{
		{"signature", overload("volumeChanged", "i", "percent"), map[string]any{"percent": 5}, "volumeChanged(i)"},
		{"signature of more arguments", overload("volumeChanged", "ii", "percent", "maximum_percent"),
			map[string]any{"percent": 5, "maximum_percent": 9}, "volumeChanged(ii)"},
		{"number of arguments", overload("volumeChanged", "", "percent"), map[string]any{"percent": 5}, "volumeChanged(i)"},
		{"no argument", overload("deviceNames", ""), nil, "deviceNames()"},
		{"signature beside names of another", overload("sendMessage", "sass", "message", "attachments", "recipients"),
			map[string]any{"message": "m", "attachments": files, "recipients": "r"}, "sendMessage(sass)"},
		{"names", overload("sendMessage", "", "message", "attachments", "recipient"),
			map[string]any{"message": "m", "attachments": files, "recipient": "r"}, "sendMessage(sass)"},
		{"values", overload("sendMessage", "", "a", "b", "c"), map[string]any{"a": "m", "b": files, "c": "r"}, "sendMessage(sass)"},
		{"the last", overload("sendMessage", "", "a", "b", "c"), map[string]any{"a": "m", "b": files, "c": files}, "sendMessage(sasas)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			assert.Check(t, is.Equal(run(t, compile(t, d, c.recipe), c.args).Data, c.want))
		})
	}
}

func TestOverloadErrorsNameSignatures(t *testing.T) {
	b := testkit.StartBus(t)
	testkit.ServeDescribed(t, b, service, testkit.Overloads)
	d := newDriver(t, b)
	const both = "volumeChanged(percent i), volumeChanged(percent i, maximumPercent i)"
	for _, c := range []struct {
		name   string
		recipe *aai.Recipe
		args   map[string]any
		code   aai.Code
		want   string
	}{
		{"no such signature", overload("volumeChanged", "d", "percent"), map[string]any{"percent": 5.5}, aai.DescriptorInvalid,
			"signature: the descriptor lists the signature d, but org.example.App has " + both},
		{"no such number", overload("volumeChanged", "", "a", "b", "c"), nil, aai.DescriptorInvalid, both},
		{"no such value", overload("sendMessage", "", "a", "b", "c"), map[string]any{"a": "m", "b": []any{}, "c": 7}, aai.InvalidParams,
			"the app has sendMessage(message s, attachments as, recipients as), sendMessage(message s, attachments as, recipient s)"},
	} {
		t.Run(c.name, func(t *testing.T) {
			assert.Check(t, is.Contains(fail(t, compile(t, d, c.recipe), c.args, c.code, aai.NotDelivered).Message, c.want))
		})
	}
	for name, r := range map[string]*aai.Recipe{
		`signature: expected the types`:    overload("volumeChanged", "a{", "percent"),
		`signature: "ii" has 2 types, but`: overload("volumeChanged", "ii", "percent"),
	} {
		t.Run(name, func(t *testing.T) {
			_, err := d.Compile(r)
			assert.Check(t, is.ErrorContains(err, name))
		})
	}
}
