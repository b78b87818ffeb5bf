package mcp_test

import (
	"context"
	"errors"
	"strings"
	"testing"

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
			if len(result.Content) == 0 || !strings.Contains(result.Content[0].Text, c.want) {
				t.Errorf("expected %q, got %+v", c.want, result)
			}
			if strings.Contains(result.Content[0].Text, "goroutine") {
				t.Errorf("a stack went to the client: %+v", result)
			}
			w.gate, w.journal.full = healthy, false
			w.catalog.setBroken(false)
			client.lives()
			if rest, err := client.hangUp(); len(rest) > 0 || err != nil {
				t.Errorf("at the end came %q and %v", rest, err)
			}
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
	if m.Error == nil || m.Error.Code != -32603 || strings.Contains(m.Error.Message, "boom") {
		t.Errorf("expected an internal error without its cause, got %+v %+v", m, m.Error)
	}
	c.lives()
}

// TestAResultThatIsNoJSONIsNotHidden checks that a call with such a result counts as executed, and is
// not a failure.
func TestAResultThatIsNoJSONIsNotHidden(t *testing.T) {
	w := newWorld(t)
	result := w.dial(t).open("2025-06-18", `{}`).ask("tools/call", exec(nanTool, `{}`)).result(t)
	result.succeeds(t)
	if _, there := result.StructuredContent["result"]; there || result.StructuredContent["warning"] == nil {
		t.Errorf("expected a warning alone, got %v", result.StructuredContent)
	}
	if got := w.journal.outcomes(nanTool); got[""] != 1 {
		t.Errorf("the journal has %v", got)
	}
}

// TestACatalogThatPanicsWhileListed checks that a panic of the catalog, at the start or later, only
// suppresses the update.
func TestACatalogThatPanicsWhileListed(t *testing.T) {
	w := newWorld(t)
	w.catalog.setBroken(true)
	c := w.dial(t).open("2025-06-18", `{}`)
	if names := c.toolNames(); strings.Join(names, " ") != "aai_exec" {
		t.Errorf("the list has %q", names)
	}
	w.catalog.setBroken(false)
	w.catalog.tell()
	c.awaitChanges("tools", "resources")
	c.lives()
	w.catalog.setBroken(true)
	w.catalog.tell()
	if names := c.toolNames(); strings.Join(names, " ") != "aai_exec app_org_example_Notes" {
		t.Errorf("the list has %q", names)
	}
}

// TestAnAppThatCannotBeListed checks that only the app that the SDK refuses is omitted.
func TestAnAppThatCannotBeListed(t *testing.T) {
	w := newWorld(t)
	w.catalog.apps = append(w.catalog.apps, w.app("org.example.\x7f", "Odd", ""), w.app("org.example.Zoo", "Zoo", ""))
	c := w.dial(t).open("2025-06-18", `{}`)
	if names := c.toolNames(); strings.Join(names, " ") != "aai_exec app_org_example_Notes app_org_example_Zoo" {
		t.Errorf("the list has %q", names)
	}
}
