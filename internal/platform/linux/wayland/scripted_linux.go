package wayland

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"hash/fnv"
	"math"
	"slices"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
)

// A windowScript runs in the compositor.
type windowScript interface {
	// name names the way to the windows, for people.
	name() string
	// run returns the list of windows, or the place of the pointer, or for another request requestDone; another text if
	// the window is gone.
	run(ctx context.Context, r *windowRequest) (string, error)
}

// A windowRequest is a request for one window: "activate" or a desktop.WindowRequest; or pointerRequest.
type windowRequest struct {
	ID   string `json:"id"`
	What string `json:"what"`
}

// requestDone is the answer to a request for a window that exists.
const requestDone = "[1]"

// scripted is the manager of a compositor in which a script of the gateway runs.
type scripted struct{ windowScript }

// A scriptWindow is a window in the script's answer.
type scriptWindow struct {
	ID        string     `json:"id"`
	PID       int        `json:"pid"`
	Title     string     `json:"title"`
	Class     string     `json:"class"`
	Frame     scriptRect `json:"frame"`  // with the decorations of the compositor
	Client    scriptRect `json:"client"` // the content
	Buffer    scriptRect `json:"buffer"` // with the shadow that the program draws
	Stack     int        `json:"stack"`
	Active    bool       `json:"active"`
	Minimized bool       `json:"minimized"`
	Modal     bool       `json:"modal"`
	Popup     bool       `json:"popup"`
	Shown     bool       `json:"shown"`
}

type scriptRect struct {
	X float64 `json:"x"`
	Y float64 `json:"y"`
	W float64 `json:"width"`
	H float64 `json:"height"`
}

func (r scriptRect) rect() desktop.Rect {
	x, y := int(math.Round(r.X)), int(math.Round(r.Y))
	return desktop.Rect{X: x, Y: y, W: int(math.Round(r.X+r.W)) - x, H: int(math.Round(r.Y+r.H)) - y}
}

// ask returns the windows, front one first.
func (s scripted) ask(ctx context.Context) ([]scriptWindow, error) {
	text, err := s.run(ctx, nil)
	if err != nil {
		return nil, err
	}
	var all []scriptWindow
	if err := json.Unmarshal([]byte(text), &all); err != nil {
		return nil, fmt.Errorf("the answer of the compositor has another form: %w", err)
	}
	slices.SortStableFunc(all, func(a, b scriptWindow) int { return cmp.Compare(b.Stack, a.Stack) })
	return all, nil
}

// list implements manager.
func (s scripted) list(ctx context.Context) ([]window, error) {
	all, err := s.ask(ctx)
	if err != nil {
		return nil, err
	}
	windows := make([]window, 0, len(all))
	for _, w := range all {
		info := desktop.WindowInfo{
			ID: w.id(), PID: w.PID, Title: aai.CleanLabel(w.Title, maxTitle), Class: aai.CleanLabel(w.Class, maxTitle),
			Frame: w.Client.rect(), Surface: w.Buffer.rect(), Active: w.Active, Minimized: w.Minimized, Modal: w.Modal,
		}
		windows = append(windows, window{WindowInfo: info, shown: w.Shown, outer: union(w.Frame.rect(), info.Surface), popup: w.Popup})
	}
	cover(windows)
	return windows, nil
}

// union returns the smallest rectangle with both.
func union(a, b desktop.Rect) desktop.Rect {
	if a.Empty() || b.Empty() {
		return desktop.Rect{X: a.X + b.X, Y: a.Y + b.Y, W: a.W + b.W, H: a.H + b.H}
	}
	x, y := min(a.X, b.X), min(a.Y, b.Y)
	return desktop.Rect{X: x, Y: y, W: max(a.X+a.W, b.X+b.W) - x, H: max(a.Y+a.H, b.Y+b.H) - y}
}

// id returns the number of a window: a hash of the script's ID that a JSON number holds exactly.
func (w *scriptWindow) id() desktop.WindowID {
	const bits = 48
	h := fnv.New64a()
	_, _ = h.Write([]byte(w.ID))
	return desktop.WindowID(h.Sum64() & (1<<bits - 1))
}

// request runs a request for a window.
func (s scripted) request(ctx context.Context, id desktop.WindowID, what string) error {
	all, err := s.ask(ctx)
	if err != nil {
		return err
	}
	for i := range all {
		if all[i].id() != id {
			continue
		}
		answer, err := s.run(ctx, &windowRequest{all[i].ID, what})
		if err == nil && answer != requestDone {
			err = windowGone()
		}
		return err
	}
	return windowGone()
}

// pointerRequest asks for the place of the pointer, and for no window.
const pointerRequest = "pointer"

// pointer implements pointerReader.
func (s scripted) pointer(ctx context.Context) (x, y float64, err error) {
	text, err := s.run(ctx, &windowRequest{What: pointerRequest})
	if err != nil {
		return 0, 0, err
	}
	var at []float64
	if err := json.Unmarshal([]byte(text), &at); err != nil || len(at) != 2 {
		return 0, 0, errors.New("the compositor does not tell the place of the pointer")
	}
	return at[0], at[1], nil
}

// activate implements manager.
func (s scripted) activate(ctx context.Context, id desktop.WindowID) error {
	return s.request(ctx, id, "activate")
}

// manage implements manager.
func (s scripted) manage(ctx context.Context, id desktop.WindowID, wish desktop.WindowRequest) error {
	return s.request(ctx, id, string(wish))
}
