package discovery_test

import (
	"encoding/json"
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
)

const day = 24 * time.Hour

func TestCacheForm(t *testing.T) {
	w := newWorld(t)
	w.serveDescriptor(notes, `ETag: "v1"`, "Last-Modified: Sun, 01 Mar 2026 10:00:00 GMT", "Cache-Control: public, max-age=3600")
	app := w.find(w.host)
	body, err := os.ReadFile(w.file("aai.json"))
	assert.NilError(t, err, "%q", body)
	assert.Equal(t, string(body), notes, "%q", body)
	raw, err := os.ReadFile(w.file("aai.json.meta"))
	must(t, err)
	var got map[string]any
	must(t, json.Unmarshal(raw, &got))
	want := map[string]any{
		"fetched_at": "2026-03-01T12:00:00Z", "ttl_seconds": 3600.0, "source_url": "https://" + w.host + "/.well-known/aai.json",
		"etag": `"v1"`, "last_modified": "Sun, 01 Mar 2026 10:00:00 GMT", "sha256": app.Digest,
	}
	for key, value := range want {
		assert.Check(t, is.Equal(got[key], value), key)
	}
	if len(got) != len(want) || !app.Descriptor.Modified.Equal(time.Date(2026, 3, 1, 10, 0, 0, 0, time.UTC)) {
		t.Errorf("the meta is %s; modified %s", raw, app.Descriptor.Modified)
	}
	for _, name := range []string{"aai.json", "aai.json.meta"} {
		if info, err := os.Stat(w.file(name)); err != nil || info.Mode().Perm()&0o077 != 0 && os.PathSeparator == '/' {
			t.Errorf("%s: %v, %v", name, info.Mode(), err)
		}
	}
	left, err := os.ReadDir(filepath.Dir(w.file("aai.json")))
	assert.NilError(t, err)
	assert.Assert(t, is.Len(left, 2))
}

// TestTTL checks the bounds of a copy's lifetime.
func TestTTL(t *testing.T) {
	for _, test := range []struct {
		header string
		ttl    time.Duration
	}{
		{"", day},
		{"Cache-Control: max-age=7200", 2 * time.Hour},
		{"Cache-Control: max-age=1", 5 * time.Minute},
		{"Cache-Control: max-age=0, must-revalidate", 5 * time.Minute},
		{"Cache-Control: no-store", 5 * time.Minute},
		{"Cache-Control: No-Cache", 5 * time.Minute},
		{"Cache-Control: max-age=99999999", 7 * day},
		{"Cache-Control: max-age=99999999999999999999999", day},
		{"Cache-Control: max-age=-5", day},
		{"Cache-Control: max-age=\"3600\"", time.Hour},
		{"Cache-Control: s-maxage=1, max-age=3600", time.Hour},
	} {
		t.Run(test.header, func(t *testing.T) {
			w := newWorld(t)
			w.serveDescriptor(notes, strings.Fields(test.header + " X-None: x")[0]+" "+strings.TrimPrefix(test.header, "Cache-Control: "))
			for _, process := range []func(){func() {}, w.restart} {
				w.find(w.host)
				w.requests()
				w.advance(test.ttl - time.Second)
				process()
				w.find(w.host)
				w.wasAsked(0)
				w.advance(time.Second)
				process()
				w.find(w.host)
				w.wasAsked(1)
			}
		})
	}
}

func TestRevalidation(t *testing.T) {
	w := newWorld(t)
	etag, body := `"v1"`, notes
	w.answers(func(rw http.ResponseWriter, r *http.Request) {
		rw.Header().Set("ETag", etag)
		if r.Header.Get("If-None-Match") == etag {
			rw.WriteHeader(http.StatusNotModified)
			return
		}
		_, _ = rw.Write([]byte(body))
	})
	first := w.find(w.host)
	changes := 0
	defer w.web.OnChange(func() { changes++ })()
	for range 3 {
		w.advance(day)
		assert.Check(t, is.Equal(w.find(w.host), first), "an app that has not changed is another")
	}
	assert.Check(t, is.Equal(changes, 0), "told of %d changes", changes)
	w.restart()
	w.find(w.host)
	w.wasAsked(4)
	w.advance(day)
	w.restart()
	etag, body = `"v2"`, replaced("Keeps notes.", "Keeps more notes.")
	again := w.find(w.host)
	assert.Check(t, again.Digest != first.Digest, "a change was not seen")
	assert.Check(t, is.Equal(again.Description, "Keeps more notes."))
	// A site that confirms without a validator is accepted too.
	w.advance(day)
	etag = `"v3"`
	second := w.find(w.host)
	w.advance(day)
	assert.Check(t, is.Equal(w.find(w.host), second), "the same text is another app")
}

// TestNotModifiedOutOfNothing checks "not modified" without a copy, which is an error.
func TestNotModifiedOutOfNothing(t *testing.T) {
	w := newWorld(t)
	w.status(http.StatusNotModified)
	_ = w.fails(w.host, aai.AppNotRunning)
}

// Facts, row 25: a stale copy is used on network failure only, and for a limited time.
func TestRow25StaleForEver(t *testing.T) {
	for _, test := range []struct {
		name    string
		trouble func(w *world)
		age     time.Duration
		served  bool
		code    aai.Code
	}{
		{"broken connection, two days old", (*world).breakConnections, 2 * day, true, ""},
		{"broken connection, seven days old", (*world).breakConnections, 7 * day, true, ""},
		{"broken connection, older", (*world).breakConnections, 7*day + time.Second, false, aai.AppNotRunning},
		{"server gone", func(w *world) { w.server.Close() }, 2 * day, true, ""},
		{"not found", func(w *world) { w.status(404) }, 2 * day, false, aai.AppNotFound},
		{"gone", func(w *world) { w.status(410) }, 2 * day, false, aai.AppNotFound},
		{"forbidden", func(w *world) { w.status(403) }, 2 * day, false, aai.AppNotFound},
		{"out of order", func(w *world) { w.status(503) }, 2 * day, false, aai.AppNotRunning},
		{"wrong now", func(w *world) { w.serveDescriptor("{}") }, 2 * day, false, aai.DescriptorInvalid},
		{"too large now", func(w *world) { w.serveDescriptor(notes + strings.Repeat(" ", 300<<10)) }, 2 * day, false, aai.DescriptorInvalid},
		{"no authority", func(w *world) { w.config.Client = w.untrustingClient() }, 2 * day, false, aai.AppNotRunning},
		{"no longer trusted", func(w *world) { w.config.Client = w.client() }, 2 * day, false, aai.AppNotRunning},
	} {
		t.Run(test.name, func(t *testing.T) {
			w := newWorld(t)
			app := w.find(w.host)
			w.advance(test.age)
			test.trouble(w)
			w.restart()
			if !test.served {
				_ = w.fails(w.host, test.code)
				return
			}
			assert.Check(t, is.Equal(w.find(w.host).Digest, app.Digest), "served another")
		})
	}
}

// TestStaleDoesNotWait checks that while a stale copy is used, the site is requested once a
// minute and not at every call.
func TestStaleDoesNotWait(t *testing.T) {
	w := newWorld(t)
	w.find(w.host)
	w.advance(2 * day)
	w.breakConnections()
	w.requests()
	for range 5 {
		w.find(w.host)
	}
	if n := w.requests(); n == 0 || n > 2 { // the transport may retry a kept connection
		t.Errorf("asked %d times", n)
	}
	w.serveDescriptor(replaced("Keeps notes.", "Keeps more notes."))
	w.advance(time.Minute)
	assert.Check(t, is.Equal(w.find(w.host).Description, "Keeps more notes."), "still the old one, after a minute")
}

// TestNeverAfterGone checks that a withdrawn descriptor does not return with the next network
// failure.
func TestNeverAfterGone(t *testing.T) {
	w := newWorld(t)
	w.find(w.host)
	changes := 0
	defer w.web.OnChange(func() { changes++ })()
	w.advance(2 * day)
	w.status(404)
	_ = w.fails(w.host, aai.AppNotFound)
	ids := w.ids()
	assert.Assert(t, is.Len(ids, 1))
	assert.Equal(t, changes, 1)
	w.breakConnections()
	_ = w.fails(w.host, aai.AppNotRunning)
	w.restart()
	_ = w.fails(w.host, aai.AppNotRunning)
}

// TestClockSetBack checks that a copy from the future is requested again.
func TestClockSetBack(t *testing.T) {
	w := newWorld(t)
	w.find(w.host)
	w.advance(-2 * day)
	w.restart()
	w.find(w.host)
	w.wasAsked(2)
}
