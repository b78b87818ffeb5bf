package gui_test

import (
	"strings"
	"testing"

	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// TestRealPersonInThePage: a person who works in the same page keeps their keyboard focus.
func TestRealPersonInThePage(t *testing.T) {
	t.Parallel()
	w := newRealWorld(t)
	f := w.webForm(`<label>Name <input id="name"></label>`)
	for _, word := range []string{"Ann", "Bob"} {
		w.front("Form")
		f.done("ax_set_value", f.set("textbox Name", word))
		f.types("name", word)
	}
	f.done("ax_type", params{"app": f.app, "query": "textbox Name", "text": "!"})
	f.types("name", f.holds("name"))
}

// TestRealPersonInTheWindow is the same for a Qt window, which believes in its focus while it has
// the keyboard; and a page gets the person's keys afterwards.
func TestRealPersonInTheWindow(t *testing.T) {
	t.Parallel()
	w := newRealWorld(t)
	page := w.webForm(`<label>Name <input id="name" autofocus></label>`)
	f, app := w.open(linuxtest.Qt6)
	title := w.ActiveWindow(t)
	for _, held := range []string{"", "q"} {
		w.ok("ax_click", params{"app": app, "query": "Full name", "mode": "focus"})
		w.ok("ax_set_value", params{"app": app, "query": "Full name", "value": held})
		w.ok("ax_key_press", params{"app": app, "key": "q"})
		f.WaitState(t, "focused", true)
		w.run("xdotool", "key", "x")
		f.WaitFor(t, "what the person types comes to it", func(state map[string]any) bool {
			name, _ := state["name"].(string)
			return strings.Contains(name, "x")
		})
		page.front("Form")
		page.types("name", page.holds("name"))
		w.front(title)
		f.WaitState(t, "focused", true)
	}
}

// TestRealPersonInAnotherPage is the same for a page in another window of the browser that we type
// into.
func TestRealPersonInAnotherPage(t *testing.T) {
	t.Parallel()
	f := twoPages(newRealWorld(t))
	f.front("Other")
	for range 2 {
		f.done("ax_set_value", f.set("textbox First", "Ann"))
		f.types("first", "Ann")
		f.done("ax_set_value", f.set("textbox Near", "Bob"))
		f.types("first", f.holds("first"))
		f.done("ax_set_value", f.set("textbox Near", ""))
	}
	f.front("Form")
	f.types("near", "")
}

// TestRealFieldsOfAnotherPage: the browser does not report that a field has lost the keyboard if
// another of its windows had it last; each text reaches its own field.
func TestRealFieldsOfAnotherPage(t *testing.T) {
	t.Parallel()
	f := twoPages(newRealWorld(t))
	f.front("Form")
	for _, word := range []string{"Ann", "Bob"} {
		f.done("ax_set_value", f.set("textbox First", "was "+word))
		f.done("ax_set_value", f.set("textbox Near", word))
		a := f.ok("ax_fill", params{"app": f.app, "fields": fields("textbox Second", "2 "+word, "textbox First", "1 "+word)})
		f.says(a.Text, "Filled 2 of 2 fields.")
		f.comes("second", "2 "+word)
		f.comes("first", "1 "+word)
	}
}

// twoPages opens the page "Form" with the field "Near", and in another window of that browser the
// page "Other" with the fields "First" and "Second".
func twoPages(w *realWorld) *webForm {
	w.Helper()
	f := w.formIn(`<label>Near <input id="near"></label><input type="hidden" id="first"><input type="hidden" id="second"><script>
		const channel = new BroadcastChannel("other");
		if (location.hash) {
			document.querySelector("button").remove();
			document.querySelector("label").remove();
			for (const e of [first, second]) { e.type = "text"; e.ariaLabel = e.id == "first" ? "First" : "Second"; }
			document.title = "Other";
			window.fetch = () => channel.postMessage([first.value, second.value]);
		} else {
			channel.onmessage = e => { [first.value, second.value] = e.data };
			open("/#other", "_blank", "popup,width=400,height=300,left=400,top=300");
		}</script>`, "button Ready", func(address, host string) *linuxtest.App {
		return w.browse(host, "--app="+address, "--disable-backgrounding-occluded-windows", "--disable-popup-blocking")
	})
	w.awaitElement(f.app, "textbox First")
	return f
}

// front brings a window to the front, as a person does.
func (w *realWorld) front(title string) {
	w.Helper()
	w.eventually(title+" is in front", func() bool {
		_ = w.Launch(w.T, "xdotool", "search", "--name", "^"+title+"$", "windowactivate").Wait(w.T) // it fails if a window closes just then
		return w.ActiveWindow(w.T) == title
	})
}

// types makes the person type until the text reaches the field, which then has the value held: a
// newly focused browser needs a moment. Earlier lost keys do not arrive later.
func (f *webForm) types(id, held string) {
	f.Helper()
	f.eventually("what the person types comes to "+id+", which holds "+held, func() bool {
		f.run("xdotool", "key", "x")
		now := f.holds(id)
		return strings.HasPrefix(now, held) && len(now) > len(held) && strings.Trim(now[len(held):], "x") == ""
	})
}
