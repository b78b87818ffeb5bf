package gui_test

import (
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gui"
	"github.com/gybob/aai-gateway/internal/gui/risk"
)

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
		"ax_drag": {of(params{"from_x": 1, "from_y": 1, "to_x": 5, "to_y": 5})}, "ax_window": {of(params{"action": "minimize"})},
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
