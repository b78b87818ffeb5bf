package gui_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync/atomic"
	"syscall"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// webPage opens a page with Search as its first button. The witness is a script in the page, which
// returns the visible elements.
func (w *realWorld) webPage(page string) (app string, witness func() []fact) {
	w.Helper()
	var told atomic.Pointer[[]string]
	mux := http.NewServeMux()
	mux.HandleFunc("GET /", func(rw http.ResponseWriter, _ *http.Request) { _, _ = rw.Write([]byte(page)) })
	mux.HandleFunc("POST /inview", func(_ http.ResponseWriter, r *http.Request) {
		var names []string
		err := json.NewDecoder(r.Body).Decode(&names)
		assert.Check(w, err, "the page says nothing that can be read: %v", err)
		told.Store(&names)
	})
	server := httptest.NewServer(mux)
	w.Cleanup(server.Close)
	a := w.Launch(w.T, "chromium", "--force-renderer-accessibility", "--disable-backgrounding-occluded-windows", "--no-sandbox", "--test-type",
		"--no-first-run", "--disable-gpu", "--disable-dev-shm-usage", "--disable-background-networking", "--disable-component-update",
		"--password-store=basic", "--lang=en", "--host-resolver-rules=MAP * ~NOTFOUND, EXCLUDE 127.0.0.1",
		"--user-data-dir="+filepath.Join(w.Home, "browser"), "--window-size=1400,900", "--app="+server.URL)
	app = w.process(a)
	w.awaitElement(app, "button Search")
	w.eventually("the browser tells of the page whole", func() bool {
		a, err := w.do(w.Context(), "ax_get_tree", params{"app": app})
		return err == nil && !pageBusy.MatchString(a.Text)
	})
	return app, func() []fact {
		w.eventually("the page tells what is in view", func() bool { return told.Load() != nil })
		var facts []fact
		for _, name := range *told.Load() {
			facts = append(facts, fact{name: name, path: "the page"})
		}
		return facts
	}
}

// pageBusy matches a page that is still loading: the browser rests between its parts, on a busy
// machine longer than any wait.
var pageBusy = regexp.MustCompile(`(?m)^ *document .* busy\b`)

// web returns a page with the given body, as HTML. The names of all actionable elements must
// differ.
func web(body string) string {
	return `<!DOCTYPE html><html lang="en"><meta charset="utf-8"><title>Orders</title>
<style>body { font: 13px "DejaVu Sans", sans-serif; margin: 6px } nav a { margin-right: 8px } td { padding: 1px 6px } label { margin-right: 4px }</style>
<button>Search</button>` + body + `<script>
function tell() {
  const names = [];
  for (const e of document.querySelectorAll("a, input, button, select")) {
    const r = e.getBoundingClientRect();
    if (r.top < innerHeight && r.bottom > 0 && r.width) names.push(e.ariaLabel ?? e.labels?.[0]?.textContent ?? e.textContent);
  }
  fetch("inview", { method: "POST", body: JSON.stringify(names) });
}
requestAnimationFrame(() => requestAnimationFrame(tell));
addEventListener("resize", tell);
</script></html>`
}

// longTable returns a page that is far larger than the view: links, fields, and a table with four
// actionable elements in each row.
func longTable() string {
	var b strings.Builder
	b.WriteString("<nav>")
	for i := range 24 {
		fmt.Fprintf(&b, `<a href="#s%d">Section %d</a> `, i, i+1)
	}
	b.WriteString("</nav>")
	for i := range 8 {
		fmt.Fprintf(&b, `<label for="f%d">Field %d</label><input id="f%d" size="8">`, i, i+1, i)
	}
	b.WriteString(`<br><label for="kind">Kind</label><select id="kind"><option>Open</option><option>Closed</option></select>`)
	for i := range 6 {
		fmt.Fprintf(&b, `<input type="checkbox" id="c%d"><label for="c%d">Filter %d</label>`, i, i, i+1)
	}
	b.WriteString("<table>")
	for i := 1; i <= 200; i++ {
		fmt.Fprintf(&b, `<tr><td><input type="checkbox" aria-label="Take %d"></td><td><a href="#o%d">Order %d</a></td><td>%d.00</td>`+
			`<td><button>Edit %d</button> <button>Delete %d</button></td></tr>`, i, i, i, 100+i, i, i)
	}
	return web(b.String() + "</table>")
}

// crowd returns a page full of unrelated elements, which cannot be summarized.
func crowd() string {
	var b strings.Builder
	for i := range 64 {
		fmt.Fprintf(&b, `<a href="#%d">Read more about the matter %d</a> <button>Send a copy of %d to all</button> `+
			`<input type="checkbox" aria-label="Remember the choice of %d"> <input aria-label="Reason for %d" value="because of %d" size="8"> `, i, i, i, i, i, i)
		if i%3 > 0 {
			b.WriteString("A word in between. ")
		}
	}
	return web(b.String())
}

// onBus returns the actionable elements on the accessibility bus, with their position on the
// screen.
func (w *realWorld) onBus(app string) []fact {
	w.Helper()
	pid, err := strconv.Atoi(app)
	assert.NilError(w, err)
	x := w.truthOf(pid)
	if x.veil == a11yVisible { // then positions are relative to the window
		windows, err := w.backend.Windows.Windows(w.Context())
		assert.NilError(w, err)
		for _, window := range windows {
			if window.PID == pid {
				for i := range x.facts {
					x.facts[i].frame.X += window.Frame.X
					x.facts[i].frame.Y += window.Frame.Y
				}
			}
		}
	}
	w.Logf("%d objects were looked at, %d have more than %d parts", x.seen, x.huge, a11yHuge)
	return withoutTwins(x.facts)
}

// withoutTwins removes the menus of LibreOffice's own menu bar, in its root pane, beside those with
// the same names in the drawn bar.
func withoutTwins(facts []fact) []fact {
	const bar, rootPane = ` > 34 ""`, " > 46 "
	return slices.DeleteFunc(slices.Clone(facts), func(f fact) bool {
		return strings.HasSuffix(f.path, bar) && strings.Contains(f.path, rootPane) && slices.ContainsFunc(facts, func(other fact) bool {
			return other.name == f.name && strings.HasSuffix(other.path, bar) && !strings.Contains(other.path, rootPane)
		})
	})
}

// inPage returns the visible elements of the fixture's page, from its own script: names without
// positions.
func inPage(t *testing.T, f *linuxtest.Fixture) []fact {
	t.Helper()
	window, list := f.WindowRect(t), rectOf(f.ControlRect(t, "Fruits"))
	places, _ := f.State(t)["where"].(map[string]any)
	var facts []fact
	for _, name := range slices.Sorted(maps.Keys(places)) {
		at := rectOf(f.ControlRect(t, name))
		switch {
		case name == "Canvas": // a picture, for the keyboard and assistive technology
		case strings.HasPrefix(name, "Fruit ") && at.Intersect(list).Empty():
		case at.Intersect(rectOf(window)).Empty():
		default:
			if strings.HasPrefix(name, "Twin") {
				name = "Twin"
			}
			facts = append(facts, fact{name: name, path: "the page"})
		}
	}
	return facts
}

func rectOf(r linuxtest.Rect) desktop.Rect {
	return desktop.Rect{X: r.X, Y: r.Y, W: r.Width, H: r.Height}
}

// spreadsheet opens LibreOffice and returns the process that has its window, which is not the
// started one.
func (w *realWorld) spreadsheet() (a *linuxtest.App, pid int) {
	w.Helper()
	a = w.Calc(w.T)
	return a, w.office(a)
}

// office returns the process with the windows of LibreOffice, after its start.
func (w *realWorld) office(a *linuxtest.App) (pid int) {
	w.Helper()
	w.eventually("LibreOffice shows a tree", func() bool {
		apps, _ := w.ok("ax_list_apps", nil).data["apps"].([]any)
		for _, row := range apps {
			each := whole(at(row, "pid"))
			if group, err := syscall.Getpgid(each); err == nil && group == a.PID && at(row, "hidden") == nil {
				pid = each
			}
		}
		return pid != 0
	})
	return pid
}

// page opens a page in a browser with its frame, and waits for an element of it.
func (w *realWorld) page(body, until string) (app string) {
	w.Helper()
	server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, _ *http.Request) {
		_, _ = rw.Write([]byte(`<!DOCTYPE html><html lang="en">` + body))
	}))
	w.Cleanup(server.Close)
	app = w.process(w.Browser(w.T, server.URL))
	w.awaitElement(app, until)
	return app
}

// pricesPage returns a table of 100 rows.
func pricesPage() string {
	var b strings.Builder
	b.WriteString(`<title>Prices</title><h1>Prices</h1><table><tr><th>Number<th>Name<th>Price<th>Action</tr>`)
	for i := range 100 {
		fmt.Fprintf(&b, `<tr><td>%d<td>Item %d<td>%d.%02d EUR<td><button>Buy</button></tr>`, i+1, i+1, 10+i*7%90, i*13%100)
	}
	return b.String() + `</table>`
}

// longPage returns 200 sections, each with a link.
func longPage() string {
	var b strings.Builder
	b.WriteString(`<title>Long</title><h1>A long document</h1>`)
	for i := range 200 {
		fmt.Fprintf(&b, `<h2>Section %d</h2><p>This is paragraph %d, with some words and <a href="/%d">link %d</a> in it. %s</p>`,
			i+1, i+1, i+1, i+1, strings.Repeat("More words. ", 10))
	}
	return b.String()
}

// TestRealWords: replies about pages stay within their limits, in tokens of four characters each,
// and contain the requested data.
func TestRealWords(t *testing.T) {
	w := parallelWorld(t)
	within := func(most int, what, text string, parts ...string) {
		t.Helper()
		if got := len(text) / 4; got > most {
			t.Errorf("%s: about %d tokens, expected at most %d:\n%s", what, got, most, text)
		} else {
			t.Logf("%s: about %d tokens of %d", what, got, most)
		}
		w.says(text, parts...)
	}
	w.onPage(`<title>Press</title><h1>Hello</h1><p>A page with one button.</p><button>Press</button>`, "button Press", func(app string) {
		a := w.ok("ax_get_tree", params{"app": app})
		within(59, "minimal page", a.Text+a.Warning, `button "Press" [e`, "url [e", "more: root e")
		_, window, _ := strings.Cut(a.Text, "more: root ")
		window, _, _ = strings.Cut(window, "\n")
		w.says(w.ok("ax_get_tree", params{"app": app, "root": window}).Text, `"Reload" [e`)
	})
	w.onPage(pricesPage(), "Item 5", func(app string) {
		a := w.ok("ax_get_tree", params{"app": app})
		within(500, "first look at a table", a.Text+a.Warning, `"Item 5"`)
		within(130, "price in row 37", w.ok("ax_find", params{"app": app, "query": "Item 37"}).Text, `"82.68 EUR"`, `button "Buy" [e`, "out of view")
		e := w.refused(aai.AmbiguousTarget, "ax_click", params{"app": app, "query": "Buy"})
		within(200, "buttons alike", strings.Join(e.Candidates, ", "), `beside "1 Item 1 10.00 EUR"`)
	})
	w.onPage(longPage(), "link 5", func(app string) {
		for _, query := range []string{"link 200", "(//link)[last()]"} {
			within(140, "last link of a long document", w.ok("ax_find", params{"app": app, "query": query}).Text, `link "link 200" [e`)
		}
	})
}

// onPage is page for a subtest: the browser ends with it.
func (w *realWorld) onPage(body, until string, do func(app string)) {
	w.Run(until, func(t *testing.T) {
		part := w.on(t)
		do(part.page(body, until))
	})
}
