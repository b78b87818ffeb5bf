package dbus

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/godbus/dbus/v5"
	"github.com/google/go-cmp/cmp"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/testkit"
)

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
		gets bool
	}{
		"of secrets":         {"a", with(func(r *aai.Recipe) { r.Reversible = false }, "v"), map[string]any{"v": "b"}, false},
		"a constant":         {"a", with(func(r *aai.Recipe) { r.DBus.Args = []json.RawMessage{json.RawMessage(`"b"`)} }), nil, true},
		"a part of a text":   {"a", with(func(r *aai.Recipe) { r.DBus.Args = []json.RawMessage{json.RawMessage(`"no. ${v}"`)} }, "v"), map[string]any{"v": 7}, true},
		"variants within":    {map[string]dbus.Variant{"a": dbus.MakeVariant(byte(1))}, undoableRecipe("v"), map[string]any{"v": map[string]any{}}, true},
		"a value not a type": {[]dbus.Variant{dbus.MakeVariant("a")}, undoableRecipe("v"), map[string]any{"v": []any{}}, true},
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
	b := testkit.StartBus(t)
	s := testkit.ServeOnBus(t, b, service)
	r := reversible("Volume", "v")
	r.Reversible = false
	run(t, compile(t, newDriver(t, b), r), map[string]any{"v": 0.5})
	n := s.Calls("Get")
	assert.Check(t, is.Equal(n, 0), "it was read %d times", n)
}
