package gui_test

import (
	"context"
	"fmt"
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

// TestCandidatesAreToldApart: equal buttons are distinguished by the text in their rows, or by
// position. Protected texts are not used.
func TestCandidatesAreToldApart(t *testing.T) {
	inWorld(t, func(w *world) {
		window := w.d.Program("Mail").Window("Mail")
		for _, who := range []string{"Ann", "Bob"} {
			row := window.Group("")
			row.Text("from " + who)
			row.Password("").SetText("s3cret")
			row.Button("Delete", func() {})
		}
		e := w.failure(aai.AmbiguousTarget, "ax_click", `{"app": "Mail", "query": "Delete"}`)
		text := strings.Join(e.Candidates, "\n")
		w.has(text, `button "Delete" beside "from Ann"`, `button "Delete" beside "from Bob"`)
		w.hasNot(text, "s3cret")
		w.hasNot(text, "window") // the same for all of them
	})
	inWorld(t, func(w *world) {
		window := w.d.Program("Mail").Window("Mail")
		one, other := window.Button("Go", func() {}), window.Button("Go", func() {})
		e := w.failure(aai.AmbiguousTarget, "ax_click", `{"app": "Mail", "query": "Go"}`)
		assert.Assert(t, one.Frame() != other.Frame(), "they are in one place")
		text := strings.Join(e.Candidates, "\n")
		assert.Check(t, is.Equal(strings.Count(text, " at "), 2), text)
	})
}

// TestWhatIsBehindAModalDialogIsNotMeant: nor an element in a dialog behind it, such as a form in a
// designer.
func TestWhatIsBehindAModalDialogIsNotMeant(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.d.Program("Designer")
		form := p.Window("Designer").Add(desktop.Element{Role: desktop.Dialog, Name: "Form"})
		form.Button("Cancel", nil)
		cancelled := false
		dialog := p.Dialog("Preferences")
		dialog.Button("Cancel", func() { cancelled = true; dialog.Close() })
		w.ok("ax_click", `{"app": "Designer", "query": "Cancel"}`)
		assert.Check(w, cancelled, "another Cancel was pressed than that of the dialog in front")
	})
}

// TestHowToComeToWhatIsNotShowing: the hint names the obstacle in front, or the closed container,
// if there is one.
func TestHowToComeToWhatIsNotShowing(t *testing.T) {
	inWorld(t, func(w *world) {
		f := form(w)
		shut := f.Window("Shut")
		shut.Button("In another window", nil)
		shut.Hide()
		rare := f.Main.Button("Rare", nil)
		rare.Hide()
		said := func(query string) string {
			w.Helper()
			e := w.failure(aai.ElementNotFound, "ax_click", `{"app": "Form", "query": "`+query+`"}`)
			w.has(e.Message, "is there, but not showing")
			return e.Hint
		}
		w.has(said("On second"), `tabpanel "Second"`, "Open that first")
		w.has(said("In another window"), `window "Shut"`, "not on the screen")
		hint := said("Rare")
		assert.Assert(w, !strings.Contains(hint, "dialog"), "no dialog and no tab has it: %q", hint)
		assert.Assert(w, !strings.Contains(hint, "tab "), "no dialog and no tab has it: %q", hint)
		dialog := f.Dialog("Preferences")
		dialog.Button("Close", func() { dialog.Close() })
		for _, query := range []string{"On second", "Rare"} {
			w.has(said(query), `dialog "Preferences" [e`, "Answer or close that first")
		}
		text := w.ok("ax_find", `{"app": "Form", "query": "Quit-not"}`).Text
		assert.Check(w, !strings.Contains(text, "ax_click"), "a click is offered behind a dialog: %s", text)
		e := w.failure(aai.AutomationFailed, "ax_click", `{"app": "Form", "query": "Press"}`)
		w.has(e.Message, `behind the modal dialog "Preferences"`)
		w.has(e.Hint, "close that dialog")
		w.ok("ax_click", `{"app": "Form", "query": "button Close"}`)
		w.has(w.ok("ax_find", `{"app": "Form", "query": "Quit-not"}`).Text, "closed menu: ax_click")
	})
}

// TestMenusThatAreMadeWhenTheyOpen: if nothing has the name, the hint names the menus without known
// items, and no other menus.
func TestMenusThatAreMadeWhenTheyOpen(t *testing.T) {
	inWorld(t, func(w *world) {
		window := w.d.Program("Files").Window("Home")
		bar := window.Add(desktop.Element{Role: desktop.Menubar})
		bar.Menu("File", func(string) {}, "Open")
		bar.Menu("Help", func(string) {})
		bar.Menu("", func(string) {})
		bar.Menu("Off", func(string) {}).RemoveState(desktop.Enabled)
		for _, tool := range []string{"ax_click", "ax_find"} {
			e := w.failure(aai.ElementNotFound, tool, `{"app": "Files", "query": "Telescope"}`)
			w.has(e.Hint, `menu "Help" [e`, `by ax_click with mode "focus"`)
			assert.Assert(w, !strings.Contains(e.Hint, "File"), "%s %q", tool, e.Hint)
			assert.Assert(w, !strings.Contains(e.Hint, `""`), "%s %q", tool, e.Hint)
			assert.Assert(w, !strings.Contains(e.Hint, "Off"), "%s %q", tool, e.Hint)
		}
	})
}

// TestFindTellsTheRow: the reply contains the row's texts, interactive ones with their ref, but no
// protected text and no other row.
func TestFindTellsTheRow(t *testing.T) {
	inWorld(t, func(w *world) {
		window := w.d.Program("Mail").Window("Mail")
		all := window.Group("")
		pressed := ""
		for n := range 50 {
			who := fmt.Sprintf("Ann %d", n)
			row := all.Group("")
			row.Text("from " + who)
			row.Text(strings.Repeat("long ", 60))
			row.Password("").SetText("s3cret")
			row.Button("Delete", func() { pressed = who })
		}
		window.Button("Quit", nil)
		a := w.ok("ax_find", `{"app": "Mail", "query": "from Ann 3"}`)
		w.has(a.Text, `; its row: "long long`, `…", button "Delete" [e`)
		for _, other := range []string{"s3cret", "Ann 2", "Ann 4"} {
			w.hasNot(a.Text, other)
		}
		assert.Check(t, len(a.Text)/4 <= 60, "it is about %d tokens: %s", len(a.Text)/4, a.Text)
		row, _ := a.data["row"].(string)
		_, ref, _ := strings.Cut(row, "[")
		w.ok("ax_click", fmt.Sprintf(`{"app": "Mail", "query": %q}`, strings.TrimSuffix(ref, "]")))
		assert.Check(t, is.Equal(pressed, "Ann 3"), ref)
		a = w.ok("ax_find", `{"app": "Mail", "query": "Quit"}`)
		assert.Check(t, !strings.Contains(a.Text, "its row"), a.Text)
	})
}

// TestFindOutOfView: an element scrolled out of view is found and marked; one hidden by a dialog, a
// closed menu or window is not found.
func TestFindOutOfView(t *testing.T) {
	inWorld(t, func(w *world) {
		f := form(w)
		f.Main.Button("Far away", nil).Hide()
		a := w.ok("ax_find", `{"app": "Form", "query": "Far away"}`)
		w.has(a.Text, `button "Far away" [e`, "out of view")
		for _, query := range []string{"(//button)[last()]", "Far"} {
			w.want(w.ok("ax_find", fmt.Sprintf(`{"app": "Form", "query": %q}`, query)), "Far away", "title")
		}
		f.Dialog("Preferences").Button("Close", nil)
		w.fails(aai.ElementNotFound, "ax_find", `{"app": "Form", "query": "Far away"}`)
	})
}
