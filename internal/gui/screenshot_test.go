package gui_test

import (
	"bytes"
	"encoding/base64"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/testkit/fakedesktop"
)

// picture decodes the image of the reply and checks its size in the data.
func (w *world) picture(a answer) image.Image {
	w.Helper()
	assert.Assert(w, is.Len(a.Images, 1))
	assert.Equal(w, a.Images[0].MIME, "image/png")
	p, err := png.Decode(bytes.NewReader(a.Images[0].Data))
	assert.NilError(w, err)
	w.want(a, p.Bounds().Dx(), "width")
	w.want(a, p.Bounds().Dy(), "height")
	return p
}

// colored checks the color of a point of a picture.
func (w *world) colored(p image.Image, x, y int, want color.RGBA, what string) {
	w.Helper()
	assert.Check(w, is.Equal(color.RGBAModel.Convert(p.At(p.Bounds().Min.X+x, p.Bounds().Min.Y+y)), want), "%d %d %s", x, y, what)
}

func TestScreenshot(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.d.Program("Paint")
		win := p.Window("Paint").Move(desktop.Rect{X: 100, Y: 50, W: 400, H: 300})
		button := win.Button("Red", nil)
		frame := button.Frame()
		cover := w.d.Program("Other").Window("Cover").Move(desktop.Rect{X: 90, Y: 40, W: 200, H: 200})

		shot := w.picture(w.ok("ax_screenshot", `{"app": "Paint"}`)) // also while covered
		assert.Check(w, is.Equal(shot.Bounds().Dx(), 400), shot.Bounds())
		assert.Check(w, is.Equal(shot.Bounds().Dy(), 300), shot.Bounds())
		w.colored(shot, frame.X-100+2, frame.Y-50+2, button.Color(), "the button")
		w.colored(shot, 1, 1, win.Color(), "the window")

		a := w.ok("ax_screenshot", `{"app": "Paint", "query": "Red"}`)
		shot = w.picture(a)
		w.want(a, frame.X, "region", "x")
		w.want(a, frame.W, "region", "w")
		for _, at := range []image.Point{{}, {frame.W - 1, frame.H - 1}} {
			w.colored(shot, at.X, at.Y, button.Color(), "the button")
		}

		a = w.ok("ax_screenshot", `{"app": "Paint", "region": {"x": 90, "y": 40, "w": 20, "h": 20}}`)
		shot = w.picture(a)
		assert.Check(w, is.Equal(shot.Bounds().Dx(), 10), "the part of the window is %v", shot.Bounds())
		w.colored(shot, 0, 0, win.Color(), "the window")

		shot = w.picture(w.ok("ax_screenshot", `{}`)) // scaled down: too large for models
		assert.Check(w, is.Equal(shot.Bounds().Dx(), 1568), shot.Bounds())
		assert.Check(w, is.Equal(shot.Bounds().Dy(), 980), shot.Bounds())
		shot = w.picture(w.ok("ax_screenshot", `{"region": {"x": 95, "y": 45, "w": 300, "h": 5000}}`))
		w.colored(shot, 5, 5, cover.Color(), "what covers the window")
		w.colored(shot, 299, 100, win.Color(), "the window beside it")
		w.colored(shot, 0, 900, fakedesktop.Background(), "the background")
	})
}

func TestScreenshotScaled(t *testing.T) {
	inWorld(t, func(w *world) {
		win := w.d.Program("Paint").Window("Paint").Move(desktop.Rect{W: 800, H: 400})
		a := w.ok("ax_screenshot", `{"app": "Paint", "max_side": 100}`)
		shot := w.picture(a)
		assert.Check(w, is.Equal(shot.Bounds().Dx(), 100), shot.Bounds())
		assert.Check(w, is.Equal(shot.Bounds().Dy(), 50), shot.Bounds())
		w.want(a, 0.125, "scale")
		w.want(a, 800, "region", "w")
		w.colored(shot, 50, 25, win.Color(), "the window")
		w.want(w.ok("ax_screenshot", `{"app": "Paint"}`), 1, "scale")
	})
}

func TestScreenshotFails(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.d.Program("Paint")
		win := p.Window("Paint")
		w.has(w.failure(aai.ElementNotFound, "ax_screenshot", `{"app": "Paint", "window_index": 1}`).Message, "1 window")
		w.fails(aai.InvalidParams, "ax_screenshot", `{"app": "Paint", "region": {"x": 1500, "y": 0, "w": 5, "h": 5}}`)
		w.fails(aai.InvalidParams, "ax_screenshot", `{"region": {"x": 2000, "y": 0, "w": 5, "h": 5}}`)
		w.fails(aai.InvalidParams, "ax_screenshot", `{"region": {"x": 2000}}`)
		w.fails(aai.InvalidParams, "ax_screenshot", `{"query": "Red"}`)
		w.fails(aai.ElementNotFound, "ax_screenshot", `{"app": "Paint", "query": "Blue"}`)
		win.Minimize()
		e := w.failure(aai.AutomationNotSupported, "ax_screenshot", `{"app": "Paint"}`)
		w.has(e.Message, "minimized")
	})
}

func TestClipboard(t *testing.T) {
	inWorld(t, func(w *world) {
		w.has(w.ok("ax_clipboard", `{"action": "read"}`).Text, "empty")
		w.want(w.ok("ax_clipboard", `{"action": "write", "text": "Grüße\n€"}`), true, "success")
		got := w.d.Clip().Text
		assert.Check(w, is.Equal(got, "Grüße\n€"), "the clipboard holds %q", got)
		a := w.ok("ax_clipboard", `{"action": "read"}`)
		w.want(a, "Grüße\n€", "text")
		w.has(a.Text, "not instructions")
		assert.Check(w, is.Equal(w.record.last(aai.Intent).Target, aai.DesktopApp), "target %q: the clipboard is no program's", w.record.last(aai.Intent).Target)

		var b bytes.Buffer
		assert.NilError(w, png.Encode(&b, image.NewRGBA(image.Rect(0, 0, 3, 2))))
		w.ok("ax_clipboard", fmt.Sprintf(`{"action": "write", "png": %q}`, base64.StdEncoding.EncodeToString(b.Bytes())))
		a = w.ok("ax_clipboard", `{"action": "read"}`)
		assert.Assert(w, is.Len(a.Images, 1))
		assert.Assert(w, bytes.Equal(a.Images[0].Data, b.Bytes()), "the picture came back as %d pictures", len(a.Images))
		w.want(a, "", "text")

		since := w.mutations()
		for _, args := range []string{
			`{"action": "write"}`, `{"action": "write", "text": "a", "png": "b"}`, `{"action": "write", "png": "no base64"}`,
			`{"action": "write", "png": "QUJD"}`, `{"action": "burn"}`, `{}`,
		} {
			w.fails(aai.InvalidParams, "ax_clipboard", args)
		}
		w.nothingDone(since)
	})
}

// TestClipboardOfOthers: another program may be faster.
func TestClipboardOfOthers(t *testing.T) {
	inWorldWithout(t, func(b *desktop.Backend) { b.Clipboard = deaf{b.Clipboard} }, func(w *world) {
		w.d.Copy(desktop.Clip{Text: "theirs"})
		e := w.failure(aai.AutomationFailed, "ax_clipboard", `{"action": "write", "text": "ours"}`)
		if e.Delivery != aai.Delivered || strings.Contains(w.record.text(), "ours") {
			w.Errorf("delivery %q", e.Delivery)
		}
	})
}
