package bench

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

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
	b.ReportMetric(0, "ns/op")
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
