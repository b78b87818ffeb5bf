package fakedesktop

import (
	"context"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
)

// keyNames are the names of keys that are not characters.
const keyNames = " return enter tab space escape backspace delete insert home end page_up page_down up down left right " +
	"f1 f2 f3 f4 f5 f6 f7 f8 f9 f10 f11 f12 "

func seatName(seat desktop.Seat) string {
	if seat == desktop.PersonSeat {
		return "person"
	}
	return "own"
}

// begin records the action, locks the desktop and finds the window. Without an error the caller unlocks it.
func (b *backend) begin(ctx context.Context, deed string, seat desktop.Seat, id desktop.WindowID) (*Window, error) {
	if err := contextError(ctx); err != nil {
		return nil, err
	}
	b.d.mu.Lock()
	b.d.recordAction(deed, seatName(seat))
	w, err := b.d.window(id)
	if err != nil {
		b.d.mu.Unlock()
	}
	return w, err
}

// pointAt moves the person's pointer to a point where the window is visible. The caller holds the desktop's
// lock.
func (d *Desktop) pointAt(w *Window, at desktop.Point) error {
	seen := d.at(at)
	if seen != w {
		name := "nothing"
		if seen != nil {
			name = aai.CleanLabel(seen.e.Name, 60)
		}
		return notDeliveredError(aai.AutomationFailed, "at %d, %d is %q and not the window", at.X, at.Y, name)
	}
	if d.person.Pointer != at {
		d.person.PointerMoves++
	}
	d.person.Pointer = at
	return nil
}

func noSuchSeat(what string) error {
	e := aai.Errorf(aai.AutomationNotSupported, "the gateway's own pointer cannot %s here", what)
	e.Delivery = aai.NotDelivered
	e.Hint = `Use mode "focus".`
	return e
}

func (b *backend) Click(ctx context.Context, seat desktop.Seat, id desktop.WindowID, at desktop.Point, button desktop.MouseButton, count int) error {
	w, err := b.begin(ctx, "Click", seat, id)
	if err != nil {
		return err
	}
	if seat == desktop.OwnSeat {
		b.d.mu.Unlock()
		return noSuchSeat("click")
	}
	if err := b.d.pointAt(w, at); err != nil {
		b.d.mu.Unlock()
		return err
	}
	b.d.takeFocus(w)
	x := w.under(at)
	frame := x.e.Frame
	b.d.mu.Unlock()
	w.program.handle(func() {
		x.clicked(Click{button, count, desktop.Point{X: at.X - frame.X, Y: at.Y - frame.Y}})
	})
	return nil
}

// under returns the innermost element of the window at the point. The caller holds the desktop's lock.
func (w *Window) under(at desktop.Point) *Element {
	w.arrange()
	x := w.Element
	for {
		i := slices.IndexFunc(x.children, func(c *Element) bool { return c.showing && c.e.Frame.Contains(at) })
		if i < 0 {
			return x
		}
		x = x.children[i]
	}
}

func (x *Element) clicked(c Click) {
	if !x.Has(desktop.Enabled | desktop.Showing) {
		return
	}
	if x.Has(desktop.Focusable) {
		x.Focus()
	}
	x.d.mu.Lock()
	f := x.click
	x.d.mu.Unlock()
	if f != nil {
		f(c)
	}
	if c.Button == desktop.LeftButton {
		x.pressed()
	}
}

func (b *backend) Drag(ctx context.Context, seat desktop.Seat, id desktop.WindowID, from, to desktop.Point, duration time.Duration) error {
	w, err := b.begin(ctx, "Drag", seat, id)
	if err != nil {
		return err
	}
	if seat == desktop.OwnSeat {
		b.d.mu.Unlock()
		return noSuchSeat("drag")
	}
	if err := b.d.pointAt(w, from); err != nil {
		b.d.mu.Unlock()
		return err
	}
	b.d.takeFocus(w)
	x := w.under(from)
	frame, f := x.e.Frame, x.drag
	b.d.mu.Unlock()
	select {
	case <-time.After(duration):
	case <-ctx.Done(): // the button is released in any case
	}
	b.d.mu.Lock()
	b.d.person.Pointer = to
	b.d.mu.Unlock()
	if f != nil {
		w.program.handle(func() {
			f(desktop.Point{X: from.X - frame.X, Y: from.Y - frame.Y}, desktop.Point{X: to.X - frame.X, Y: to.Y - frame.Y})
		})
	}
	if ctx.Err() != nil {
		return aai.AsError(ctx.Err())
	}
	return nil
}

// Scroll scrolls by three items per notch. The gateway's own pointer supports it.
func (b *backend) Scroll(ctx context.Context, seat desktop.Seat, id desktop.WindowID, at desktop.Point, _, dy int) error {
	w, err := b.begin(ctx, "Scroll", seat, id)
	if err != nil {
		return err
	}
	if seat == desktop.PersonSeat {
		if err := b.d.pointAt(w, at); err != nil {
			b.d.mu.Unlock()
			return err
		}
	}
	x := w.under(at)
	list := x
	if x.rows == 0 {
		list = x.scroller()
	}
	b.d.mu.Unlock()
	if list == nil {
		return nil
	}
	w.program.handle(func() {
		b.d.mu.Lock()
		bar := list.bar()
		b.d.mu.Unlock()
		bar.SetNumber(bar.Number() + float64(3*dy*rowHeight))
	})
	return nil
}

// keyboard locks the desktop and finds the window, which must have the seat's keyboard focus.
func (b *backend) keyboard(ctx context.Context, deed string, seat desktop.Seat, id desktop.WindowID) (*Window, error) {
	w, err := b.begin(ctx, deed, seat, id)
	if err != nil {
		return nil, err
	}
	if seat == desktop.PersonSeat && b.d.active != w {
		b.d.mu.Unlock()
		return nil, notDeliveredError(aai.AutomationNotSupported, "the window has not the person's keyboard")
	}
	return w, nil
}

func (b *backend) Type(ctx context.Context, seat desktop.Seat, id desktop.WindowID, text string) error {
	w, err := b.keyboard(ctx, "Type", seat, id)
	if err != nil {
		return err
	}
	b.d.mu.Unlock()
	w.program.handle(func() { w.typed(text) })
	return nil
}

func (b *backend) WithKeyboard(ctx context.Context, seat desktop.Seat, id desktop.WindowID, while func(context.Context, desktop.Input) error) error {
	if _, err := b.keyboard(ctx, "Attend", seat, id); err != nil {
		return err
	}
	b.d.mu.Unlock()
	return while(ctx, b)
}

// typed handles text that is typed into the window.
func (w *Window) typed(text string) {
	w.d.mu.Lock()
	x, all := w.focus, w.selectAll
	w.selectAll = false
	if x == nil || !x.e.States.Has(desktop.Editable|desktop.Enabled) {
		for _, c := range text {
			w.keys = append(w.keys, desktop.Chord{Key: string(c)})
		}
		w.d.mu.Unlock()
		return
	}
	w.d.mu.Unlock()
	if all {
		x.SetText(text)
	} else {
		x.SetText(x.Value() + text)
	}
}

func (b *backend) Key(ctx context.Context, seat desktop.Seat, id desktop.WindowID, chord desktop.Chord) error {
	key := strings.ToLower(chord.Key)
	if utf8.RuneCountInString(chord.Key) != 1 && !strings.Contains(keyNames, " "+key+" ") {
		e := aai.Errorf(aai.InvalidParams, "key: there is no key %q", aai.CleanLabel(chord.Key, 32))
		e.Candidates = aai.Nearest(key, strings.Fields(keyNames), 3)
		return e
	}
	w, err := b.keyboard(ctx, "Key", seat, id)
	if err != nil {
		return err
	}
	b.d.mu.Unlock()
	w.program.handle(func() { w.pressedKey(chord, key) })
	return nil
}

// pressedKey handles a key press in the window.
func (w *Window) pressedKey(chord desktop.Chord, key string) {
	w.d.mu.Lock()
	x, all := w.focus, w.selectAll
	edits := x != nil && x.e.States.Has(desktop.Editable|desktop.Enabled)
	several := edits && x.e.States.Has(desktop.Multiline)
	w.selectAll = edits && key == "a" && slices.Equal(chord.Modifiers, []string{"ctrl"})
	selected := w.selectAll
	w.d.mu.Unlock()
	plain := len(chord.Modifiers) == 0
	switch {
	case selected:
	case edits && plain && (key == "delete" || key == "backspace"):
		text := x.Value()
		_, last := utf8.DecodeLastRuneInString(text)
		if all {
			x.SetText("")
		} else if key == "backspace" {
			x.SetText(text[:len(text)-last])
		}
	case several && plain && key == "return":
		w.typed("\n")
	case edits && plain && utf8.RuneCountInString(chord.Key) == 1:
		w.typed(chord.Key)
	case plain && (key == "return" || key == "space") && x != nil && x.Has(desktop.Enabled):
		x.pressed()
	default:
		w.unused(chord)
	}
}

// unused handles a key that no element uses.
func (w *Window) unused(chord desktop.Chord) {
	w.d.mu.Lock()
	w.keys = append(w.keys, chord)
	f := w.onKey
	w.d.mu.Unlock()
	if f != nil {
		f(chord)
	}
}
