package catalog

import (
	"context"
	"encoding/json"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
)

// TestWhatIsSetMayBePutBackUnlessItIsSecret checks undo of properties.
func TestWhatIsSetMayBePutBackUnlessItIsSecret(t *testing.T) {
	for _, c := range []struct {
		property, access, param string
		want                    bool
	}{
		{"Volume", "set", "value", true},
		{"Volume", "set", "password", false},
		{"WifiPassword", "set", "value", false},
		{"Volume", "get", "", false},
	} {
		params := ""
		if c.param != "" {
			params = `"` + c.param + `": {"type": "string"}`
		}
		d, err := Parse([]byte(withPlatforms(`{"linux": {"automation": "dbus", "service": "org.example.App", "object": "/a", "interface": "org.example.App",
			"tools": [{"name": "t", "description": "D.", "property": "`+c.property+`", "access": "`+c.access+`",
			"parameters": {"type": "object", "properties": {`+params+`}}}]}}`)), Options{})
		assert.NilError(t, err)
		assert.Check(t, is.Equal(d.Recipes[0].Reversible, c.want), "%+v", c)
	}
}

// TestADBusToolTakesOnlyItsParameters checks that a D-Bus call rejects additional parameters that
// the schema allows.
func TestADBusToolTakesOnlyItsParameters(t *testing.T) {
	d, err := Parse([]byte(undoApp(false, `{"tool": "restore", "args": {"id": 1}}`)), Options{})
	assert.NilError(t, err)
	check := d.App.Tool("list").Params.Check
	_, err = check(map[string]any{"id": 1})
	assert.Check(t, err)
	_, err = check(map[string]any{"id": 1, "nosuch": 1})
	assert.Assert(t, aai.AsError(err) != nil, "an unknown parameter: %v", err)
	assert.Equal(t, aai.AsError(err).Code, aai.InvalidParams, err)
}

// undoApp returns an app in either dialect with a tool "delete" that has the undo.
func undoApp(single bool, undo string) string {
	tools := `[{"name": "delete", "description": "D.", "method": "Delete", "undo": ` + undo + `,
			"parameters": {"type": "object", "properties": {"id": {}, "why": {"type": "string"}, "password": {"type": "string"}}}},
		{"name": "restore", "description": "R.", "method": "Restore",
			"parameters": {"type": "object", "properties": {"id": {}, "token": {}, "note": {}}, "required": ["id"]}},
		{"name": "list", "description": "L.", "method": "List", "effect": "reads",
			"parameters": {"type": "object", "properties": {"id": {}}}}]`
	where := `"service": "org.example.App", "object": "/a", "interface": "org.example.App"`
	if single {
		return `{"schema_version": "1.0", "version": "1.0.0", "platform": "linux", "app": {"id": "org.example.App", "name": "App", "description": "An app."},
			"execution": {"type": "dbus", ` + where + `}, "tools": ` + tools + `}`
	}
	return withPlatforms(`{"linux": {"automation": "dbus", ` + where + `, "tools": ` + tools + `}}`)
}

// answers is a driver with tools that return the data.
type answers struct{ data any }

func (d *answers) Compile(*aai.Recipe) (aai.Action, error) {
	return func(context.Context, *aai.Call) (*aai.Result, error) {
		return &aai.Result{Data: d.data, Text: "a text"}, nil
	}, nil
}

// undoOf runs "delete" of an app with that undo, and returns the result's undo as JSON.
func undoOf(t *testing.T, single bool, undo string, args map[string]any, answer any) string {
	t.Helper()
	d, err := Parse([]byte(undoApp(single, undo)), Options{HostPlatform: "linux", Drivers: drivers(&answers{answer}, "dbus")})
	assert.NilError(t, err)
	result, err := d.App.Tool("delete").Run(t.Context(), &aai.Call{App: "an alias", Tool: "delete", Args: args})
	assert.NilError(t, err)
	if result.Undo == nil {
		return "none"
	}
	b, err := json.Marshal(result.Undo)
	assert.NilError(t, err)
	return string(b)
}

func TestADescriptorSaysHowAnActIsTakenBack(t *testing.T) {
	answer := map[string]any{"token": uint64(1<<63 + 1), "files": []any{map[string]any{"name": "${args.id}"}}}
	args := map[string]any{"id": json.Number("7"), "why": "a \"reason\" ${args.id}"}
	for name, c := range map[string]struct{ undo, want string }{
		"the example": {`{"tool": "restore", "args": {"id": "${args.id}", "token": "${result.token}"}}`,
			`{"says":"restore undoes delete","step":{"app":"org.example.App","tool":"restore","args":{"id":7,"token":9223372036854775809}}}`},
		"with a look": {`{"tool": "restore", "args": {"id": [1, {"a": "${args.id}"}], "note": "no. ${args.id}: ${args.why}"}, "says": "${result.files.0.name} is back",
				"look": {"tool": "list", "args": {"id": "${args.id}"}, "left": {"gone": true, "why": "${args.why}", "none": null}}}`,
			`{"says":"${args.id} is back","step":{"app":"org.example.App","tool":"restore","args":{"id":[1,{"a":7}],"note":"no. 7: a \"reason\" ${args.id}"}},` +
				`"look":{"app":"org.example.App","tool":"list","args":{"id":7}},"left":{"gone":true,"none":null,"why":"a \"reason\" ${args.id}"},` +
				`"form":{"gone":true,"none":null,"why":"${args.why}"}}`},
		"the whole result":      {`{"tool": "restore", "args": {"id": "${result.files}"}}`, `{"says":"restore undoes delete","step":{"app":"org.example.App","tool":"restore","args":{"id":[{"name":"${args.id}"}]}}}`},
		"what is not answered":  {`{"tool": "restore", "args": {"id": "${result.receipt}"}}`, "none"},
		"not in the list":       {`{"tool": "restore", "args": {"id": "${result.files.1}"}}`, "none"},
		"within no object":      {`{"tool": "restore", "args": {"id": "${result.token.x}"}}`, "none"},
		"a list within a text":  {`{"tool": "restore", "args": {"id": "no. ${result.files}"}}`, "none"},
		"a look without a left": {`{"tool": "restore", "args": {"id": 1}, "look": {"tool": "list", "left": "${result.receipt}"}}`, "none"},
	} {
		for _, single := range []bool{true, false} {
			assert.Check(t, is.Equal(undoOf(t, single, c.undo, args, answer), c.want), name)
		}
	}
	// An absent argument is omitted, but an unknown placeholder is an error.
	assert.Check(t, is.Contains(undoOf(t, true, `{"tool": "restore", "args": {"id": 1, "note": "${args.why}"}}`, nil, nil), `"args":{"id":1}`))
	for _, undo := range []string{`{"tool": "restore", "args": {"id": ["${args.why}"]}}`, `{"tool": "restore", "args": {"id": "x${args.why}"}}`, `{"tool": "restore", "args": {"id": 1}, "look": {"tool": "list", "left": "${args.why}"}}`} {
		assert.Check(t, is.Equal(undoOf(t, true, undo, nil, nil), "none"))
	}
	assert.Check(t, is.Contains(undoOf(t, true, `{"tool": "restore", "args": {"id": "${result}"}}`, nil, nil), `{"id":"a text"}`))
}

func TestUnknownKeysOfAnUndo(t *testing.T) {
	d := mustParse(t, undoApp(true, `{"tool": "restore", "args": {"id": 1}, "args2": 1, "look": {"tool": "list", "left": null, "lft": 1}}`), Options{})
	assert.Check(t, is.Len(d.Warnings, 2))
}
