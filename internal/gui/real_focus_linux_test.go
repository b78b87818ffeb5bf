package gui_test

import (
	"bytes"
	"image"
	"image/png"
	"os/exec"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// TestRealFocus operates a window as people do, with the person's own pointer and keyboard, in the
// mode "focus".
func TestRealFocus(t *testing.T) {
	for _, kind := range linuxtest.Kinds() {
		t.Run(string(kind), func(t *testing.T) {
			parts := realFocus()
			for i, p := range parts {
				parts[i].do = func(w *realForm) {
					p.do(w)
					w.p.back(w.T)
				}
			}
			onRealForm(t, kind, parts)
		})
	}
}

func realFocus() []realPart {
	return []realPart{
		{"press", func(w *realForm) {
			presses, _ := w.f.State(w.T)["presses"].(float64)
			w.done("ax_click", w.with("button Press", "mode", "focus"))
			w.f.WaitState(w.T, "presses", presses+1)
			title := w.ActiveWindow(w.T)
			assert.Check(w, is.Equal(title, w.f.Title), "the focus is on %q", title)
		}},
		{"dead", func(w *realForm) { // coming to the front is no effect
			a := w.ok("ax_click", w.with("button Dead", "mode", "focus"))
			assert.Check(w, is.Equal(at(a.data, "verified"), false), "nothing happened, and it says %s", a.Text)
		}},
		{"agree", func(w *realForm) {
			agree := w.f.State(w.T)["agree"] == true
			w.done("ax_click", w.with("checkbox Agree", "mode", "focus"))
			w.f.WaitState(w.T, "agree", !agree)
		}},
		{"type", func(w *realForm) {
			w.done("ax_type", params{"app": w.app, "query": `textbox "Full name"`, "text": unicode, "clear_first": true, "mode": "focus"})
			w.f.WaitState(w.T, "name", unicode)
		}},
		{"colour", func(w *realForm) {
			if w.is(linuxtest.Chromium) {
				return // it reports no positions of its options, and lets them be set in the background
			}
			w.done("ax_click", w.with("combobox Colour", "mode", "focus"))
			w.choose(1, "name:Green")
			w.f.WaitState(w.T, "colour", "Green")
		}},
		{"menu", func(w *realForm) {
			w.ok("ax_click", w.with("menuitem File", "mode", "focus"))
			w.choose(1, "menuitem Quit-not") // the first one is chosen already
			w.f.WaitState(w.T, "menu", "Quit-not")
		}},
		{"keys", func(w *realForm) {
			w.ok("ax_key_press", params{"app": w.app, "key": "f6", "modifiers": []any{"ctrl"}, "mode": "focus"})
			w.lastKey("ctrl+F6")
		}},
		{"scroll", func(w *realForm) {
			w.ok("ax_scroll", params{"app": w.app, "query": "listbox Fruits", "direction": "down", "amount": 200, "mode": "focus"})
			w.f.WaitFor(w.T, "the list is scrolled", func(map[string]any) bool { return w.scrolled() > 0 })
		}},
		{"canvas", realCanvas},
	}
}

// choose clicks an item of the open menu or list. GTK 4 (4.8) reports no items, so there the down
// key is pressed down times.
func (w *realForm) choose(down int, query string) {
	w.Helper()
	if !w.is(linuxtest.GTK4) {
		w.done("ax_click", w.with(query, "mode", "focus"))
		return
	}
	for range down {
		w.ok("ax_key_press", params{"app": w.app, "key": "down", "mode": "focus"})
	}
	w.ok("ax_key_press", params{"app": w.app, "key": "return", "mode": "focus"})
}

// realCanvas: clicks and a drag arrive at their points.
func realCanvas(w *realForm) {
	r := w.f.ControlRect(w.T, "Canvas")
	cx, cy := r.Centre()
	was := len(w.clicks())
	for _, kind := range []string{"double", "right"} {
		w.ok("ax_click_at", params{"app": w.app, "x": cx, "y": cy, "click_type": kind, "mode": "focus"})
	}
	w.f.WaitFor(w.T, "the clicks came", func(map[string]any) bool { return len(w.clicks()) >= was+3 })
	for i, want := range []struct{ button, count float64 }{{1, 1}, {1, 2}, {3, 1}} {
		c := w.clicks()[was+i]
		assert.Equal(w, at(c, "button"), want.button, "%d %v %v %v", i, c, want, r)
		assert.Equal(w, at(c, "count"), want.count, "%d %v %v %v", i, c, want, r)
		assert.Assert(w, near(c, "x", cx-r.X), "click %d is %v, want %v in the middle of %v", i, c, want, r)
		assert.Assert(w, near(c, "y", cy-r.Y), "click %d is %v, want %v in the middle of %v", i, c, want, r)
	}
	w.ok("ax_drag", params{"app": w.app, "from_x": r.X + 20, "from_y": r.Y + 20, "to_x": r.X + 70, "to_y": r.Y + 50, "duration_ms": 200, "mode": "focus"})
	w.f.WaitFor(w.T, "the drag came", func(s map[string]any) bool { drags, _ := s["drags"].([]any); return len(drags) == 1 })
	drags := w.f.State(w.T)["drags"]
	assert.Equal(w, at(drags, 0, "button"), 1.0, drags)
	assert.Assert(w, nearPoint(at(drags, 0, "from"), 20, 20), "the drag was %v, want from 20, 20 to 70, 50", drags)
	assert.Assert(w, nearPoint(at(drags, 0, "to"), 70, 50), "the drag was %v, want from 20, 20 to 70, 50", drags)
}

func (w *realForm) clicks() []any {
	clicks, _ := w.f.State(w.T)["clicks"].([]any)
	return clicks
}

// near reports whether a number of the state is close to the expected one.
func near(state any, key string, want int) bool {
	n, ok := at(state, key).(float64)
	return ok && n > float64(want)-3 && n < float64(want)+3
}

func nearPoint(state any, x, y int) bool {
	point, _ := state.([]any)
	return len(point) == 2 && near(map[string]any{"x": point[0]}, "x", x) && near(map[string]any{"y": point[1]}, "y", y)
}

// realLooks returns tests of screenshots, the clipboard and keys.
func realLooks() []realPart {
	return []realPart{
		{"idle", func(w *realForm) {
			a := w.ok("ax_wait_idle", params{"app": w.app, "timeout_ms": 10000})
			assert.Check(w, is.Equal(at(a.data, "idle"), true), "it is not idle: %s", a.Text)
		}},
		{"windows", func(w *realForm) {
			a, r := w.ok("ax_list_windows", params{"app": w.app}), w.f.WindowRect(w.T)
			got := jsonText(w.T, at(a.data, "windows", 0, "position")) + jsonText(w.T, at(a.data, "windows", 0, "size"))
			want := jsonText(w.T, []int{r.X, r.Y}) + jsonText(w.T, []int{r.Width, r.Height})
			assert.Check(w, is.Equal(got, want), "the window is at %s, want %s", got, want)
			assert.Check(w, is.Equal(at(a.data, "windows", 0, "title"), w.f.Title), a.data)
			assert.Check(w, is.Equal(at(a.data, "windows", 0, "focused"), false), a.data)
		}},
		{"screenshot", realScreenshot},
		{"clipboard", realClipboard},
		{"canvas", func(w *realForm) {
			for _, kind := range []string{"double", "right"} {
				w.notInBackground("ax_click", w.with("name:Canvas", "click_type", kind))
			}
			w.notInBackground("ax_drag", params{"app": w.app, "from_query": "name:Canvas", "to_query": "button Press"})
		}},
		{"keys", realKeys},
	}
}

// picture decodes the single image of a reply.
func (w *realForm) picture(p params) image.Image {
	w.Helper()
	a := w.ok("ax_screenshot", p)
	assert.Assert(w, is.Len(a.Images, 1))
	assert.Equal(w, a.Images[0].MIME, "image/png")
	picture, err := png.Decode(bytes.NewReader(a.Images[0].Data))
	assert.NilError(w, err)
	return picture
}

// alike returns the equal share of two pictures, from 0 to 1.
func alike(a, b image.Image) float64 {
	if a.Bounds().Size() != b.Bounds().Size() {
		return 0
	}
	same, all := 0, 0
	for y := range a.Bounds().Dy() {
		for x := range a.Bounds().Dx() {
			all++
			if a.At(x, y) == b.At(x, y) {
				same++
			}
		}
	}
	return float64(same) / float64(all)
}

// realScreenshot: the window as it is, also while another one covers it.
func realScreenshot(w *realForm) {
	r := w.f.WindowRect(w.T)
	whole := w.picture(params{"app": w.app})
	size := whole.Bounds().Size()
	assert.Check(w, is.Equal(size, image.Pt(r.Width, r.Height)), "the picture is %v, and the window %v", size, r)
	colours := make(map[any]bool)
	for y := range whole.Bounds().Dy() {
		for x := range whole.Bounds().Dx() {
			colours[whole.At(x, y)] = true
		}
	}
	assert.Check(w, len(colours) >= 10, "the picture has %d colours", len(colours))
	button := w.f.ControlRect(w.T, "Press")
	region := w.ok("ax_screenshot", w.on("button Press")).data["region"]
	shown := image.Rect(0, 0, jsonInt(region, "w"), jsonInt(region, "h")).Add(image.Pt(jsonInt(region, "x"), jsonInt(region, "y")))
	const edge = 6 // GTK 4 omits the edge of a button, GTK 3 includes the shadow
	around := image.Rect(button.X, button.Y, button.X+button.Width, button.Y+button.Height).Inset(-edge)
	assert.Assert(w, !shown.Empty(), "the button's picture shows %v, and the button is at %v", shown, button)
	assert.Assert(w, shown.In(around), "the button's picture shows %v, and the button is at %v", shown, button)
	assert.Equal(w, w.picture(w.on("button Press")).Bounds().Size(), shown.Size(), "%v %v", shown, button)
	cover := w.Cover(w.T, w.f)
	same := alike(whole, w.picture(params{"app": w.app}))
	assert.Check(w, !(same < 0.98), "%.2f of the covered window is as it was", same)
	presses, _ := w.f.State(w.T)["presses"].(float64)
	w.done("ax_click", w.on("button Press"))
	w.f.WaitState(w.T, "presses", presses+1)
	cover.Kill(w.T)
	w.p.back(w.T)
}

func jsonInt(object any, key string) int {
	n, _ := at(object, key).(float64)
	return int(n)
}

// realClipboard: xclip reads our text, and we read its text.
func realClipboard(w *realForm) {
	w.ok("ax_clipboard", params{"action": "write", "text": unicode})
	got := w.xclip("", "-o")
	assert.Check(w, is.Equal(got, unicode), "xclip reads %q, want %q", got, unicode)
	w.xclip("theirs "+unicode, "-i")
	w.eventually("what xclip wrote is read", func() bool { // it takes the clipboard a little after its start
		return w.ok("ax_clipboard", params{"action": "read"}).data["text"] == "theirs "+unicode
	})
}

func (w *realForm) xclip(input string, args ...string) string {
	w.Helper()
	cmd := exec.CommandContext(w.Context(), "xclip", append([]string{"-selection", "clipboard"}, args...)...)
	cmd.Env, cmd.Stdin = w.Env, bytes.NewBufferString(input)
	var out bytes.Buffer
	if input == "" {
		cmd.Stdout = &out
	}
	assert.NilError(w, cmd.Run())
	return out.String()
}

// realKeys: keys reach the window in the background. Chromium loses the first key of a second
// keyboard now and then (one in eight, in a window that has just opened). Then the reply must not
// claim an effect, and the key is pressed again, as an agent would do. No program uses this key:
// ctrl+F5 would reload a page and lose earlier keys.
func realKeys(w *realForm) {
	for tries := 1; ; tries++ {
		reply := w.ok("ax_key_press", params{"app": w.app, "key": "f8", "modifiers": []any{"ctrl"}})
		switch {
		case w.comes("ctrl+F8"):
			return
		case reply.data["verified"] == true:
			w.Fatalf("the key has not come, and the reply says %s %v", reply.Text, reply.data)
		case tries == 5:
			w.lastKey("ctrl+F8") // the failure names the key that arrived instead
			return
		}
	}
}

// comes reports whether the key reaches the window soon.
func (w *realForm) comes(want string) bool {
	for end := time.Now().Add(2 * time.Second); time.Now().Before(end); time.Sleep(20 * time.Millisecond) {
		if keys, _ := w.f.State(w.T)["keys"].([]any); len(keys) > 0 && keys[len(keys)-1] == want {
			return true
		}
	}
	return false
}

// lastKey waits until this is the last key in the window.
func (w *realForm) lastKey(want string) {
	w.Helper()
	w.f.WaitFor(w.T, want+" came", func(s map[string]any) bool {
		keys, _ := s["keys"].([]any)
		return len(keys) > 0 && keys[len(keys)-1] == want
	})
}
