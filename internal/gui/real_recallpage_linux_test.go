package gui_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"

	"gotest.tools/v3/assert"
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
