//go:build darwin || axdouble

package quartz

import (
	"context"
	"errors"
	"math"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/platform/darwin/native"
)

// A Display is the screen. It implements desktop.Windows and desktop.Screen, and is safe for concurrent use.
type Display struct{ api *native.API }

// New returns the screen.
func New(api *native.API) *Display { return &Display{api} }

// within runs a call, and returns at the end of the context even if call does not.
func within[T any](ctx context.Context, call func() (T, error)) (T, error) {
	var none T
	if ctx.Err() != nil {
		return none, expired(ctx)
	}
	type outcome struct {
		value T
		err   error
	}
	done := make(chan outcome, 1)
	go func() {
		value, err := call()
		done <- outcome{value, err}
	}()
	select {
	case o := <-done:
		return o.value, o.err
	case <-ctx.Done():
		return none, expired(ctx)
	}
}

func expired(ctx context.Context) error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return &aai.Error{Code: aai.AutomationFailed, Message: "the call was cancelled before the window system answered"}
	}
	return &aai.Error{Code: aai.Timeout, Message: "the window system does not answer"}
}

// Windows implements desktop.Windows. It lists the windows on the screen, and not those that are minimized or on another space.
func (d *Display) Windows(ctx context.Context) ([]desktop.WindowInfo, error) {
	return within(ctx, func() ([]desktop.WindowInfo, error) {
		var windows []desktop.WindowInfo
		var above []desktop.Rect
		for _, w := range d.api.Windows(true) {
			frame := frameOf(w.Frame)
			if w.Layer == 0 && w.Alpha > 0 && !frame.Empty() {
				windows = append(windows, desktop.WindowInfo{
					ID: desktop.WindowID(w.ID), PID: w.PID, Title: w.Title, Class: w.Owner, Frame: frame, Covered: covered(frame, above),
				})
			}
			if w.Alpha == 1 {
				above = append(above, frame)
			}
		}
		for i := range windows[:min(1, len(windows))] { // only the front window can have the keyboard
			windows[i].Active = d.hasKeyboard(windows[i])
		}
		return windows, nil
	})
}

// covered returns the fraction of a rectangle that lies under others.
func covered(frame desktop.Rect, above []desktop.Rect) float64 {
	left := []desktop.Rect{frame}
	for _, one := range above {
		left = desktop.Subtract(left, one)
	}
	area := 0
	for _, r := range left {
		area += r.W * r.H
	}
	return 1 - float64(area)/float64(frame.W*frame.H)
}

// frameOf rounds a rectangle to whole points.
func frameOf(r native.Rect) desktop.Rect {
	whole := func(n float64) int { return int(math.Round(max(-1<<30, min(1<<30, n)))) }
	return desktop.Rect{X: whole(r.Origin.X), Y: whole(r.Origin.Y), W: max(0, whole(r.Size.W)), H: max(0, whole(r.Size.H))}
}

// WindowAt implements desktop.Windows.
func (d *Display) WindowAt(ctx context.Context, p desktop.Point) (desktop.WindowInfo, error) {
	windows, err := d.Windows(ctx)
	if err != nil {
		return desktop.WindowInfo{}, err
	}
	for _, w := range windows {
		if w.Frame.Contains(p) {
			return w, nil
		}
	}
	return desktop.WindowInfo{}, aai.Errorf(aai.ElementNotFound, "no window of a program is at %d, %d", p.X, p.Y)
}

// hasKeyboard reports whether the app of the window is in front and the window is its focused one.
func (d *Display) hasKeyboard(w desktop.WindowInfo) bool {
	pool := native.Pool{API: d.api}
	defer pool.Drain()
	application := pool.Own(d.api.AXUIElementCreateApplication(int32(w.PID)))
	front, _ := d.api.NumberOf(d.attribute(&pool, application, "AXFrontmost"))
	return front != 0 && d.idOf(d.attribute(&pool, application, "AXFocusedWindow")) == w.ID
}

func (d *Display) attribute(pool *native.Pool, element native.Ref, name string) native.Ref {
	var value native.Ref
	if d.api.AXUIElementCopyAttributeValue(element, d.api.Name(name), &value) != 0 {
		return 0
	}
	return pool.Own(value)
}

// idOf returns the ID of a window's element; 0 if it is unknown.
func (d *Display) idOf(element native.Ref) desktop.WindowID {
	var id uint32
	if d.api.UIElementGetWindow == nil || d.api.TypeOf(element) != native.Element || d.api.UIElementGetWindow(element, &id) != 0 {
		return 0
	}
	return desktop.WindowID(id)
}

// Activate implements desktop.Windows.
func (d *Display) Activate(ctx context.Context, id desktop.WindowID) error {
	return d.change(ctx, id, func(application, window native.Ref, _ *native.Pool) native.AXError {
		if code := d.api.AXUIElementPerformAction(window, d.api.Name("AXRaise")); code != 0 {
			return code
		}
		return d.api.AXUIElementSetAttributeValue(application, d.api.Name("AXFrontmost"), d.api.Bool(true))
	})
}

// Manage implements desktop.Windows.
func (d *Display) Manage(ctx context.Context, id desktop.WindowID, wish desktop.WindowRequest) error {
	return d.change(ctx, id, func(_, window native.Ref, pool *native.Pool) native.AXError {
		switch wish {
		case desktop.Raise:
			return d.api.AXUIElementPerformAction(window, d.api.Name("AXRaise"))
		case desktop.Restore, desktop.Minimize:
			return d.api.AXUIElementSetAttributeValue(window, d.api.Name("AXMinimized"), d.api.Bool(wish == desktop.Minimize))
		case desktop.Close:
			if button := d.attribute(pool, window, "AXCloseButton"); d.api.TypeOf(button) == native.Element {
				return d.api.AXUIElementPerformAction(button, d.api.Name("AXPress"))
			}
		}
		return native.ErrActionUnsupported
	})
}

// change runs a change of a window by the accessibility API.
func (d *Display) change(ctx context.Context, id desktop.WindowID, change func(application, window native.Ref, pool *native.Pool) native.AXError) error {
	_, err := within(ctx, func() (struct{}, error) {
		for _, w := range d.api.Windows(false) {
			if desktop.WindowID(w.ID) != id {
				continue
			}
			pool := native.Pool{API: d.api}
			defer pool.Drain()
			application := pool.Own(d.api.AXUIElementCreateApplication(int32(w.PID)))
			for _, window := range d.api.Members(d.attribute(&pool, application, "AXWindows")) {
				if d.idOf(window) == id {
					return struct{}{}, failure(change(application, window, &pool))
				}
			}
			return struct{}{}, &aai.Error{Code: aai.AutomationNotSupported, Message: "accessibility does not show this window", Delivery: aai.NotDelivered}
		}
		return struct{}{}, &aai.Error{Code: aai.StaleRef, Message: "the window no longer exists", Delivery: aai.NotDelivered}
	})
	return err
}

// failure returns the error for the result of a change.
func failure(code native.AXError) error {
	err := &aai.Error{Code: aai.AutomationFailed, Message: "the window: " + code.Words(), Delivery: aai.DeliveryUnknown}
	switch code {
	case 0:
		return nil
	case native.ErrDisabled:
		err.Code, err.Delivery = aai.PermissionDenied, aai.NotDelivered
	case native.ErrActionUnsupported, native.ErrAttributeUnsupported, native.ErrNotImplemented:
		err.Code, err.Delivery = aai.AutomationNotSupported, aai.NotDelivered
	case native.ErrInvalidElement:
		err.Code, err.Delivery = aai.StaleRef, aai.NotDelivered
	case native.ErrCannotComplete:
		err.Code = aai.Timeout
	default:
	}
	return err
}
