package gui_test

import (
	"time"

	"bytes"
	"image"
	"image/png"
	"os/exec"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

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
