package gui_test

import (
	"os"
	"path/filepath"
	"regexp"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// TestRealNoTabIntoText: a key for an element that takes no focus in the background changes no text
// on its way.
func TestRealNoTabIntoText(t *testing.T) {
	for _, kind := range []linuxtest.Kind{linuxtest.GTK3, linuxtest.GTK4, linuxtest.Qt6} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			w := newRealWorld(t)
			file := filepath.Join(w.Home, "text")
			app := w.pythonOf(kind, "tabbed", "button Count", file)
			p := w.somebody()
			for _, query := range []string{"button Count", "Words", "button Count"} {
				press, code := params{"app": app, "query": query, "key": "f7"}, aai.AutomationNotSupported
				if kind == linuxtest.Qt6 {
					if query != "Words" { // its button takes the focus by accessibility
						w.ok("ax_key_press", press)
						continue
					}
					code = aai.AutomationFailed // tab moves from the button to the text
				}
				w.says(w.refused(code, "ax_key_press", press).Message, "may be a character in textbox")
			}
			w.ok("ax_wait_idle", params{"app": app})
			text, _ := os.ReadFile(file)
			assert.Check(t, is.Equal(string(text), "hello"), "%q", text)
			p.undisturbed(t)
		})
	}
	t.Run("libreoffice", func(t *testing.T) {
		t.Parallel()
		w := newRealWorld(t)
		app := w.process(w.Writer(t, "hello"))
		w.awaitElement(app, "Bold")
		p := w.somebody()
		for _, query := range []string{"Bold", "button Italic"} {
			m := w.refused(aai.AutomationNotSupported, "ax_key_press", params{"app": app, "query": query, "key": "f7"}).Message
			if !regexp.MustCompile("may be a character in (document|paragraph)").MatchString(m) { // the focus is on it, which it reports now and then
				t.Error(m)
			}
		}
		w.ok("ax_wait_idle", params{"app": app})
		w.says(w.ok("ax_get_tree", params{"app": app}).Text, `= "hello"`)
		p.undisturbed(t)
	})
}

// TestRealClickIsNoReturn: a background click on a field, or a key for it, does not have the effect
// of return, which submits forms; nor does it raise the window.
func TestRealClickIsNoReturn(t *testing.T) {
	for _, kind := range []linuxtest.Kind{linuxtest.GTK3, linuxtest.GTK4} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			w := newRealWorld(t)
			file := filepath.Join(w.Home, "log")
			app := w.pythonOf(kind, "entries", "button Ready", file)
			p := w.somebody()
			w.done("ax_key_press", params{"app": app, "query": "role:textbox", "nth": 2, "key": "a"})
			w.ok("ax_click", params{"app": app, "query": "role:textbox", "nth": 1})
			w.done("ax_type", params{"app": app, "query": "role:textbox", "nth": 1, "text": "x"})
			w.ok("ax_wait_idle", params{"app": app})
			heard, _ := os.ReadFile(file)
			assert.Check(t, is.Equal(string(heard), "changed second a\nchanged first x\n"), "the program heard %q", heard)
			p.undisturbed(t)
		})
	}
	t.Run("calc", func(t *testing.T) {
		t.Parallel()
		w := newRealWorld(t)
		app := w.process(w.Calc(t))
		w.awaitElement(app, "Bold")
		p := w.somebody()
		w.ok("ax_set_value", params{"app": app, "query": "role:textbox", "nth": 1, "value": "A100"})
		_, err := w.do(w.Context(), "ax_key_press", params{"app": app, "query": "role:textbox", "nth": 1, "key": "return"})
		assert.Check(t, aai.AsError(err) != nil, "its name box took a key")
		w.ok("ax_wait_idle", params{"app": app})
		w.says(w.ok("ax_get_tree", params{"app": app}).Text, `cell "A1"`)
		p.undisturbed(t)
	})
}

// TestRealTabInAPage: a tab in the text for a page's field is an error, and the rest does not reach
// the next field.
func TestRealTabInAPage(t *testing.T) {
	t.Parallel()
	w := newRealWorld(t)
	app := w.page(`<title>T</title><label>Name <input></label> <label>Notes <textarea>old</textarea></label>
		<div contenteditable role=textbox aria-label=Body>words</div> <label>Code <input value="123456"></label><p id=all></p>
		<script>setInterval(() => { document.title = [...document.querySelectorAll("input,textarea,div")].map(e => e.value ?? e.innerText).join("|"); }, 100)</script>`, "textbox Code")
	title := func(want string) {
		t.Helper()
		w.eventually("the page holds "+want, func() bool {
			_, err := w.do(w.Context(), "ax_find", params{"app": app, "query": "role:window title:/^" + regexp.QuoteMeta(want) + "/"})
			return err == nil
		})
	}
	for _, field := range []string{"Name", "Notes", "Body"} {
		w.says(w.refused(aai.InvalidParams, "ax_set_value", params{"app": app, "query": "textbox " + field, "value": "x1\ty2"}).Message, "expected no tab")
	}
	w.says(w.refused(aai.InvalidParams, "ax_type", params{"app": app, "query": "textbox Notes", "text": "x1\ty2"}).Message, "expected no tab")
	title("|old|words|123456")
	w.done("ax_set_value", params{"app": app, "query": "textbox Notes", "value": "x1\ny2"})
	title("|x1")
}
