package wayland

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/inputlock"
	"github.com/gybob/aai-gateway/internal/gateway/actionctx"
	"github.com/gybob/aai-gateway/internal/platform/linux/ei"
	"github.com/gybob/aai-gateway/internal/platform/linux/keysym"
)

// motionPause is the time between the first motions of a pointer.
const motionPause = 10 * time.Millisecond

// An emulatedPointer is the pointer of a session of remote control during one call.
type emulatedPointer struct {
	remote *remote
	device *ei.Device
	reader pointerReader // nil if the compositor does not tell the place
	placed bool          // moved to a place in this call
}

// A pointerReader is a manager that tells the place of the person's pointer.
type pointerReader interface {
	pointer(ctx context.Context) (x, y float64, err error)
}

// emulatedPointer begins an emulation.
func (d *Display) emulatedPointer(ctx context.Context) (*emulatedPointer, error) {
	r, err := d.remoteControl(ctx)
	if err != nil {
		return nil, err
	}
	device, err := r.pointer(ctx)
	if err != nil {
		return nil, err
	}
	m, err := d.manager(ctx)
	if err != nil {
		return nil, err
	}
	reader, _ := m.(pointerReader)
	return &emulatedPointer{remote: r, device: device, reader: reader}, nil
}

func (p *emulatedPointer) begin(context.Context) error { return p.device.Start() }

func (p *emulatedPointer) reaches(at desktop.Point) bool {
	return slices.ContainsFunc(p.device.Regions(), func(r ei.Region) bool {
		return desktop.Rect{X: r.X, Y: r.Y, W: r.W, H: r.H}.Contains(at)
	})
}

// move moves the pointer to the middle of a pixel. The first motion of a pointer may end at a barrier of the
// compositor, such as GNOME's hot corner, so three of them end at the goal.
func (p *emulatedPointer) move(ctx context.Context, at desktop.Point) error {
	const middle = 0.5
	x, y := float32(at.X)+middle, float32(at.Y)+middle
	if p.placed {
		return p.device.Move(x, y)
	}
	for away := float32(2); away >= 0; away-- {
		if err := errors.Join(p.device.Move(x-away, y-away), aai.Sleep(ctx, motionPause)); err != nil {
			return err
		}
	}
	p.placed = true
	if err := p.remote.client.Sync(ctx); err != nil || p.reader == nil {
		return err
	}
	const near = 1 // pixels
	gotX, gotY, err := p.reader.pointer(ctx)
	if err == nil && (math.Abs(gotX-float64(x)) > near || math.Abs(gotY-float64(y)) > near) {
		err = refused(aai.AutomationFailed, "the pointer is at %.0f,%.0f and not at %d,%d, so nothing was pressed", gotX, gotY, at.X, at.Y)
	}
	return err
}

func (p *emulatedPointer) press(_ context.Context, button desktop.MouseButton, down bool) error {
	return p.device.Press(buttonCode(button), down)
}

func (p *emulatedPointer) turn(_ context.Context, dx, dy int) error { return p.device.Turn(dx, dy) }

// end waits until the compositor has handled the input.
func (p *emulatedPointer) end(ctx context.Context) error {
	return errors.Join(p.device.Stop(), p.remote.client.Sync(ctx))
}

// A keymapCache holds the last read keymap. It is safe for concurrent use.
type keymapCache struct {
	mu     sync.Mutex
	text   string
	keymap *ei.Keymap
}

// read returns a keymap.
func (c *keymapCache) read(text string) (*ei.Keymap, error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.keymap != nil && c.text == text {
		return c.keymap, nil
	}
	k, err := ei.ParseKeymap(text)
	if err == nil {
		c.text, c.keymap = text, k
	}
	return k, err
}

// An emulatedTypist types into one window with the keys of the compositor's own keymap.
type emulatedTypist struct {
	display *Display
	remote  *remote
	window  desktop.WindowID
	typed   bool // keys were sent
}

func (d *Display) emulatedTypist(ctx context.Context, _ *conn, window desktop.WindowID) (typist, error) {
	r, err := d.remoteControl(ctx)
	if err != nil {
		return nil, err
	}
	return &emulatedTypist{display: d, remote: r, window: window}, nil
}

// layout returns the keyboard, its layout, and the keymap.
func (t *emulatedTypist) layout(ctx context.Context) (*ei.Device, *ei.Keymap, uint32, uint32, error) {
	device, err := t.remote.client.Device(ctx, ei.Keyboard)
	if err != nil {
		return nil, nil, 0, 0, err
	}
	text, locked, group, err := device.Keymap()
	if err != nil {
		return nil, nil, 0, 0, err
	}
	keymap, err := t.remote.keymaps.read(text)
	return device, keymap, locked, group, err
}

func (t *emulatedTypist) end() { <-t.display.typing }

// text types a text. If the layout lacks a character, the whole text goes by the clipboard.
func (t *emulatedTypist) text(ctx context.Context, text string, syms []keysym.Sym) error {
	device, keymap, locked, group, err := t.layout(ctx)
	if err != nil {
		return failure("reading the keyboard's layout", err)
	}
	layout := keymap.Layout(int(group), locked)
	strokes := make([]ei.Stroke, len(syms))
	for i, sym := range syms {
		s, ok := layout.Stroke(sym)
		if !ok {
			return t.display.paste(ctx, t, t.window, text, "the keyboard layout has no key for "+missing(text, layout))
		}
		strokes[i] = s
	}
	const burst = 40 // between looks at the window
	for done := 0; done < len(strokes); done += burst {
		next := strokes[done:min(done+burst, len(strokes))]
		if err := t.strokes(ctx, device, next); err != nil {
			return t.stopped(err, done, len(strokes))
		}
	}
	return nil
}

// missing names the characters that a layout lacks.
func missing(text string, layout *ei.Layout) string {
	const most = 10
	var names []string
	for _, r := range text {
		if sym, ok := keysym.Of(r); ok {
			if _, ok := layout.Stroke(sym); !ok && !slices.Contains(names, string(r)) && len(names) < most {
				names = append(names, string(r))
			}
		}
	}
	return strings.Join(names, " ")
}

// strokes types with the input lock, while the window has the person's keyboard.
func (t *emulatedTypist) strokes(ctx context.Context, device *ei.Device, strokes []ei.Stroke) error {
	return t.display.stroke(ctx, func(g *inputlock.Lease) error {
		if err := t.display.hasKeyboard(ctx, t.window); err != nil {
			return err
		}
		if err := device.Start(); err != nil {
			return err
		}
		t.typed = true
		var err error
		for i, s := range strokes {
			if g.IsQuestionWaiting() || actionctx.CheckStopped(ctx) != nil {
				err = refused(aai.AutomationFailed, "typing ended after %d of %d keys, since the person was asked or stopped it", i, len(strokes))
			}
			if err == nil {
				err = errors.Join(press(device, s), aai.Sleep(ctx, keyPause))
			}
		}
		return errors.Join(err, device.Stop(), t.remote.client.Sync(context.WithoutCancel(ctx)))
	})
}

// press presses and releases a key while the keys of its modifiers are held.
func press(device *ei.Device, s ei.Stroke) (err error) {
	for _, code := range s.Modifiers {
		err = errors.Join(err, device.Key(code, true))
	}
	if err == nil {
		err = errors.Join(device.Key(s.Code, true), device.Key(s.Code, false))
	}
	for _, code := range slices.Backward(s.Modifiers) { // they must not stay down
		err = errors.Join(err, device.Key(code, false))
	}
	return err
}

// chord presses a key while the modifiers are held.
func (t *emulatedTypist) chord(ctx context.Context, sym keysym.Sym, modifiers []keysym.Sym) error {
	device, keymap, _, group, err := t.layout(ctx)
	if err != nil {
		return failure("reading the keyboard's layout", err)
	}
	const maxGroups = 4
	layout := keymap.Layout(int(group), 0)
	stroke, ok := layout.Stroke(sym)
	for other := 0; !ok && len(modifiers) > 0 && other < maxGroups; other++ { // programs take shortcuts from any layout
		stroke, ok = keymap.Layout(other, 0).Stroke(sym)
	}
	if !ok {
		e := refused(aai.AutomationNotSupported, "the person's keyboard layout has no such key")
		e.Hint = "Use the menu item or the button instead of the shortcut."
		return e
	}
	held := make([]uint32, 0, len(modifiers)+len(stroke.Modifiers))
	for _, m := range modifiers {
		key, ok := layout.Stroke(m)
		if !ok {
			return refused(aai.AutomationNotSupported, "the person's keyboard layout lacks a modifier of the shortcut")
		}
		held = append(held, key.Code)
	}
	for _, code := range stroke.Modifiers {
		if !slices.Contains(held, code) {
			held = append(held, code)
		}
	}
	return t.stopped(t.strokes(ctx, device, []ei.Stroke{{Modifiers: held, Code: stroke.Code}}), 0, 1)
}

// stopped returns the error of typing that ended early.
func (t *emulatedTypist) stopped(err error, typed, of int) error {
	return stoppedTyping(err, t.typed, typed, of)
}
