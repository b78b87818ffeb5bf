package x11

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/inputlock"
)

// seatName is the prefix of the names of the gateway's pointers and keyboards.
const seatName = "aai-gateway"

// A pause is a timer that can be restarted, and stopped permanently.
type pause struct {
	mu      sync.Mutex
	timer   *time.Timer
	stopped bool
}

// begin calls f after the time, unless begin or stop is called before.
func (p *pause) begin(after time.Duration, f func()) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.timer != nil {
		p.timer.Stop()
	}
	if !p.stopped {
		p.timer = time.AfterFunc(after, f)
	}
}

func (p *pause) stop() {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.stopped = true
	if p.timer != nil {
		p.timer.Stop()
	}
}

// releaseOwnSeat ends a use of the gateway's own seat. The seat is removed after a short
// time without use.
func (d *Display) releaseOwnSeat() {
	if d.own.release() {
		d.removeSeatWhenIdle()
	}
}

// removeSeatWhenIdle removes the own seat after seatRest. If programs have not read all of
// its input by then, it tries again after the same time.
func (d *Display) removeSeatWhenIdle() {
	d.idleTimer.begin(seatRest, func() {
		ctx, cancel := context.WithTimeout(context.Background(), patience)
		defer cancel()
		again := false
		d.own.drop(ctx, func(own *ownSeat) bool {
			if own.sharesWindow.Load() {
				return false
			}
			again = !d.parkAndAwaitRead(ctx, own, readSoon)
			return !again
		})
		if again {
			d.removeSeatWhenIdle()
		}
	})
}

// An ownSeat is a pointer and a keyboard of the gateway (a master pair of XI2,
// "multi-pointer X"), and the connection whose input uses them. XI2 is
// /usr/share/doc/xorgproto, XI2proto.txt.
type ownSeat struct {
	*server
	name              string
	pointer, keyboard uint16
	idleWindow        xid         // the gateway's window that has the keyboard while idle
	sharesWindow      atomic.Bool // the keyboard is in the window in which the person works
	otherSeats        []string    // seats of other gateways at the time of creation
	unreadWindows     unreadWindows
}

// The requests of XI2 in use.
const (
	xiChangeHierarchy  = 43
	xiSetClientPointer = 44
	xiQueryDevice      = 48
	xiSetFocus         = 49
)

// seatRest is the time the gateway's own seat stays after its last use. While it exists,
// Chromium ignores the person's keys, so the time is short; but creating the seat for each
// of many keys would be slow.
const seatRest = 400 * time.Millisecond

// seat returns the gateway's own seat, and creates it if necessary. The caller must
// release it.
func (d *Display) seat(ctx context.Context) (*ownSeat, error) {
	left := false // the person's window lost the own keyboard, and takes that for its own loss of focus
	good := func(own *ownSeat) bool {
		newest := own.isNewest(ctx)
		left = !newest && own.sharesWindow.Load()
		return newest
	}
	own, err := d.own.hold(ctx, good, func(ctx context.Context) (*ownSeat, error) {
		s, err := d.connect(ctx, nil)
		if err != nil {
			return nil, err
		}
		own, err := newSeat(ctx, s, d.seats.Add(1))
		if err != nil {
			s.lose(err)
		}
		return own, err
	})
	if err != nil {
		return nil, wrapError("making a pointer and a keyboard of our own", err)
	}
	if person, ok := d.main.peek(ctx); left && ok {
		_ = person.remindPerson(ctx) // the next keys of the own seat do it as well
	}
	return own, nil
}

// newSeat creates the nth seat of this gateway. The number distinguishes it from an
// earlier seat on a connection with the same base.
func newSeat(ctx context.Context, s *server, nth uint32) (*ownSeat, error) {
	if s.xinput == 0 || s.xtest == 0 {
		return nil, unsupportedError("this X server cannot have a second pointer and keyboard: it lacks XInput 2 or XTEST",
			`Use the mode "focus", which uses those of the person.`)
	}
	own := &ownSeat{server: s}
	if err := own.removeOrphans(ctx); err != nil {
		return nil, err
	}
	process, err := s.processOf(ctx, s.setup.idBase)
	if err != nil {
		return nil, err
	}
	name := fmt.Sprintf("%s %d %x %d", seatName, process, s.setup.idBase, nth)
	own.name = name
	const addMaster = 1
	words := uint16((8 + len(name) + 3) / 4)
	add := command(s.xinput, xiChangeHierarchy, byte(1), pad(3),
		uint16(addMaster), words, uint16(len(name)), true, true, name)
	if err := s.must(ctx, add); err != nil {
		return nil, err
	}
	devices, err := own.masters(ctx)
	if err != nil {
		return nil, err
	}
	own.pointer, own.keyboard, own.otherSeats = devices[name+" pointer"], devices[name+" keyboard"], otherSeats(devices, name)
	if own.pointer == 0 || own.keyboard == 0 {
		return nil, fmt.Errorf("the X server did not make the pointer %q", name)
	}
	choose := command(s.xinput, xiSetClientPointer, none, own.pointer, pad(2))
	own.idleWindow = s.newID()
	// A new keyboard's focus follows its pointer, and a window would assume that it has
	// the focus when the pointer passes.
	if err := s.must(ctx, choose, createAside(own.idleWindow, s.root), mapWindow(own.idleWindow), own.setKeyboardFocus(own.idleWindow)); err != nil {
		own.shut(ctx)
		return nil, err
	}
	return own, nil
}

// otherSeats returns the gateways' seats among the devices except the named one.
func otherSeats(devices map[string]uint16, name string) (others []string) {
	for other := range devices {
		if strings.HasPrefix(other, seatName+" ") && !strings.HasPrefix(other, name+" ") {
			others = append(others, other)
		}
	}
	return others
}

// isNewest reports whether no gateway has created a seat since this one: Chromium accepts
// keys of the newest keyboard only.
func (own *ownSeat) isNewest(ctx context.Context) bool {
	devices, err := own.masters(ctx)
	if err != nil {
		return false
	}
	for _, other := range otherSeats(devices, own.name) {
		if !slices.Contains(own.otherSeats, other) {
			return false
		}
	}
	return true
}

// masters returns the master devices by name.
func (own *ownSeat) masters(ctx context.Context) (map[string]uint16, error) {
	const allMasters, classHead = 1, 4
	list := query(own.xinput, xiQueryDevice, uint16(allMasters), pad(2))
	if err := own.must(ctx, list); err != nil {
		return nil, err
	}
	r := from(list.reply, 8)
	n := r.u16()
	r.take(22)
	devices := make(map[string]uint16)
	for range n {
		id := r.u16()
		r.take(4)
		classes, length := r.u16(), int(r.u16())
		r.take(2)
		devices[string(r.take(length))] = id
		r.take(padding(length))
		for range classes {
			r.take(2)
			r.take(4*int(r.u16()) - classHead)
		}
	}
	return devices, nil
}

// processOf returns the process of the connection with this base, or 0 if there is no such
// connection or the server cannot tell.
func (s *server) processOf(ctx context.Context, base uint32) (int, error) {
	calls := s.askProcesses([]xid{base})
	if err := s.must(ctx, calls...); err != nil {
		return 0, err
	}
	return s.readProcesses(calls)[base], nil
}

// removeOrphans removes the pointers and keyboards of gateways that died. The name of a
// seat contains its connection. If the server no longer has that connection, or has given
// its number to another process, the seat has no owner.
func (own *ownSeat) removeOrphans(ctx context.Context) error {
	if own.resource == 0 {
		return nil
	}
	devices, err := own.masters(ctx)
	if err != nil {
		return err
	}
	for name, id := range devices {
		var process int
		var base uint32
		rest, isPointer := strings.CutSuffix(name, " pointer")
		n, _ := fmt.Sscanf(rest, seatName+" %d %x", &process, &base)
		if !isPointer || n != 2 || process == 0 {
			continue
		}
		owner, err := own.processOf(ctx, base)
		if err != nil {
			return err
		}
		// A seat with this connection's base is older than the connection, so it has no owner either.
		if owner != process || base == own.setup.idBase {
			// Another gateway may be faster, so the server's answer does not matter.
			if err := own.do(ctx, own.removeMaster(id)); err != nil {
				return err
			}
		}
	}
	return nil
}

func (own *ownSeat) removeMaster(pointer uint16) *call {
	const removeMaster, words, floating = 2, 3, 2
	return command(own.xinput, xiChangeHierarchy, byte(1), pad(3),
		uint16(removeMaster), uint16(words), pointer, byte(floating), pad(1), pad(4))
}

// setKeyboardFocus moves the own keyboard's focus to the window.
func (own *ownSeat) setKeyboardFocus(window xid) *call {
	const currentTime = 0
	return command(own.xinput, xiSetFocus, window, uint32(currentTime), own.keyboard, pad(2))
}

// leavePatience is the time for programs to notice that the own pointer has left.
const leavePatience = 150 * time.Millisecond

// park moves the own pointer out of all windows, to an invisible window in the corner of
// the screen. It needs no input lock, since it presses nothing and moves no focus. GTK 4
// (4.8) crashes if a pointer inside its window is removed.
func (own *ownSeat) park(ctx context.Context) error {
	if !own.unreadWindows.startPark() {
		return nil
	}
	corner := own.newID()
	if err := own.must(ctx, createUnseen(corner, own.root, 0), mapWindow(corner), own.fakeInput(motion, 0, desktop.Point{})); err != nil {
		return err
	}
	return aai.Sleep(ctx, leavePatience)
}

// shut removes the pointer and the keyboard, and ends the connection.
func (own *ownSeat) shut(ctx context.Context) {
	_ = own.park(ctx)                              // on failure they are removed all the same
	_ = own.do(ctx, own.removeMaster(own.pointer)) // on failure the next gateway tries again
	own.server.shut(ctx)
}

// inputConn is the connection and the seat for input.
type inputConn struct {
	*server
	person *server
	own    *ownSeat // nil for the person's
	done   func()
}

// release ends the use of a seat.
func (h inputConn) release() {
	if h.done != nil {
		h.done()
	}
}

// take returns the connection for a seat. The caller must release it.
func (d *Display) take(ctx context.Context, which desktop.Seat) (inputConn, error) {
	person, err := d.server(ctx)
	if err != nil {
		return inputConn{}, err
	}
	switch which {
	case desktop.PersonSeat:
		if person.xtest == 0 {
			return inputConn{}, unsupportedError("this X server does not let programs make input: it lacks XTEST", "")
		}
		return inputConn{server: person, person: person}, nil
	case desktop.OwnSeat:
		own, err := d.seat(ctx)
		if err != nil {
			return inputConn{}, err
		}
		return inputConn{server: own.server, person: person, own: own, done: d.releaseOwnSeat}, nil
	}
	return inputConn{}, aai.Errorf(aai.InvalidParams, "there is no seat %d", which)
}

// The kinds of input for fake.
const (
	keyPress      = 2
	keyRelease    = 3
	buttonPress   = 4
	buttonRelease = 5
	motion        = 6
)

// fake returns XTEST's FakeInput for the pointer and the keyboard of the connection. Its
// Lease parameter makes input without the input lock impossible.
func (s *server) fake(_ *inputlock.Lease, kind, detail byte, at desktop.Point) *call {
	return s.fakeInput(kind, detail, at)
}

func (s *server) fakeInput(kind, detail byte, at desktop.Point) *call {
	const fakeInput, now = 2, 0
	return command(s.xtest, fakeInput, kind, detail, pad(2), uint32(now), none, pad(8), int16(at.X), int16(at.Y), pad(8))
}
