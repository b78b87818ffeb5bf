package web_test

import (
	"net/http"
	"strings"
	"testing"
)

// TestLinksThatLetNobodyIn checks that a link of an earlier start, and a used one, show how to open the
// page; a browser with a session continues.
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
	if got.status != http.StatusForbidden || !strings.Contains(got.body, "has restarted since") || !strings.Contains(got.body, "aai-gateway web") || !strings.Contains(got.header.Get("Content-Security-Policy"), "default-src 'none'") {
		t.Errorf("an earlier start's link: %d %v\n%s", got.status, got.header, got.body)
	}
	for _, ours := range []string{strings.TrimPrefix(w.origin(), "http://"), w.link[strings.LastIndex(w.link, "/")+1:], "/static/"} {
		if strings.Contains(got.body, ours) {
			t.Errorf("it holds %q of this start:\n%s", ours, got.body)
		}
	}
	for host, with := range map[string][2]string{"evil.example": {page, http.MethodGet}, "aai-x.localhost": {"*/*", http.MethodPost}, "aai-y.localhost": {"*/*", http.MethodGet}} {
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

// TestButtonsOfAnEarlierStart checks that a button of a page from before a restart does nothing,
// reports that with the next step, and creates no session.
func TestButtonsOfAnEarlierStart(t *testing.T) {
	w := newWorld(t)
	w.enter(t)
	press := func(lang string, headers map[string]string) answer {
		r := w.request(t, http.MethodPost, "/now/stop", w.form(t, "/now"))
		r.Host = "aai-anearlierstart.localhost" + r.URL.Host[strings.LastIndex(r.URL.Host, ":"):]
		r.Header.Set("Origin", "http://"+r.Host)
		r.Header.Set("Accept-Language", lang)
		for name, value := range headers {
			r.Header.Set(name, value)
		}
		return w.do(t, r)
	}
	for lang, says := range map[string]string{"en": "Nothing was done.", "zh": "没有执行任何操作。"} {
		for _, headers := range []map[string]string{{"Accept": "text/html,*/*"}, {"HX-Request": "true"}} {
			got := press(lang, headers)
			for _, text := range []string{says, "<code>aai-gateway web</code>", "<code>aai-gateway stop</code>"} {
				if !strings.Contains(got.body, text) {
					t.Errorf("%s %v: without %q:\n%s", lang, headers, text, got.body)
				}
			}
			if got.status != http.StatusForbidden || len(got.header.Values("Set-Cookie")) > 0 || got.header.Get("Content-Security-Policy") != w.get(t, "/now").header.Get("Content-Security-Policy") {
				t.Errorf("%s %v: %d %v", lang, headers, got.status, got.header)
			}
			if whole := strings.Contains(got.body, "<html"); whole != (headers["Accept"] != "") {
				t.Errorf("%v get:\n%s", headers, got.body)
			}
		}
	}
	if got := press("en", nil); !strings.HasPrefix(got.body, "{") {
		t.Errorf("a program gets:\n%s", got.body)
	}
	if got := w.get(t, "/now"); strings.Contains(got.body, "Everything is stopped") {
		t.Error("everything was stopped")
	}
}
