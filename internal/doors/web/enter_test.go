package web_test

import (
	"net/http"
	"strings"
	"testing"
)

// TestLinksThatLetNobodyIn: a link of an earlier start, and one that was used, say how the page
// is opened; who is in already goes on.
func TestLinksThatLetNobodyIn(t *testing.T) {
	w := newWorld(t)
	asks := func(host, accept, method string) answer {
		r := w.request(t, method, w.link, nil)
		r.Host = host + r.URL.Host[strings.LastIndex(r.URL.Host, ":"):]
		r.Header.Set("Accept", accept)
		return w.do(t, r)
	}
	const page = "text/html,*/*"
	got := asks("aai-anearlierstart.localhost", page, http.MethodGet)
	if got.status != http.StatusForbidden || !strings.Contains(got.body, "started anew") || !strings.Contains(got.body, "aai-gateway web") || !strings.Contains(got.header.Get("Content-Security-Policy"), "default-src 'none'") {
		t.Errorf("an earlier start's link: %d %v\n%s", got.status, got.header, got.body)
	}
	for _, ours := range []string{strings.TrimPrefix(w.origin(), "http://"), w.link[strings.LastIndex(w.link, "/")+1:], "/static/"} {
		if strings.Contains(got.body, ours) {
			t.Errorf("it holds %q of this start:\n%s", ours, got.body)
		}
	}
	for host, with := range map[string][2]string{"evil.example": {page, http.MethodGet}, "aai-x.localhost": {page, http.MethodPost}, "aai-y.localhost": {"*/*", http.MethodGet}} {
		if got := asks(host, with[0], with[1]); got.status != http.StatusForbidden || strings.Contains(got.body, "<html") {
			t.Errorf("%s: %d\n%s", host, got.status, got.body)
		}
	}
	w.enter(t)
	if got := w.get(t, w.link); got.at != "/now" || got.status != http.StatusOK {
		t.Errorf("who is in follows the link: %s %d", got.at, got.status)
	}
	w.visitor = w.newVisitor(t)
	if got := w.post(t, w.link, nil); got.status != http.StatusForbidden || !strings.Contains(got.body, "already used") || !strings.Contains(got.body, `<a href="/">`) {
		t.Errorf("used twice: %d\n%s", got.status, got.body)
	}
	if got := w.get(t, "/now"); got.status != http.StatusForbidden || strings.Contains(got.body, "already used") {
		t.Errorf("without a link: %d\n%s", got.status, got.body)
	}
}
