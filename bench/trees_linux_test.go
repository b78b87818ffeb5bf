package bench

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strconv"
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
	"github.com/gybob/aai-gateway/internal/testkit/tokencount"
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
	return newWebPage(b, text.String())
}

// newWebPage serves a page that posts to /pressed when its button is pressed.
func newWebPage(b *testing.B, text string) *webPage {
	b.Helper()
	p := &webPage{}
	server := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if r.URL.Path == "/pressed" {
			p.presses.Add(1)
			return
		}
		_, _ = io.WriteString(w, text)
	}))
	b.Cleanup(server.Close)
	p.address = server.URL
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

// agentPause is the pause between two calls of a very quick agent.
const agentPause = 500 * time.Millisecond

// trees measures calls of ax_get_tree, up to their results: without changes, and after each of
// some external changes. pyatspi reads the same trees alternately. All the apps run at once, as on
// a user's desktop.
func (w *desktopBench) trees(b *testing.B) {
	rounds := roundLimit(b, 20)
	walks := min(rounds, 3)
	apps := realApps()
	var ids []string
	for _, app := range apps {
		ids = append(ids, app.id)
	}
	s := w.newScene(b, ids...)
	page := serveWebPage(b)
	bus := newStranger(b, s.Session)
	walker, noWalker := newWalker(b, s.Session)
	for _, app := range apps {
		pid := s.run(b, app, page.address)
		r := treeRounds{scene: s, app: app, call: toolCall(b, "ax_get_tree", map[string]any{"app": strconv.Itoa(pid)}),
			other: stranger{bus, s.appOf(b, bus, pid)}}
		nodes := len(r.other.snapshot(b).Elements)
		for n := range rounds {
			r.round(b, n)
			if noWalker == nil && n%(rounds/walks) == 0 && len(w.walks[app.key]) < walks {
				var told walkAnswer
				if noWalker = walker.ask(pid, &told); noWalker == nil {
					w.keepWalk(app.key, told)
				}
			}
		}
		figure := fmt.Sprintf("ax_get_tree over stdio, %s, %d elements", app.name, nodes)
		w.table.add(figure+", after a change", medianAndP95(r.changed), "nothing happened for 250 ms "+medianAndP95(r.warm), fmt.Sprintf("%d tokens", r.tokens))
		b.ReportMetric(float64(r.changed.median())/1e6, "ms/"+app.key)
	}
	if noWalker != nil {
		w.table.add("pyatspi", "", "did not run: "+firstLine(noWalker), "")
	}
	w.backgroundWork(b, s)
	w.idle(b, s, "5 apps", watchDuration(10*time.Second, time.Second))
}

// reconfirmPause is longer than the background rereading of the cache: its pauses, which are in
// internal/desktop/treecache, and the reads themselves.
const reconfirmPause = 6 * time.Second

// backgroundWork returns the processor time that the last call causes after its result: confirming
// the read data.
func (w *desktopBench) backgroundWork(b *testing.B, s *scene) {
	b.Helper()
	before := processorTime(b, s.gateway.process.Process.Pid)
	time.Sleep(reconfirmPause)
	w.table.add("to confirm what the last call read, processor time, once", millis(processorTime(b, s.gateway.process.Process.Pid)-before), "", "")
}

// keepWalk stores pyatspi's time.
func (w *desktopBench) keepWalk(key string, told walkAnswer) {
	walks := w.walks[key]
	walks.add(milliseconds(told.Ms))
	w.walks[key] = walks
}

// run starts the app and returns its process when its tree is ready.
func (s *scene) run(b *testing.B, app realApp, page string) int {
	b.Helper()
	pid := app.start(b, s.Session, page).PID
	pid = s.processOf(b, app.id, pid)
	s.await(b, pid, app.query)
	time.Sleep(2 * time.Second) // many apps continue to draw for a while
	return pid
}

// processOf returns the process of the app with the id: it may be a child of the started one.
func (s *scene) processOf(b *testing.B, id string, started int) int {
	b.Helper()
	for end := time.Now().Add(30 * time.Second); time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
		var listed struct {
			Apps []struct {
				PID int
				ID  string `json:"bundle_id"`
			}
		}
		s.gateway.ask(b, "tools/call", toolCall(b, "ax_list_apps", map[string]any{})).data(b, &listed)
		for _, app := range listed.Apps {
			if app.PID == started || app.ID == id {
				return app.PID
			}
		}
	}
	b.Fatalf("%s (process %d) shows no tree", id, started)
	return 0
}

// appOf returns the app with the process, as the other program sees it.
func (s *scene) appOf(b *testing.B, bus desktop.Tree, pid int) desktop.App {
	b.Helper()
	apps, err := bus.Apps(b.Context())
	assert.NilError(b, err)
	for _, app := range apps {
		if app.PID == pid {
			return app
		}
	}
	b.Fatalf("process %d is not on the accessibility bus", pid)
	return desktop.App{}
}

// treeRounds are the reads of one app.
type treeRounds struct {
	scene         *scene
	app           realApp
	call          string
	other         stranger
	warm, changed samples
	tokens        int
}

// round reads the app after a change, and again without changes after an agent's minimum pause.
func (r *treeRounds) round(b *testing.B, n int) {
	b.Helper()
	role, name, act := r.app.change(n)
	r.other.change(b, role, name, act)
	begun := time.Now()
	a := r.scene.gateway.ask(b, "tools/call", r.call)
	r.changed.add(time.Since(begun))
	time.Sleep(agentPause)
	r.warm.add(r.scene.gateway.timed(b, r.call))
	r.tokens = tokencount.Count(b, a.text(b))
}

// idle measures the processor time of an idle gateway that listens to programs.
func (w *desktopBench) idle(b *testing.B, s *scene, watching string, long time.Duration, beside ...*linuxtest.App) {
	b.Helper()
	pid := s.gateway.process.Process.Pid
	before, others := processorTime(b, pid), make([]time.Duration, len(beside))
	for i, app := range beside {
		others[i] = processorTime(b, app.PID)
	}
	time.Sleep(long)
	share := 100 * ratio(processorTime(b, pid)-before, long)
	text := ""
	for i, app := range beside {
		text = fmt.Sprintf("the app itself %.2f %%", 100*ratio(processorTime(b, app.PID)-others[i], long))
	}
	w.table.judge(fmt.Sprintf("idle gateway that listens to %s, processor over %s", watching, long), fmt.Sprintf("%.2f %%", share), text, "",
		"≤ 1 %", share <= 1)
	memory := vmRSS(b, pid)
	w.table.add("the same gateway's memory (VmRSS)", megabytes(memory), "", "")
}
