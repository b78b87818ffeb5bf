package web_test

import (
	"net/http"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
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
	assert.Equal(t, got.status, http.StatusForbidden, got.header)
	assert.Assert(t, is.Contains(got.body, "has restarted since"), got.header)
	assert.Assert(t, is.Contains(got.body, "aai-gateway web"), got.header)
	assert.Assert(t, is.Contains(got.header.Get("Content-Security-Policy"), "default-src 'none'"), got.header)
	for _, ours := range []string{strings.TrimPrefix(w.origin(), "http://"), w.link[strings.LastIndex(w.link, "/")+1:], "/static/"} {
		assert.Check(t, !strings.Contains(got.body, ours), "it holds %q of this start:\n%s", ours, got.body)
	}
	for host, with := range map[string][2]string{"evil.example": {page, http.MethodGet}, "aai-x.localhost": {"*/*", http.MethodPost}, "aai-y.localhost": {"*/*", http.MethodGet}} {
		got := asks(host, with[0], with[1])
		assert.Check(t, is.Equal(got.status, http.StatusForbidden), "%s %s", host, got.body)
		assert.Check(t, !strings.Contains(got.body, "<html"), "%s %s", host, got.body)
	}
	w.enter(t)
	got = w.get(t, w.link)
	assert.Check(t, is.Equal(got.at, "/now"))
	assert.Check(t, is.Equal(got.status, http.StatusOK))
	w.visitor = w.newVisitor(t)
	got = w.post(t, w.link, nil)
	assert.Equal(t, got.status, http.StatusForbidden)
	assert.Assert(t, is.Contains(got.body, "already used"))
	assert.Assert(t, is.Contains(got.body, `<a href="/">`))
	got = w.get(t, "/now")
	assert.Check(t, is.Equal(got.status, http.StatusForbidden), got.body)
	assert.Check(t, !strings.Contains(got.body, "already used"), "without a link: %d\n%s", got.status, got.body)
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
				assert.Check(t, is.Contains(got.body, text), "%s %v", lang, headers)
			}
			assert.Equal(t, got.status, http.StatusForbidden, "%s %v %v", lang, headers, got.header)
			assert.Assert(t, is.Len(got.header.Values("Set-Cookie"), 0), "%s %v %v", lang, headers, got.header)
			assert.Equal(t, got.header.Get("Content-Security-Policy"), w.get(t, "/now").header.Get("Content-Security-Policy"), "%s %v %v", lang, headers, got.header)
			assert.Check(t, is.Equal(strings.Contains(got.body, "<html"), (headers["Accept"] != "")), "%v %s", headers, got.body)
		}
	}
	got := press("en", nil)
	assert.Check(t, strings.HasPrefix(got.body, "{"), "a program gets:\n%s", got.body)
	assert.Check(t, !strings.Contains(w.get(t, "/now").body, "Everything is stopped"), "everything was stopped")
}
