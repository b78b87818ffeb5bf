package gui_test

import (
	"context"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gui/risk"
	"github.com/gybob/aai-gateway/internal/testkit/fakedesktop"
)

// TestKeysGoToTheDialogBeforeAPage: a key goes to the dialog, whichever page element reports the
// focus in the background. Its target is judged and recorded.
func TestKeysGoToTheDialogBeforeAPage(t *testing.T) {
	type parts struct{ page, dialog, cancel, ok *fakedesktop.Element }
	nowhere := func(parts) {}
	proceed := func(p parts) { p.page.Button("Proceed", nil).Focus() }
	title := func(p parts) { p.page.Textbox("Title").Focus() }
	const returns, spaces = `"key": "return"`, `"key": "space"`
	for name, c := range map[string]struct {
		focus      func(parts)
		tool, args string
		asks, on   string // on: "" if there is no question
	}{
		"return, the page's button":   {proceed, "ax_key_press", returns, "Delete it for good?", `button "OK / Cancel / Proceed" in "Page"`},
		"space, the page's button":    {proceed, "ax_key_press", spaces, "Delete it for good?", `button "OK / Cancel / Proceed" in "Page"`},
		"return, the page":            {func(p parts) { p.page.Focus() }, "ax_key_press", returns, "Delete it for good?", `button "OK / Cancel" in "Page"`},
		"space, the page":             {func(p parts) { p.page.Focus() }, "ax_key_press", spaces, "Delete it for good?", `button "OK / Cancel" in "Page"`},
		"return, nobody knows where":  {nowhere, "ax_key_press", returns, "Delete it for good?", `button "OK / Cancel" in "Page"`},
		"space, nobody knows where":   {nowhere, "ax_key_press", spaces, "Delete it for good?", `button "OK / Cancel" in "Page"`},
		"return at what is named":     {proceed, "ax_key_press", returns + `, "query": "button Proceed"`, "Delete it for good?", `button "OK / Cancel / Proceed" in "Page"`},
		"return in the page's field":  {title, "ax_type", `"query": "Title", "text": "x\n"`, "Delete it for good?", `textbox "Title / OK / Cancel" in "Page"`},
		"words in the page's field":   {title, "ax_type", `"query": "Title", "text": "a b"`, "Delete it for good?", `textbox "Title / OK / Cancel" in "Page"`},
		"a word in the page's field":  {title, "ax_type", `"query": "Title", "text": "ab"`, "Delete it for good?", ""},
		"the dialog's own Cancel":     {func(p parts) { p.cancel.Focus() }, "ax_key_press", returns, "Delete it for good?", ""},
		"the dialog's own OK":         {func(p parts) { p.ok.Focus() }, "ax_key_press", spaces, "Delete it for good?", `button "OK" in "Page"`},
		"a question of another thing": {proceed, "ax_key_press", returns, "Keep it for good?", ""},
		"a button that deletes behind a question": {func(p parts) { p.page.Button("Delete", nil).Focus() }, "ax_key_press", returns, "Keep it for good?",
			`button "OK / Cancel / Delete" in "Page"`},
		"a dialog that is hidden": {func(p parts) { proceed(p); p.dialog.Hide() }, "ax_key_press", returns, "Delete it for good?", ""},
	} {
		for _, seen := range []bool{true, false} {
			t.Run(name, func(t *testing.T) {
				inWorld(t, func(w *world) {
					window := w.d.Program("Browser").SetBrowser().Window("Page")
					p := parts{page: window.Add(desktop.Element{Role: desktop.Document, Name: "Page"})}
					p.dialog = window.Add(desktop.Element{Role: desktop.Dialog, Name: "example.org says"})
					p.dialog.Text(c.asks)
					p.cancel, p.ok = p.dialog.Button("Cancel", nil), p.dialog.Button("OK", nil).AddState(desktop.Default)
					c.focus(p)
					w.d.Program("Terminal").Window("Somebody's work")
					w.gateway.Gates = []aai.Gate{losses{w.record}}
					if seen {
						w.ok("ax_get_tree", `{"app": "Browser"}`)
					}
					since := w.mutations()
					_, err := w.do(c.tool, `{"app": "Browser", `+c.args+`}`)
					if asked := err != nil && err.Code == aai.ConsentRequired; asked != (c.on != "") {
						w.Errorf("seen before %t, asked %t: %v", seen, asked, err)
						return
					}
					if c.on == "" {
						return
					}
					w.nothingDone(since)
					if seen && err.Questions[0].Title != c.on || !seen && !strings.Contains(err.Message, c.on) {
						w.Errorf("seen before %t: asked about %v %v, want %s", seen, err.Questions, err, c.on)
					}
				})
			})
		}
	}
}

// TestTheRecordNamesTheDialogsAnswer: and not the page's focused element.
func TestTheRecordNamesTheDialogsAnswer(t *testing.T) {
	inWorld(t, func(w *world) {
		window := w.d.Program("Browser").SetBrowser().Window("Page")
		window.Add(desktop.Element{Role: desktop.Document, Name: "Page"}).Focus()
		dialog := window.Add(desktop.Element{Role: desktop.Dialog, Name: "example.org says"})
		dialog.Button("OK", nil).AddState(desktop.Default)
		w.d.Program("Terminal").Window("Somebody's work")
		w.ok("ax_key_press", `{"app": "Browser", "key": "space"}`)
		on := w.record.last(aai.Outcome).Element
		assert.Check(w, is.Equal(on.String(), `button "OK" in "Page"`), "%s %+v", on, on)
		assert.Check(w, !on.UnknownEffect, "on record is %s, %+v", on, on)
	})
}

// TestKeysGoToTheModalDialog: even if the window behind it is in front and reports its focus.
func TestKeysGoToTheModalDialog(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.d.Program("Office")
		window := p.Window("Office")
		window.Button("Proceed", nil).Focus()
		dialog := p.Dialog("Question")
		dialog.Text("Delete all data?")
		dialog.Button("Yes", nil).AddState(desktop.Default)
		window.Raise()
		w.d.Program("Terminal").Window("Somebody's work")
		w.gateway.Gates = []aai.Gate{losses{w.record}}
		w.ok("ax_get_tree", `{"app": "Office"}`)
		since := w.mutations()
		e := w.failure(aai.ConsentRequired, "ax_key_press", `{"app": "Office", "key": "return"}`)
		w.nothingDone(since)
		on := e.Questions[0].Title
		assert.Check(w, is.Equal(on, `button "Yes / Proceed" in "Question"`), "asked about %s", on)
	})
}

// Typing into a terminal within another program needs the permission to run commands, by query, by
// focus and by keys; elsewhere it does not.
func TestTypingIntoTheTerminalOfAnEditor(t *testing.T) {
	inWorld(t, func(w *world) {
		w.gateway.Gates = append(w.gateway.Gates, risk.ShellMarker{})
		win := w.d.Program("Code").Window("main.go")
		text := win.Textbox("Editor")
		shell := win.Add(desktop.Element{Role: desktop.Terminal, Name: "bash"})
		permission := func(tool, args string) string {
			_, _ = w.do(tool, args)
			return w.record.lastRequest().Permission()
		}
		for args, want := range map[string]string{
			`{"app": "Code", "query": "role:terminal", "text": "id\n"}`: aai.PermissionRun,
			`{"app": "Code", "query": "Editor", "text": "id\n"}`:        aai.PermissionAct,
			`{"app": "Code", "query": "Editor", "text": "x\tid\n"}`:     aai.PermissionRun,
			`{"app": "Code", "query": "Editor", "text": "x\nid"}`:       aai.PermissionRun,
		} {
			assert.Check(t, is.Equal(permission("ax_type", args), want), args)
		}
		assert.Check(t, is.Equal(permission("ax_set_value", `{"app": "Code", "query": "bash", "value": "id"}`), aai.PermissionRun))
		shell.Focus()
		for tool, args := range map[string]string{"ax_type": `{"app": "Code", "text": "id"}`, "ax_key_press": `{"app": "Code", "key": "return"}`} {
			assert.Check(t, is.Equal(permission(tool, args), aai.PermissionRun), tool)
		}
		text.Focus()
		got := permission("ax_type", `{"app": "Code", "text": "id"}`)
		assert.Check(t, is.Equal(got, aai.PermissionAct), "into the text: %s", got)
	})
}

// A terminal that the gates did not know about gets no text: it may have taken the focus since.
func TestNothingIsTypedIntoATerminalUnasked(t *testing.T) {
	inWorld(t, func(w *world) {
		win := w.d.Program("Code").Window("main.go")
		win.Textbox("Find")
		win.Add(desktop.Element{Role: desktop.Terminal, Name: "bash"}).Focus()
		since := w.mutations()
		for tool, args := range map[string]string{
			"ax_type": `{"app": "Code", "text": "id"}`, "ax_key_press": `{"app": "Code", "key": "return"}`,
			"ax_set_value": `{"app": "Code", "query": "bash", "value": "id"}`,
		} {
			w.has(w.failure(aai.ConsentRequired, tool, args).Message, "is a terminal")
		}
		w.has(w.failure(aai.ConsentRequired, "ax_type", `{"app": "Code", "query": "Find", "text": "x\tid\n"}`).Message, "leads into a terminal")
		w.nothingDone(since)
	})
}

// askAboutActs admits reads, if sees is true, and asks about everything else.
type askAboutActs struct{ sees bool }

func (g askAboutActs) Check(_ context.Context, r *aai.Request) ([]aai.Question, error) {
	if r.Permission() == aai.PermissionSee && g.sees {
		return nil, nil
	}
	return []aai.Question{{ID: "q", Title: "May it?", Channels: []aai.Channel{aai.DesktopDialog}, Choices: []aai.Choice{{ID: "no"}}}}, nil
}

// TestNobodyIsAskedAboutWhatIsNotThere: for callers that may see the program, a missing target is
// an error before any question. Others get the question first, and learn nothing.
func TestNobodyIsAskedAboutWhatIsNotThere(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.d.Program("Office")
		window := p.Window("Office")
		window.Button("Save", func() { t.Error("it was pressed") })
		window.Button("Open", func() {})
		window.Button("Open", func() {})
		window.Textbox("Name")
		for _, c := range []struct {
			tool, args string
			code       aai.Code // for callers that may see it
		}{
			{"ax_click", `{"app": "Office", "query": "Sava"}`, aai.ElementNotFound},
			{"ax_click", `{"app": "Office", "query": "Open"}`, aai.AmbiguousTarget},
			{"ax_click", `{"app": "Office", "query": "Open", "nth": 3}`, aai.ElementNotFound},
			{"ax_click", `{"app": "Office", "query": "e99"}`, aai.ElementNotFound},
			{"ax_click", `{"app": "Office", "query": "Save"}`, aai.ConsentRequired},
			{"ax_type", `{"app": "Office", "query": "Address", "text": "x"}`, aai.ElementNotFound},
			{"ax_type", `{"app": "Office", "query": "Name", "text": "x"}`, aai.ConsentRequired},
			{"ax_type", `{"app": "Office", "text": "x"}`, aai.ConsentRequired},
			{"ax_set_value", `{"app": "Office", "query": "Address", "value": "x"}`, aai.ElementNotFound},
			{"ax_key_press", `{"app": "Office", "key": "F4", "modifiers": ["alt"]}`, aai.AutomationNotSupported},
			{"ax_key_press", `{"app": "Office", "key": "ctrl+s"}`, aai.InvalidParams},
			{"ax_key_press", `{"app": "Office", "key": "s", "modifiers": ["ctrl"]}`, aai.ConsentRequired},
			{"ax_drag", `{"app": "Office", "from_query": "Save", "to_query": "Trash"}`, aai.ElementNotFound},
		} {
			w.gateway.Gates = []aai.Gate{askAboutActs{sees: true}}
			_, err := w.do(c.tool, c.args)
			if err == nil || err.Code != c.code {
				t.Errorf("%s %s for who sees: %v, want %s", c.tool, c.args, err, c.code)
			} else if c.code == aai.ElementNotFound && strings.Contains(c.args, "Sava") && !strings.Contains(strings.Join(err.Candidates, " "), `"Save"`) {
				t.Errorf("%s: the candidates are %q", c.args, err.Candidates)
			}
			w.gateway.Gates = []aai.Gate{askAboutActs{}}
			if _, err := w.do(c.tool, c.args); err == nil || err.Code != aai.ConsentRequired || len(err.Candidates) > 0 {
				t.Errorf("%s %s for who does not: %v, %q", c.tool, c.args, err, err.Candidates)
			}
		}
		p.Hang() // a program that hangs does not delay the question
		w.gateway.Gates = []aai.Gate{askAboutActs{sees: true}}
		w.fails(aai.ConsentRequired, "ax_click", `{"app": "Office", "query": "Sava"}`)
		p.Resume()
	})
}

// all lists windows; noWindows and noTree are parts of a missing desktop.
type (
	all       interface{ desktop.Windows }
	noWindows struct{ all }
	noTree    struct{ desktop.Tree }
)

func (noTree) Ready(context.Context) (desktop.Readiness, error) { return desktop.Readiness{}, nil }

func (noWindows) Windows(context.Context) ([]desktop.WindowInfo, error) {
	return nil, aai.Errorf(aai.AutomationNotSupported, "there is no screen: DISPLAY is not set")
}

// TestNobodyIsAskedWithoutAScreen: tools that need the screen report that there is none, without a
// question. Tools that report it themselves run, or are asked about.
func TestNobodyIsAskedWithoutAScreen(t *testing.T) {
	for _, screen := range []bool{false, true} {
		inWorldWithout(t, func(b *desktop.Backend) {
			if !screen {
				b.Windows, b.Tree = noWindows{}, noTree{b.Tree}
			}
		}, func(w *world) {
			w.gateway.Gates = []aai.Gate{askAboutActs{}}
			for _, c := range []struct {
				tool, args string
			}{{"ax_screenshot", `{}`}, {"ax_clipboard", `{"action": "read"}`}, {"ax_list_apps", `{}`}} {
				want, says := aai.AutomationNotSupported, "DISPLAY is not set"
				if screen {
					want, says = aai.ConsentRequired, "must allow"
				}
				e := w.failure(want, c.tool, c.args)
				assert.Check(t, is.Contains(e.Message, says), "%s %v", c.tool, e)
			}
			w.fails(aai.ConsentRequired, "ax_is_accessible", `{}`)
		})
	}
}
