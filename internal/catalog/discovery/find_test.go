package discovery_test

import (
	"context"
	"errors"
	"net"
	"net/http"
	"os"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/catalog/discovery"
	"github.com/gybob/aai-gateway/internal/netguard"
)

// TestFindByEveryName checks that all names of a site share one lookup.
func TestFindByEveryName(t *testing.T) {
	w := newWorld(t)
	must(t, w.web.AddName("Jotter-Pad", "https://"+w.host+"/some/page"))
	id := w.host + "/com.example.notes"
	for _, name := range []string{
		w.host, "https://" + w.host, "https://" + w.host + "/", "https://" + w.host + "/any/page?q=1#x", "HTTPS://" + w.host,
		id, "app:" + id, aai.WireName("app:" + id), w.host + "/", w.host + "/page", "jotter-pad", "JOTTER-PAD",
	} {
		app := w.find(name)
		assert.Check(t, is.Equal(app.ID, id), "%s %+v", name, app)
		assert.Check(t, is.Equal(app.Source, "https://"+w.host+"/.well-known/aai.json"), "%s %+v", name, app)
		assert.Check(t, is.Equal(app.Platform, "web"), "%s %+v", name, app)
		assert.Check(t, app.IsRunnable(), "%s gives %+v", name, app)
	}
	w.wasAsked(1)
}

func TestFindOnlyItsOwnID(t *testing.T) {
	w := newWorld(t)
	e := w.findFails(w.host+"/com.example.other", aai.AppNotFound)
	assert.Assert(t, slices.Equal(e.Candidates, []string{w.host + "/com.example.notes"}), "%+v", e)
}

// Facts, row 20, and design §3.1: a web app can never take a local id.
func TestLocalAppsWin(t *testing.T) {
	w := newWorld(t)
	w.serveDescriptor(strings.NewReplacer(`"com.example.notes"`, `"org.example.Calculator"`, `"Notes"`, `"Calculator"`, `"jotter"`, `"sums"`).Replace(notes))
	app := w.find("https://" + w.host)
	assert.Check(t, is.Equal(app.ID, w.host+"/org.example.Calculator"))
	assert.Check(t, is.Len(app.Aliases, 0))
	for _, name := range []string{"org.example.Calculator", "app:org.example.Calculator", "app_org_example_Calculator", "ORG.example.calculator", "Calculator", "sums", "example.org"} {
		app := w.find(name)
		assert.Check(t, is.Equal(app.ID, "org.example.Calculator"), name)
		assert.Check(t, is.Equal(app.Platform, "linux"), name)
	}
	w.wasAsked(1)
}

// TestNoSiteForAnAmbiguousName checks that a name of several local apps selects no site.
func TestNoSiteForAnAmbiguousName(t *testing.T) {
	w := newWorld(t)
	for _, id := range []string{"org.example.One", "org.example.Two"} {
		w.install(id, strings.NewReplacer("org.example.Calculator", id, `"name": "Calculator"`, `"name": "notes.example.com"`, `"sums", "example.org"`, "").Replace(calculator))
	}
	e := w.findFails("Notes.example.com", aai.AppNotFound)
	assert.Assert(t, slices.Equal(e.Candidates, []string{"org.example.One", "org.example.Two"}), "%+v", e)
}

// TestNoSiteForABrokenApp checks the same for the name of an invalid local app.
func TestNoSiteForABrokenApp(t *testing.T) {
	w := newWorld(t)
	w.install("mail.example.com", "{}")
	e := w.findFails("mail.example.com", aai.DescriptorInvalid)
	assert.Assert(t, is.Contains(e.Message, ".aai"), "%+v", e)
}

// Facts, row 20: the displayed origin is ASCII, so that a letter of another alphabet is visible.
func TestOriginIsASCII(t *testing.T) {
	for address, want := range map[string]string{
		"https://аpple.com/x":       "https://xn--pple-43d.com/.well-known/aai.json", // the first letter is Cyrillic
		"bücher.example":            "https://xn--bcher-kva.example/.well-known/aai.json",
		"EXAMPLE.com.:8443/a?b#c":   "https://example.com:8443/.well-known/aai.json",
		"https://example.com:443/":  "https://example.com/.well-known/aai.json",
		"http://localhost":          "http://localhost:80/.well-known/aai.json",
		"[2606:4700::1111]":         "https://[2606:4700::1111]/.well-known/aai.json",
		"example.com/com.example.x": "https://example.com/.well-known/aai.json",
	} {
		assert.Check(t, is.Equal(discovery.Source(address), want), address)
	}
}

// TestNoSiteForAWrongID checks that a mistyped id does not cause a web request.
func TestNoSiteForAWrongID(t *testing.T) {
	w := newWorld(t)
	for _, name := range []string{"org.example.Calculater", "calc", "org.gnome.Nautilus", "desktop/firefox", "a b", "", "../../etc", "sums:add", "app:calc"} {
		_ = w.findFails(name, aai.AppNotFound)
	}
	_, err := w.web.Find(t.Context(), "org.example.Calculater")
	assert.Check(t, is.Contains(aai.AsError(err).Candidates, "org.example.Calculator"))
}

// TestABareNameStaysHere checks that the name of an app that is not installed is not sent to the
// internet, and that the error explains a lookup. A lookup would call the test resolver with that
// name.
func TestABareNameStaysHere(t *testing.T) {
	w := newWorld(t)
	var lookups atomic.Int32
	refusing := &net.Resolver{PreferGo: true, Dial: func(context.Context, string, string) (net.Conn, error) {
		lookups.Add(1)
		return nil, errors.New("nobody is asked")
	}}
	w.config.Client = netguard.New(netguard.Config{Resolver: refusing})
	t.Cleanup(w.config.Client.Close)
	w.restart()
	for _, name := range []string{
		"org.gnome.Games", "app:org.gnome.Games", "com.example.app", "example.com", "EXAMPLE.COM",
		"org.gnome.Games/org.gnome.Games", "example.com/", "example.com:8443", "org.gnome.Games:443", "app:example.com/com.example.app",
	} {
		e := w.findFails(name, aai.AppNotFound)
		assert.Assert(t, is.Contains(e.Hint, "web_discover"), "%q %+v", name, e)
		assert.Assert(t, is.Contains(e.Hint, "https://"), "%q %+v", name, e)
		assert.Check(t, lookups.Swap(0) == 0, "%q was looked up on the internet", name)
	}
	_, err := w.web.Find(t.Context(), "org.gnome.Nautilus")
	assert.Check(t, !strings.Contains(aai.AsError(err).Hint, "web_discover"), "there is no such site: %v", err)
	_, err = w.web.Find(t.Context(), "https://example.com")
	assert.Assert(t, err != nil, "the witness sees nothing: %v", err)
	assert.Assert(t, lookups.Load() != 0, "the witness sees nothing: %v", err)
}

func TestAppsAreThoseThatWereAskedFor(t *testing.T) {
	w := newWorld(t)
	changes := 0
	stop := w.web.OnChange(func() { changes++ })
	local := w.ids()
	assert.Check(t, slices.Equal(local, []string{"org.example.Calculator"}), "the apps are %q before anything was asked for", local)
	app := w.find(w.host)
	w.find(w.host)
	ids := w.ids()
	assert.Assert(t, slices.Equal(ids, []string{w.host + "/com.example.notes", "org.example.Calculator"}), "the apps are %q after %d changes", ids, changes)
	assert.Equal(t, changes, 1, "%q", ids)
	// The next process does not list sites looked up by this one, even if cached.
	w.restart()
	ids = w.ids()
	assert.Check(t, slices.Equal(ids, local), "the next process lists %q", ids)
	again := w.find(w.host)
	assert.Check(t, is.Equal(again.Digest, app.Digest))
	w.wasAsked(1)
	stop()
	w.advance(48 * 60 * 60 * 1e9)
	w.serveDescriptor(replaced("Keeps notes.", "Keeps more notes."))
	w.find(w.host)
	assert.Check(t, is.Equal(changes, 1), "told after stop")
}

// TestNamedSitesAreListed checks that cached sites with names are listed from the start.
func TestNamedSitesAreListed(t *testing.T) {
	w := newWorld(t)
	must(t, w.web.AddName("jotter-pad", "https://"+w.host))
	w.restart()
	ids := w.ids()
	assert.Check(t, is.Len(ids, 1), "listed before it was ever looked up: %q", ids)
	w.find("jotter-pad")
	w.restart()
	ids = w.ids()
	assert.Assert(t, is.Len(ids, 2))
	assert.Equal(t, w.requests(), 1)
}

func TestSiteNames(t *testing.T) {
	w := newWorld(t)
	for name, address := range map[string]string{
		"": w.host, "two words.": w.host, "example.com": w.host, "a:b": w.host, "../x": w.host, "a\nb": w.host, strings.Repeat("x", 61): w.host,
		"ok": "jira", "fine": "http://example.com", "good": "https://u:p@example.com", "well": "",
	} {
		err := w.web.AddName(name, address)
		assert.Assert(t, err != nil, "%q %q %v", name, address, err)
		assert.Equal(t, aai.AsError(err).Code, aai.InvalidParams, "%q %q %v", name, address, err)
	}
	must(t, w.web.AddName("one", "example.com"))
	must(t, w.web.AddName("two", "https://example.org:8443/x"))
	must(t, w.web.AddName("one", "example.net"))
	b, err := os.ReadFile(w.config.Names)
	want := "{\n  \"one\": \"https://example.net\",\n  \"two\": \"https://example.org:8443\"\n}\n"
	assert.NilError(t, err, b)
	assert.Equal(t, string(b), want, b)
	for _, broken := range []string{"", "[]", `{"a": 1}`, `{"a": "ftp://x"}`, `{"a.b": "https://example.com"}`, strings.Repeat(" ", 65<<10) + "{}"} {
		must(t, os.WriteFile(w.config.Names, []byte(broken), 0o600))
		e := w.fails("jira", aai.InvalidParams)
		assert.Check(t, is.Contains(e.Message, "name-cache.json"), "%.20q %v", broken, e)
		assert.Check(t, w.web.AddName("three", "example.com") != nil, "%.20q was written over", broken)
	}
	w.find(w.host) // addresses are not names
}

func TestDiscoverRefuses(t *testing.T) {
	w := newWorld(t)
	for address, code := range map[string]aai.Code{
		"": aai.InvalidParams, "http://example.com": aai.InvalidParams, "ftp://example.com": aai.InvalidParams,
		"https://user:pass@example.com": aai.InvalidParams, "https://": aai.InvalidParams, "file:///etc/passwd": aai.InvalidParams,
		"javascript:alert(1)": aai.InvalidParams, "https://2130706433/": aai.InvalidParams, "0x7f.1": aai.InvalidParams,
		"a b": aai.InvalidParams, "example.com:0": aai.InvalidParams, strings.Repeat("a", 5000): aai.InvalidParams,
		"http://127.0.0.1:1": aai.InvalidParams, "jira": aai.AppNotFound, "https://\u202emoc.elpmaxe": aai.InvalidParams,
	} {
		e := w.fails(address, code)
		assert.Equal(t, e.Delivery, aai.NotDelivered, "%.50q %s", address, e.Message)
		assert.Assert(t, !strings.ContainsAny(e.Message, "\u202e"), "%.50q %s", address, e.Message)
		assert.Assert(t, len(e.Message) <= 600, "%.50q %s", address, e.Message)
	}
	w.wasAsked(0)
}

// Facts, row 6: ten lookups a minute, for all callers together; known sites are free.
func TestLookupsAreLimited(t *testing.T) {
	w := newWorld(t)
	w.status(http.StatusNotFound)
	for range 10 {
		_ = w.fails(w.host, aai.AppNotFound)
	}
	e := w.fails(w.host, aai.RateLimited)
	assert.Check(t, e.RetryAfter > 0, "retry after %v", e.RetryAfter)
	assert.Check(t, e.RetryAfter <= 6*1e9, "retry after %v", e.RetryAfter)
	w.serveDescriptor(notes)
	w.advance(e.RetryAfter)
	for range 30 {
		w.find(w.host)
	}
	w.wasAsked(11)
}

// TestManyAtOnce checks that concurrent requests for one site share one lookup.
func TestManyAtOnce(t *testing.T) {
	w := newWorld(t)
	release := make(chan struct{})
	w.answers(func(rw http.ResponseWriter, _ *http.Request) {
		<-release
		_, _ = rw.Write([]byte(notes))
	})
	var asking sync.WaitGroup
	for range 20 {
		asking.Go(func() {
			_, err := w.web.Find(t.Context(), w.host)
			assert.Check(t, err)
		})
	}
	close(release)
	asking.Wait()
	w.wasAsked(1)
}
