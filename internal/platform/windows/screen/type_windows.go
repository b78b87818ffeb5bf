package screen

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"
	"unicode/utf16"

	"golang.org/x/sys/windows"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/inputlock"
	"github.com/gybob/aai-gateway/internal/platform/linux/keysym"
	"github.com/gybob/aai-gateway/internal/platform/windows/win32"
)

// maxStrokes is the number of keys that are pressed between two checks of the focus.
const maxStrokes = 40

// The messages of the keyboard.
const (
	wmKeyDown = 0x0100
	wmKeyUp   = 0x0101
	wmChar    = 0x0102
)

// Type implements desktop.Keyboard. A line break is the key Return, a tab is Tab. With OwnSeat the text goes to the child window that
// has the focus within its program; a program in the background has none, unless its window has no children.
func (d *Display) Type(ctx context.Context, seat desktop.Seat, id desktop.WindowID, text string) error {
	syms, err := keysym.OfText(text)
	if err != nil || len(syms) == 0 {
		return err
	}
	return d.press(ctx, seat, id, syms, nil)
}

// Key implements desktop.Keyboard, by the names of keysym.Key. With OwnSeat there are no modifiers: programs ask the system for those.
func (d *Display) Key(ctx context.Context, seat desktop.Seat, id desktop.WindowID, chord desktop.Chord) error {
	sym, modifiers, err := keysym.Chord(chord.Key, chord.Modifiers)
	if err != nil {
		return err
	}
	if seat == desktop.OwnSeat && len(modifiers) > 0 {
		return unsupported("programs see Ctrl, Shift and Alt only on the person's keyboard")
	}
	if seat == desktop.PersonSeat && isChord(d.stopChord, sym, modifiers) {
		e := notDelivered(aai.PermissionDenied, "this key stops all agents, so only the person presses it")
		e.Hint = "Choose another key; the person can change the setting desktop.stopKey."
		return e
	}
	return d.press(ctx, seat, id, []keysym.Sym{sym}, modifiers)
}

// press presses the keys one after another; with modifiers there is one key.
func (d *Display) press(ctx context.Context, seat desktop.Seat, id desktop.WindowID, syms, modifiers []keysym.Sym) error {
	if _, err := ready(seat, id); err != nil {
		return err
	}
	typed := 0
	for batch := range slices.Chunk(syms, maxStrokes) {
		err := d.stroke(ctx, func(g *inputlock.Lease) error {
			w, err := ready(seat, id)
			if err != nil {
				return err
			}
			if seat == desktop.OwnSeat {
				return postKeys(ctx, w, batch)
			}
			return sendKeys(ctx, g, w, batch, modifiers)
		})
		if err != nil {
			return stopped(err, typed, len(syms))
		}
		typed += len(batch)
	}
	return nil
}

// stopped adds to err how many of the keys were pressed.
func stopped(err error, typed, all int) error {
	if typed == 0 {
		return err
	}
	e := *aai.AsError(err)
	e.Message = fmt.Sprintf("typed %d of %d, then: %s", typed, all, e.Message)
	e.Delivery, e.Hint = aai.DeliveryUnknown, "Look at the window before trying again."
	return &e
}

// sendKeys presses keys of the person's keyboard in the window, which must have it.
func sendKeys(ctx context.Context, g *inputlock.Lease, w win32.Window, syms, modifiers []keysym.Sym) error {
	if err := hasKeyboard(w); err != nil {
		return err
	}
	if err := awaitNoKeysDown(ctx); err != nil {
		return err
	}
	var in []win32.Input
	for _, sym := range syms {
		keys, err := strokes(w, sym, modifiers)
		if err != nil {
			return err
		}
		in = append(in, keys...)
	}
	return send(g, in...)
}

func hasKeyboard(w win32.Window) error {
	if win32.Foreground() == w {
		return nil
	}
	e := notDelivered(aai.AutomationFailed, "the window does not have the keyboard")
	e.Hint = `Use mode "focus", which brings the window to the front.`
	return e
}

// strokes returns the input of one key with modifiers. Without modifiers a character is typed as such, whatever the keyboard layout.
func strokes(w win32.Window, sym keysym.Sym, modifiers []keysym.Sym) ([]win32.Input, error) {
	key, named := namedKey(sym)
	r := character(sym)
	if len(modifiers) == 0 && r != 0 && !named {
		var in []win32.Input
		for _, unit := range utf16.Encode([]rune{r}) {
			in = append(in, win32.Key(0, unit, win32.KeyUnicode), win32.Key(0, unit, win32.KeyUnicode|win32.KeyUp))
		}
		return in, nil
	}
	if !named {
		code, needed, ok := w.KeyFor(r)
		if !ok {
			return nil, unsupported(fmt.Sprintf("no key of this keyboard types %q, so it cannot be pressed with modifiers", r))
		}
		key = virtualKey{code: code}
		for bit, modifier := range map[byte]keysym.Sym{1: keysym.Shift, 2: 0xffe3, 4: 0xffe9} {
			if needed&bit != 0 && !slices.Contains(modifiers, modifier) {
				modifiers = append(slices.Clone(modifiers), modifier)
			}
		}
	}
	in := []win32.Input{press(w, key, 0), press(w, key, win32.KeyUp)}
	for _, m := range slices.Backward(modifiers) {
		held, _ := namedKey(m)
		in = slices.Concat([]win32.Input{press(w, held, 0)}, in, []win32.Input{press(w, held, win32.KeyUp)})
	}
	return in, nil
}

func press(w win32.Window, key virtualKey, flags uint32) win32.Input {
	if key.extended {
		flags |= win32.KeyExtended
	}
	return win32.Key(key.code, w.ScanCode(key.code), flags)
}

// postKeys posts keys to the child window that has the focus in its program.
func postKeys(ctx context.Context, w win32.Window, syms []keysym.Sym) error {
	target := w.Focused()
	if target != 0 && target.Root() != w {
		target = 0
	}
	if target == 0 {
		if len(w.Descendants()) > 0 {
			return unsupported("the program is in the background, and tells nobody which part of the window its keys are for")
		}
		target = w
	}
	if !takesMessages(target.Class()) {
		return unsupported("this part of the window does not take keys that are not the person's")
	}
	for i, sym := range syms {
		for _, m := range keyMessages(target, sym) {
			if err := postPatiently(ctx, target, m); err != nil {
				return stopped(postError("typing", err), i, len(syms))
			}
		}
	}
	return nil
}

// keyMessages returns the messages of one key. The program itself makes the character of a pressed key.
func keyMessages(w win32.Window, sym keysym.Sym) []win32.Message {
	const extended, repeat, wasDown, released = 1 << 24, 1, 1 << 30, 1 << 31
	key, named := namedKey(sym)
	r := character(sym)
	if !named || r == ' ' {
		var messages []win32.Message
		for _, unit := range utf16.Encode([]rune{r}) {
			messages = append(messages, win32.Message{ID: wmChar, WParam: uintptr(unit), LParam: repeat})
		}
		return messages
	}
	data := uintptr(repeat) | uintptr(w.ScanCode(key.code))<<16
	if key.extended {
		data |= extended
	}
	return []win32.Message{
		{ID: wmKeyDown, WParam: uintptr(key.code), LParam: data},
		{ID: wmKeyUp, WParam: uintptr(key.code), LParam: data | wasDown | released},
	}
}

// postPatiently posts a message, and waits while the program's queue is full.
func postPatiently(ctx context.Context, w win32.Window, m win32.Message) error {
	for {
		err := w.Post(m.ID, m.WParam, m.LParam)
		if !errors.Is(err, windows.ERROR_NOT_ENOUGH_QUOTA) {
			return err
		}
		if stop := aai.Sleep(ctx, 20*time.Millisecond); stop != nil {
			return stop
		}
	}
}

// WithKeyboard implements desktop.Keyboard. With PersonSeat the window must already have the person's keyboard.
func (d *Display) WithKeyboard(ctx context.Context, seat desktop.Seat, id desktop.WindowID, while func(context.Context, desktop.Input) error) error {
	w, err := ready(seat, id)
	if err == nil && seat == desktop.PersonSeat {
		err = hasKeyboard(w)
	}
	if err != nil {
		return err
	}
	return while(ctx, boundKeyboard{d, seat, id})
}

// A boundKeyboard is the keyboard of one seat for one window. It has no pointer.
type boundKeyboard struct {
	display *Display
	seat    desktop.Seat
	window  desktop.WindowID
}

func (boundKeyboard) noPointer() error {
	return notDelivered(aai.AutomationNotSupported, "the pointer is not moved while the keyboard is held")
}

// Click implements desktop.Input. It always fails, as there is no pointer.
func (b boundKeyboard) Click(context.Context, desktop.Seat, desktop.WindowID, desktop.Point, desktop.MouseButton, int) error {
	return b.noPointer()
}

// Drag implements desktop.Input. It always fails, as there is no pointer.
func (b boundKeyboard) Drag(context.Context, desktop.Seat, desktop.WindowID, desktop.Point, desktop.Point, time.Duration) error {
	return b.noPointer()
}

// Scroll implements desktop.Input. It always fails, as there is no pointer.
func (b boundKeyboard) Scroll(context.Context, desktop.Seat, desktop.WindowID, desktop.Point, int, int) error {
	return b.noPointer()
}

// Type implements desktop.Keyboard.
func (b boundKeyboard) Type(ctx context.Context, seat desktop.Seat, id desktop.WindowID, text string) error {
	if err := b.check(seat, id); err != nil {
		return err
	}
	return b.display.Type(ctx, seat, id, text)
}

// Key implements desktop.Keyboard.
func (b boundKeyboard) Key(ctx context.Context, seat desktop.Seat, id desktop.WindowID, chord desktop.Chord) error {
	if err := b.check(seat, id); err != nil {
		return err
	}
	return b.display.Key(ctx, seat, id, chord)
}

// WithKeyboard implements desktop.Keyboard.
func (b boundKeyboard) WithKeyboard(ctx context.Context, seat desktop.Seat, id desktop.WindowID, while func(context.Context, desktop.Input) error) error {
	if err := b.check(seat, id); err != nil {
		return err
	}
	return while(ctx, b)
}

func (b boundKeyboard) check(seat desktop.Seat, id desktop.WindowID) error {
	if seat != b.seat || id != b.window {
		return notDelivered(aai.AutomationFailed, "another window has the keyboard now")
	}
	return nil
}
