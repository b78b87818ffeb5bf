package demo

import (
	"context"
	"strings"

	"github.com/gybob/aai-gateway"
)

// simulatedPerson is the user at the demo's screen. xdotool, not the gateway, reports the window
// with the keyboard and the pointer.
type simulatedPerson struct {
	session  *privateSession
	expected inputState
	checks   int // number of checks that the user was not disturbed
}

// inputState is the state of the user's keyboard and pointer.
type inputState struct {
	keyboard string // window with the keyboard focus
	active   string // active window of the window manager
	pointer  string
}

// sitDown clicks into the window of the user's file manager. New windows may still come to the
// front, so the state must last.
func (p *simulatedPerson) sitDown(ctx context.Context) error {
	lasting := 0
	err := waitFor(ctx, func() bool {
		now, err := p.look(ctx)
		if err == nil && now.keyboard == now.active && strings.HasSuffix(now.active, " - Thunar") {
			lasting++
			p.expected = now
			return lasting > 10
		}
		lasting = 0
		_, _ = p.session.output(ctx, "xdotool", "mousemove", "400", "760", "click", "1") // the next look checks it
		return false
	})
	if err != nil {
		return aai.Errorf(aai.AutomationFailed, "the window of Thunar does not keep the keyboard: %w", err)
	}
	return nil
}

func (p *simulatedPerson) look(ctx context.Context) (inputState, error) {
	said, err := p.session.output(ctx, "xdotool", "getwindowfocus", "getwindowname", "getmouselocation")
	if err != nil {
		return inputState{}, aai.Errorf(aai.AutomationFailed, "the keyboard focus cannot be read: %w", err)
	}
	lines := strings.Split(strings.TrimSpace(said), "\n")
	if len(lines) != 2 {
		return inputState{}, aai.Errorf(aai.AutomationFailed, "xdotool said %q, expected a window and the pointer", said)
	}
	at, _, _ := strings.Cut(lines[1], " screen:") // x:400 y:760 screen:0 window:8388615
	// During a focus change the window manager names none.
	active, _ := p.session.output(ctx, "xdotool", "getactivewindow", "getwindowname")
	return inputState{keyboard: lines[0], active: strings.TrimSpace(active), pointer: strings.NewReplacer("x:", "", " y:", ", ").Replace(at)}, nil
}

// checkUndisturbed fails if the keyboard or the pointer has moved. The window manager's state may
// lag behind: it knows only one keyboard, and the agent's is another.
func (p *simulatedPerson) checkUndisturbed(ctx context.Context) error {
	now, err := p.look(ctx)
	if err != nil {
		return err
	}
	if now.keyboard != p.expected.keyboard || now.pointer != p.expected.pointer {
		return p.disturbed(now)
	}
	if err := waitFor(ctx, func() bool {
		now, err = p.look(ctx)
		return err == nil && now == p.expected
	}); err != nil {
		return p.disturbed(now)
	}
	p.checks++
	return nil
}

func (p *simulatedPerson) disturbed(now inputState) error {
	return aai.Errorf(aai.AutomationFailed, "the person was disturbed: they had %q and the pointer at %s; now the keyboard is with %q, the active window is %q and the pointer at %s",
		p.expected.keyboard, p.expected.pointer, now.keyboard, now.active, now.pointer)
}
