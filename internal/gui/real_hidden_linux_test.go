package gui_test

import (
	"bytes"
	"fmt"
	"image"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gui"
	"github.com/gybob/aai-gateway/internal/gui/risk"
	"github.com/gybob/aai-gateway/internal/policy"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// guarded puts the real gates before the desktop: the caller may see the whole screen, and the
// given programs.
func (w *realWorld) guarded(programs ...string) {
	grants := []policy.Grant{{Caller: policy.Wildcard, App: aai.DesktopApp, Tool: aai.PermissionSee, Decision: policy.Allow}}
	for _, id := range programs {
		grants = append(grants, policy.Grant{Caller: policy.Wildcard, App: id, Tool: aai.PermissionSee, Decision: policy.Allow})
	}
	consent := policy.NewConsent(policy.ConsentConfig{Store: policy.NewFileStore(filepath.Join(w.TempDir(), "consent.json")), Preapproved: grants})
	w.gateway.Gates = []aai.Gate{policy.NewLimits(policy.DefaultLimits()), risk.ProtectedWindows{}, consent}
}

// windowCalled waits for a window with the title.
func (w *realWorld) windowCalled(title string) desktop.WindowInfo {
	w.Helper()
	for until := time.Now().Add(realPatience); ; time.Sleep(20 * time.Millisecond) {
		windows, err := w.backend.Windows.Windows(w.Context())
		if i := slices.IndexFunc(windows, func(i desktop.WindowInfo) bool { return strings.Contains(i.Title, title) }); i >= 0 {
			return windows[i]
		}
		assert.Assert(w, !time.Now().After(until), "there is no window %q: %+v, %v", title, windows, err)
	}
}

// black returns the black share of the area in the screenshot, from 0 to 1.
func black(picture image.Image, area desktop.Rect) float64 {
	dark := 0
	for y := area.Y; y < area.Y+area.H; y++ {
		for x := area.X; x < area.X+area.W; x++ {
			if r, g, b, _ := picture.At(x, y).RGBA(); r|g|b == 0 {
				dark++
			}
		}
	}
	return float64(dark) / float64(area.W*area.H)
}

// wholeScreen captures the screen through the gateway, unscaled.
func (w *realWorld) wholeScreen() (image.Image, answer) {
	w.Helper()
	a := w.ok("ax_screenshot", params{"max_side": 16384})
	picture, err := png.Decode(bytes.NewReader(a.Images[0].Data))
	assert.NilError(w, err)
	if folder := os.Getenv("AAI_TEST_PICTURES"); folder != "" {
		assert.NilError(w, os.WriteFile(filepath.Join(folder, w.Name()+".png"), a.Images[0].Data, 0o600))
	}
	return picture, a
}

// A screenshot of the whole screen shows the programs that the caller may see. It hides password
// prompts and other programs, including windows without a window manager.
func TestWholeScreenHidesWhatMayNotBeSeen(t *testing.T) {
	w := newRealWorld(t)
	f := w.Fixture(t, linuxtest.GTK3)
	var id string
	apps, _ := at(w.ok("ax_list_apps", params{}).data, "apps").([]any)
	for _, a := range apps {
		if at(a, "pid") == float64(f.PID) {
			id, _ = at(a, "bundle_id").(string)
		}
	}
	w.guarded("desktop/" + id)
	w.Launch(t, "sh", "-c", `(printf 'OPTION no-grab\nSETTITLE Unlock the key\nSETDESC The key of Alice\nSETPROMPT PIN\nGETPIN\n'; sleep 600) | pinentry-gtk-2`)
	w.Launch(t, "zenity", "--password", "--title", "Password wanted")
	w.script("popup.py", "1200", "700", "300", "200")
	popup := desktop.Rect{X: 1200, Y: 700, W: 300, H: 200}
	var picture image.Image
	var a answer
	areas := map[string]desktop.Rect{"an unmanaged window": popup}
	for still := false; !still; { // a window manager may move a window after it appears
		areas["pinentry"], areas["zenity"] = w.windowCalled("Unlock the key").Frame, w.windowCalled("Password wanted").Frame
		for _, area := range areas {
			w.comesUp(area)
		}
		picture, a = w.wholeScreen()
		still = areas["pinentry"] == w.windowCalled("Unlock the key").Frame && areas["zenity"] == w.windowCalled("Password wanted").Frame
	}
	for name, area := range areas {
		got := black(picture, area)
		assert.Check(t, got == 1, "%s at %v is seen: only %.3f of it is black", name, area, got)
	}
	hidden := fmt.Sprint(at(a.data, "hidden"))
	assert.Assert(t, is.Contains(hidden, "pinentry"))
	assert.Assert(t, is.Contains(hidden, "zenity"))
	assert.Assert(t, is.Contains(a.Text, blackWords))
	// The visible program is shown: in front, where no window covers it.
	assert.NilError(t, w.backend.Windows.Activate(t.Context(), w.windowCalled(f.Title).ID))
	r := f.WindowRect(t)
	own := desktop.Rect{X: r.X, Y: r.Y, W: r.Width, H: r.Height}
	for until := time.Now().Add(realPatience); ; {
		picture, _ = w.wholeScreen()
		if black(picture, own) < 0.2 {
			break
		}
		if time.Now().After(until) {
			t.Fatalf("the fixture is black for %.3f", black(picture, own))
		}
	}
	for name, app := range map[string]string{"pinentry": "pinentry-gtk-2", "zenity": "zenity"} {
		_, err := w.do(t.Context(), "ax_screenshot", params{"app": app})
		assert.Check(t, err != nil, "%s is seen by itself", name)
	}
}

// blackWords begin the list of blackened programs in a reply.
const blackWords = "blacked out"

// comesUp waits until the area shows more than the background.
func (w *realWorld) comesUp(area desktop.Rect) {
	w.Helper()
	for until := time.Now().Add(realPatience); ; time.Sleep(20 * time.Millisecond) {
		picture, err := w.backend.Screen.Capture(w.Context(), area)
		if err == nil && black(picture, desktop.Rect{W: area.W, H: area.H}) < 0.5 {
			return
		}
		assert.Assert(w, !time.Now().After(until), "nothing is to be seen at %v: %v", area, err)
	}
}

// TestTheDashboardIsLeftAlone by every tool, for a caller with all permissions: a browser that
// shows it is neither read, operated nor captured, nor is a screen with it. Another page in another
// browser is operated meanwhile.
func TestTheDashboardIsLeftAlone(t *testing.T) {
	w := newRealWorld(t)
	hosts := w.withOwnPages()
	page := w.webForm(`<label>Name <input id=name></label><button id=stop>Stop everything</button>`)
	beside := w.webForm(`<label>Name <input id=name></label><button>Other</button>`)
	w.ok("ax_get_tree", params{"app": page.app})
	w.ok("ax_screenshot", nil)

	hosts.Store(&[]string{page.host})
	query, at := "button Stop everything", params{"x": 10, "y": 10}
	of := func(p params) params {
		p["app"] = page.app
		return p
	}
	calls := map[string][]params{
		"ax_get_tree": {of(params{})}, "ax_find": {of(params{"query": query})}, "ax_get_value": {of(params{"query": query})},
		"ax_get_state": {of(params{})}, "ax_get_events": {of(params{})}, "ax_record": {of(params{})}, "ax_relocate": {of(params{"query": "Stop", "target": map[string]any{"role": "button", "name": "Stop"}})}, "ax_find_visual": {of(params{"description": "Stop"})}, "ax_visual_diff": {of(params{"baseline": "x"})}, "ax_ask_model": {of(params{})}, "ax_a11y_audit": {of(params{})}, "ax_a11y_keyboard": {of(params{})},
		"ax_get_attributes": {of(params{"query": query})}, "ax_assert": {of(params{"query": query, "assertions": map[string]any{"enabled": true}})},
		"ax_wait": {of(params{"query": query})}, "ax_wait_idle": {of(params{})}, "ax_connect": {of(params{})}, "ax_list_windows": {of(params{})},
		"ax_screenshot": {of(params{}), {}}, "ax_click": {of(params{"query": query})}, "ax_click_at": {of(at)},
		"ax_type": {of(params{"query": "textbox Name", "text": "x"})}, "ax_set_value": {of(params{"query": "textbox Name", "value": "x"})},
		"ax_fill":      {of(params{"fields": []any{map[string]any{"query": "textbox Name", "value": "x"}}})},
		"ax_key_press": {of(params{"key": "return"})}, "ax_scroll": {of(params{"direction": "down"})},
		"ax_lease": {of(params{})}, "ax_drag": {of(params{"from_x": 1, "from_y": 1, "to_x": 5, "to_y": 5})}, "ax_window": {of(params{"action": "minimize"})},
	}
	for _, tool := range w.tools.Tools {
		named := slices.ContainsFunc([]string{"ax_is_accessible", "ax_list_apps", "ax_clipboard", "ax_session_info"}, func(n string) bool { return n == tool.Name })
		_, ok := calls[tool.Name]
		assert.Check(t, ok || named, "%s is not tried", tool.Name)
	}
	for name, all := range calls {
		for _, p := range all {
			_, err := w.do(t.Context(), name, p)
			assert.Assert(t, err != nil, "%s %v: %v; want it refused because of the page", name, p, err)
			assert.Equal(t, err.Code, aai.PermissionDenied, "%s %v %v", name, p, err)
			assert.Assert(t, is.Contains(err.Message, "own page"), "%s %v %v", name, p, err)
		}
	}
	w.ok("ax_set_value", params{"app": beside.app, "query": "textbox Name", "value": "Ada"})
	beside.comes("name", "Ada")
	hosts.Store(new([]string))
	w.ok("ax_get_tree", params{"app": page.app})
	got := page.holds("name")
	assert.Check(t, is.Equal(got, ""), "in the page somebody wrote %q", got)
}

// TestToolsOfTheBrowserAreLeftAlone: DevTools in a separate window show a page without its address,
// so their browser is left alone while there is a dashboard.
func TestToolsOfTheBrowserAreLeftAlone(t *testing.T) {
	w := newRealWorld(t)
	hosts := w.withOwnPages()
	page := w.webFormIn(`<label>Name <input id=name></label>`, "")
	w.ok("ax_get_tree", params{"app": page.app})
	w.ok("ax_key_press", params{"app": page.app, "key": "l", "modifiers": []any{"ctrl"}})
	w.ok("ax_type", params{"app": page.app, "query": "Address and search bar", "text": "devtools://devtools/bundled/inspector.html\n"})
	hosts.Store(&[]string{"aai-x7.localhost:3000"})
	w.eventually("the browser is left alone", func() bool {
		_, err := w.do(t.Context(), "ax_get_tree", params{"app": page.app})
		return err != nil && err.Code == aai.PermissionDenied && strings.Contains(err.Message, "a tool of the browser")
	})
	for _, tool := range []string{"ax_screenshot", "ax_get_tree"} {
		_, err := w.do(t.Context(), tool, params{"app": page.app})
		assert.Assert(t, err != nil, "%s %v", tool, err)
		assert.Equal(t, err.Code, aai.PermissionDenied, "%s %v", tool, err)
	}
	hosts.Store(new([]string))
	w.ok("ax_get_tree", params{"app": page.app})
}

// withOwnPages makes the gateway leave the dashboards at the hosts alone.
func (w *realWorld) withOwnPages() (hosts *atomic.Pointer[[]string]) {
	hosts = new(atomic.Pointer[[]string])
	hosts.Store(new([]string))
	b := w.backend
	b.Documents, _ = b.Tree.(desktop.Documents) // it returns the addresses of documents
	w.offers(gui.Config{Open: func() desktop.Backend { return b }, DashboardHosts: func() ([]string, error) { return *hosts.Load(), nil }}, risk.ProtectedWindows{})
	return hosts
}

// TestRealTerminalIsAShell: in a real terminal, under its name and another, a caller that may click
// and type cannot run a command, by keys or by a click that pastes.
func TestRealTerminalIsAShell(t *testing.T) {
	w := newRealWorld(t)
	real, err := exec.LookPath("xterm")
	assert.NilError(t, err)
	program, err := os.ReadFile(real)
	assert.NilError(t, err)
	otherwise := filepath.Join(t.TempDir(), "notes")
	assert.NilError(t, os.WriteFile(otherwise, program, 0o700))
	for name, command := range map[string]string{"xterm": real, "notes": otherwise} {
		t.Run(name, func(t *testing.T) { terminalIsAShell(w.on(t), name, command) })
	}
}

// terminalIsAShell tests the terminal under the given name.
func terminalIsAShell(w *realWorld, name, command string) {
	t := w.T
	shell := w.Launch(t, command, "-T", "a shell called "+name, "-class", "Notes", "-e", "sh")
	defer shell.Kill(t)
	_ = w.windowCalled("a shell called " + name)
	allow := func(permissions ...string) {
		var grants []policy.Grant
		for _, permission := range permissions {
			grants = append(grants, policy.Grant{Caller: policy.Wildcard, App: "desktop/" + name, Tool: permission, Decision: policy.Allow})
		}
		store := policy.NewFileStore(filepath.Join(w.TempDir(), "consent.json"))
		w.gateway.Gates = []aai.Gate{risk.ShellMarker{}, policy.NewConsent(policy.ConsentConfig{Store: store, Preapproved: grants})}
	}
	keys := []params{{"app": name, "key": "t", "mode": "focus"}, {"app": name, "key": "return", "mode": "focus"}}
	allow(aai.PermissionSee, aai.PermissionAct, aai.PermissionDestroy, policy.Wildcard)
	for _, p := range keys {
		if e := w.refused(aai.ConsentRequired, "ax_key_press", p); e.Delivery == aai.Delivered || e.Needs == nil || e.Needs.Tool != aai.PermissionRun {
			t.Errorf("%+v", e)
		}
	}
	_ = w.refused(aai.ConsentRequired, "ax_type", params{"app": name, "text": "id\n", "mode": "focus"})
	_ = w.refused(aai.ConsentRequired, "ax_click_at", params{"app": name, "x": 100, "y": 100})

	allow(aai.PermissionRun)
	for tool, p := range map[string]params{"ax_type": {"app": name, "text": "id"}, "ax_click_at": {"app": name, "x": 100, "y": 100, "mode": "focus"}} {
		_, err := w.do(t.Context(), tool, p)
		assert.Check(t, err == nil || err.Code != aai.ConsentRequired, "%s: who may run a command is refused: %v", tool, err)
	}
}
