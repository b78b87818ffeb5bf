package gui_test

import (
	"bytes"
	"context"
	"image/png"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
)

// TestRealWordsInPicture: texts that a window draws are read, found and clicked by their refs, and a ref is refused when
// the window shows something else there.
func TestRealWordsInPicture(t *testing.T) {
	w := parallelWorld(t)
	log := filepath.Join(w.Home, "clicked")
	app := w.python("painted.py", `"Painted"`, log)
	clicked := func(want string) {
		w.Helper()
		w.eventually("the clicks are "+want, func() bool { text, _ := os.ReadFile(log); return string(text) == want })
	}
	find := func(words string) string {
		w.Helper()
		a := w.ok("ax_find_visual", params{"app": app, "description": words})
		assert.Equal(t, at(a.data, "found"), true, "%q %s", words, a.Text)
		ref, _ := at(a.data, "element_ref").(string)
		return ref
	}
	w.done("ax_click", params{"app": app, "query": find("the Refund button"), "mode": "focus"})
	clicked("Refund\n")
	on := w.record.last(aai.Outcome).Element
	assert.Check(t, is.Equal(on.Name, "Refund"), "%+v", on)
	assert.Check(t, on.UnknownEffect, "on record is %+v", on)
	approve := find("approve")
	picture := w.ok("ax_screenshot", params{"app": app, "text": true})
	w.says(picture.Text, "Archive [w", "Delete [w")
	w.done("ax_click", params{"app": app, "query": find("Swap"), "mode": "focus"})
	clicked("Refund\nSwap\n")
	e := w.refused(aai.StaleRef, "ax_click", params{"app": app, "query": approve, "mode": "focus"})
	w.says(e.Message+e.Hint, "Approve", "something else there", "ax_find_visual")
	e = w.refused(aai.StaleRef, "ax_click", params{"app": app, "query": "w9999", "mode": "focus"})
	w.says(e.Message+e.Hint, "no text", "ax_find_visual")
	w.done("ax_click", params{"app": app, "query": find("approve"), "mode": "focus"})
	clicked("Refund\nSwap\nApprove\n")
	a := w.ok("ax_find", params{"app": app, "query": "Archive"})
	w.says(a.Text, `"Archive" [w`)
	_ = w.refused(aai.ElementNotFound, "ax_find", params{"app": app, "query": "Publish"})
	a = w.ok("ax_find_visual", params{"app": app, "description": "Publish"})
	w.says(a.Text, "No text in the picture matches", "Approve [w")
	assert.Check(t, is.Equal(at(a.data, "found"), false), "it says %v", a.data)
}

// TestRealVisualDiff: a window is equal to its kept picture until it changes, and the reply shows where; ignored parts and
// acceptable differences do not count.
func TestRealVisualDiff(t *testing.T) {
	w := parallelWorld(t)
	app := w.python("painted.py", `"Painted"`, filepath.Join(w.Home, "clicked"))
	compare := func(more params) (passed any, text string, pictures int) {
		w.Helper()
		p := params{"app": app, "baseline": "start"}
		maps.Copy(p, more)
		a := w.ok("ax_visual_diff", p)
		return at(a.data, "passed"), a.Text, len(a.Images)
	}
	w.says(w.refused(aai.InvalidParams, "ax_visual_diff", params{"app": app, "baseline": "start"}).Message, "no picture of this program was kept as start")
	_ = w.refused(aai.InvalidParams, "ax_visual_diff", params{"app": app, "baseline": "../start", "update": true})
	w.ok("ax_visual_diff", params{"app": app, "baseline": "start", "update": true})
	passed, text, pictures := compare(nil)
	assert.Check(t, is.Equal(passed, true), text)
	assert.Check(t, is.Equal(pictures, 0), text)
	found := w.ok("ax_find_visual", params{"app": app, "description": "Swap"})
	w.done("ax_click", params{"app": app, "query": at(found.data, "element_ref"), "mode": "focus"})
	passed, text, pictures = compare(params{"threshold": 0})
	assert.Check(t, is.Equal(passed, false), text)
	assert.Check(t, is.Equal(pictures, 1), text)
	passed, text, _ = compare(params{"threshold": 90})
	assert.Check(t, is.Equal(passed, true), text)
	passed, text, _ = compare(params{"ignore": []any{"role:canvas"}, "threshold": 0})
	assert.Check(t, is.Equal(passed, true), "without the drawing: %v, %s", passed, text)
	passed, text, _ = compare(params{"ignore_regions": []any{map[string]any{"x": 0, "y": 0, "w": 500, "h": 500}}, "threshold": 0})
	assert.Check(t, is.Equal(passed, true), "without a region: %v, %s", passed, text)
	if folder := os.Getenv("AAI_KEEP_PICTURES"); folder != "" {
		a := w.ok("ax_visual_diff", params{"app": app, "baseline": "start"})
		_ = os.WriteFile(filepath.Join(folder, "diff.png"), a.Images[0].Data, 0o600)
	}
	project := t.TempDir()
	assert.NilError(t, os.MkdirAll(filepath.Join(project, ".aai", "baselines"), 0o700))
	inProject := aai.WithClientCapabilities(t.Context(), aai.ClientCapabilities{Roots: func(context.Context) ([]aai.Root, error) { return []aai.Root{{Path: project}}, nil }})
	for _, update := range []bool{true, false} { // the kept picture of this name is an earlier one
		result, err := w.do(inProject, "ax_visual_diff", params{"app": app, "baseline": "start", "update": update, "threshold": 0})
		assert.Assert(t, err == nil, err)
		assert.Check(t, is.Equal(at(asJSON(t, result.Data), "passed"), true), "in a project, update %v: %s", update, result.Text)
	}
	data, err := os.ReadFile(filepath.Join(project, ".aai", "baselines", "start.png"))
	assert.NilError(t, err, "%q", data)
	assert.Assert(t, bytes.HasPrefix(data, []byte("\x89PNG")), "the project has %q, %v", data, err)
	w.run("xdotool", "search", "--name", "^Painted$", "windowsize", "--sync", "500", "300")
	w.eventually("another size is told", func() bool {
		passed, text, _ := compare(params{"threshold": 100})
		return passed == false && strings.Contains(text, "The sizes differ")
	})
}

// TestRealMarks: refs are drawn over the elements that can be acted on, and a ref that is drawn works.
func TestRealMarks(t *testing.T) {
	w := parallelWorld(t)
	app := w.python("marked.py", `"Marked"`)
	plain, marked := w.ok("ax_screenshot", params{"app": app}), w.ok("ax_screenshot", params{"app": app, "marks": true})
	assert.Assert(t, is.Len(marked.Images, 1))
	assert.Assert(t, !bytes.Equal(plain.Images[0].Data, marked.Images[0].Data), "no mark is drawn")
	_, err := png.Decode(bytes.NewReader(marked.Images[0].Data))
	assert.NilError(t, err)
	if folder := os.Getenv("AAI_KEEP_PICTURES"); folder != "" {
		_ = os.WriteFile(filepath.Join(folder, "marks.png"), marked.Images[0].Data, 0o600)
	}
}

// TestRealShownPassword: a page may show the password in its field, but no picture of the window does.
func TestRealShownPassword(t *testing.T) {
	w := parallelWorld(t)
	w.useDevTools()
	f := w.webForm(`<label>Key <input id=key type=password value="Quasimodo" style="font-size:24px"></label><p style="font-size:24px">Visible words</p>
		<button onclick="key.type = 'text'">Show</button>`)
	w.ok("ax_get_tree", params{"app": f.app})
	w.ok("ax_click", params{"app": f.app, "query": "button Show"})
	words := w.ok("ax_screenshot", params{"app": f.app, "text": true}).Text
	w.says(words, "Visible words")
	assert.Check(t, !strings.Contains(words, "Quasi"), "the picture says %s", words)
}

// A page that draws a game in a canvas, at the resolution of the screen. It reports each click on a drawn button by a
// request for the button's name.
const gamePage = `<!DOCTYPE html><html lang=en><title>Game</title><body style="margin:0;background:#222"><canvas id=c style="width:500px;height:300px"></canvas><script>
const scale = devicePixelRatio, g = c.getContext("2d"), buttons = {Start: [40, 60, "#1a73e8"], Pause: [260, 60, "#d93025"], Leave: [40, 180, "#188038"]};
c.width = 500 * scale; c.height = 300 * scale; g.scale(scale, scale); g.font = "18px sans-serif";
for (const [name, [x, y, color]] of Object.entries(buttons)) { g.fillStyle = color; g.fillRect(x, y, 180, 60); g.fillStyle = "#fff"; g.fillText(name, x + 60, y + 36) }
c.onclick = e => { for (const [name, [x, y]] of Object.entries(buttons)) if (e.offsetX >= x && e.offsetX < x + 180 && e.offsetY >= y && e.offsetY < y + 60) fetch("/clicked/" + name) };
</script>`

// TestRealGameAtScales: a word that a canvas draws is found and clicked at several scales of the screen, by the page's own
// count.
func TestRealGameAtScales(t *testing.T) {
	t.Parallel()
	for _, scale := range []string{"1", "1.5", "2"} {
		t.Run(scale, func(t *testing.T) {
			w := parallelWorld(t)
			var paused, others atomic.Int32
			server := httptest.NewServer(http.HandlerFunc(func(rw http.ResponseWriter, r *http.Request) {
				switch r.URL.Path {
				case "/":
					_, _ = rw.Write([]byte(gamePage))
				case "/clicked/Pause":
					paused.Add(1)
				case "/clicked/Start", "/clicked/Leave":
					others.Add(1)
				}
			}))
			t.Cleanup(server.Close)
			host := server.Listener.Addr().String()
			app := w.process(w.browse(host, "--force-device-scale-factor="+scale, "--app=http://"+host))
			var ref any
			w.eventually("the word is found", func() bool {
				result, err := w.do(t.Context(), "ax_find_visual", params{"app": app, "description": "Pause"})
				if err != nil {
					return false
				}
				found := asJSON(t, result.Data)
				ref = at(found, "element_ref")
				return at(found, "found") == true
			})
			w.ok("ax_click", params{"app": app, "query": ref, "mode": "focus"})
			w.eventually("the page counts the click", func() bool { return paused.Load()+others.Load() > 0 })
			assert.Check(t, paused.Load() == 1, "the button was clicked %d times", paused.Load())
			assert.Check(t, others.Load() == 0, "other buttons were clicked %d times", others.Load())
		})
	}
}

// TestRealShownPasswordInFirefox: Firefox replaces the element of a password field that its page shows in the clear, and the
// new one counts as a password field, too.
func TestRealShownPasswordInFirefox(t *testing.T) {
	w := parallelWorld(t)
	f := w.firefoxForm(`<label>Key <input id=key type=password value=Quasimodo></label><button onclick="key.type = 'text'">Show</button>`, "button Show")
	w.ok("ax_get_tree", params{"app": f.app})
	w.ok("ax_click", params{"app": f.app, "query": "button Show"})
	said := w.ok("ax_get_tree", params{"app": f.app}).Text
	assert.Check(t, !strings.Contains(said, "Quasi"), "the tree says %s", said)
	said = w.ok("ax_screenshot", params{"app": f.app, "text": true}).Text
	assert.Check(t, !strings.Contains(said, "Quasi"), "the picture says %s", said)
}
