package dbus

import (
	"encoding/json"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/testkit"
)

// fixed sets a recipe's arguments from a JSON list.
func fixed(t *testing.T, r *aai.Recipe, list string) *aai.Recipe {
	t.Helper()
	assert.NilError(t, json.Unmarshal([]byte(list), &r.DBus.Args))
	return r
}

func TestFixedArguments(t *testing.T) {
	b := testkit.StartBus(t)
	testkit.ServeOnBus(t, b, service)
	d := newDriver(t, b)
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
	b := testkit.StartBus(t)
	app := testkit.ServeOnBus(t, b, service)
	d := newDriver(t, b)
	within := compile(t, d, fixed(t, methodRecipe("Join", "a"), `["x", "about ${a}", 1]`))
	for _, given := range []map[string]any{nil, {"a": nil}, {"a": []any{"x"}}} {
		fail(t, within, given, aai.InvalidParams, aai.NotDelivered)
	}
	fail(t, compile(t, d, fixed(t, methodRecipe("Join", "a"), `["${a}"]`)), map[string]any{"a": "x"}, aai.DescriptorInvalid, aai.NotDelivered)
	fail(t, compile(t, d, fixed(t, methodRecipe("Join"), `["x", "y", 300]`)), nil, aai.InvalidParams, aai.NotDelivered)
	n := app.Calls("Join")
	assert.Check(t, is.Equal(n, 0), "%d calls have reached the app", n)
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
