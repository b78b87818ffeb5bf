package gui_test

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway"
)

// TestRealKeysOfFields: in a single-line field a tab moves on and a line end submits; in a
// multiline one both are text. Also tests return after a text, and a key in an element. The page
// reports the result, and a person beside it is not disturbed.
func TestRealKeysOfFields(t *testing.T) {
	t.Parallel()
	w := newRealWorld(t)
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
	t.Parallel()
	w := newRealWorld(t)
	f := w.webForm(`<label>Name <input id="name"></label><label>Notes <textarea id="notes"></textarea></label><input type="hidden" id="clicks">
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
	t.Parallel()
	w := newRealWorld(t)
	f := w.webForm(`<style>nav div { display: none } nav:hover div { display: block }</style>
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
