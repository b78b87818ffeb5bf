package gui_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/inputlock"
	"github.com/gybob/aai-gateway/internal/desktop/refs"
	"github.com/gybob/aai-gateway/internal/devtools"
	"github.com/gybob/aai-gateway/internal/gateway"
	"github.com/gybob/aai-gateway/internal/gui"
	"github.com/gybob/aai-gateway/internal/platform/linux/atspi"
	"github.com/gybob/aai-gateway/internal/platform/linux/session"
	"github.com/gybob/aai-gateway/internal/platform/linux/x11"
	"github.com/gybob/aai-gateway/internal/process"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
	"github.com/gybob/aai-gateway/internal/vision"
)

// realWorld is a private desktop with real windows, with the tools joined as in the product: behind
// a gateway that admits everything and keeps its journal.
type realWorld struct {
	*testing.T
	*linuxtest.Session
	backend desktop.Backend
	gateway *gateway.Gateway
	tools   *aai.App
	record  *record
	caller  aai.Caller
	// browsers are those that are connected over DevTools; nil in tests of accessibility alone.
	browsers *devtools.Browsers
}

// params are the arguments of a call.
type params map[string]any

// realPatience limits how long a test waits. It measures nothing: a loaded machine is slow.
const realPatience = 2 * time.Minute

// sessions are the desktops of the package's tests.
var sessions linuxtest.Pool

func TestMain(m *testing.M) { os.Exit(sessions.Run(m)) }

// newRealWorld returns a desktop with accessibility on and without windows.
func newRealWorld(t *testing.T) *realWorld {
	t.Helper()
	s := sessions.Borrow(t)
	return joined(t, s, s.Getenv)
}

// parallelWorld is newRealWorld for a test that runs beside others.
func parallelWorld(t *testing.T) *realWorld {
	t.Helper()
	t.Parallel()
	return newRealWorld(t)
}

// ownWorld starts a desktop that no other test has: for tests that end parts of it.
func ownWorld(t *testing.T) *realWorld {
	t.Helper()
	s := linuxtest.StartAccessible(t)
	return joined(t, s, s.Getenv)
}

// joined returns the tools on the desktop of the environment.
func joined(t *testing.T, s *linuxtest.Session, getenv func(string) string) *realWorld {
	t.Helper()
	screen := x11.New(x11.Config{Getenv: getenv, InputLock: inputlock.New(inputlock.Config{Folder: inputlock.Folder, Getenv: getenv})})
	programs := session.NewLauncher(session.LauncherConfig{Getenv: getenv, Environ: func() []string { return s.Env }, DataDirs: []string{"/usr/share"}, Libraries: session.Libraries()})
	tree := atspi.New(atspi.Config{Getenv: getenv, Windows: screen, KeepOpen: programs.KeepOpen})
	t.Cleanup(func() {
		tree.Close()
		err := screen.Close()
		assert.Check(t, err, "closing the screen: %v", err)
	})
	w := &realWorld{
		T: t, Session: s, record: &record{},
		caller: aai.Caller{Door: aai.DoorMCP, Name: "test", Session: "s1"},
		backend: desktop.Backend{
			Tree: tree, Offscreen: tree, Actor: tree, Events: tree,
			Windows: screen, Input: screen, Screen: screen, Clipboard: screen, Programs: programs,
		},
	}
	w.offers(gui.Config{Open: func() desktop.Backend { return w.backend }, Baselines: &vision.Baselines{Folder: t.TempDir(), Sealer: unsealed{}}})
	return w
}

// offers makes the gateway offer the desktop's tools, behind the gates.
func (w *realWorld) offers(c gui.Config, gates ...aai.Gate) {
	c.IsTerminal = process.ShowsTerminal
	w.tools = gui.New(c)
	for _, tool := range w.tools.Tools { // slow is not failed
		tool.Limits.Timeout += realPatience
	}
	w.gateway = &gateway.Gateway{Catalog: catalog{w.tools}, Gates: append(gates, admitAll{w.record}), Journal: w.record, Claims: inputlock.Claims{Folder: inputlock.Folder}}
}

// on returns the world for a subtest.
func (w *realWorld) on(t *testing.T) *realWorld {
	part := *w
	part.T = t
	return &part
}

// do makes a call like the gateway's doors.
func (w *realWorld) do(ctx context.Context, tool string, p params) (*aai.Result, *aai.Error) {
	w.Helper()
	result, err := w.gateway.Do(ctx, &aai.Call{Caller: w.caller, App: aai.DesktopApp, Tool: tool, Args: p})
	e := aai.AsError(err)
	switch {
	case e == nil && result == nil:
		w.Fatalf("%s %v: neither a result nor an error", tool, p)
	case e != nil && (e.Code == aai.Internal || e.Code == "" || e.Message == ""):
		w.Fatalf("%s %v: %v\n%v", tool, p, e, e.Err)
	}
	return result, e
}

// ok makes a call that must succeed.
func (w *realWorld) ok(tool string, p params) answer {
	w.Helper()
	result, err := w.do(w.Context(), tool, p)
	if err != nil {
		w.Fatalf("%s %v: %s %v; delivery %q, hint %q, candidates %q", tool, p, err.Code, err, err.Delivery, err.Hint, err.Candidates)
	}
	return answer{result, asJSON(w.T, result.Data)}
}

// refused makes a call that must fail with the code, and returns the error.
func (w *realWorld) refused(code aai.Code, tool string, p params) *aai.Error {
	w.Helper()
	result, err := w.do(w.Context(), tool, p)
	switch {
	case err == nil:
		w.Fatalf("%s %v: succeeded with %q %v, warning %q; want %s", tool, p, result.Text, result.Data, result.Warning, code)
	case err.Code != code:
		w.Fatalf("%s %v: %s %v, want %s", tool, p, err.Code, err, code)
	}
	return err
}

// done makes a call that acts, and must have an observed effect.
func (w *realWorld) done(tool string, p params) answer {
	w.Helper()
	a := w.ok(tool, p)
	if strings.Contains(a.Warning, "the next call to this program reports") { // a browser may report it late
		if late := w.ok("ax_get_tree", params{"app": p["app"]}); strings.Contains(late.Text, "Since then") {
			a.Text += "\n" + late.Text
			return a
		}
	}
	assert.Check(w, is.Equal(at(a.data, "delivered"), true), "%s %v %s", tool, p, a.Text)
	assert.Check(w, is.Equal(at(a.data, "verified"), true), "%s %v %s", tool, p, a.Text)
	assert.Check(w, is.Equal(a.Warning, ""), "%s %v %s", tool, p, a.Text)
	return a
}

// ref finds an element and returns its ref.
func (w *realWorld) ref(app, query string) string {
	w.Helper()
	ref, _ := w.ok("ax_find", params{"app": app, "query": query}).data["element_ref"].(string)
	assert.Assert(w, refs.Is(ref), "ax_find gave the ref %q for %s", ref, query)
	return ref
}

// says checks that a text has all the parts.
func (w *realWorld) says(text string, parts ...string) {
	w.Helper()
	for _, part := range parts {
		assert.Check(w, is.Contains(text, part))
	}
}

// eventually waits until ready returns true.
func (w *realWorld) eventually(what string, ready func() bool) {
	w.Helper()
	for end := time.Now().Add(realPatience); !ready(); time.Sleep(20 * time.Millisecond) {
		assert.Assert(w, !time.Now().After(end), "after %s it is still not so: %s", realPatience, what)
	}
}

// open opens a fixture and returns it with its program's name for calls: its PID, once it is
// readable.
func (w *realWorld) open(kind linuxtest.Kind) (*linuxtest.Fixture, string) {
	w.Helper()
	f := w.Fixture(w.T, kind)
	app := w.process(f.App)
	w.awaitElement(app, "button Press")
	return f, app
}

// python starts a Python program of testdata/programs with the arguments, waits until it shows the
// element, and returns its PID.
func (w *realWorld) python(name, query string, args ...string) (app string) {
	w.Helper()
	app = w.process(w.script(name, args...))
	w.awaitElement(app, query)
	return app
}

// script starts a Python program of testdata/programs.
func (w *realWorld) script(name string, args ...string) *linuxtest.App {
	w.Helper()
	return w.Launch(w.T, "python3", append([]string{programFile(w, name)}, args...)...)
}

// pythonOf is python for the variant of a program in the toolkit: NAME_gtk.py, whose first argument is the version, or
// NAME_qt6.py.
func (w *realWorld) pythonOf(kind linuxtest.Kind, name, query string, args ...string) (app string) {
	w.Helper()
	if version, is := strings.CutPrefix(string(kind), "gtk"); is {
		return w.python(name+"_gtk.py", query, append([]string{version + ".0"}, args...)...)
	}
	return w.python(name+"_"+string(kind)+".py", query, append([]string{""}, args...)...)
}

// programFile returns the path of a program in testdata/programs.
func programFile(t testing.TB, name string) string {
	t.Helper()
	path, err := filepath.Abs(filepath.Join("testdata", "programs", name))
	assert.NilError(t, err)
	return path
}

// process waits until the launched program, or a child, shows a tree, and returns its PID.
func (w *realWorld) process(a *linuxtest.App) string {
	w.Helper()
	found := ""
	w.eventually(fmt.Sprintf("process %d shows a tree", a.PID), func() bool {
		apps, _ := w.ok("ax_list_apps", nil).data["apps"].([]any)
		for _, row := range apps {
			pid, _ := at(row, "pid").(float64)
			if at(row, "hidden") == nil && (int(pid) == a.PID || w.backend.Programs.IsDescendant(int(pid), a.PID)) {
				found = strconv.Itoa(int(pid))
			}
		}
		return found != ""
	})
	return found
}

// awaitElement waits until the query has a match.
func (w *realWorld) awaitElement(app, query string) {
	w.Helper()
	w.eventually(query+" is there", func() bool {
		_, err := w.do(w.Context(), "ax_find", params{"app": app, "query": query})
		return err == nil
	})
}

// shown returns the pages of the program's tree with all their elements. A window that fills meanwhile
// may lose the place of a cursor: the outline then starts at its beginning, as the hint says.
func (w *realWorld) shown(app string) string {
	w.Helper()
	text, more := "", ""
	for range 100 {
		p := params{"app": app}
		if more != "" {
			p["more"] = more
		}
		a, err := w.do(w.Context(), "ax_get_tree", p)
		if err != nil && more != "" && err.Code == aai.InvalidParams {
			text, more = "", ""
			continue
		}
		assert.Assert(w, err == nil, "ax_get_tree %v: %v", p, err)
		text += a.Text
		if more, _ = at(asJSON(w.T, a.Data), "more").(string); more == "" {
			return text
		}
	}
	w.Fatalf("%s has more than 100 pages", app)
	return ""
}

// person is a person who works at their own terminal, which has the focus and the pointer. It keeps
// the typed text.
type person struct {
	w     *realWorld
	title string
	file  string // the text typed in the terminal
	typed string // the text that the person typed
	x, y  int
}

// somebody starts a person at a terminal in the lower right corner, beside the window of a fixture,
// which loses the focus.
func (w *realWorld) somebody() *person {
	w.Helper()
	p := &person{w: w, title: "Somebody's work", file: filepath.Join(w.TempDir(), "typed")}
	assert.NilError(w, os.WriteFile(p.file, nil, 0o600))
	w.Launch(w.T, "xterm", "-T", p.title, "-geometry", "40x8-0-0", "-e", "sh", "-c", "stty raw -echo; exec cat > "+p.file)
	w.eventually("the terminal is up", func() bool { return w.ActiveWindow(w.T) == p.title })
	p.back(w.T)
	return p
}

// back restores the person's focus and pointer.
func (p *person) back(t *testing.T) {
	t.Helper()
	w := p.w.on(t)
	w.eventually("the person's terminal has the focus", func() bool {
		// It fails if the window with the focus closes just then.
		err := w.Launch(t, "xdotool", "search", "--name", "^"+p.title+"$", "windowactivate",
			"mousemove", strconv.Itoa(linuxtest.ScreenWidth-60), strconv.Itoa(linuxtest.ScreenHeight-40)).Wait(t)
		return err == nil && w.ActiveWindow(t) == p.title
	})
	p.x, p.y = w.Pointer(t)
}

// undisturbed checks, independently of our code, that the person's focus and pointer are unchanged
// and that nothing was typed into their window.
func (p *person) undisturbed(t *testing.T) {
	t.Helper()
	// A window manager learns about changes a little later.
	title := p.w.ActiveWindow(t)
	for end := time.Now().Add(realPatience); title != p.title && time.Now().Before(end); title = p.w.ActiveWindow(t) {
		time.Sleep(10 * time.Millisecond)
	}
	assert.Check(t, is.Equal(title, p.title), "the focus is on %q, and was on %q", title, p.title)
	x, y := p.w.Pointer(t)
	assert.Check(t, is.Equal(x, p.x))
	assert.Check(t, is.Equal(y, p.y))
	typed, err := os.ReadFile(p.file)
	assert.NilError(t, err, "%q", typed)
	assert.Equal(t, string(typed), p.typed, "%q", typed)
}

// works makes the person type, and checks that the text reaches their window: a keyboard grab takes
// keys without any window losing the focus.
func (p *person) works(t *testing.T) {
	t.Helper()
	p.undisturbed(t)
	p.typed += "x"
	p.w.on(t).run("xdotool", "key", "x")
	arrived := func() bool {
		typed, err := os.ReadFile(p.file)
		return err == nil && string(typed) == p.typed
	}
	for end := time.Now().Add(realPatience); !arrived(); time.Sleep(5 * time.Millisecond) {
		assert.Assert(t, !time.Now().After(end), "what the person types does not come to their window")
	}
}

// run runs a program in the session, which must succeed.
func (w *realWorld) run(name string, args ...string) {
	w.Helper()
	assert.NilError(w, w.Launch(w.T, name, args...).Wait(w.T), "%s %q", name, args)
}

// jsonText encodes a value as JSON.
func jsonText(t testing.TB, v any) string {
	t.Helper()
	raw, err := json.Marshal(v)
	assert.NilError(t, err)
	return string(raw)
}
