package gui_test

import (
	"bytes"
	"context"
	"encoding/base64"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gui"
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

// notSeen is a gate that hides one program, and would ask a person about another.
type notSeen struct{ refused, asked string }

func (g notSeen) Check(_ context.Context, r *aai.Request) ([]aai.Question, error) {
	switch r.Call.Target.ID {
	case "desktop/" + g.refused:
		return nil, aai.Errorf(aai.PermissionDenied, "%s is not seen", g.refused)
	case "desktop/" + g.asked:
		return []aai.Question{{ID: "consent", Title: "?"}}, nil
	}
	return nil, nil
}

// Windows over a hidden one stay visible, and so do windows below it outside its area.
func TestScreenshotBlackensByLayers(t *testing.T) {
	inWorld(t, func(w *world) {
		w.gateway.Gates = append(w.gateway.Gates, notSeen{"vault", "mail"})
		window := func(name string, x int) color.RGBA {
			return w.d.Program(name).Window(name).Move(desktop.Rect{X: x, Y: 0, W: 200, H: 100}).Color()
		}
		below := window("Below", 0)
		window("Vault", 100)
		window("Mail", 300)
		above := window("Above", 250)

		a := w.ok("ax_screenshot", `{"region": {"x": 0, "y": 0, "w": 600, "h": 200}}`)
		shot, none := w.picture(a), color.RGBA{A: 255}
		for x, want := range map[int]color.RGBA{50: below, 99: below, 100: none, 150: none, 249: none, 250: above, 449: above, 450: none, 499: none} {
			w.colored(shot, x, 50, want, "the layers")
		}
		w.want(a, "vault", "hidden", 0)
		w.want(a, "mail", "hidden", 1)
		w.has(a.Text, "blacked out: vault, mail")
	})
}

// moving is a screen on which a window opens during a capture.
type moving struct {
	desktop.Screen
	comes func()
	left  *atomic.Int32 // how often that happens
}

func (m moving) Capture(ctx context.Context, area desktop.Rect) (*image.RGBA, error) {
	if m.left.Add(-1) >= 0 {
		m.comes()
	}
	return m.Screen.Capture(ctx, area)
}

// A window that opens after the check of the layers is not captured either.
func TestScreenshotWhileWindowsCome(t *testing.T) {
	for times, want := range map[int32]aai.Code{1: "", 3: "", 50: aai.AutomationFailed} {
		var left atomic.Int32
		var comes func()
		inWorldWithout(t, func(b *desktop.Backend) { b.Screen = moving{b.Screen, func() { comes() }, &left} }, func(w *world) {
			w.gateway.Gates = append(w.gateway.Gates, notSeen{refused: "vault"})
			vault := w.d.Program("Vault")
			comes = func() { vault.Window("Secret").Move(desktop.Rect{X: 10, Y: 10, W: 50, H: 50}) }
			left.Store(times)
			const args = `{"region": {"x": 0, "y": 0, "w": 100, "h": 100}}`
			if want != "" {
				w.fails(want, "ax_screenshot", args)
				return
			}
			w.colored(w.picture(w.ok("ax_screenshot", args)), 30, 30, color.RGBA{A: 255}, "what came up")
		})
	}
}

// A window is not captured while a password is typed there.
func TestPicturesWhereAPasswordIsTyped(t *testing.T) {
	inWorld(t, func(w *world) {
		bank := w.d.Program("Bank").Window("Bank").Move(desktop.Rect{X: 0, Y: 0, W: 200, H: 100})
		name, pin := bank.Textbox("Name"), bank.Password("PIN")
		const screen, window = `{"region": {"x": 0, "y": 0, "w": 200, "h": 100}}`, `{"app": "bank"}`

		name.Focus()
		w.colored(w.picture(w.ok("ax_screenshot", screen)), 190, 90, bank.Color(), "a name is typed")
		w.ok("ax_screenshot", window)

		pin.Focus()
		a := w.ok("ax_screenshot", screen)
		w.colored(w.picture(a), 190, 90, color.RGBA{A: 255}, "a password is typed")
		w.want(a, "bank", "hidden", 0)
		w.fails(aai.PermissionDenied, "ax_screenshot", window)
		w.fails(aai.PermissionDenied, "ax_screenshot", `{"app": "bank", "query": "Name"}`)

		w.d.Program("Notes").Window("Notes").Move(desktop.Rect{X: 300, Y: 0, W: 10, H: 10})
		w.colored(w.picture(w.ok("ax_screenshot", screen)), 190, 90, bank.Color(), "something else is typed into")
	})
}

// If the focused field is unknown, the error does not mention a password.
func TestNoPictureOfAProgramThatSaysNothing(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.d.Program("Bank")
		p.Window("Bank").Move(desktop.Rect{X: 0, Y: 0, W: 200, H: 100}).Textbox("Name").Focus()
		p.Hang()
		w.fails(aai.Timeout, "ax_screenshot", `{"app": "bank"}`)
	})
}

// A locked screen is not captured, even if it is locked during the capture.
func TestNoPicturesOfALockedScreen(t *testing.T) {
	inWorld(t, func(w *world) {
		w.d.Program("Notes").Window("Notes").Move(desktop.Rect{X: 0, Y: 0, W: 200, H: 100})
		for from, want := range map[int]aai.Code{1: aai.PermissionDenied, 2: aai.PermissionDenied, 3: ""} {
			looks := 0
			app := gui.New(gui.Config{Open: w.d.Backend, IsScreenLocked: func(context.Context) bool { looks++; return looks >= from }})
			w.gateway.Catalog = catalog{app}
			if want != "" {
				w.fails(want, "ax_screenshot", `{}`)
				continue
			}
			w.ok("ax_screenshot", `{}`)
		}
	})
}

// keyboard returns the title of the window that has the keyboard.
func (w *world) keyboard() string {
	w.Helper()
	windows, err := w.d.Backend().Windows.Windows(w.Context())
	assert.NilError(w, err)
	for _, window := range windows {
		if window.Active {
			return window.Title
		}
	}
	return ""
}

// TestTheKeyboardIsRestored: a program that takes the person's keyboard when it opens a window
// loses it again, even if it takes it a moment later. If nothing has opened, the person has moved
// to the program's window.
func TestTheKeyboardIsRestored(t *testing.T) {
	const moment = 100 * time.Millisecond
	for button, c := range map[string]struct {
		press func(p *fakedesktop.Program, main *fakedesktop.Window)
		given bool
		then  string
	}{
		"Open":  {func(p *fakedesktop.Program, _ *fakedesktop.Window) { p.Window("Another") }, true, "Letter"},
		"Ask":   {func(p *fakedesktop.Program, _ *fakedesktop.Window) { p.Dialog("Really?").Raise() }, true, "Letter"},
		"Raise": {func(_ *fakedesktop.Program, main *fakedesktop.Window) { main.Raise() }, true, "Letter"},
		"Later": {func(p *fakedesktop.Program, _ *fakedesktop.Window) {
			d := p.Dialog("Really?")
			p.After(moment, func() { d.Raise() })
		}, true, "Letter"},
		"Discard": {func(p *fakedesktop.Program, main *fakedesktop.Window) {
			main.Text("discarded")
			p.After(3*moment/2, func() { main.Raise() })
		}, false, "Editor"},
	} {
		t.Run(button, func(t *testing.T) {
			inWorld(t, func(w *world) {
				p := w.d.Program("Editor")
				main := p.Window("Editor")
				main.Button(button, func() { c.press(p, main) })
				w.d.Program("Letter").Window("Letter")
				text := w.ok("ax_click", `{"app": "Editor", "query": "`+button+`"}`).Text
				time.Sleep(10 * moment)
				got := w.keyboard()
				assert.Check(w, is.Equal(got, c.then), text)
				assert.Check(w, is.Equal(strings.Contains(text, "they have it back"), c.given), text)
			})
		})
	}
}

// TestTheFocusIsKept: a call that may take the keyboard keeps it.
func TestTheFocusIsKept(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.d.Program("Editor")
		p.Window("Editor").Button("Open", func() { p.Window("Another") })
		w.d.Program("Letter").Window("Letter")
		text := w.ok("ax_click", `{"app": "Editor", "query": "Open", "mode": "focus"}`).Text
		got := w.keyboard()
		assert.Check(w, is.Equal(got, "Another"), text)
		assert.Check(w, !strings.Contains(text, "they have it back"), "%q has the keyboard; it is said: %s", got, text)
	})
}
