package conversation

import (
	"context"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// oneTree is a program with fixed elements.
type oneTree struct {
	desktop.Tree
	shot *desktop.Snapshot
}

// Snapshot implements desktop.Tree.
func (t oneTree) Snapshot(context.Context, desktop.App) (*desktop.Snapshot, error) {
	return t.shot, nil
}

// TestHiddenTexts: texts that repeat a secret are hidden before any query reads them, and a field that shows one is a
// password field from then on, whatever element stands for it.
func TestHiddenTexts(t *testing.T) {
	shot := &desktop.Snapshot{App: desktop.App{PID: 7}, Elements: []desktop.Element{
		{ID: "p", Role: desktop.Paragraph, Name: "plain: hunter2-zebra", Parent: -1, End: 1},
		{ID: "f", Role: desktop.Textbox, Name: "Password", Value: "hunter2-zebra", States: desktop.Editable, Parent: -1, End: 2},
	}}
	filled := &FilledFields{
		Repeats: func(_ context.Context, text string) bool { return strings.Contains(text, "hunter2") },
		Runs:    func(int) bool { return true },
	}
	tree := WithFilledFields(desktop.Backend{Tree: oneTree{shot: shot}}, filled).Tree
	now, err := tree.Snapshot(t.Context(), shot.App)
	assert.NilError(t, err)
	assert.Check(t, is.Equal(now.Elements[0].Name, hiddenText))
	value := now.Elements[1].Value
	assert.Check(t, is.Equal(value, ""), "the field holds %q", value)
	shot.Elements[1].Value = "zebra" // the caller has deleted a part
	now, err = tree.Snapshot(t.Context(), shot.App)
	assert.NilError(t, err)
	e := now.Elements[1]
	assert.Check(t, is.Equal(e.Value, ""), "after a part was deleted the field holds %q", e.Value)
	assert.Check(t, now.Elements[1].States.Has(desktop.Protected), "the field is no password field")
	assert.Check(t, shot.Elements[0].Name != hiddenText, "the snapshot of the platform was changed")
}

// TestFieldsForPasswords: what was a field for passwords stays one, also as another element of the program, and in another
// gateway.
func TestFieldsForPasswords(t *testing.T) {
	field := desktop.Element{ID: "f1", Role: desktop.Textbox, Name: "Key", Identifier: "key", States: desktop.Editable | desktop.Protected, Frame: desktop.Rect{X: 1, Y: 2, W: 30, H: 9}, Parent: -1, End: 1}
	path := t.TempDir() + "/filled.json"
	gateway := func() *FilledFields {
		return &FilledFields{Path: path, Runs: func(int) bool { return true }}
	}
	read := func(f *FilledFields, e desktop.Element) desktop.Element {
		t.Helper()
		shot := &desktop.Snapshot{App: desktop.App{PID: 7, Started: "1"}, Elements: []desktop.Element{e}}
		now, err := WithFilledFields(desktop.Backend{Tree: oneTree{shot: shot}}, f).Tree.Snapshot(t.Context(), shot.App)
		assert.NilError(t, err)
		return now.Elements[0]
	}
	first := gateway()
	read(first, field)
	shown := field
	shown.States, shown.Value = desktop.Editable, "Quasimodo"
	e := read(first, shown)
	assert.Check(t, is.Equal(e.Value, ""), "the shown field has %q", e.Value)
	e = read(gateway(), shown)
	assert.Check(t, is.Equal(e.Value, ""), "in another gateway the shown field has %q", e.Value)
	shown.ID = "f2" // Firefox makes another element of it
	e = read(gateway(), shown)
	assert.Check(t, is.Equal(e.Value, ""), "the element that replaces it has %q", e.Value)
	assert.Check(t, !first.Has(desktop.App{PID: 7, Started: "1"}), "it counts as filled")
	other := shown
	other.ID, other.Identifier, other.Name = "f3", "town", "Town"
	assert.Check(t, read(gateway(), other).Value != "", "another field is hidden")
}
