package gui_test

import (
	"os"
	"path/filepath"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
)

// asking is a page that asks for permissions.
const asking = `<button onclick="navigator.geolocation.getCurrentPosition(() => { out.value = 'granted' }, () => { out.value = 'refused' })">Where</button>
	<button onclick="note.value = 'Ada'">Write</button> <label>Note <input id="note"></label><label>Out <input id="out"></label>`

// TestPermissionsAreForThePerson: a browser's prompt can be read, and no action reaches it, while
// the page can be operated.
func TestPermissionsAreForThePerson(t *testing.T) {
	for name, open := range map[string]func(*realWorld) *webForm{
		"chromium": func(w *realWorld) *webForm { return w.webFormIn(asking, "") },
		"firefox":  func(w *realWorld) *webForm { return w.firefoxForm(asking, "button Ready") },
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newRealWorld(t)
			f := open(w)
			w.ok("ax_click", f.on("button Where"))
			allow := "button Allow while visiting the site"
			if name == "firefox" {
				allow = "button Allow"
			}
			w.awaitElement(f.app, allow)
			x, y := w.inside(f.app, allow)
			for tool, p := range map[string]params{
				"ax_click": {"query": allow}, "ax_click_at": {"x": x, "y": y}, "ax_key_press": {"key": "escape"},
				"ax_drag": {"from_x": x, "from_y": y, "to_x": x + 9, "to_y": y},
			} {
				p["app"] = f.app
				err := w.refused(aai.PermissionDenied, tool, p)
				assert.Check(t, is.Contains(err.Message, "for the person"), "%s %v", tool, err)
			}
			w.ok("ax_click", f.on("button Write"))
			f.comes("note", "Ada")
			got := f.holds("out")
			assert.Check(t, is.Equal(got, ""), "the question was answered: %s", got)
		})
	}
}

// TestPortalsAskThePerson: of a portal's windows the choosers can be operated; the others can only
// be read.
func TestPortalsAskThePerson(t *testing.T) {
	w := newRealWorld(t)
	portal := filepath.Join(w.Home, "xdg-desktop-portal-gtk") // the same windows, in a program with that name
	program, err := os.ReadFile("/usr/bin/zenity")
	assert.NilError(t, err)
	assert.NilError(t, os.WriteFile(portal, program, 0o700))
	question := w.process(w.Launch(t, portal, "--question", "--text", "Share your screen?"))
	w.awaitElement(question, "button Yes")
	w.ok("ax_get_tree", params{"app": question})
	x, y := w.inside(question, "button Yes")
	for tool, p := range map[string]params{
		"ax_click": {"query": "button Yes"}, "ax_key_press": {"key": "return"}, "ax_click_at": {"x": x, "y": y},
		"ax_window": {"action": "close"},
	} {
		p["app"] = question
		err := w.refused(aai.PermissionDenied, tool, p)
		assert.Check(t, is.Contains(err.Message, "for the person"), "%s %v", tool, err)
	}
	for _, kind := range []string{"--file-selection", "--color-selection"} {
		chooser := w.process(w.Launch(t, portal, kind))
		w.awaitElement(chooser, "button Cancel")
		w.ok("ax_click", params{"app": chooser, "query": "button Cancel"})
	}
}

// inside returns a point within the element.
func (w *realWorld) inside(app, query string) (x, y float64) {
	w.Helper()
	data := w.ok("ax_get_attributes", params{"app": app, "query": query}).data
	x, _ = at(data, "frame", "x").(float64)
	y, _ = at(data, "frame", "y").(float64)
	return x + 8, y + 8
}
