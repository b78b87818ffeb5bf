package gui_test

import (
	"context"
	"image"
	"image/color"
	"sync/atomic"
	"testing"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gui"
)

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
