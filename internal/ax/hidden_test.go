package ax_test

import (
	"context"
	"image"
	"image/color"
	"sync/atomic"
	"testing"

	"aai"
	"aai/internal/desktop"
)

// notSeen is a gate that does not let one program be seen; of another a person would
// have to be asked.
type notSeen struct{ refused, asked string }

func (g notSeen) Check(_ context.Context, r *aai.Request) ([]aai.Question, error) {
	switch r.Target.ID {
	case "desktop/" + g.refused:
		return nil, aai.Errorf(aai.PermissionDenied, "%s is not seen", g.refused)
	case "desktop/" + g.asked:
		return []aai.Question{{ID: "consent", Title: "?"}}, nil
	}
	return nil, nil
}

// What lies on what may not be seen is seen, and what lies below it where it ends.
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
		w.has(a.Text, "black where they would show: vault, mail")
	})
}

// moving is a screen on which something comes up while a picture is taken.
type moving struct {
	desktop.Screen
	comes func()
	left  *atomic.Int32 // how often it does
}

func (m moving) Capture(ctx context.Context, area desktop.Rect) (*image.RGBA, error) {
	if m.left.Add(-1) >= 0 {
		m.comes()
	}
	return m.Screen.Capture(ctx, area)
}

// A window that comes up after it was looked what is there is not seen either.
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
