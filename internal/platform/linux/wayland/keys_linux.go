package wayland

import (
	"context"
	"errors"
	"os"
	"time"

	"golang.org/x/sys/unix"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/inputlock"
	"github.com/gybob/aai-gateway/internal/platform/linux/fdwire"
	"github.com/gybob/aai-gateway/internal/platform/linux/keysym"
)

// Requests of zwp_virtual_keyboard_v1.
const (
	keyboardKeymap    = 0
	keyboardKey       = 1
	keyboardModifiers = 2
)

// keyboardManager is the interface for virtual keyboards.
const keyboardManager = "zwp_virtual_keyboard_manager_v1"

// keymapPause is the time for programs to read a new keymap: some lose the first key after it.
const keymapPause = 50 * time.Millisecond

// keyPause is the time between keys. Programs that read the keyboard through an input method lose faster ones.
const keyPause = 2 * time.Millisecond

// maxStrokes is the number of keys that are pressed between two checks of the focus: a question of the gateway's waits
// for them.
const maxStrokes = 40

// A typist types into one window. end must be called.
type typist interface {
	// text types a text, whose characters have the keysyms.
	text(ctx context.Context, text string, syms []keysym.Sym) error
	// chord presses a key while the modifiers are held.
	chord(ctx context.Context, sym keysym.Sym, modifiers []keysym.Sym) error
	end()
}

// A virtualTypist types by the keyboard of virtual-keyboard.
type virtualTypist struct {
	display *Display
	conn    *conn
	id      uint32 // of the keyboard
	window  desktop.WindowID
	begun   time.Time
	typed   bool // keys were sent
}

// typist holds the keyboard.
func (d *Display) typist(ctx context.Context, which desktop.Seat, window desktop.WindowID) (typist, error) {
	const doing = "getting ready to type"
	if err := onlyPersonSeat(which); err != nil {
		return nil, err
	}
	c, err := d.connect(ctx)
	if err != nil {
		return nil, err
	}
	if err := d.hasKeyboard(ctx, window); err != nil { // before a question to the person
		return nil, err
	}
	t := d.emulatedTypist
	if _, ok := c.offered(keyboardManager); ok {
		t = d.virtualTypist
	}
	made, err := t(ctx, c, window)
	if err != nil {
		return nil, failure(doing, err)
	}
	select {
	case d.typing <- struct{}{}:
	case <-ctx.Done():
		return nil, failure("waiting for the keyboard", ctx.Err())
	}
	return made, nil
}

func (d *Display) virtualTypist(ctx context.Context, c *conn, window desktop.WindowID) (typist, error) {
	id, err := c.device(ctx, keyboardManager, 1, "Set the value of the field by its ref; that needs no keys.",
		hasKeyboard, &c.devices.keyboard, func(seat, id uint32) []any { return []any{seat, id} })
	if err != nil {
		return nil, err
	}
	return &virtualTypist{display: d, conn: c, id: id, window: window, begun: time.Now()}, nil
}

func (t *virtualTypist) end() { <-t.display.typing }

// Type implements desktop.Keyboard. The window must have the person's keyboard.
func (d *Display) Type(ctx context.Context, which desktop.Seat, window desktop.WindowID, text string) error {
	syms, err := keysym.OfText(text)
	if err != nil || len(syms) == 0 {
		return err
	}
	t, err := d.typist(ctx, which, window)
	if err != nil {
		return err
	}
	defer t.end()
	return t.text(ctx, text, syms)
}

// Key implements desktop.Keyboard.
func (d *Display) Key(ctx context.Context, which desktop.Seat, window desktop.WindowID, chord desktop.Chord) error {
	sym, modifiers, err := keysym.Chord(chord.Key, chord.Modifiers)
	if err != nil {
		return err
	}
	t, err := d.typist(ctx, which, window)
	if err != nil {
		return err
	}
	defer t.end()
	return t.chord(ctx, sym, modifiers)
}

// WithKeyboard implements desktop.Keyboard.
func (d *Display) WithKeyboard(ctx context.Context, which desktop.Seat, window desktop.WindowID, while func(context.Context, desktop.Input) error) error {
	if err := onlyPersonSeat(which); err != nil {
		return err
	}
	if err := d.hasKeyboard(ctx, window); err != nil {
		return err
	}
	return while(ctx, d)
}

// hasKeyboard checks that the window has the person's keyboard.
func (d *Display) hasKeyboard(ctx context.Context, id desktop.WindowID) error {
	w, err := d.find(ctx, id)
	if err != nil {
		return err
	}
	if !w.Active {
		e := refused(aai.AutomationFailed, "the window %q does not have the person's keyboard", w.Title)
		e.Hint = `Use the mode "focus", which brings it to the front.`
		return e
	}
	return nil
}

// text types the keysyms, as many at a time as a keymap has.
func (t *virtualTypist) text(ctx context.Context, text string, syms []keysym.Sym) error {
	if reason := t.display.losesKeys(ctx, t.window, text); reason != "" {
		return t.display.paste(ctx, t, t.window, text, reason)
	}
	for done := 0; done < len(syms); {
		k, n := newKeymap(syms[done:min(len(syms), done+maxStrokes)])
		err := t.withKeymap(ctx, k, func() error {
			for _, sym := range syms[done : done+n] {
				if err := t.stroke(ctx, k.codes[sym]); err != nil {
					return err
				}
			}
			return nil
		})
		if err != nil {
			return t.stopped(err, done, len(syms))
		}
		done += n
	}
	return nil
}

// chord presses a key while the modifiers are held.
func (t *virtualTypist) chord(ctx context.Context, sym keysym.Sym, modifiers []keysym.Sym) error {
	k, _ := newKeymap([]keysym.Sym{sym})
	bits := map[keysym.Sym]uint32{keysym.Shift: shiftBit, 0xffe3: controlBit, 0xffe9: altBit, 0xffeb: metaBit}
	return t.stopped(t.withKeymap(ctx, k, func() (err error) {
		var held uint32
		for _, m := range modifiers {
			held |= bits[m]
			err = errors.Join(err, t.key(ctx, k.codes[m], true))
		}
		err = errors.Join(err, t.hold(ctx, held))
		if err == nil {
			err = t.stroke(ctx, k.codes[sym])
		}
		ctx, cancel := afterwards(ctx) // they must not stay down
		defer cancel()
		for _, m := range modifiers {
			err = errors.Join(err, t.key(ctx, k.codes[m], false))
		}
		return errors.Join(err, t.hold(ctx, 0))
	}), 0, 1)
}

// withKeymap runs do with the input lock and a keymap, while the window has the person's keyboard.
func (t *virtualTypist) withKeymap(ctx context.Context, k keymap, do func() error) error {
	return t.display.stroke(ctx, func(*inputlock.Lease) error {
		if err := t.display.hasKeyboard(ctx, t.window); err != nil {
			return err
		}
		if k.text != t.conn.devices.keymap {
			if err := t.setKeymap(ctx, k); err != nil {
				return err
			}
		}
		t.typed = true
		err := do()
		ctx, cancel := afterwards(ctx)
		defer cancel()
		return errors.Join(err, t.conn.sync(ctx))
	})
}

// setKeymap gives the keyboard another keymap.
func (t *virtualTypist) setKeymap(ctx context.Context, k keymap) error {
	const xkbV1 = 1
	fd, err := unix.MemfdCreate("keymap", unix.MFD_CLOEXEC)
	if err != nil {
		return err
	}
	file := os.NewFile(uintptr(fd), "keymap")
	defer func() { _ = file.Close() }()
	if _, err = file.WriteString(k.text + "\x00"); err == nil {
		err = t.conn.send(ctx, t.id, keyboardKeymap, uint32(xkbV1), fdwire.OpenFile{File: file}, uint32(len(k.text)+1))
	}
	if err == nil {
		err = t.conn.sync(ctx)
	}
	if err != nil {
		return err
	}
	t.conn.devices.keymap = k.text
	return aai.Sleep(ctx, keymapPause)
}

// stroke presses and releases a key.
func (t *virtualTypist) stroke(ctx context.Context, code uint32) error {
	if err := t.key(ctx, code, true); err != nil {
		return err
	}
	return errors.Join(t.key(context.WithoutCancel(ctx), code, false), aai.Sleep(ctx, keyPause))
}

func (t *virtualTypist) key(ctx context.Context, code uint32, down bool) error {
	state := uint32(0)
	if down {
		state = 1
	}
	return t.conn.send(ctx, t.id, keyboardKey, uint32(time.Since(t.begun).Milliseconds()), code, state)
}

// hold sets the modifiers that are down.
func (t *virtualTypist) hold(ctx context.Context, bits uint32) error {
	return t.conn.send(ctx, t.id, keyboardModifiers, bits, uint32(0), uint32(0), uint32(0))
}

// stopped returns the error of typing that ended early.
func (t *virtualTypist) stopped(err error, typed, of int) error {
	return stoppedTyping(err, t.typed, typed, of)
}

// stoppedTyping returns the error of typing that ended early; begun means that keys were sent.
func stoppedTyping(err error, begun bool, typed, of int) error {
	if err == nil || !begun {
		return failure("typing", err)
	}
	e := *aai.AsError(inputFailure("typing", err))
	if of > 1 {
		e.Message += aai.Errorf(e.Code, "; at least %d of %d characters were typed", typed, of).Message
	}
	return &e
}
