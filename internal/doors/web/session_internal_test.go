package web

import (
	"net/http"
	"net/http/httptest"
	"testing"
	"time"
)

// A session ends that nobody uses for long, and one that is used goes on; who left is out,
// whoever has a copy of the cookie.
func TestSessionsEnd(t *testing.T) {
	now := time.Now()
	all := sessions{all: make(map[string]*session)}
	with := func(c *http.Cookie) *http.Request {
		r := httptest.NewRequestWithContext(t.Context(), http.MethodGet, "/", nil)
		r.AddCookie(c)
		return r
	}
	first, used := all.begin(now)
	_, idle := all.begin(now)
	half := now.Add(sessionIdle * 2 / 3)
	if all.of(with(used), half) != first {
		t.Error("one that is used ends")
	}
	late := now.Add(sessionIdle + time.Second)
	if all.of(with(idle), late) != nil {
		t.Error("one that nobody used goes on")
	}
	if all.of(with(used), late) == nil {
		t.Error("one that was used meanwhile has ended")
	}
	all.end(with(used))
	if all.of(with(used), late) != nil {
		t.Error("a copy of the cookie lets in who has left")
	}
}

// Where the page sends a browser is one of its own pages, whatever a form says.
func TestOnlyOwnAddresses(t *testing.T) {
	d, err := New(Config{})
	if err != nil {
		t.Fatal(err)
	}
	for address, want := range map[string]string{
		"/history?app=a": "/history?app=a", "/settings/logLevel": "/settings/logLevel",
		"http://evil.example/": "/now", "//evil.example/": "/now", "/\\evil.example": "/now", "///evil.example": "/now", "////evil.example": "/now",
		"javascript:alert(1)": "/now", "history": "/now", "": "/now", "\\\\evil.example": "/now", "/%zz": "/now", "//[": "/now",
	} {
		if got := d.local(address); got != want {
			t.Errorf("%q leads to %q, want %q", address, got, want)
		}
	}
}
