package gui_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"net"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/devtools"
	"github.com/gybob/aai-gateway/internal/gui"
	"github.com/gybob/aai-gateway/internal/platform/cdp"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// fields returns the fields argument of a call, in order.
func fields(pairs ...string) []any {
	var all []any
	for i := 0; i < len(pairs); i += 2 {
		all = append(all, map[string]any{"query": pairs[i], "value": pairs[i+1]})
	}
	return all
}

// TestRealFill fills a GTK window in one call, in the background. The window reports the result.
func TestRealFill(t *testing.T) {
	w := parallelWorld(t)
	f, app := w.open(linuxtest.GTK3)
	p := w.somebody()
	a := w.ok("ax_fill", params{"app": app, "submit": "button Press", "fields": fields(
		"textbox \"Full name\"", unicode, "textbox Notes", "one\ntwo", "textbox Password", "Geh3im-Wort", "slider Volume", "70", "spinbutton Count", "42",
		"combobox Colour", "Blue", "checkbox Agree", "true", "listbox Fruits", "Fruit 5")})
	w.says(a.Text, "Filled 8 of 8 fields.", "Pressed 1 times")
	for key, want := range map[string]any{
		"name": unicode, "notes": "one\ntwo", "password": "Geh3im-Wort", "volume": 70, "count": 42, "colour": "Blue", "agree": true, "fruit": "Fruit 5", "presses": 1,
	} {
		f.WaitState(t, key, want)
	}
	assert.Check(t, is.Equal(at(a.data, "fields", 5, "was"), "Red"))
	p.undisturbed(t)
}

// twelve is a form of a web page, with its button.
const twelve = `<form onsubmit="heard += 1000; return false"><p><label>First name <input id="first"></label><label>Last name <input id="last"></label>
	<label>Email <input type="email" id="email"></label><label>Phone <input type="tel" id="phone"></label><p><label>Street <input id="street"></label>
	<label>City <input id="city"></label><label>Country <select id="country"><option>Austria<option selected>Germany<option>Japan</select></label>
	<label>Guests <input type="number" id="guests" min="1" max="9" value="1"></label><p><label>Arrival <input type="date" id="arrival"></label>
	<label><input type="checkbox" id="news"> Newsletter</label><fieldset><legend>Room</legend><label><input type="radio" name="room" id="single" value="s" checked> Single</label>
	<label><input type="radio" name="room" id="double" value="d"> Double</label></fieldset><label>Wishes <textarea id="wishes"></textarea></label><button>Book</button></form>`

// TestRealFillPage fills a web form in one call and submits it. The page reports the result.
func TestRealFillPage(t *testing.T) {
	w := parallelWorld(t)
	f := w.webFormIn(twelve, "") // other pages of the browser report the focus
	p := w.somebody()
	a := w.ok("ax_fill", params{"app": f.app, "submit": "button Book", "fields": fields("First name", "Ann", "Last name", unicode, "Email", "ann@example.org", "Phone", "123",
		"Street", "Elm 1", "City", "Graz", "combobox Country", "Japan", "Guests", "4", "textbox Arrival", "2026-03-04", "checkbox Newsletter", "true", "group Room", "Double", "Wishes", "one\ntwo")})
	w.says(a.Text, "Filled 12 of 12 fields.")
	for id, want := range map[string]string{
		"first": "Ann", "last": unicode, "email": "ann@example.org", "phone": "123", "street": "Elm 1", "city": "Graz", "country": "Japan", "guests": "4", "arrival": "2026-03-04",
		"news": "true", "double": "true", "wishes": "one\ntwo",
	} {
		f.comes(id, want)
	}
	f.eventually("the form was sent", func() bool { return len(f.holds("heard")) > 3 })
	assert.Check(t, is.Equal(strings.TrimSpace(fmt.Sprintln(at(a.data, "fields", 6, "was"), at(a.data, "fields", 9, "was"), at(a.data, "fields", 7, "was"), at(a.data, "fields", 10, "was"))), "Germany false 1 Single"))
	p.undisturbed(t)
}

// farForm is a form that is longer than the view: a text, a list and a check box at the top, and
// the submit button at the end.
var farForm = `<form onsubmit="heard += 1000; return false"><label>First name <input id="first" oninput="greet.textContent = 'Hello ' + value"></label> <p id="greet">Nobody</p>
<label>Country <select id="country"><option>Austria<option selected>Germany<option>Japan</select></label>
<label><input type="checkbox" id="news"> Newsletter</label>` + strings.Repeat("<p>Much is said in between.</p>\n", 100) +
	`<label>Wishes <textarea id="wishes"></textarea></label><button>Book</button></form>`

// TestRealFillOutOfView: each field is scrolled into view before it is filled, at any scroll
// position, and so is the submit button.
func TestRealFillOutOfView(t *testing.T) {
	f := pageOf(t, farForm)
	f.ok("ax_scroll", params{"app": f.app, "query": "button Book", "to_view": true})
	const brought = "Scrolled into view: "
	a := f.ok("ax_fill", params{"app": f.app, "fields": fields("First name", "Ann", "combobox Country", "Japan", "checkbox Newsletter", "true")})
	f.says(a.Text, "Filled 3 of 3 fields.", brought+`textbox "First name"`, "Hello Ann")
	assert.Check(t, !strings.Contains(a.Text, "Much is said"), "what is scrolled is told as what changed: %s", a.Text)
	for id, want := range map[string]string{"first": "Ann", "country": "Japan", "news": "true"} {
		f.comes(id, want)
	}
	a = f.ok("ax_fill", params{"app": f.app, "submit": "button Book", "fields": fields("Wishes", "one\ntwo", "First name", "Eve")})
	f.says(a.Text, "Filled 2 of 2 fields.", brought, `textbox "Wishes"`, `textbox "First name"`, `button "Book"`)
	if n := strings.Count(a.Text, "crolled into view"); n != 1 {
		t.Errorf("that things were out of view is said %d times: %s", n, a.Text)
	}
	f.comes("wishes", "one\ntwo")
	f.comes("first", "Eve")
	f.eventually("the form was sent", func() bool { return len(f.holds("heard")) > 3 })
	a = f.ok("ax_fill", params{"app": f.app, "fields": fields("Wishes", "three")})
	assert.Check(t, !strings.Contains(a.Text, brought), "what is in view is brought there: %s", a.Text)
}

// TestRealFillEmptied: a field that the page empties on leaving is reported, and the form is not
// submitted.
func TestRealFillEmptied(t *testing.T) {
	f := pageOf(t, `<form onsubmit="heard += 1000; return false"><label>Code <input id="code" onblur="value = /^[0-9]+$/.test(value) ? value : ''"></label>
		<label>Name <input id="name"></label><label>Notes <textarea id="notes"></textarea></label><button>Book</button></form>`)
	a := f.ok("ax_fill", params{"app": f.app, "submit": "button Book", "fields": fields("Code", "x1", "Name", "Ann", "Notes", "one\ntwo")})
	f.says(a.Text, "Filled 3 of 3 fields. The program has cleared e", "Not submitted.")
	all, _ := a.data["fields"].([]any)
	assert.Assert(t, is.Len(all, 3), a.data["fields"])
	assert.Assert(t, at(all[0], "error") != nil, "the fields are %v", a.data["fields"])
	assert.Assert(t, at(all[1], "error") == nil, "the fields are %v", a.data["fields"])
	assert.Assert(t, at(all[2], "error") == nil, "the fields are %v", a.data["fields"])
	a = f.ok("ax_fill", params{"app": f.app, "submit": "button Book", "fields": fields("Code", "12", "Name", "Eve")})
	assert.Check(t, !strings.Contains(a.Text, "has cleared"), "nothing was emptied: %s", a.Text)
	f.comes("name", "Eve")
	f.eventually("the form was sent", func() bool { return len(f.holds("heard")) > 3 })
}

// webForm is a page in Chromium that reports the values of its fields and their events: the
// witness.
type webForm struct {
	*realWorld
	app  string
	told atomic.Pointer[map[string]string]
	host string // of the page, with its port
}

// webForm opens a page with the body, in HTML, whose fields have ids. Another page,
// "/next", has a heading and a button.
func (w *realWorld) webForm(body string) *webForm { return w.webFormIn(body, "--app=") }

// pageOf is webForm for a test that runs beside others.
func pageOf(t *testing.T, body string) *webForm {
	t.Helper()
	return parallelWorld(t).webForm(body)
}

// webFormIn is webForm with arguments before the address; without any it opens a whole browser.
func (w *realWorld) webFormIn(body, before string) *webForm {
	w.Helper()
	return w.formIn(body, "button Ready", func(address, host string) *linuxtest.App {
		return w.browse(host, before+address, "--disable-backgrounding-occluded-windows")
	})
}

// browse starts Chromium for a page of the host.
func (w *realWorld) browse(host string, more ...string) *linuxtest.App {
	w.Helper()
	_, port, _ := net.SplitHostPort(host)
	if w.browsers != nil {
		more = append([]string{"--remote-debugging-port=0"}, more...)
	} else {
		more = append([]string{"--force-renderer-accessibility"}, more...)
	}
	return w.Launch(w.T, "chromium", append([]string{"--no-sandbox", "--test-type",
		"--no-first-run", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking", "--disable-component-update",
		"--password-store=basic", "--lang=en", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
		"--user-data-dir=" + filepath.Join(w.Home, "browser"+port), "--window-size=900,700"}, more...)...)
}

// formIn opens a page with the function open, which gets its address; if ready is "", the page is
// not read yet.
func (w *realWorld) formIn(body, ready string, open func(address, host string) *linuxtest.App) *webForm {
	w.Helper()
	f := &webForm{realWorld: w}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /{$}", func(rw http.ResponseWriter, _ *http.Request) { _, _ = rw.Write([]byte(formPage(body))) })
	mux.HandleFunc("GET /next", func(rw http.ResponseWriter, _ *http.Request) {
		_, _ = rw.Write([]byte(`<!DOCTYPE html><html lang="en"><title>Next</title><h1>Thank you</h1><button>Go on</button>`))
	})
	mux.HandleFunc("POST /state", func(_ http.ResponseWriter, r *http.Request) {
		var state map[string]string
		if json.NewDecoder(r.Body).Decode(&state) == nil { // it may vanish with the page
			f.told.Store(&state)
		}
	})
	server := httptest.NewServer(mux)
	w.Cleanup(server.Close)
	f.host = server.Listener.Addr().String()
	f.app = w.process(open(server.URL, f.host))
	w.connect()
	w.eventually("the page tells what it holds", func() bool { return f.told.Load() != nil })
	if ready != "" {
		w.awaitElement(f.app, ready)
	}
	return f
}

// holds returns the value of the field with the id, as the page reports it.
func (f *webForm) holds(id string) string { return (*f.told.Load())[id] }

// comes waits until the field has the value.
func (f *webForm) comes(id, value string) {
	f.Helper()
	f.eventually(id+" holds "+value, func() bool { return f.holds(id) == value })
}

func (f *webForm) on(query string) params { return params{"app": f.app, "query": query} }

func (f *webForm) set(query, value string) params {
	return params{"app": f.app, "query": query, "value": value}
}

func formPage(body string) string {
	return `<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>Form</title><button>Ready</button>` + body + `<script>
let heard = 0;
for (const kind of ["input", "change"]) document.addEventListener(kind, () => { heard++; });
setInterval(() => {
  const state = { heard: String(heard), focused: String(document.hasFocus()) };
  for (const e of document.querySelectorAll("input, select, textarea")) state[e.id] = ["checkbox", "radio"].includes(e.type) ? String(e.checked) : e.value;
  fetch("state", { method: "POST", body: JSON.stringify(state) });
}, 50);
</script></html>`
}

// numberIn returns a number in a JSON file, as text; "" if it is not there yet.
func numberIn(file, key string) string {
	text, err := os.ReadFile(file)
	if err != nil {
		return ""
	}
	var state map[string]float64
	if json.Unmarshal(text, &state) != nil {
		return ""
	}
	return strconv.FormatFloat(state[key], 'f', -1, 64)
}

// useDevTools makes the browsers of the world listen for DevTools.
func (w *realWorld) useDevTools() {
	w.browsers = devtools.New(devtools.Config{Find: func() (own []devtools.Endpoint) {
		for _, e := range devtools.Find(w.Getenv) {
			if strings.HasPrefix(e.Profile, w.Home) {
				own = append(own, e)
			}
		}
		return own
	}, AllowFile: w.Path("tmp", "browsers.json")})
	w.Cleanup(func() { _ = w.browsers.Close() })
	w.backend = cdp.Wrap(w.backend, w.browsers, slog.New(slog.NewTextHandler(w.Output(), nil)))
}

// connect connects to the browsers that run, if the world has DevTools.
func (w *realWorld) connect() {
	w.Helper()
	if w.browsers == nil {
		return
	}
	w.eventually("a browser listens for DevTools", func() bool { return len(w.browsers.Listening()) > 0 })
	for _, e := range w.browsers.Listening() {
		assert.NilError(w, w.browsers.Connect(w.Context(), e))
	}
}

// TestDevTools operates a page over DevTools in a browser that shows nothing of it by accessibility.
func TestDevTools(t *testing.T) {
	w := parallelWorld(t)
	w.useDevTools()
	f := w.webForm(`<label>Name <input id=name></label> <label for=pw>Key</label><input id=pw type=password>
		<select id=colour aria-label=Colour><option>Red<option>Green</select><label><input type=checkbox id=agree> I agree</label>
		<button onclick="document.title = 'sent'; out.textContent = 'Sent to ' + document.getElementById('name').value">Send</button><p id=out></p>
		<button onclick="alert('Hello there')">Greet</button>`)
	assert.Check(t, is.Contains(w.ok("ax_get_tree", params{"app": f.app}).Text, `textbox "Name"`))
	assert.Check(t, is.Contains(w.done("ax_type", params{"app": f.app, "query": "textbox Name", "text": "Ann"}).Text, cdpWay))
	f.comes("name", "Ann")
	said := w.done("ax_click", f.on("button Send")).Text
	assert.Assert(t, is.Contains(said, "Sent to Ann"))
	assert.Assert(t, is.Contains(said, cdpWay))
	w.done("ax_set_value", f.set("combobox Colour", "Green"))
	f.comes("colour", "Green")
	w.done("ax_set_value", f.set("checkbox I agree", "true"))
	f.comes("agree", "true")
	w.ok("ax_click", f.on("button Greet")) // the page does not answer while its dialog is open
}

// TestDevToolsUpload gives files to a field, and to the chooser of a button.
func TestDevToolsUpload(t *testing.T) {
	w := parallelWorld(t)
	w.useDevTools()
	forbidden := errors.New("names a file with passwords or keys")
	var asked []string
	w.offers(gui.Config{Open: func() desktop.Backend { return w.backend }, CheckUpload: func(path string) error {
		if strings.HasSuffix(path, "key") {
			return forbidden
		}
		return nil
	}}, seesFiles{&asked})
	f := w.webForm(`<label>Picture <input type=file id=picture onchange="told.value = this.files[0].name"></label><input type=hidden id=told>
		<button onclick="attachment.click()">Attach</button><input type=file id=attachment style="display:none" onchange="told.value = 'attached ' + this.files[0].name">`)
	file := w.Path("tmp", "note.txt")
	assert.NilError(t, os.WriteFile(file, []byte("note"), 0o600))
	w.done("ax_set_value", params{"app": f.app, "query": "button Picture: No file chosen", "upload": file})
	f.comes("told", "note.txt")
	w.ok("ax_set_value", params{"app": f.app, "query": "button Attach", "upload": file})
	f.comes("told", "attached note.txt")
	assert.Assert(t, len(asked) != 0, "the gates saw the files %q", asked)
	assert.Equal(t, asked[0], file, "%q", asked)
	_ = w.refused(aai.InvalidParams, "ax_set_value", params{"app": f.app, "query": "button Picture: note.txt", "upload": "/home/key"})
	_ = w.refused(aai.InvalidParams, "ax_set_value", params{"app": f.app, "query": "button Picture: note.txt", "upload": file, "value": "x"})
}

// seesFiles is a gate that notes the files that calls send.
type seesFiles struct{ files *[]string }

func (g seesFiles) Check(_ context.Context, r *aai.Request) ([]aai.Question, error) {
	*g.files = append(*g.files, r.Assessment().ReadsFiles...)
	return nil, nil
}

// cdpWay is the way of a reply.
const cdpWay = "by the browser's DevTools"
