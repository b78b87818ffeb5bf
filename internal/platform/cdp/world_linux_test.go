package cdp_test

import (
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/inputlock"
	"github.com/gybob/aai-gateway/internal/devtools"
	"github.com/gybob/aai-gateway/internal/platform/cdp"
	"github.com/gybob/aai-gateway/internal/platform/linux/atspi"
	"github.com/gybob/aai-gateway/internal/platform/linux/x11"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// A world is a private desktop with a connected Chromium on it.
type world struct {
	*linuxtest.Session
	server   *httptest.Server
	pages    map[string]string // by path
	platform desktop.Backend   // the platform's own
	backend  desktop.Backend   // with DevTools
	browsers *devtools.Browsers
	app      desktop.App
}

// newWorld opens the page in a Chromium and connects to it.
func newWorld(t *testing.T, page string, switches ...string) *world {
	t.Helper()
	w := &world{Session: linuxtest.StartAccessible(t), pages: map[string]string{"/": page}}
	w.server = httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/slow" {
			time.Sleep(300 * time.Millisecond)
		}
		out.Header().Set("Content-Type", "text/html; charset=utf-8")
		_, _ = fmt.Fprint(out, w.pages[r.URL.Path])
	}))
	t.Cleanup(w.server.Close)
	screen := x11.New(x11.Config{Getenv: w.Getenv, InputLock: inputlock.New(inputlock.Config{Folder: inputlock.Folder, Getenv: w.Getenv})})
	tree := atspi.New(atspi.Config{Getenv: w.Getenv, Windows: screen})
	t.Cleanup(func() {
		tree.Close()
		_ = screen.Close()
	})
	w.platform = desktop.Backend{Tree: tree, Offscreen: tree, Documents: tree, Actor: tree, Events: tree, Windows: screen, Input: screen, Screen: screen}
	profile := t.TempDir()
	a := w.Launch(t, "chromium", append(switches, "--ozone-platform=x11", "--disable-features=CalculateNativeWinOcclusion,Translate", "--no-sandbox", "--no-first-run",
		"--no-default-browser-check", "--test-type", "--remote-debugging-port=0", "--user-data-dir="+profile, "--password-store=basic", "--lang=en", "--disable-gpu",
		"--disable-dev-shm-usage", "--disable-background-networking", "--disable-component-update", "--disable-sync", "--disable-extensions", "--window-size=900,700",
		"--host-resolver-rules=MAP other.test 127.0.0.1", "--site-per-process", w.server.URL+"/")...)
	var endpoint devtools.Endpoint
	until(t, func() bool {
		for _, e := range devtools.Find(func(string) string { return "/nonexistent" }) {
			if e.Profile == profile {
				endpoint = e
			}
		}
		return endpoint.PID == a.PID
	})
	w.browsers = devtools.New(devtools.Config{Find: func() []devtools.Endpoint { return []devtools.Endpoint{endpoint} }, AllowFile: filepath.Join(t.TempDir(), "browsers.json")})
	t.Cleanup(func() { _ = w.browsers.Close() })
	w.backend = cdp.Wrap(w.platform, w.browsers, slog.New(slog.NewTextHandler(t.Output(), nil)))
	assert.NilError(t, w.browsers.Connect(t.Context(), endpoint))
	until(t, func() bool {
		apps, err := w.backend.Tree.Apps(t.Context())
		assert.NilError(t, err)
		for _, app := range apps {
			if app.PID == a.PID {
				w.app = app
			}
		}
		return w.app.PID != 0
	})
	return w
}

func (w *world) snapshot(t *testing.T, b desktop.Backend) *desktop.Snapshot {
	t.Helper()
	s, err := b.Tree.Snapshot(t.Context(), w.app)
	assert.NilError(t, err)
	return s
}

func until(t *testing.T, is func() bool) {
	t.Helper()
	if !within(is) {
		t.Fatal("it did not come to be")
	}
}

// within reports whether the condition becomes true in a minute.
func within(is func() bool) bool {
	for end := time.Now().Add(time.Minute); !is(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			return false
		}
	}
	return true
}

// controls describes the controls of the pages of a snapshot, by all that tools judge.
func controls(s *desktop.Snapshot) (lines []string) {
	within := 0
	for i, e := range s.Elements {
		if e.Role == desktop.Document {
			within = max(within, e.End)
		}
		if i >= within || !e.Role.IsInteractive() && !e.IsPressableDespiteRole() || e.Name == "" {
			continue
		}
		acts := len(e.Actions) > 0 || !e.States.Has(desktop.Showing|desktop.Enabled) // accessibility asks only for those that show
		lines = append(lines, fmt.Sprintf("%s %q value=%q %v %d/%d #%s acts=%v", e.Role, e.Name, e.Value, e.States.Words(), e.Pos, e.Size, e.Identifier, acts))
	}
	slices.Sort(lines)
	return lines
}

// TestBothWaysAgree reads the same page by accessibility and by DevTools.
func TestBothWaysAgree(t *testing.T) {
	page, err := os.ReadFile("testdata/controls.html")
	assert.NilError(t, err)
	w := newWorld(t, string(page), "--force-renderer-accessibility", "--window-size=900,1200")
	var there, here []string
	isSame := func() bool {
		there, here = controls(w.snapshot(t, w.platform)), controls(w.snapshot(t, w.backend))
		return len(there) > 20 && slices.Equal(there, here)
	}
	if !within(isSame) {
		t.Errorf("accessibility alone: %s\nDevTools alone: %s", strings.Join(without(there, here), "\n"), strings.Join(without(here, there), "\n"))
	}
}

func without(lines, others []string) []string {
	return slices.DeleteFunc(slices.Clone(lines), func(line string) bool { return slices.Contains(others, line) })
}

const asking = `<!doctype html><title>Asking</title><h1>Asking</h1>
<button onclick="alert('Careful'); result.textContent = 'seen'">Alert</button>
<button onclick="result.textContent = confirm('Delete\nthe draft?')">Confirm</button>
<button onclick="setTimeout(() => result.textContent = prompt('Your name?', 'Bob'))">Prompt</button>
<button onclick="result.textContent = 'empty'; alert()">Empty</button>
<input aria-label=Draft oninput="onbeforeunload = e => e.preventDefault()">
<output id=result></output>`

// TestDialogs answers the dialogs of JavaScript, which block their page.
func TestDialogs(t *testing.T) {
	w := newWorld(t, "", "--force-renderer-accessibility")
	w.pages["/asking"], w.pages["/next"] = asking, `<title>Next</title><h1>Next</h1>`
	w.open(t, "/asking")
	for _, c := range []struct{ name, text, press, result string }{
		{"Alert", "", "OK", "seen"}, {"Confirm", "", "OK", "true"}, {"Confirm", "", "Cancel", "false"}, {"Prompt", "", "OK", "Bob"}, {"Prompt", "Ann", "OK", "Ann"}, {"Empty", "", "OK", "empty"},
	} {
		t.Run(c.name+" "+c.text+" "+c.press, func(t *testing.T) {
			w.press(t, desktop.Button, c.name)
			if c.text != "" {
				err := w.act(t, w.find(t, desktop.Textbox, "Your name?"), desktop.Act{Verb: desktop.SetText, Text: c.text})
				assert.Assert(t, err == nil, err)
			}
			w.press(t, desktop.Button, c.press)
			w.find(t, desktop.Text, c.result)
		})
	}
	t.Run("once, with the page", func(t *testing.T) {
		w.press(t, desktop.Button, "Confirm")
		until(t, func() bool { // the browser shows it itself
			return slices.ContainsFunc(w.snapshot(t, w.platform).Elements, func(e desktop.Element) bool { return e.Role == desktop.Button && e.Name == "OK" })
		})
		until(t, func() bool { return count(w.snapshot(t, w.backend), desktop.Button, "OK") == 1 })
		s := w.snapshot(t, w.backend)
		assert.Check(t, is.Equal(count(s, desktop.Heading, "Asking"), 1))
		assert.Check(t, is.Equal(count(s, desktop.Text, "Delete the draft?"), 1))
		err := w.act(t, w.find(t, desktop.Button, "Alert"), desktop.Act{Verb: desktop.Press})
		assert.Assert(t, err != nil, "%+v", err)
		assert.Equal(t, err.Delivery, aai.NotDelivered, "%+v", err)
		old := w.find(t, desktop.Button, "Cancel")
		w.press(t, desktop.Button, "OK")
		w.find(t, desktop.Text, "true")
		err = w.act(t, old, desktop.Act{Verb: desktop.Press})
		assert.Assert(t, err != nil, "%+v", err)
		assert.Equal(t, err.Code, aai.StaleRef, "%+v", err)
	})
	t.Run("leave", func(t *testing.T) {
		if err := w.act(t, w.find(t, desktop.Textbox, "Draft"), desktop.Act{Verb: desktop.SetText, Text: "x"}); err != nil {
			t.Fatal(err)
		}
		one := w.browsers.Connected(t.Context())[0]
		s, err := one.Attach(t.Context(), one.Tabs()[0].ID, func(string, json.RawMessage) {})
		assert.NilError(t, err)
		go func() {
			_ = s.Request(t.Context(), "Page.navigate", map[string]any{"url": w.server.URL + "/next"}, nil)
		}()
		w.press(t, desktop.Button, "Leave")
		w.find(t, desktop.Heading, "Next")
	})
}

// TestNavigation presses a button and links after which the next document comes late.
func TestNavigation(t *testing.T) {
	w := newWorld(t, "")
	w.pages["/old"] = `<title>Old</title><h1>Old</h1><form action=/slow><input aria-label=Text><button>Send</button></form><a href=/slow>Go</a> <a href=#part>Part</a>
<button onclick="location = '/slow'">Script</button><h2 id=part>Here</h2>`
	w.pages["/slow"] = `<title>New</title><h1>New</h1>`
	for _, c := range []struct {
		role desktop.Role
		name string
	}{{desktop.Button, "Send"}, {desktop.Link, "Go"}, {desktop.Button, "Script"}} {
		t.Run(c.name, func(t *testing.T) {
			w.open(t, "/old")
			w.press(t, c.role, c.name)
			until(t, func() bool {
				s := w.snapshot(t, w.backend)
				assert.Assert(t, count(s, desktop.Heading, "Old") <= 0, "the old document is read after the press")
				return count(s, desktop.Heading, "New") > 0
			})
		})
	}
	t.Run("within the document", func(t *testing.T) {
		w.open(t, "/old")
		w.press(t, desktop.Link, "Part")
		w.press(t, desktop.Link, "Part")
		w.find(t, desktop.Heading, "Here")
	})
}

func count(s *desktop.Snapshot, role desktop.Role, name string) (n int) {
	for _, e := range s.Elements {
		if e.Role == role && e.Name == name {
			n++
		}
	}
	return n
}
