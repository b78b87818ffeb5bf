package bench

import (
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// twelveFields is a form in a page that reports its values.
const twelveFields = `<!doctype html><html lang="en"><title>Book a room</title><form onsubmit="return false"><p><label>First name <input id="first"></label>
<label>Last name <input id="last"></label><label>Email <input type="email" id="email"></label><label>Phone <input type="tel" id="phone"></label>
<p><label>Street <input id="street"></label><label>City <input id="city"></label>
<label>Country <select id="country"><option>Austria<option selected>Germany<option>Japan</select></label>
<label>Guests <input type="number" id="guests" min="1" max="9" value="1"></label><p><label>Arrival <input type="date" id="arrival"></label>
<label><input type="checkbox" id="news"> Newsletter</label><label><input type="radio" name="room" id="double" value="d"> Double room</label>
<label>Wishes <textarea id="wishes"></textarea></label><button>Book</button></form><script>
setInterval(() => {
  const state = {};
  for (const e of document.querySelectorAll("input, select, textarea")) state[e.id] = e.type == "checkbox" || e.type == "radio" ? String(e.checked) : e.value;
  fetch("state", { method: "POST", body: JSON.stringify(state) });
}, 50);
</script></html>`

// formField is a field, and its expected value.
type formField struct{ id, name, role, value string }

func formFields() []formField {
	return []formField{
		{"first", "First name", "textbox", "Ann"}, {"last", "Last name", "textbox", "Example"}, {"email", "Email", "textbox", "ann@example.org"}, {"phone", "Phone", "textbox", "555 1234"},
		{"street", "Street", "textbox", "Elm Street 1"}, {"city", "City", "textbox", "Graz"}, {"country", "Country", "combobox", "Japan"}, {"guests", "Guests", "spinbutton", "4"},
		{"arrival", "Arrival", "textbox", "2026-03-04"}, {"news", "Newsletter", "checkbox", "true"}, {"double", "Double room", "radio", "true"}, {"wishes", "Wishes", "textbox", "A quiet room"},
	}
}

// formPage is the page in one browser.
type formPage struct {
	address string
	mu      sync.Mutex
	holds   map[string]string
}

func serveForm(b *testing.B) *formPage {
	b.Helper()
	p := &formPage{}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, twelveFields) })
	mux.HandleFunc("POST /state", func(_ http.ResponseWriter, r *http.Request) {
		var state map[string]string
		if json.NewDecoder(r.Body).Decode(&state) == nil {
			p.mu.Lock()
			p.holds = state
			p.mu.Unlock()
		}
	})
	server := httptest.NewServer(mux)
	b.Cleanup(server.Close)
	p.address = server.URL + "/"
	return p
}

// filled waits until the page has all expected values.
func (p *formPage) filled() error {
	want := make(map[string]string)
	for _, f := range formFields() {
		want[f.id] = f.value
	}
	for end := time.Now().Add(10 * time.Second); ; time.Sleep(settlePause) {
		p.mu.Lock()
		holds := p.holds
		p.mu.Unlock()
		if maps.Equal(holds, want) {
			return nil
		}
		if time.Now().After(end) {
			return fmt.Errorf("the page holds %v", holds)
		}
	}
}

// filling is the text of filling a form: a look and a call.
type filling struct {
	look, call, answer string
	took               time.Duration
}

// tokens returns the tokens that a model reads and writes, at four characters each.
func (f filling) tokens() (read, all int) {
	read = len([]rune(f.look+f.answer)) / 4
	return read, read + len([]rune(f.call))/4
}

// fillWith looks at the page, and fills its fields by the refs of the look.
func fillWith(b *testing.B, s *session, p *formPage, look string, ref *regexp.Regexp, call func(refs map[string]string) string) (filling, error) {
	b.Helper()
	var f filling
	begun := time.Now()
	a, err := s.try("tools/call", look)
	if err != nil {
		return f, err
	}
	f.look = a.text(b)
	refs := refsIn(f.look, ref)
	for _, field := range formFields() {
		if refs[field.name] == "" {
			return f, errors.New("its look has no " + field.name)
		}
	}
	f.call = call(refs)
	if a, err = s.try("tools/call", f.call); err != nil {
		return f, err
	}
	f.took = time.Since(begun)
	f.answer = a.text(b)
	return f, p.filled()
}

// compareForm fills the same form of twelve fields with the gateway and with playwright-mcp: each
// looks once, and fills all fields in one call.
func (w *desktopBench) compareForm(b *testing.B) {
	s := w.newScene(b, "chromium")
	page := serveForm(b)
	pid := s.processOf(b, "chromium", browse(b, s.Session, page.address).PID)
	app := strconv.Itoa(pid)
	s.await(b, pid, "button Book")
	s.awaitSettled(b, app)
	ours, err := fillWith(b, s.gateway, page, toolCall(b, "ax_get_tree", map[string]any{"app": app}), regexp.MustCompile(`"([^"]+)" \[(e\d+)\]`), func(refs map[string]string) string {
		var fields []any
		for _, f := range formFields() {
			fields = append(fields, map[string]any{"query": refs[f.name], "value": f.value})
		}
		return toolCall(b, "ax_fill", map[string]any{"app": app, "fields": fields})
	})
	assert.NilError(b, err, ours.answer)
	read, all := ours.tokens()
	beside, most := "did not run: ", 450
	if theirs, err := formByPlaywright(b, s); err != nil {
		beside += firstLine(err)
	} else {
		theirRead, theirAll := theirs.tokens()
		beside, most = fmt.Sprintf("playwright-mcp %d read, %d with the call, %s", theirRead, theirAll, millis(theirs.took)), min(most, theirRead)
	}
	w.table.judge("a form of 12 fields in a page, look and fill, tokens", fmt.Sprintf("%d read, %d with the call, %s", read, all, millis(ours.took)), beside, "", fmt.Sprintf("≤ %d read", most), read <= most)
}

func formByPlaywright(b *testing.B, s *scene) (filling, error) {
	b.Helper()
	page := serveForm(b)
	p, err := newPlaywright(b, s.Session)
	if err != nil {
		return filling{}, err
	}
	if _, err := p.try("tools/call", toolCall(b, "browser_navigate", map[string]any{"url": page.address})); err != nil {
		return filling{}, err
	}
	return fillWith(b, p, page, toolCall(b, "browser_snapshot", map[string]any{}), regexp.MustCompile(`"([^"]+)" \[ref=(\w+)\]`), func(refs map[string]string) string {
		var fields []any
		for _, f := range formFields() {
			fields = append(fields, map[string]any{"name": f.name, "type": strings.Replace(f.role, "spinbutton", "textbox", 1), "target": refs[f.name], "value": f.value})
		}
		return toolCall(b, "browser_fill_form", map[string]any{"fields": fields})
	})
}

// pageReading compares the text that a model reads of a page, in one call of each. The peer's call
// runs a minimal script in the page.
type pageReading struct {
	figure, page, until string // until is on the page
	tool                string
	args                map[string]any
	says                string // required text of the answer
	script              string // "": it reads the whole page
	most                int
}

func pageReadings() []pageReading {
	var prices, long strings.Builder
	prices.WriteString(`<title>Prices</title><h1>Prices</h1><table><tr><th>Number<th>Name<th>Price<th>Action</tr>`)
	for i := range 100 {
		fmt.Fprintf(&prices, `<tr><td>%d<td>Item %d<td>%d.%02d EUR<td><button>Buy</button></tr>`, i+1, i+1, 10+i*7%90, i*13%100)
	}
	long.WriteString(`<title>Long</title><h1>A long document</h1>`)
	for i := range 200 {
		fmt.Fprintf(&long, `<h2>Section %d</h2><p>This is paragraph %d, with <a href="/%d">link %d</a> in it. %s</p>`, i+1, i+1, i+1, i+1, strings.Repeat("More words. ", 10))
	}
	const minimal = `<title>Press</title><h1>Hello</h1><p>A page with one button.</p><button>Press</button>`
	return []pageReading{
		{"a minimal page", minimal, "button Press", "ax_get_tree", map[string]any{}, `"Press"`, "", 70},
		{"first look at a table page", prices.String(), "Item 5", "ax_get_tree", map[string]any{}, `"Item 3"`, "", 500},
		{"the price in row 37", prices.String(), "Item 5", "ax_find", map[string]any{"query": "Item 37"}, "82.68 EUR", `() => document.querySelectorAll("tr")[37].innerText`, 130},
		{"the last link of a long document", long.String(), "link 5", "ax_find", map[string]any{"query": "(//link)[last()]"}, "link 200", `() => [...document.links].at(-1).outerHTML`, 140},
	}
}

// comparePageTokens counts the tokens, of four characters, that a model reads of pages.
func (w *desktopBench) comparePageTokens(b *testing.B) {
	s := w.newScene(b, "chromium")
	peer, failed := newPlaywright(b, s.Session)
	for _, c := range pageReadings() {
		server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
			_, _ = io.WriteString(rw, `<!doctype html><html lang="en">`+c.page)
		}))
		b.Cleanup(server.Close)
		app := browse(b, s.Session, server.URL)
		pid := s.processOf(b, "", app.PID)
		s.await(b, pid, c.until)
		c.args["app"] = strconv.Itoa(pid)
		s.awaitSettled(b, c.args["app"])
		ours := s.gateway.ask(b, "tools/call", toolCall(b, c.tool, c.args)).text(b)
		assert.Check(b, is.Contains(ours, c.says), c.figure)
		app.Kill(b)
		beside, most := "", c.most
		if failed == nil {
			var theirs string
			if theirs, failed = c.byPlaywright(b, peer, server.URL); failed == nil {
				beside, most = fmt.Sprintf("playwright-mcp %d", len(theirs)/4), min(most, len(theirs)/4)
			}
		}
		if failed != nil {
			beside = "did not run: " + firstLine(failed)
		}
		w.table.judge("tokens of "+c.figure, strconv.Itoa(len(ours)/4), beside, "", fmt.Sprintf("≤ %d", most), len(ours)/4 <= most)
	}
}

// byPlaywright returns playwright-mcp's answer about the page.
func (c pageReading) byPlaywright(b *testing.B, peer *session, address string) (string, error) {
	b.Helper()
	if _, err := peer.try("tools/call", toolCall(b, "browser_navigate", map[string]any{"url": address})); err != nil {
		return "", err
	}
	call := toolCall(b, "browser_snapshot", map[string]any{})
	if c.script != "" {
		call = toolCall(b, "browser_evaluate", map[string]any{"function": c.script})
	}
	a, err := peer.try("tools/call", call)
	if err != nil {
		return "", err
	}
	return a.text(b), nil
}
