package bench

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/inputlock"
	"github.com/gybob/aai-gateway/internal/platform/linux/atspi"
	"github.com/gybob/aai-gateway/internal/platform/linux/x11"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// realApp is an app with a tree to read.
type realApp struct {
	name   string // in the table
	key    string // name in the benchmark of internal/platform/linux/atspi
	id     string // of grants
	query  string // element that shows when it is ready
	start  func(b *testing.B, s *linuxtest.Session, page string) *linuxtest.App
	change func(n int) (desktop.Role, string, desktop.Act) // external change: the element, and the act on it
}

// realApps returns one app of each kind. pyatspi takes seconds to walk all of them.
func realApps() []realApp {
	press := func(role desktop.Role, name string) func(int) (desktop.Role, string, desktop.Act) {
		return func(int) (desktop.Role, string, desktop.Act) { return role, name, desktop.Act{Verb: desktop.Press} }
	}
	return []realApp{
		{
			"mousepad (GTK 3)", "mousepad", "mousepad", "role:textbox",
			func(b *testing.B, s *linuxtest.Session, _ string) *linuxtest.App { return s.Launch(b, "mousepad") },
			func(n int) (desktop.Role, string, desktop.Act) {
				return desktop.Textbox, "", desktop.Act{Verb: desktop.SetText, Text: fmt.Sprintf("Change %d", n)}
			},
		},
		{
			"gnome-calculator (GTK 4)", "calculator", "gnome-calculator", "role:button title:7",
			func(b *testing.B, s *linuxtest.Session, _ string) *linuxtest.App {
				return s.Launch(b, "gnome-calculator")
			},
			press(desktop.Button, "7"),
		},
		{
			"Designer (Qt 6)", "designer", "designer", "role:button title:Create",
			func(b *testing.B, s *linuxtest.Session, _ string) *linuxtest.App {
				return s.Launch(b, "/usr/lib/qt6/bin/designer")
			},
			press(desktop.Checkbox, "Show this Dialog on Startup"),
		},
		{
			"a page in Chromium", "chromium", "chromium", "role:button title:Press",
			func(b *testing.B, s *linuxtest.Session, page string) *linuxtest.App { return browse(b, s, page) },
			press(desktop.Button, "Press"),
		},
		{
			"LibreOffice Calc", "calc", "soffice", "role:button title:Bold",
			func(b *testing.B, s *linuxtest.Session, _ string) *linuxtest.App { return s.Calc(b) },
			press(desktop.Button, "Bold"),
		},
	}
}

// browse opens a page in Chromium, which also works while covered.
func browse(b *testing.B, s *linuxtest.Session, page string, switches ...string) *linuxtest.App {
	b.Helper()
	return s.Launch(b, "chromium", append(switches, "--force-renderer-accessibility", "--disable-backgrounding-occluded-windows",
		"--disable-features=CalculateNativeWinOcclusion,Translate", "--no-sandbox", "--no-first-run", "--test-type", "--disable-gpu",
		"--disable-dev-shm-usage", "--password-store=basic", "--lang=en", "--disable-background-networking", "--disable-component-update",
		"--disable-sync", "--disable-extensions", "--user-data-dir="+b.TempDir(), page)...)
}

// webPage is a page with a button that counts its presses, and a form longer than the screen.
type webPage struct {
	address string
	presses atomic.Int64
}

// formRows produces about 1,200 elements in Chromium.
const formRows = 240

func serveWebPage(b *testing.B) *webPage {
	b.Helper()
	var text strings.Builder
	text.WriteString(`<!doctype html><title>A form</title><button id=press>Press</button> <label id=times>Pressed 0 times</label><script>
let times = 0;
press.addEventListener("click", () => { document.getElementById("times").textContent = "Pressed " + ++times + " times"; fetch("/pressed", {method: "POST"}); });
</script>`)
	for n := range formRows {
		fmt.Fprintf(&text, "<button>Button %d</button> <label>Field %d <input value=%d></label>\n", n, n, n)
	}
	p := &webPage{}
	mux := http.NewServeMux()
	mux.HandleFunc("GET /", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, text.String()) })
	mux.HandleFunc("POST /pressed", func(w http.ResponseWriter, _ *http.Request) {
		p.presses.Add(1)
		w.WriteHeader(http.StatusNoContent)
	})
	server := httptest.NewServer(mux)
	b.Cleanup(server.Close)
	p.address = server.URL + "/"
	return p
}

// stranger is another program that operates the same apps, over its own connections, so that its
// changes are news to the gateway.
type stranger struct {
	bus *atspi.Bus
	app desktop.App
}

func newStranger(b *testing.B, s *linuxtest.Session) *atspi.Bus {
	b.Helper()
	screen := x11.New(x11.Config{Getenv: s.Getenv, InputLock: inputlock.New(inputlock.Config{Folder: inputlock.Folder, Getenv: s.Getenv})})
	bus := atspi.New(atspi.Config{Getenv: s.Getenv, Windows: screen})
	b.Cleanup(func() {
		bus.Close()
		_ = screen.Close()
	})
	return bus
}

// snapshot reads the app.
func (s stranger) snapshot(b *testing.B) *desktop.Snapshot {
	b.Helper()
	shot, err := s.bus.Snapshot(b.Context(), s.app)
	assert.NilError(b, err)
	return shot
}

// change changes the app and waits for the effect.
func (s stranger) change(b *testing.B, role desktop.Role, name string, act desktop.Act) {
	b.Helper()
	before := s.snapshot(b)
	for i, e := range before.Elements {
		if e.Role != role || name != "" && e.Name != name || !before.IsVisible(i) {
			continue
		}
		assert.NilError(b, s.bus.Execute(b.Context(), s.app, e.ID, act))
		for end := time.Now().Add(10 * time.Second); s.snapshot(b).Version == before.Version; time.Sleep(settlePause) {
			assert.Assert(b, !time.Now().After(end), "%s of the %s %q in %s changed nothing", act.Verb, role, name, s.app.Name)
		}
		time.Sleep(2 * settlePause)
		return
	}
	b.Fatalf("%s shows no %s %q", s.app.Name, role, name)
}
