package gui_test

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// TestRealKeysOfFields: in a single-line field a tab moves on and a line end submits; in a
// multiline one both are text. Also tests return after a text, and a key in an element. The page
// reports the result, and a person beside it is not disturbed.
func TestRealKeysOfFields(t *testing.T) {
	w := parallelWorld(t)
	f := w.webForm(`<form onsubmit="sent.value = +sent.value + 1; return false"><label>First <input id="first"></label><label>Second <input id="second"></label><button>Send</button></form>
		<label>Notes <textarea id="notes"></textarea></label><button onclick="pressed.value = +pressed.value + 1">Go</button>
		<input type="hidden" id="sent" value="0"><input type="hidden" id="pressed" value="0">`)
	p := w.somebody()
	f.ok("ax_type", params{"app": f.app, "query": "textbox First", "text": "Ann\tBob"})
	f.comes("first", "Ann")
	f.comes("second", "Bob")
	f.ok("ax_type", params{"app": f.app, "query": "textbox Second", "text": "!\n"})
	f.comes("sent", "1")
	f.comes("second", "Bob!")
	a := f.ok("ax_type", params{"app": f.app, "query": "textbox First", "text": "Eve", "clear_first": true, "submit": true})
	f.says(a.Text, "Typed, and pressed return in")
	f.comes("sent", "2")
	f.comes("first", "Eve")
	f.done("ax_type", params{"app": f.app, "query": "textbox Notes", "text": "a\nb"})
	f.comes("notes", "a\nb")
	e := f.refused(aai.InvalidParams, "ax_type", params{"app": f.app, "query": "textbox Notes", "text": "\tq"}) // the key would leave the field
	f.says(e.Message, "expected no tab")
	f.done("ax_key_press", params{"app": f.app, "query": "textbox Second", "key": "q"})
	f.comes("second", "Bob!q")
	f.ok("ax_key_press", params{"app": f.app, "query": "button Go", "key": "space"})
	f.comes("pressed", "1")
	f.comes("sent", "2")
	p.undisturbed(t)
}

// TestRealClickOnAField: in the background a page gets a click on its fields, but only the focus
// for multiline text, which the reply reports; in the mode "focus" it gets all clicks.
func TestRealClickOnAField(t *testing.T) {
	f := pageOf(t, `<label>Name <input id="name"></label><label>Notes <textarea id="notes"></textarea></label><input type="hidden" id="clicks">
		<script>for (const kind of ["mousedown", "click", "focusin"]) addEventListener(kind, e => clicks.value += kind + " " + e.target.id + ",")</script>`)
	a := f.done("ax_click", f.on("textbox Name"))
	f.comes("clicks", "focusin name,mousedown name,click name,")
	assert.Check(t, !strings.Contains(a.Text, "no click"), a.Text)
	f.says(f.ok("ax_click", f.on("textbox Notes")).Text, "received the focus but no click")
	f.comes("clicks", "focusin name,mousedown name,click name,focusin notes,")
	f.ok("ax_click", params{"app": f.app, "query": "textbox Notes", "mode": "focus"})
	f.comes("clicks", "focusin name,mousedown name,click name,focusin notes,mousedown notes,click notes,")
}

// TestRealHover: an element that shows only under the pointer appears, and can then be clicked.
func TestRealHover(t *testing.T) {
	f := pageOf(t, `<style>nav div { display: none } nav:hover div { display: block }</style>
		<nav><button>More</button><div><button onclick="chosen.value = 'yes'">Archive</button></div></nav><input type="hidden" id="chosen" value="no">`)
	for _, mode := range []string{"background", "focus"} {
		a := f.done("ax_click", params{"app": f.app, "query": "button More", "click_type": "hover", "mode": mode})
		f.says(a.Text, "Moved the pointer to", "Archive")
		f.done("ax_click", params{"app": f.app, "query": "button Ready", "click_type": "hover", "mode": mode})
	}
	f.ok("ax_click", params{"app": f.app, "query": "button More", "click_type": "hover"})
	f.ok("ax_click", params{"app": f.app, "query": "button Archive"})
	f.comes("chosen", "yes")
}

// TestRealKeysQt: a Qt element with a key gets its window's focus, and no other change: a spin box
// is not incremented, and a text beside it that keeps tabs is no obstacle.
func TestRealKeysQt(t *testing.T) {
	w := parallelWorld(t)
	file := filepath.Join(w.Home, "told")
	app := w.python("keys.py", "spinbutton Count", file)
	p := w.somebody()
	told := ""
	for _, c := range []struct{ query, key, tells string }{
		{"spinbutton Count", "down", "count 49\n"},
		{"checkbox Agree", "space", "agree True\n"},
		{"spinbutton Count", "up", "count 50\n"},
		{"button Apply", "space", "apply\n"},
		{"textbox Notes", "a", ""},
		{"spinbutton Count", "down", "count 49\n"},
	} {
		w.ok("ax_key_press", params{"app": app, "query": c.query, "key": c.key})
		told += c.tells
		w.eventually(c.key+" in "+c.query, func() bool { text, _ := os.ReadFile(file); return string(text) == told })
	}
	w.ok("ax_click", params{"app": app, "query": "spinbutton Count"})
	w.ok("ax_key_press", params{"app": app, "query": "spinbutton Count", "key": "down"})
	told += "count 48\n"
	w.eventually("one less after a click", func() bool { text, _ := os.ReadFile(file); return string(text) == told })
	p.undisturbed(t)
}

// TestRealNoTabIntoText: a key for an element that takes no focus in the background changes no text
// on its way.
func TestRealNoTabIntoText(t *testing.T) {
	for _, kind := range []linuxtest.Kind{linuxtest.GTK3, linuxtest.GTK4, linuxtest.Qt6} {
		t.Run(string(kind), func(t *testing.T) {
			w := parallelWorld(t)
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
		w := parallelWorld(t)
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
			w := parallelWorld(t)
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
		w := parallelWorld(t)
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
	w := parallelWorld(t)
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
