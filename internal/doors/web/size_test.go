package web_test

import (
	"compress/gzip"
	"io"
	"net/http"
	"regexp"
	"strings"
	"testing"
)

// TestTheFirstLoadIsSmall: a page and all that it loads are at most 60 KB on the wire.
func TestTheFirstLoadIsSmall(t *testing.T) {
	w := newWorld(t)
	w.enter(t)
	for range 60 {
		w.calls(t, "claude-desktop")
	}
	page := w.get(t, "/history")
	size := len(page.body)
	for _, found := range regexp.MustCompile(`(?:href|src)="(/static/[^"]+)"`).FindAllStringSubmatch(page.body, -1) {
		r := w.request(t, http.MethodGet, found[1], nil)
		r.Header.Set("Accept-Encoding", "gzip")
		got := w.do(t, r)
		if got.header.Get("Content-Encoding") != "gzip" || !strings.Contains(got.header.Get("Cache-Control"), "immutable") {
			t.Errorf("%s: %v", found[1], got.header)
		}
		z, err := gzip.NewReader(strings.NewReader(got.body))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.Copy(io.Discard, z); err != nil {
			t.Errorf("%s: %v", found[1], err)
		}
		size += len(got.body)
	}
	t.Logf("%d bytes, of which the page has %d", size, len(page.body))
	if size > 60<<10 {
		t.Errorf("the first load has %d bytes", size)
	}
}
