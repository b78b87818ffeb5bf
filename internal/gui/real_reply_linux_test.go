package gui_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// TestRealNavigation: after a click on a link the reply describes the new page, and not all
// elements of the old one; the clicked element is gone.
func TestRealNavigation(t *testing.T) {
	f := pageOf(t, `<p>`+strings.Repeat(`<label>Word <input></label> <button>Old</button> `, 12)+`<a href="/next">Go next</a>`)
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
	f := pageOf(t, `<p id="clock">12:00:00</p><p id="memory">Memory usage - 50.0 MB</p><p id="count">done 0</p><p id="timer">0:00</p>
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
	f.caller.Session = "another" // a session without history
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
	f := pageOf(t, `<p><label>Agree <input type="checkbox" id="agree"></label><label>Name <input id="name" value="a"></label>
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
	w := parallelWorld(t)
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
	f := pageOf(t, `<p><label>Colour <select id="colour"><option>Red<option>Green</select></label>`)
	_, e := f.do(f.Context(), "ax_set_value", f.set("combobox Colour", "Turquoise"))
	assert.Assert(t, e != nil, "there is no such option")
	f.says(e.Message, "Turquoise")
}

// farPage returns a page of many paragraphs with actionable elements at its end.
func farPage() string {
	var b strings.Builder
	for i := range 200 {
		fmt.Fprintf(&b, "<p>Paragraph number %d of many.</p>\n", i)
	}
	b.WriteString(`<button id="last">Last of all</button> <img class="far-trash" id="bin" src="/bin.png" width="20" height="20"> <input id="far" aria-label="Far away" value="afar">
<input id="clicked" aria-label="Clicked"><script>
for (const id of ["last", "bin"]) document.getElementById(id).addEventListener("click", () => { document.getElementById("clicked").value = id; });
</script>`)
	return b.String()
}

// TestRealOutOfView: a tree reports how many elements of which kind are out of view, and continues
// with them. They can be found and acted on, which scrolls them into view.
func TestRealOutOfView(t *testing.T) {
	f := pageOf(t, farPage())
	first := f.ok("ax_get_tree", params{"app": f.app})
	assert.Check(t, regexp.MustCompile(`1 of 1 thing to act on; out of view: 2 textbox, 1 button, 1[0-9]{2} paragraph, 1 image; more: "q`).MatchString(first.Text), "it says %s", first.Text)
	text := f.shown(f.app)
	for i := range 200 {
		n := strings.Count(text, fmt.Sprintf(`number %d of`, i))
		assert.Check(t, is.Equal(n, 1), "paragraph %d is told %d times", i, n)
	}
	last := regexp.MustCompile(`button "Last of all" \[(e\d+)\]`).FindStringSubmatch(text)
	assert.Assert(t, last != nil, "what is at the end is not there:\n%s", text)
	assert.Assert(t, is.Contains(text, "image bin.png .far-trash ["))
	f.says(f.ok("ax_find", f.on("Last of all")).Text, last[1], "out of view")
	const brought = "was scrolled into it first"
	f.says(f.ok("ax_click", f.on("Last of all")).Text, brought)
	f.comes("clicked", "last")
	a := f.ok("ax_click", f.on(last[1]))
	assert.Check(t, !strings.Contains(a.Text, brought), "what is in view is brought there: %s", a.Text)
	f.says(f.ok("ax_find", f.on("Paragraph number 3 of many.")).Text, "out of view")
	f.says(f.refused("ELEMENT_NOT_FOUND", "ax_find", f.on("Nowhere at all")).Message, "nothing in")
}

// TestRealOutOfViewUnread: elements out of view that are only read on request are found too, and
// typed into.
func TestRealOutOfViewUnread(t *testing.T) {
	f := pageOf(t, farPage())
	f.says(f.ok("ax_find", f.on("bin.png .far-trash")).Text, "out of view")
	got := f.ok("ax_get_value", f.on("textbox Far away")).data["value"]
	assert.Check(t, is.Equal(got, "afar"), "a field out of view holds %q", got)
	f.says(f.ok("ax_click", f.on("bin.png .far-trash")).Text, "was scrolled into it first")
	f.comes("clicked", "bin")
	f.done("ax_set_value", f.set("textbox Far away", "here"))
	f.comes("far", "here")
}

// TestRealFirstLook: the first read of a browser waits for a loading page, and reports a page that
// stays empty.
func TestRealFirstLook(t *testing.T) {
	w := parallelWorld(t)
	comes := make(chan struct{})
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		<-comes
		_, _ = rw.Write([]byte(`<!DOCTYPE html><html lang="en"><title>Slow</title><button>Go on</button>`))
	}))
	t.Cleanup(server.Close)
	app := w.process(w.Launch(w.T, "chromium", "--force-renderer-accessibility", "--disable-backgrounding-occluded-windows", "--no-sandbox", "--test-type",
		"--no-first-run", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking", "--disable-component-update",
		"--password-store=basic", "--lang=en", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
		"--user-data-dir="+filepath.Join(w.Home, "browser"), "--window-size=900,700", server.URL))
	a := w.ok("ax_get_tree", params{"app": app})
	w.says(a.Warning, "its page is empty so far")
	time.AfterFunc(time.Second, func() { close(comes) })
	w.eventually("the page is told", func() bool {
		a := w.ok("ax_get_tree", params{"app": app})
		assert.Check(t, strings.Contains(a.Text, "Go on") != (a.Warning != ""), "%s %q", a.Text, a.Warning)
		return a.Warning == ""
	})
}
