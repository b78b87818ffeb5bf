package mcp_test

import (
	"context"
	"errors"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
)

// TestNothingThatBreaksTakesTheDoorAlong checks that after any failure within a request, the request
// has its answer, the call is recorded, and the door continues.
func TestNothingThatBreaksTakesTheDoorAlong(t *testing.T) {
	for name, c := range map[string]struct {
		breaks func(*world)
		tool   string
		want   string // in the answer
	}{
		"action panics":  {func(*world) {}, panicTool, "INTERNAL"},
		"gate panics":    {withGate(func(*aai.Request) ([]aai.Question, error) { panic("broken") }), addTool, "INTERNAL"},
		"gate fails":     {withGate(func(*aai.Request) ([]aai.Question, error) { return nil, errors.New("x") }), addTool, "AUTOMATION_FAILED"},
		"catalog panics": {func(w *world) { w.catalog.setBroken(true) }, addTool, "INTERNAL"},
		"no JSON value":  {func(*world) {}, nanTool, "no JSON value"},
		"journal full":   {func(w *world) { w.journal.full = true }, addTool, "RECORD_FAILED"},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			client := w.dial(t).open("2025-06-18", `{}`)
			healthy := w.gate
			c.breaks(w)
			result := client.ask("tools/call", exec(c.tool, `{}`)).result(t)
			assert.Assert(t, len(result.Content) != 0, "%+v", result)
			assert.Assert(t, is.Contains(result.Content[0].Text, c.want), "%+v", result)
			assert.Check(t, !strings.Contains(result.Content[0].Text, "goroutine"), "a stack went to the client: %+v", result)
			w.gate, w.journal.full = healthy, false
			w.catalog.setBroken(false)
			client.lives()
			rest, err := client.hangUp()
			assert.Assert(t, is.Len(rest, 0))
			assert.NilError(t, err)
		})
	}
}

// An explosive value panics when it is encoded.
type explosive struct{}

func (explosive) MarshalJSON() ([]byte, error) { panic("boom") }

// TestAPanicInTheDoor checks that a panic in the door itself is a protocol error for that request alone.
func TestAPanicInTheDoor(t *testing.T) {
	w := newWorld(t)
	w.catalog.apps[1].Tools[0].Run = func(context.Context, *aai.Call) (*aai.Result, error) {
		return &aai.Result{Data: explosive{}}, nil
	}
	c := w.dial(t).open("2025-06-18", `{}`)
	m := c.ask("tools/call", exec(addTool, `{}`))
	assert.Assert(t, m.Error != nil, "expected an internal error without its cause, got %+v %+v", m, m.Error)
	assert.Equal(t, m.Error.Code, -32603, "%+v %+v", m, m.Error)
	assert.Assert(t, !strings.Contains(m.Error.Message, "boom"), "expected an internal error without its cause, got %+v %+v", m, m.Error)
	c.lives()
}

// TestAResultThatIsNoJSONIsNotHidden checks that a call with such a result counts as executed, and is
// not a failure.
func TestAResultThatIsNoJSONIsNotHidden(t *testing.T) {
	w := newWorld(t)
	result := w.dial(t).open("2025-06-18", `{}`).ask("tools/call", exec(nanTool, `{}`)).result(t)
	result.succeeds(t)
	_, there := result.StructuredContent["result"]
	assert.Assert(t, !there, "expected a warning alone, got %v", result.StructuredContent)
	assert.Assert(t, result.StructuredContent["warning"] != nil, "expected a warning alone, got %v", result.StructuredContent)
	got := w.journal.outcomes(nanTool)
	assert.Check(t, is.Equal(got[""], 1), got)
}

// TestACatalogThatPanicsWhileListed checks that a panic of the catalog, at the start or later, only
// suppresses the update.
func TestACatalogThatPanicsWhileListed(t *testing.T) {
	w := newWorld(t)
	w.catalog.setBroken(true)
	c := w.dial(t).open("2025-06-18", `{}`)
	names := c.toolNames()
	assert.Check(t, is.Equal(strings.Join(names, " "), "aai_exec"), "%q", names)
	w.catalog.setBroken(false)
	w.catalog.tell()
	c.awaitChanges("tools", "resources")
	c.lives()
	w.catalog.setBroken(true)
	w.catalog.tell()
	names = c.toolNames()
	assert.Check(t, is.Equal(strings.Join(names, " "), "aai_exec app_org_example_Notes"), "%q", names)
}

// TestAnAppThatCannotBeListed checks that only the app that the SDK refuses is omitted.
func TestAnAppThatCannotBeListed(t *testing.T) {
	w := newWorld(t)
	w.catalog.apps = append(w.catalog.apps, w.app("org.example.\x7f", "Odd", ""), w.app("org.example.Zoo", "Zoo", ""))
	c := w.dial(t).open("2025-06-18", `{}`)
	names := c.toolNames()
	assert.Check(t, is.Equal(strings.Join(names, " "), "aai_exec app_org_example_Notes app_org_example_Zoo"), "%q", names)
}
