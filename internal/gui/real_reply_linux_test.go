package gui_test

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// TestRealNavigation: after a click on a link the reply describes the new page, and not all
// elements of the old one; the clicked element is gone.
func TestRealNavigation(t *testing.T) {
	t.Parallel()
	w := newRealWorld(t)
	f := w.webForm(`<p>` + strings.Repeat(`<label>Word <input></label> <button>Old</button> `, 12) + `<a href="/next">Go next</a>`)
	a := f.done("ax_click", f.on(`link "Go next"`))
	f.says(a.Text, `document "Next"`, "Thank you", `button "Go on"`)
	changes, _ := a.data["changes"].([]any)
	for _, c := range changes {
		text, _ := c.(string)
		assert.Assert(t, !strings.Contains(text, "Old"), "the old page is told of: %s", text)
		assert.Assert(t, !strings.Contains(text, "Word"), "the old page is told of: %s", text)
		assert.Assert(t, !strings.Contains(text, `"Ready" →`), "the old page is told of: %s", text)
	}
	assert.Check(t, a.data["element"] == nil, "the link is gone, and it says %v", a.data["element"])
}

// TestRealTicking: a clock and a memory figure without history are no effect of a click; a counter
// is one, even if it looks like them.
func TestRealTicking(t *testing.T) {
	t.Parallel()
	w := newRealWorld(t)
	f := w.webForm(`<p id="clock">12:00:00</p><p id="memory">Memory usage - 50.0 MB</p><p id="count">done 0</p><p id="timer">0:00</p>
		<button>Dead</button><button onclick="count.textContent = 'done ' + ++n">Work</button><button onclick="timer.textContent = '5:00'">Wind</button>
		<script>
		let n = 0, used = 500;
		const two = x => String(x).padStart(2, "0");
		setInterval(() => {
			const d = new Date();
			clock.textContent = two(d.getHours()) + ":" + two(d.getMinutes()) + ":" + two(d.getSeconds());
			memory.textContent = "Memory usage - " + (++used / 10).toFixed(1) + " MB";
		}, 100);
		</script>`)
	f.eventually("the clock runs", func() bool { return !strings.Contains(f.shown(f.app), "12:00:00") })
	w.caller.Session = "another" // a session without history
	for range 2 {
		dead := f.ok("ax_click", f.on("button Dead"))
		assert.Check(t, is.Equal(dead.data["verified"], false), "the dead button: %s %v", dead.Text, dead.data)
	}
	f.says(f.done("ax_click", f.on("button Work")).Text, `"done 0" → "done 1"`)
	f.says(f.done("ax_click", f.on("button Wind")).Text, `"0:00" → "5:00"`)
}

// TestRealElementAfter: the element in the reply is the one after the action, and a check box has
// its value.
func TestRealElementAfter(t *testing.T) {
	t.Parallel()
	w := newRealWorld(t)
	f := w.webForm(`<p><label>Agree <input type="checkbox" id="agree"></label><label>Name <input id="name" value="a"></label>
		<button onclick="this.textContent = 'Done'">Begin</button>`)
	for _, want := range []string{"true", "false"} {
		a := f.done("ax_click", f.on("checkbox Agree"))
		got := at(at(a.data, "element"), "value")
		assert.Check(t, is.Equal(got, want), "after the click the check box holds %v, want %s", got, want)
		got = f.ok("ax_get_value", f.on("checkbox Agree")).data["value"]
		assert.Check(t, is.Equal(got, want), "ax_get_value says %v, want %s", got, want)
	}
	a := f.done("ax_set_value", f.set("textbox Name", "b"))
	got := at(at(a.data, "element"), "value")
	assert.Check(t, is.Equal(got, "b"), "the field holds %v after it was set", got)
	a = f.done("ax_click", f.on("button Begin"))
	got = at(at(a.data, "element"), "title")
	assert.Check(t, is.Equal(got, "Done"), "the button is called %v after the click", got)
}

// TestRealRowThatStays: a click on a row that selects nothing is reported.
func TestRealRowThatStays(t *testing.T) {
	t.Parallel()
	w := newRealWorld(t)
	app := w.python("deaflist.py", "Beta")
	a, e := w.do(w.Context(), "ax_click", params{"app": app, "query": "Beta"})
	switch {
	case e != nil:
		w.says(e.Message, "could not do it")
	case a.Warning == "" || asJSON(t, a.Data)["verified"] != false:
		t.Errorf("%s %q %v", a.Text, a.Warning, a.Data)
	default:
		w.says(a.Warning, "not selected")
	}
}

// TestRealOptionsAreNoSecrets: the error contains an option's name, and also a number.
func TestRealOptionsAreNoSecrets(t *testing.T) {
	t.Parallel()
	w := newRealWorld(t)
	f := w.webForm(`<p><label>Colour <select id="colour"><option>Red<option>Green</select></label>`)
	_, e := f.do(f.Context(), "ax_set_value", f.set("combobox Colour", "Turquoise"))
	assert.Assert(t, e != nil, "there is no such option")
	f.says(e.Message, "Turquoise")
}
