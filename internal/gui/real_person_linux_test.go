package gui_test

import (
	"fmt"
	"slices"
	"strings"
	"sync"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// TestRealPersonInThePage: a person who works in the same page keeps their keyboard focus.
func TestRealPersonInThePage(t *testing.T) {
	f := pageOf(t, `<label>Name <input id="name"></label>`)
	for _, word := range []string{"Ann", "Bob"} {
		f.front("Form")
		f.done("ax_set_value", f.set("textbox Name", word))
		f.types("name", word)
	}
	f.done("ax_type", params{"app": f.app, "query": "textbox Name", "text": "!"})
	f.types("name", f.holds("name"))
}

// TestRealPersonInTheWindow is the same for a Qt window, which believes in its focus while it has
// the keyboard; and a page gets the person's keys afterwards.
func TestRealPersonInTheWindow(t *testing.T) {
	w := parallelWorld(t)
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

// TestRealTwoGateways: each client starts its own gateway. Two of them type into two fields of one
// window at once, and each text arrives only in its field.
func TestRealTwoGateways(t *testing.T) {
	t.Parallel()
	for _, kind := range []linuxtest.Kind{linuxtest.GTK3, linuxtest.Chromium} {
		t.Run(string(kind), func(t *testing.T) {
			t.Parallel()
			one := newRealWorld(t)
			f := one.Fixture(t, kind)
			app := one.process(f.App)
			two := joined(t, one.Session, one.Getenv)
			var all sync.WaitGroup
			for w, field := range map[*realWorld]string{one: "Full name", two: "Notes"} {
				all.Go(func() {
					for n := range 6 {
						text := strings.Repeat(fmt.Sprintf("%s %d. ", field, n), 4)
						result, err := w.do(t.Context(), "ax_type", params{"app": app, "query": field, "text": text, "clear_first": true})
						if err != nil {
							t.Errorf("%q into %s: %v", text, field, err)
							continue
						}
						assert.Check(t, is.Equal(at(asJSON(t, result.Data), "verified"), true), "%q into %s: %s, warning %q", text, field, result.Text, result.Warning)
						found, err := w.do(t.Context(), "ax_get_value", params{"app": app, "query": field})
						if err != nil || !strings.Contains(found.Text, strings.TrimSpace(text)) {
							t.Errorf("%s holds %v, %v; want %q", field, found, err, text)
						}
					}
				})
			}
			all.Wait()
		})
	}
}

// realLists returns tests of tabs, rows and scrolling, in the background.
func realLists() []realPart {
	return []realPart{
		{"tab", func(w *realForm) {
			a := w.done("ax_click", w.on("tab Second"))
			w.says(a.Text, "On second")
			w.f.WaitState(w.T, "tab", "Second")
			w.ok("ax_click", w.on(`button "On second"`))
			w.f.WaitState(w.T, "second", 1)
		}},
		{"row", func(w *realForm) {
			w.done("ax_click", w.on(`option "Fruit 3"`))
			w.f.WaitState(w.T, "fruit", "Fruit 3")
			w.done("ax_set_value", w.with("listbox Fruits", "value", "Fruit 5"))
			w.f.WaitState(w.T, "fruit", "Fruit 5")
		}},
		{"scroll", realScroll},
		{"shuffle", realShuffle},
	}
}

func (w *realForm) scrolled() float64 {
	w.Helper()
	pixels, _ := w.f.State(w.T)["scroll"].(float64)
	return pixels
}

// realScroll: by pixels, and to a row that is not in view.
func realScroll(w *realForm) {
	w.ok("ax_scroll", params{"app": w.app, "query": "listbox Fruits", "direction": "down", "amount": 100})
	w.f.WaitFor(w.T, "the list is scrolled", func(map[string]any) bool { return w.scrolled() > 0 })
	down := w.scrolled()
	w.says(w.ok("ax_find", w.on(`option "Fruit 30"`)).Text, `option "Fruit 30" [e`, "out of view")
	w.says(w.done("ax_click", w.on(`option "Fruit 30"`)).Text, "was scrolled into it first")
	w.f.WaitState(w.T, "fruit", "Fruit 30")
	at := w.scrolled()
	assert.Check(w, !(at <= down), "it is scrolled to %v, and was to %v", at, down)
	w.done("ax_scroll", w.with(`option "Fruit 2"`, "to_view", true))
	w.done("ax_click", w.on(`option "Fruit 2"`))
	w.f.WaitState(w.T, "fruit", "Fruit 2")
}

// realShuffle: the list is recreated in another order. An old ref refers to the row of that name,
// or is stale.
func realShuffle(w *realForm) {
	ref := w.ref(w.app, `option "Fruit 4"`)
	a := w.done("ax_click", w.on("button Shuffle"))
	w.says(a.Text, "Fruit")
	w.f.WaitState(w.T, "shuffled", 1)
	before := w.f.State(w.T)["fruit"]
	switch _, e := w.do(w.Context(), "ax_click", w.on(ref)); {
	case e == nil:
		w.f.WaitState(w.T, "fruit", "Fruit 4")
	case slices.Contains([]aai.Code{aai.StaleRef, aai.AutomationFailed}, e.Code): // gone, or out of view
		w.notDelivered(e)
		w.says(e.Message, "Fruit 4")
		w.f.WaitState(w.T, "fruit", before)
	default:
		w.Errorf("%s %v", e.Code, e)
	}
	w.done("ax_click", w.on(`option "Fruit 7"`))
	w.f.WaitState(w.T, "fruit", "Fruit 7")
}

// TestRealListOfSeveral: an option of a page's list is selected when the reply to the click comes,
// although the page first deselects another; and the list's value is its selection.
func TestRealListOfSeveral(t *testing.T) {
	f := pageOf(t, `<label>Pick many <select id="many" multiple size="4"><option>Red<option selected>Blue<option>Green<option selected>Black</select></label>`)
	f.says(f.ok("ax_get_value", f.on("listbox Pick many")).Text, `has the value "Blue, Black"`)
	for _, option := range []string{"Green", "Red", "Black", "Blue", "Green"} {
		a := f.ok("ax_click", f.on("option "+option))
		f.comes("many", option)
		assert.Check(t, is.Equal(a.Warning, ""), "%s %s", option, a.Text)
		assert.Check(t, is.Equal(at(a.data, "verified"), true), "%s %s", option, a.Text)
		got := f.ok("ax_get_value", f.on("listbox Pick many")).data["value"]
		assert.Check(t, is.Equal(got, option), "the list holds %v, not %s", got, option)
	}
}
