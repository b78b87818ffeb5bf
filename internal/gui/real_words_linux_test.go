package gui_test

import (
	"fmt"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"

	"github.com/gybob/aai-gateway"
)

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
	t.Parallel()
	w := newRealWorld(t)
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
