package x11

import (
	"context"
	"slices"
	"sync"
	"time"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/platform/linux/keysym"
)

// The XI2 events of buttons, and the pointer of the person; XI2proto.txt, "RawEvent".
const (
	rawButtonPress   = 15
	rawButtonRelease = 16
	personPointer    = "Virtual core pointer"
)

// maxPersonFacts is the number of events that may wait until their window is known.
const maxPersonFacts = 256

// WatchPerson implements desktop.PersonInput.
func (d *Display) WatchPerson(ctx context.Context, ready func(), pressed func(desktop.PersonFact)) error {
	w := &personWatch{raw: make(chan rawPress, maxPersonFacts)}
	s, err := d.connect(ctx, w.heard)
	if err != nil {
		return err
	}
	defer s.lose(context.Canceled)
	if err := w.watch(ctx, s); err != nil {
		return wrapError("watching what the person presses", err)
	}
	ready()
	for {
		select {
		case <-ctx.Done():
			return nil
		case <-s.gone:
			return wrapError("watching what the person presses", errLost)
		case press := <-w.raw:
			if fact, ok := w.fact(ctx, s, press); ok {
				pressed(fact)
			}
		}
	}
}

// A rawPress is an event of the person's keyboard or pointer.
type rawPress struct {
	at     time.Time
	kind   uint16
	detail byte
	held   []string // the modifiers that were down
}

// A personWatch turns raw events into facts.
type personWatch struct {
	raw    chan rawPress
	layout *layout

	mu        sync.Mutex
	modifiers map[byte]string // the names of modifiers, by their keys
	down      map[byte]bool   // of these
}

// watch asks the server for the events of the person's devices.
func (w *personWatch) watch(ctx context.Context, s *server) error {
	if s.xinput == 0 || s.resource == 0 {
		return unsupportedError("this X server lacks XInput 2 or XRes, so nothing reports what the person presses", "")
	}
	devices, err := (&ownSeat{server: s}).masters(ctx)
	if err != nil {
		return err
	}
	if w.layout, err = s.layout(ctx); err != nil {
		return err
	}
	modifiers := map[byte]string{}
	for _, name := range []string{"ctrl", "shift", "alt", "meta"} {
		left, err := keysym.Modifier(name)
		if err != nil {
			return err
		}
		for _, code := range w.layout.codesOf(left, left+1) {
			modifiers[code] = name
		}
	}
	w.mu.Lock()
	w.modifiers, w.down = modifiers, map[byte]bool{}
	w.mu.Unlock()
	const devicesSelected, maskWords = 2, 1
	return s.must(ctx, command(s.xinput, xiSelectEvents, s.root, uint16(devicesSelected), pad(2),
		devices[personKeyboard], uint16(maskWords), uint32(1<<rawKeyPress|1<<rawKeyRelease),
		devices[personPointer], uint16(maskWords), uint32(1<<rawButtonPress|1<<rawButtonRelease)))
}

// heard takes an event. It runs in the reading goroutine.
func (w *personWatch) heard(event []byte) {
	if event[0]&0x7f != genericEvent {
		return
	}
	r := from(event, 8)
	press := rawPress{at: time.Now(), kind: r.u16()}
	r.take(6) // device, time
	press.detail = byte(r.u32())
	w.mu.Lock()
	_, isModifier := w.modifiers[press.detail]
	isKey := press.kind == rawKeyPress || press.kind == rawKeyRelease
	if isKey && isModifier {
		w.down[press.detail] = press.kind == rawKeyPress
	}
	for code, isDown := range w.down {
		if isDown {
			press.held = append(press.held, w.modifiers[code])
		}
	}
	w.mu.Unlock()
	if press.kind == rawKeyRelease || isKey && isModifier {
		return
	}
	select {
	case w.raw <- press:
	default: // a flood, as of a wheel; the recorder sees the effect
	}
}

// fact adds the window that the event goes to.
func (w *personWatch) fact(ctx context.Context, s *server, press rawPress) (desktop.PersonFact, bool) {
	f := desktop.PersonFact{At: press.at, Chord: w.chord(press)}
	if press.kind == rawKeyPress {
		focus := getInputFocus()
		if s.must(ctx, focus) != nil {
			return f, false
		}
		f.PID = s.ownerOf(ctx, from(focus.reply, 8).u32())
		return f, true
	}
	f.Button, f.IsRelease = int(press.detail), press.kind == rawButtonRelease
	under := []xid{s.root}
	for len(under) < 20 { // windows are in windows
		pointer := queryPointer(under[len(under)-1])
		if s.must(ctx, pointer) != nil {
			return f, false
		}
		r := from(pointer.reply, 12)
		child := r.u32()
		f.Point = desktop.Point{X: int(int16(r.u16())), Y: int(int16(r.u16()))}
		if child == none {
			break
		}
		under = append(under, child)
	}
	f.PID = s.ownerOf(ctx, under[len(under)-1])
	for _, window := range under { // the frame belongs to the window manager
		if f.PID != 0 && s.ownerOf(ctx, window) == f.PID {
			f.Window = s.frameOf(ctx, window)
			break
		}
	}
	return f, f.Button > 0
}

// frameOf returns the place of a window on the screen.
func (s *server) frameOf(ctx context.Context, window xid) desktop.Rect {
	size, place := getGeometry(window), translateCoordinates(window, s.root)
	if s.must(ctx, size, place) != nil {
		return desktop.Rect{}
	}
	g, at := from(size.reply, 16), from(place.reply, 12)
	return desktop.Rect{X: int(int16(at.u16())), Y: int(int16(at.u16())), W: int(g.u16()), H: int(g.u16())}
}

// ownerOf returns the process of a window, 0 for the root and for none.
func (s *server) ownerOf(ctx context.Context, window xid) int {
	const pointerRoot = 1
	if window <= pointerRoot || window == s.root {
		return 0
	}
	pid, err := s.processOf(ctx, window&^s.setup.idMask)
	if err != nil {
		return 0
	}
	return pid
}

// chord returns the pressed key, without a Key if it types a character.
func (w *personWatch) chord(press rawPress) desktop.Chord {
	held := slices.Compact(slices.Sorted(slices.Values(press.held)))
	if press.kind != rawKeyPress {
		return desktop.Chord{Modifiers: held}
	}
	sym := w.layout.at(press.detail, 0)
	isShortcut := slices.ContainsFunc(held, func(name string) bool { return name != "shift" })
	key := keysym.NameOf(sym)
	if r := rune(sym); key == "" && isShortcut && r > ' ' && r <= '~' {
		key = string(r)
	}
	if key == "" || key == "space" && !isShortcut {
		return desktop.Chord{Modifiers: held}
	}
	return desktop.Chord{Key: key, Modifiers: held}
}

var _ desktop.PersonInput = (*Display)(nil)
