package gui_test

import (
	"context"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
)

// TestOnlyWhatIsCalledSo: a similar element is named with its ref, and not pressed; with contains:
// it is pressed.
func TestOnlyWhatIsCalledSo(t *testing.T) {
	for asked, there := range map[string]string{
		"OK": "Bookmark this tab", "Save": "Don't Save", "Close": "Close without saving", "Delete": "Delete all data",
		"保存": "不保存", "Lock": "Unlock", "Delete Al Dat": "Delete All Data", "close": "Close All",
	} {
		inWorld(t, func(w *world) {
			pressed := 0
			w.d.Program("Editor").Window("Untitled").Button(there, func() { pressed++ })
			e := w.failure(aai.ElementNotFound, "ax_click", `{"app": "Editor", "query": "`+asked+`"}`)
			if pressed > 0 || e.Delivery != aai.NotDelivered || len(e.Candidates) == 0 || !strings.Contains(e.Candidates[0], there) {
				w.Errorf("%q: %q pressed %d times, delivery %q, candidates %q", asked, there, pressed, e.Delivery, e.Candidates)
			}
			ref, _, _ := strings.Cut(e.Candidates[0], " ")
			w.ok("ax_click", `{"app": "Editor", "query": "`+ref+`"}`)
			part, _, _ := strings.Cut(there, " ")
			w.ok("ax_click", `{"app": "Editor", "query": "contains:`+part+`"}`)
			assert.Check(w, is.Equal(pressed, 2), "%q: pressed %d times by its ref and by contains:", there, pressed)
		})
	}
}

// TestWhatIsInFrontComesFirst: an element of a dialog in front wins over one behind it, in any
// spelling; a dialog behind still wins over nothing.
func TestWhatIsInFrontComesFirst(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.d.Program("Editor")
		pressed := ""
		main := p.Window("Untitled")
		main.Button("Close", func() { pressed = "window"; main.Text("closing") })
		find := p.Dialog("Find")
		find.RemoveState(desktop.Modal)
		find.Button("CLOSE…", func() { pressed = "dialog"; find.Text("closing") })
		w.ok("ax_click", `{"app": "Editor", "query": "Close"}`)
		assert.Check(w, is.Equal(pressed, "dialog"), "pressed that of the %s", pressed)
		main.Raise()
		main.Button("Other", nil).Focus()
		pressed = ""
		w.ok("ax_click", `{"app": "Editor", "query": "Close"}`)
		assert.Check(w, is.Equal(pressed, "window"), "with the dialog behind, pressed that of the %s", pressed)
	})
}

// TestADockedPanelIsNotInFront: Qt reports a docked panel as a dialog inside the window.
func TestADockedPanelIsNotInFront(t *testing.T) {
	inWorld(t, func(w *world) {
		main := w.d.Program("Editor").Window("Untitled")
		main.Button("Print", nil)
		main.Add(desktop.Element{Role: desktop.Dialog, States: desktop.Enabled | desktop.Showing}).Button("Print", nil)
		since := w.mutations()
		_ = w.failure(aai.AmbiguousTarget, "ax_click", `{"app": "Editor", "query": "Print"}`)
		w.nothingDone(since)
	})
}

// TestTextGoesWhereItCan: of several elements of a role, a text is meant for the one that is not read-only. Of two
// with one name it may be meant for either.
func TestTextGoesWhereItCan(t *testing.T) {
	inWorld(t, func(w *world) {
		window := w.d.Program("Editor").Window("Untitled")
		window.Textbox("Result").AddState(desktop.ReadOnly)
		field := window.Textbox("Input")
		w.ok("ax_type", `{"app": "Editor", "query": "role:textbox", "text": "abc"}`)
		assert.Check(w, is.Equal(field.Value(), "abc"))
		window.Textbox("Total").AddState(desktop.ReadOnly)
		window.Textbox("Total")
		e := w.failure(aai.AmbiguousTarget, "ax_type", `{"app": "Editor", "query": "Total", "text": "d"}`)
		w.has(e.Message, "Total")
		_ = w.failure(aai.AmbiguousTarget, "ax_type", `{"app": "Editor", "query": "role:textbox", "text": "d"}`)
	})
}

// TestThePageComesFirst: the page's elements win over the browser's own buttons, in any spelling
// and with any name.
func TestThePageComesFirst(t *testing.T) {
	inWorld(t, func(w *world) {
		pressed := ""
		frame := w.d.Program("Browser").Window("Shop")
		frame.Button("Close", func() { pressed = "frame"; frame.Text("gone") })
		frame.Button("Close without asking", func() { pressed = "another"; frame.Text("gone") }).Describe("", "close")
		page := frame.Add(desktop.Element{Role: desktop.Document, Name: "Shop", States: desktop.Enabled | desktop.Showing})
		page.Button("CLOSE", func() { pressed = "page"; frame.Text("thanks") })
		for _, query := range []string{"Close", "close", "button Close", "role:button name:Close"} {
			pressed = ""
			w.ok("ax_click", `{"app": "Browser", "query": "`+query+`"}`)
			assert.Check(w, is.Equal(pressed, "page"), "%s: pressed that of the %s", query, pressed)
		}
	})
}

// TestAWholeNameComesFirst: a browser button with exactly that name wins over a page's link with a
// longer name.
func TestAWholeNameComesFirst(t *testing.T) {
	inWorld(t, func(w *world) {
		pressed := ""
		frame := w.d.Program("Browser").Window("Shop")
		frame.Button("Back", func() { pressed = "frame"; frame.Text("gone") })
		page := frame.Add(desktop.Element{Role: desktop.Document, Name: "Shop", States: desktop.Enabled | desktop.Showing})
		page.Add(desktop.Element{Role: desktop.Link, Name: "back to form", States: desktop.Enabled | desktop.Showing, Actions: []string{"click"}})
		w.ok("ax_click", `{"app": "Browser", "query": "Back"}`)
		assert.Check(w, is.Equal(pressed, "frame"), "pressed that of the %q", pressed)
	})
}

// TestTheItemOfAClosedMenu: a similar visible element does not win over the item.
func TestTheItemOfAClosedMenu(t *testing.T) {
	inWorld(t, func(w *world) {
		chosen := ""
		window := w.d.Program("Editor").Window("Untitled")
		window.Button("Save and quit", func() { chosen = "button" })
		bar := window.Add(desktop.Element{Role: desktop.Menubar, States: desktop.Enabled | desktop.Showing})
		bar.Menu("File", func(item string) { chosen = item; window.Text("saved") }, "Open", "Save")
		w.ok("ax_click", `{"app": "Editor", "query": "Save"}`)
		assert.Check(w, is.Equal(chosen, "Save"))
	})
}

// flatBars reports each menu bar but the first as LibreOffice does: showing, without a height.
type flatBars struct{ desktop.Tree }

func (f flatBars) Snapshot(ctx context.Context, app desktop.App) (*desktop.Snapshot, error) {
	shot, err := f.Tree.Snapshot(ctx, app)
	if err != nil {
		return nil, err
	}
	told := *shot
	told.Elements = slices.Clone(shot.Elements)
	bars := 0
	for i := range told.Elements {
		if e := &told.Elements[i]; e.Role == desktop.Menubar {
			if bars++; bars > 1 {
				e.Frame.H = 0
			}
		}
	}
	return &told, nil
}

// TestAMenuBarThatNobodySees: its duplicates of visible items do not count, and its other items do.
func TestAMenuBarThatNobodySees(t *testing.T) {
	inWorldWithout(t, func(b *desktop.Backend) { b.Tree = flatBars{b.Tree} }, func(w *world) {
		chosen := ""
		window := w.d.Program("Writer").Window("Untitled")
		for _, bar := range []string{"seen", "unseen"} {
			items := []string{"Word Count...", "More"}
			if bar == "unseen" {
				items = append(items, "Alone")
			}
			window.Add(desktop.Element{Role: desktop.Menubar}).Menu("Tools", func(item string) { chosen = bar + " " + item; window.Text(chosen) }, items...)
		}
		for query, want := range map[string]string{"Word Count": "seen Word Count...", "Alone": "unseen Alone"} {
			w.ok("ax_click", `{"app": "Writer", "query": "`+query+`"}`)
			assert.Check(w, is.Equal(chosen, want), "%q", query)
		}
	})
}
