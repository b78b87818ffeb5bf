package ax_test

import (
	"strings"
	"testing"

	"aai/internal/desktop/linuxtest"
)

// TestRealPersonInThePage: whoever works in the page in which we write has their keyboard
// afterwards.
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

// TestRealPersonInAnotherPage is the same of a page in another window of that browser, in which
// we write as well.
func TestRealPersonInAnotherPage(t *testing.T) {
	t.Parallel()
	w := newRealWorld(t)
	f := w.formIn(`<label>Near <input id="near"></label><input type="hidden" id="far"><script>
		const channel = new BroadcastChannel("other");
		if (location.hash) {
			document.querySelector("button").remove();
			document.querySelector("label").firstChild.data = "Far ";
			document.title = "Other";
			window.fetch = () => channel.postMessage(near.value);
		} else {
			channel.onmessage = e => { far.value = e.data };
			open("/#other", "_blank", "popup,width=400,height=300,left=400,top=300");
		}</script>`, "button Ready", func(address, host string) *linuxtest.App {
		return w.browse(host, "--app="+address, "--disable-backgrounding-occluded-windows", "--disable-popup-blocking")
	})
	w.awaitElement(f.app, "textbox Far")
	w.front("Other")
	for range 2 {
		f.done("ax_set_value", f.set("textbox Far", "Ann"))
		f.types("far", "Ann")
		f.done("ax_set_value", f.set("textbox Near", "Bob"))
		f.types("far", f.holds("far"))
		f.done("ax_set_value", f.set("textbox Near", ""))
	}
	w.front("Form")
	f.types("near", "")
}

// front brings a window to the front, as a person does.
func (w *realWorld) front(title string) {
	w.Helper()
	w.eventually(title+" is in front", func() bool {
		_ = w.Launch(w.T, "xdotool", "search", "--name", "^"+title+"$", "windowactivate").Wait(w.T) // it fails where a window goes just then
		return w.ActiveWindow(w.T) == title
	})
}

// types has the person type until it comes to the field, which holds that: a browser that has
// just been given the keyboard needs a while. What was typed in vain before does not come.
func (f *webForm) types(id, held string) {
	f.Helper()
	f.eventually("what the person types comes to "+id+", which holds "+held, func() bool {
		f.run("xdotool", "key", "x")
		now := f.holds(id)
		return strings.HasPrefix(now, held) && len(now) > len(held) && strings.Trim(now[len(held):], "x") == ""
	})
}
