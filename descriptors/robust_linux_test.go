package descriptors_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway"
)

// variant writes a modified descriptor into a temporary ~/.aai, together with the named others.
func variant(t *testing.T, id, old, replacement string, others ...string) string {
	t.Helper()
	text := string(source(t, id))
	assert.Equal(t, strings.Count(text, old), 1, "%s %q", id, old)
	folder := t.TempDir()
	install := func(id, text string) {
		assert.NilError(t, os.Mkdir(filepath.Join(folder, id), 0o700))
		assert.NilError(t, os.WriteFile(filepath.Join(folder, id, "aai.json"), []byte(text), 0o600))
	}
	install(id, strings.Replace(text, old, replacement, 1))
	for _, other := range others {
		install(other, string(source(t, other)))
	}
	return folder
}

// The calculator's search provider complains about three expressions at once and never answers.
// With fatal warnings it dies during the call. That call fails with a correct report; the next one
// makes the bus start the provider again.
func TestProgramThatDiesInTheCall(t *testing.T) {
	const name = "org.gnome.Calculator.SearchProvider"
	w := newWorld(t, variant(t, "org.gnome.Calculator", `"maxItems": 1,`, ``), "G_DEBUG=fatal-criticals")
	c := w.app("org.gnome.Calculator")
	for range 2 {
		before := w.ask("GetConnectionUnixProcessID", name)
		e := c.fails("calculate", `{"results": ["2+2", "hello", "7*6"]}`, aai.AppNotRunning, name)
		if e.Delivery != aai.DeliveryUnknown || e.RetrySafe() || e.Hint == "" {
			t.Errorf("expected delivery unknown, no safe retry and a hint, got %q, %t, %q", e.Delivery, e.RetrySafe(), e.Hint)
		}
		c.gives("calculate", `{"results": ["7*6"]}`, `[{"id": "7*6", "name": "7*6", "description": " = 42"}]`)
		after := w.ask("GetConnectionUnixProcessID", name)
		assert.Check(t, after != before, "it is still the same process: %s", after)
	}
}

// emptyTrash is a tool that answers only after the user has answered Thunar's question.
const emptyTrash = `"tools": [
	{"name": "empty_trash", "description": "Empty the trash.", "effect": "destroys", "interface": "org.xfce.Trash",
	 "method": "EmptyTrash", "timeout": 10, "returns": {"type": "null"}, "parameters": {"type": "object", "properties": {
	   "display": {"type": "string", "default": ""}, "startup_id": {"type": "string", "default": ""}}}},`

// A program that does not answer costs the call its deadline, and does not affect other calls.
func TestProgramThatHangs(t *testing.T) {
	w := newWorld(t, variant(t, "org.xfce.Thunar", `"tools": [`, emptyTrash, "org.gnome.Calculator"))
	c := w.app("org.gnome.Calculator")
	calculate := func() {
		t.Helper()
		c.gives("calculate", `{"results": ["2+2"]}`, `[{"id": "2+2", "name": "2+2", "description": " = 4"}]`)
	}
	calculate() // so that it runs
	f := w.thunar()
	w.write("a.txt", "hello\n")
	f.callsVoid("move_to_trash", `{"filenames": ["$HOME/a.txt"]}`)
	f.eventuallyGives("trash_has_items", `{}`, `true`)

	failed := make(chan error, 1)
	go func() {
		_, err := w.gateway.Do(t.Context(), &aai.Call{App: f.id, Tool: "empty_trash"})
		failed <- err
	}()
	w.eventually(func() error { return w.journal.hasReached(aai.Intent, "empty_trash") })
	calculate()
	assert.Check(t, w.journal.hasReached(aai.Outcome, "empty_trash") != nil, "the other app was not served before the hanging call had ended")
	w.windows(`Empty Trash`, "Thunar") // the question

	e := aai.AsError(<-failed)
	assert.Assert(t, e != nil, "expected TIMEOUT with delivery unknown, no safe retry and a hint, got %+v", e)
	assert.Equal(t, e.Code, aai.Timeout, "%+v", e)
	assert.Equal(t, e.Delivery, aai.DeliveryUnknown, "%+v", e)
	assert.Assert(t, !e.RetrySafe(), "expected TIMEOUT with delivery unknown, no safe retry and a hint, got %+v", e)
	assert.Assert(t, e.Hint != "", "expected TIMEOUT with delivery unknown, no safe retry and a hint, got %+v", e)
	calculate()
	w.file(trashed+"a.txt", "hello\n") // the question is unanswered
	f.gives("trash_has_items", `{}`, `true`)
}
