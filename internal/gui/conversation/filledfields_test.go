package conversation

import (
	"context"
	"strings"
	"testing"

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
	if err != nil {
		t.Fatal(err)
	}
	if name := now.Elements[0].Name; name != hiddenText {
		t.Errorf("the paragraph is %q", name)
	}
	if value := now.Elements[1].Value; value != "" {
		t.Errorf("the field holds %q", value)
	}
	shot.Elements[1].Value = "zebra" // the caller has deleted a part
	if now, err = tree.Snapshot(t.Context(), shot.App); err != nil {
		t.Fatal(err)
	}
	if e := now.Elements[1]; e.Value != "" {
		t.Errorf("after a part was deleted the field holds %q", e.Value)
	}
	if e := now.Elements[1]; !e.States.Has(desktop.Protected) {
		t.Error("the field is no password field")
	}
	if shot.Elements[0].Name == hiddenText {
		t.Error("the snapshot of the platform was changed")
	}
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
		if err != nil {
			t.Fatal(err)
		}
		return now.Elements[0]
	}
	first := gateway()
	read(first, field)
	shown := field
	shown.States, shown.Value = desktop.Editable, "Quasimodo"
	if e := read(first, shown); e.Value != "" {
		t.Errorf("the shown field has %q", e.Value)
	}
	if e := read(gateway(), shown); e.Value != "" {
		t.Errorf("in another gateway the shown field has %q", e.Value)
	}
	shown.ID = "f2" // Firefox makes another element of it
	if e := read(gateway(), shown); e.Value != "" {
		t.Errorf("the element that replaces it has %q", e.Value)
	}
	if first.Has(desktop.App{PID: 7, Started: "1"}) {
		t.Error("it counts as filled")
	}
	other := shown
	other.ID, other.Identifier, other.Name = "f3", "town", "Town"
	if e := read(gateway(), other); e.Value == "" {
		t.Error("another field is hidden")
	}
}
