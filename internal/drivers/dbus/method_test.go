package dbus

import (
	"encoding/json"
	"maps"
	"slices"
	"testing"

	"github.com/godbus/dbus/v5"
	"github.com/godbus/dbus/v5/introspect"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/testkit"
)

func TestEveryTypeRoundTrips(t *testing.T) {
	_, _, d := served(t)
	list := func(items ...any) []any { return append([]any{}, items...) }
	object := func(name string, v any) map[string]any { return map[string]any{name: v} }
	for _, c := range []struct {
		method  string
		in, out any
	}{
		{"EchoByte", 255, int64(255)},
		{"EchoByte", 1.0, int64(1)},
		{"EchoBool", true, true},
		{"EchoInt64", json.Number("9007199254740993"), int64(9007199254740993)},
		{"EchoUint64", json.Number("18446744073709551615"), uint64(18446744073709551615)},
		{"EchoDouble", 0.25, 0.25},
		{"EchoDouble", 3, 3.0},
		{"EchoDouble", "NaN", "NaN"},
		{"EchoDouble", "-Infinity", "-Infinity"},
		{"EchoString", "grüß dich", "grüß dich"},
		{"EchoVariant", "x", "x"},
		{"EchoVariant", list("x", 1), list("x", int64(1))},
		{"EchoVariant", map[string]any{"signature": "y", "value": 9}, int64(9)},
		{"EchoBytes", list(104, 105), "hi"},
		{"EchoBytes", "hi\x00", "hi"},
		{"EchoBytes", object("base64", "/wA="), object("base64", "/wA=")},
		{"EchoStrings", list(), list()},
		{"EchoDict", object("k", list(1, 2)), object("k", list(int64(1), int64(2)))},
		{"EchoPair", list(1, "x"), list(int64(1), "x")},
		{"EchoPairs", list(list(1, "x"), list(2, "y")), list(list(int64(1), "x"), list(int64(2), "y"))},
		{"EchoPairs", list(), list()},
	} {
		got := run(t, compile(t, d, methodRecipe(c.method, "v")), map[string]any{"v": c.in})
		assert.Check(t, is.DeepEqual(c.out, got.Data), "%s %v", c.method, c.in)
	}
}

func TestArgumentsAreOrderedBySignature(t *testing.T) {
	_, _, d := served(t)
	const want = "to=a subject=b urgency=3"
	// By name if all names are the app's, in any order.
	byName := compile(t, d, methodRecipe("Join", "urgency", "subject_line", "TO"))
	// By position otherwise.
	byPosition := compile(t, d, methodRecipe("Join", "x", "Subject-Line", "a"))
	// Repeated, because the order of a Go map is random.
	for range 20 {
		got := run(t, byName, map[string]any{"subject_line": "b", "TO": "a", "urgency": 3})
		assert.Equal(t, got.Data, want, "by name: %v", got.Data)
		got = run(t, byPosition, map[string]any{"a": 3, "x": "a", "Subject-Line": "b"})
		assert.Equal(t, got.Data, want, "by position: %v", got.Data)
	}
}

func TestArgumentsThatDoNotFit(t *testing.T) {
	_, s, d := served(t)
	for _, c := range []struct {
		name   string
		recipe *aai.Recipe
		args   map[string]any
		code   aai.Code
		want   string
	}{
		{"too few parameters", methodRecipe("Join", "to"), map[string]any{"to": "a"}, aai.DescriptorInvalid,
			"the descriptor lists (to), but org.example.App has Join(to s, Subject-Line s, urgency y)"},
		{"too many parameters", methodRecipe("Nothing", "to"), map[string]any{"to": "a"}, aai.DescriptorInvalid, "has Nothing()"},
		{"left out", methodRecipe("Join", "to", "subject_line", "urgency"), map[string]any{"to": "a", "subject_line": "b"},
			aai.InvalidParams, "urgency: expected a value of the D-Bus type y"},
		{"out of range", methodRecipe("EchoByte", "v"), map[string]any{"v": 300}, aai.InvalidParams,
			"v: expected an integer from 0 to 255, got 300"},
		{"descriptor in", methodRecipe("Descriptor", "file"), map[string]any{"file": "/etc/passwd"}, aai.AutomationNotSupported, "file descriptor"},
		{"descriptor out", methodRecipe("OpenFile"), nil, aai.AutomationNotSupported, "file descriptor"},
		{"descriptor in a variant", methodRecipe("EchoVariant", "v"), map[string]any{"v": map[string]any{"signature": "ah", "value": []any{1}}},
			aai.AutomationNotSupported, "v: the app expects a file descriptor"},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := fail(t, compile(t, d, c.recipe), c.args, c.code, aai.NotDelivered)
			assert.Check(t, is.Contains(err.Message, c.want))
			assert.Check(t, is.Equal(s.Calls(c.recipe.DBus.Method), 0))
		})
	}
}

func TestArraysMayBeLeftOut(t *testing.T) {
	_, _, d := served(t)
	for method, want := range map[string]any{
		"EchoStrings": []any{}, "EchoDict": map[string]any{}, "EchoPairs": []any{}, "EchoBytes": "",
	} {
		assert.Check(t, is.DeepEqual(want, run(t, compile(t, d, methodRecipe(method, "v")), nil).Data), "%s", method)
	}
}

func TestUnknownMethodNamesTheNearest(t *testing.T) {
	_, s, d := served(t)
	err := fail(t, compile(t, d, methodRecipe("EchoStrin", "v")), map[string]any{"v": "a"}, aai.AutomationFailed, aai.NotDelivered)
	assert.Assert(t, len(err.Candidates) != 0, "candidates: %v", err.Candidates)
	assert.Equal(t, err.Candidates[0], "EchoString", err.Candidates)
	assert.Check(t, is.Equal(s.Calls("EchoStrin"), 0))
}

func TestObjectWithoutIntrospection(t *testing.T) {
	_, s, d := served(t)
	opaque := func(method string, params ...string) aai.Action {
		r := methodRecipe(method, params...)
		r.DBus.Object = testkit.OpaqueServicePath
		return compile(t, d, r)
	}
	for range 3 {
		for method, v := range map[string]any{
			"EchoString": "x", "EchoBool": true, "EchoInt32": int64(5), "EchoInt64": int64(1) << 40, "EchoUint64": uint64(1) << 63,
			"EchoDouble": 0.5, "EchoStrings": []any{"a"}, "EchoDict": map[string]any{"a": int64(1)},
		} {
			assert.Check(t, is.DeepEqual(v, run(t, opaque(method, "v"), map[string]any{"v": v}).Data), "%s", method)
		}
		got := run(t, opaque("Join", "to", "subject", "urgency"), map[string]any{"urgency": 3, "subject": "b", "to": "a"})
		assert.Check(t, is.Equal(got.Data, "to=a subject=b urgency=3"), "in the order of the descriptor: %v", got.Data)
	}
	assert.Check(t, is.Equal(s.Calls("Introspect"), 1))
	fail(t, opaque("EchoString", "v"), nil, aai.InvalidParams, aai.NotDelivered)
	fail(t, opaque("EchoString", "v"), map[string]any{"v": nil}, aai.InvalidParams, aai.NotDelivered)
	fail(t, opaque("Absent"), nil, aai.AutomationFailed, aai.Delivered)
	// An app that no longer knows the method may have changed.
	run(t, opaque("EchoString", "v"), map[string]any{"v": "a"})
	assert.Check(t, is.Equal(s.Calls("Introspect"), 2))
}

func TestIntrospectionIsRememberedUntilItIsWrong(t *testing.T) {
	_, s, d := served(t)
	sum := compile(t, d, methodRecipe("EchoInt32", "v"))
	later := compile(t, d, methodRecipe("Later"))
	for range 5 {
		run(t, sum, map[string]any{"v": 1})
	}
	assert.Equal(t, s.Calls("Introspect"), 1)
	fail(t, later, nil, aai.AutomationFailed, aai.NotDelivered)

	// The app gets the method at run time.
	methods := map[string]any{"Later": func() (string, *dbus.Error) { return "now", nil }}
	methods["EchoInt32"] = func(v int64) (int64, *dbus.Error) { return v, nil }
	assert.NilError(t, s.Conn.ExportMethodTable(methods, testkit.ServicePath, testkit.ServiceInterface))
	text := `<node><interface name="org.example.Test"><method name="Later"><arg type="s" direction="out"/></method>
		<method name="EchoInt32"><arg type="x"/></method></interface></node>`
	assert.NilError(t, s.Conn.Export(introspect.Introspectable(text), testkit.ServicePath, "org.freedesktop.DBus.Introspectable"))
	assert.Check(t, is.Equal(run(t, later, nil).Data, "now"))
	// An earlier plan is not used any more.
	assert.Check(t, is.Equal(run(t, sum, map[string]any{"v": 1 << 40}).Data, int64(1<<40)))
}

func TestShapesOfReplies(t *testing.T) {
	_, _, d := served(t)
	for _, c := range []struct {
		method, parser string
		args           map[string]any
		data           any
		text           string
	}{
		{"Nothing", "", nil, nil, noValueText},
		{"Nothing", "string", nil, nil, ""},
		{"Named", "", nil, map[string]any{"count": int64(3), "word": "three"}, `{"count":3,"word":"three"}`},
		{"Unnamed", "", nil, []any{int64(3), "three"}, `[3,"three"]`},
		{"EchoString", "", map[string]any{"v": "<b>\n"}, "<b>\n", "<b>\n"},
		{"EchoString", "string", map[string]any{"v": "a"}, "a", "a"},
		{"EchoStrings", "string", map[string]any{"v": []any{"<"}}, []any{"<"}, `["<"]`},
		{"EchoInt32", "json", map[string]any{"v": 1}, int64(1), "1"}, // already data
		{"EchoStrings", "json", map[string]any{"v": []any{"a"}}, []any{"a"}, `["a"]`},
		{"Nothing", "json", nil, nil, noValueText},
		{"EchoString", "json", map[string]any{"v": `{"a": [1, 2.50]} `}, map[string]any{"a": []any{json.Number("1"), json.Number("2.50")}}, `{"a":[1,2.50]}`},
	} {
		r := methodRecipe(c.method, slices.Collect(maps.Keys(c.args))...)
		r.OutputParser = c.parser
		got := run(t, compile(t, d, r), c.args)
		assert.Check(t, is.DeepEqual(&aai.Result{Text: c.text, Data: c.data}, got), "%s %s", c.method, c.parser)
	}
}

// The app has acted, so a reply that should be JSON and is not becomes text.
func TestAnswersThatShouldBeJSON(t *testing.T) {
	_, _, d := served(t)
	r := methodRecipe("EchoString", "v")
	r.OutputParser = "json"
	echo := compile(t, d, r)
	for text, at := range map[string]string{`{"a": nope}`: "at byte 8", `1 2`: "at byte 3", "": "at byte 0", "done": "at byte 1"} {
		got := run(t, echo, map[string]any{"v": text})
		assert.Equal(t, got.Text, text, "%+v", got)
		assert.Assert(t, got.Data == nil, "%q: %+v, want a warning %s", text, got, at)
		assert.Assert(t, is.Contains(got.Warning, at), "%+v", got)
	}
}

func TestNamesOfOneReply(t *testing.T) {
	named := func(names ...string) (outs []argument) {
		for _, name := range names {
			outs = append(outs, argument{name: name})
		}
		return outs
	}
	for _, c := range []struct{ in, want []string }{
		{nil, nil}, {[]string{"a", "b"}, []string{"a", "b"}}, {[]string{"a", ""}, nil}, {[]string{"", "a"}, nil}, {[]string{"a", "a"}, nil},
	} {
		assert.Check(t, is.DeepEqual(c.want, outNames(named(c.in...))), "%q", c.in)
	}
}

func TestRepliesThatCannotBeRead(t *testing.T) {
	_, s, d := served(t)
	large := compile(t, d, methodRecipe("Large", "size"))
	fail(t, large, map[string]any{"size": 17 << 20}, aai.AutomationFailed, aai.Delivered)
	assert.Check(t, is.Equal(s.Calls("Large"), 1))
	// The connection still works.
	assert.Check(t, run(t, large, map[string]any{"size": 3}).Data != nil, "no data")
}
