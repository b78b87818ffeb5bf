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
		if app.ID != id || app.Source != "https://"+w.host+"/.well-known/aai.json" || app.Platform != "web" || !app.IsRunnable() {
			t.Errorf("%s gives %+v", name, app)
		}
	}
	if n := w.requests(); n != 1 {
		t.Errorf("the site was asked %d times", n)
	}
}

func TestFindOnlyItsOwnID(t *testing.T) {
	w := newWorld(t)
	_, err := w.web.Find(t.Context(), w.host+"/com.example.other")
	e := aai.AsError(err)
	if e == nil || e.Code != aai.AppNotFound || !slices.Equal(e.Candidates, []string{w.host + "/com.example.notes"}) {
		t.Errorf("got %+v", e)
	}
}

// Facts, row 20, and design §3.1: a web app can never take a local id.
func TestLocalAppsWin(t *testing.T) {
	w := newWorld(t)
	w.serveDescriptor(strings.NewReplacer(`"com.example.notes"`, `"org.example.Calculator"`, `"Notes"`, `"Calculator"`, `"jotter"`, `"sums"`).Replace(notes))
	app := w.find("https://" + w.host)
	if app.ID != w.host+"/org.example.Calculator" || len(app.Aliases) != 0 {
		t.Errorf("the site's app is %s with aliases %q", app.ID, app.Aliases)
	}
	for _, name := range []string{"org.example.Calculator", "app:org.example.Calculator", "app_org_example_Calculator", "ORG.example.calculator", "Calculator", "sums", "example.org"} {
		if app := w.find(name); app.ID != "org.example.Calculator" || app.Platform != "linux" {
			t.Errorf("%s gives %s", name, app.ID)
		}
	}
	if w.requests() != 1 {
		t.Error("a site was asked for the name of an app of this computer")
	}
}

// TestNoSiteForAnAmbiguousName checks that a name of several local apps selects no site.
func TestNoSiteForAnAmbiguousName(t *testing.T) {
	w := newWorld(t)
	for _, id := range []string{"org.example.One", "org.example.Two"} {
		w.install(id, strings.NewReplacer("org.example.Calculator", id, `"name": "Calculator"`, `"name": "notes.example.com"`, `"sums", "example.org"`, "").Replace(calculator))
	}
	_, err := w.web.Find(t.Context(), "Notes.example.com")
	if e := aai.AsError(err); e == nil || e.Code != aai.AppNotFound || !slices.Equal(e.Candidates, []string{"org.example.One", "org.example.Two"}) {
		t.Errorf("got %+v", e)
	}
}

// TestNoSiteForABrokenApp checks the same for the name of an invalid local app.
func TestNoSiteForABrokenApp(t *testing.T) {
	w := newWorld(t)
	w.install("mail.example.com", "{}")
	_, err := w.web.Find(t.Context(), "mail.example.com")
	if e := aai.AsError(err); e == nil || e.Code != aai.DescriptorInvalid || !strings.Contains(e.Message, ".aai") {
		t.Errorf("got %+v", e)
	}
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
		if got := discovery.Source(address); got != want {
			t.Errorf("%s is %s, want %s", address, got, want)
		}
	}
}

// TestNoSiteForAWrongID checks that a mistyped id does not cause a web request.
func TestNoSiteForAWrongID(t *testing.T) {
	w := newWorld(t)
	for _, name := range []string{"org.example.Calculater", "calc", "org.gnome.Nautilus", "desktop/firefox", "a b", "", "../../etc", "sums:add", "app:calc"} {
		_, err := w.web.Find(t.Context(), name)
		if e := aai.AsError(err); e == nil || e.Code != aai.AppNotFound {
			t.Errorf("%q: %v", name, err)
		}
	}
	_, err := w.web.Find(t.Context(), "org.example.Calculater")
	if e := aai.AsError(err); !slices.Contains(e.Candidates, "org.example.Calculator") {
		t.Errorf("candidates %q", e.Candidates)
	}
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
		_, err := w.web.Find(t.Context(), name)
		e := aai.AsError(err)
		if e == nil || e.Code != aai.AppNotFound || !strings.Contains(e.Hint, "web_discover") || !strings.Contains(e.Hint, "https://") {
			t.Errorf("%q: %+v", name, e)
		}
		if n := lookups.Swap(0); n != 0 {
			t.Errorf("%q was looked up on the internet", name)
		}
	}
	if _, err := w.web.Find(t.Context(), "org.gnome.Nautilus"); strings.Contains(aai.AsError(err).Hint, "web_discover") {
		t.Errorf("there is no such site: %v", err)
	}
	if _, err := w.web.Find(t.Context(), "https://example.com"); err == nil || lookups.Load() == 0 {
		t.Errorf("the witness sees nothing: %v", err)
	}
}

func TestAppsAreThoseThatWereAskedFor(t *testing.T) {
	w := newWorld(t)
	changes := 0
	stop := w.web.OnChange(func() { changes++ })
	local := w.ids()
	if !slices.Equal(local, []string{"org.example.Calculator"}) {
		t.Errorf("the apps are %q before anything was asked for", local)
	}
	app := w.find(w.host)
	w.find(w.host)
	if ids := w.ids(); !slices.Equal(ids, []string{w.host + "/com.example.notes", "org.example.Calculator"}) || changes != 1 {
		t.Errorf("the apps are %q after %d changes", ids, changes)
	}
	// The next process does not list sites looked up by this one, even if cached.
	w.restart()
	if ids := w.ids(); !slices.Equal(ids, local) {
		t.Errorf("the next process lists %q", ids)
	}
	if again := w.find(w.host); again.Digest != app.Digest || w.requests() != 1 {
		t.Error("the next process asked the site again")
	}
	stop()
	w.advance(48 * 60 * 60 * 1e9)
	w.serveDescriptor(replaced("Keeps notes.", "Keeps more notes."))
	w.find(w.host)
	if changes != 1 {
		t.Error("told after stop")
	}
}

// TestNamedSitesAreListed checks that cached sites with names are listed from the start.
func TestNamedSitesAreListed(t *testing.T) {
	w := newWorld(t)
	must(t, w.web.AddName("jotter-pad", "https://"+w.host))
	w.restart()
	if ids := w.ids(); len(ids) != 1 {
		t.Errorf("listed before it was ever looked up: %q", ids)
	}
	w.find("jotter-pad")
	w.restart()
	if ids := w.ids(); len(ids) != 2 || w.requests() != 1 {
		t.Errorf("the apps are %q", ids)
	}
}

func TestSiteNames(t *testing.T) {
	w := newWorld(t)
	for name, address := range map[string]string{
		"": w.host, "two words.": w.host, "example.com": w.host, "a:b": w.host, "../x": w.host, "a\nb": w.host, strings.Repeat("x", 61): w.host,
		"ok": "jira", "fine": "http://example.com", "good": "https://u:p@example.com", "well": "",
	} {
		if err := w.web.AddName(name, address); err == nil || aai.AsError(err).Code != aai.InvalidParams {
			t.Errorf("%q for %q: %v", name, address, err)
		}
	}
	must(t, w.web.AddName("one", "example.com"))
	must(t, w.web.AddName("two", "https://example.org:8443/x"))
	must(t, w.web.AddName("one", "example.net"))
	b, err := os.ReadFile(w.config.Names)
	if want := "{\n  \"one\": \"https://example.net\",\n  \"two\": \"https://example.org:8443\"\n}\n"; err != nil || string(b) != want {
		t.Errorf("kept %s, %v", b, err)
	}
	for _, broken := range []string{"", "[]", `{"a": 1}`, `{"a": "ftp://x"}`, `{"a.b": "https://example.com"}`, strings.Repeat(" ", 65<<10) + "{}"} {
		must(t, os.WriteFile(w.config.Names, []byte(broken), 0o600))
		if e := w.fails("jira", aai.InvalidParams); !strings.Contains(e.Message, "name-cache.json") {
			t.Errorf("%.20q: %v", broken, e)
		}
		if err := w.web.AddName("three", "example.com"); err == nil {
			t.Errorf("%.20q was written over", broken)
		}
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
		if e := w.fails(address, code); e.Delivery != aai.NotDelivered || strings.ContainsAny(e.Message, "\u202e") || len(e.Message) > 600 {
			t.Errorf("%.50q: %s", address, e.Message)
		}
	}
	if w.requests() != 0 {
		t.Error("a site was asked")
	}
}

// Facts, row 6: ten lookups a minute, for all callers together; known sites are free.
func TestLookupsAreLimited(t *testing.T) {
	w := newWorld(t)
	w.status(http.StatusNotFound)
	for range 10 {
		_ = w.fails(w.host, aai.AppNotFound)
	}
	e := w.fails(w.host, aai.RateLimited)
	if e.RetryAfter <= 0 || e.RetryAfter > 6*1e9 {
		t.Errorf("retry after %v", e.RetryAfter)
	}
	w.serveDescriptor(notes)
	w.advance(e.RetryAfter)
	for range 30 {
		w.find(w.host)
	}
	if n := w.requests(); n != 11 {
		t.Errorf("%d requests", n)
	}
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
			if _, err := w.web.Find(t.Context(), w.host); err != nil {
				t.Error(err)
			}
		})
	}
	close(release)
	asking.Wait()
	if n := w.requests(); n != 1 {
		t.Errorf("%d requests", n)
	}
}
