// Package seat is the person's pointer, keyboard and focus as one thing that only one
// may have: a question of the gateway, or input that a gateway makes. All gateways of
// a person share it, whatever they were started with. A question has it from before
// its window is started until it has ended; input stops between two strokes for it.
//
// There are three locks of the system's, which end with the process that has them:
//
//   - asks: held by who asks, first. Who finds it held begins nothing.
//   - input: held for one stroke, or by who asks.
//   - deeds: held, by several, while programs are asked to do what may move the focus;
//     then by who asks.
//
// A stroke is begun with input held, and asks looked at after that. So a question that
// has all three knows that no stroke is under way and that none will begin. Nobody who
// holds one of them waits for anything but the X server or, for a second, a program; a
// question waits for no lane. So input may wait for the seat with the lane of its
// target held: whoever has the seat does not wait for that.
//
// The package touches files of one folder. It imports the root and nothing else of
// ours.
package seat

import (
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gofrs/flock"

	"aai"
)

// Bounds of waiting.
const (
	// stuck is how long a stroke, or what a program is asked to do, may keep the seat
	// from others until whoever holds it counts as one that stands still.
	stuck = 5 * time.Second
	// reserve is how much of a call's time is left when it waits no longer for a
	// question: to put things back, and to say what was done.
	reserve = 500 * time.Millisecond
	// deed is how long a program that is asked to do something keeps a question waiting.
	deed = time.Second
	// soonest and latest are the pauses between two tries to take a lock.
	soonest = time.Millisecond
	latest  = 20 * time.Millisecond
)

// Config says which seat is meant.
type Config struct {
	// Folder is where the gateways of the person agree; see [Folder].
	Folder func() (string, error)
	// Getenv looks up DISPLAY and WAYLAND_DISPLAY, as the session room does.
	Getenv func(string) string
	// Stuck is how long others may keep the seat, if it is not the usual bound.
	Stuck time.Duration
}

// A Seat is the person's pointer, keyboard and focus. It is safe for concurrent use.
// Without one, nil, no input is made.
type Seat struct {
	cfg Config

	mu    sync.Mutex
	letGo LetGo
}

// LetGo lets go of what gateways that have died held, and returns what others hold
// still. It is called with the seat taken.
type LetGo func(ctx context.Context, g *Grip, held []Held) []Held

// New returns the seat. It does no I/O.
func New(cfg Config) *Seat {
	if cfg.Stuck == 0 {
		cfg.Stuck = stuck
	}
	return &Seat{cfg: cfg}
}

// Clean says who can let go of what others held. It is called before the first use.
func (s *Seat) Clean(letGo LetGo) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.letGo = letGo
}

// A Grip is the right to make input, for one stroke.
type Grip struct {
	seat   *Seat
	place  lockNames
	lock   *flock.Flock
	state  state
	paused bool
	users  atomic.Int32 // who else must have left
}

// Take takes the seat for a stroke. While a question is open or wanted it waits, not
// longer than the context leaves time to say so; yield, if any, is called before, to let
// go of what is held between strokes. Its grip is nil where the question has the seat
// already. Take never fails with TIMEOUT: that the person is asked says nothing against
// a program.
func (s *Seat) Take(ctx context.Context, yield func(*Grip)) (*Grip, error) {
	p, err := s.open()
	if err != nil {
		return nil, err
	}
	for paused := false; ; paused = true {
		g, asked, err := s.hold(ctx, p)
		if err != nil {
			return nil, err
		}
		if !asked {
			g.paused = paused
			return g, nil
		}
		if yield != nil {
			yield(g)
			yield = nil
		}
		if g != nil {
			g.Leave()
		}
		if err := p.awaitAnswer(ctx); err != nil {
			return nil, err
		}
	}
}

// hold takes the lock of a stroke, and reports whether a question has it or wants it.
func (s *Seat) hold(ctx context.Context, p lockNames) (g *Grip, asked bool, err error) {
	lock, err := p.take(ctx, wanted{inputLock, s.cfg.Stuck, true}, (*flock.Flock).TryLock)
	if errors.Is(err, errAsked) {
		return nil, true, nil
	}
	if err != nil {
		return nil, false, s.stands(ctx, p, err)
	}
	g = &Grip{seat: s, place: p, lock: lock, state: p.read()}
	asked, err = p.asked()
	if err == nil && !asked {
		err = g.begin(ctx)
	}
	if err != nil {
		g.Leave()
		return nil, false, unusable(err)
	}
	return g, asked, nil
}

// begin counts the stroke, before it is made.
func (g *Grip) begin(ctx context.Context) error {
	g.seat.clean(ctx, g)
	g.state.Count++
	g.state.Holder = os.Getpid()
	return g.place.write(g.state)
}

// Busy is the error of who cannot wait until the person has answered; nil if they are not
// asked.
func (s *Seat) Busy() error {
	p, err := s.open()
	if err != nil {
		return err
	}
	if asked, err := p.asked(); err == nil && !asked {
		return nil
	}
	return busy(p.read().Asker)
}

// Paused reports whether a question was open while the seat was waited for: what was
// seen before may be otherwise.
func (g *Grip) Paused() bool { return g.paused }

// Asked reports whether somebody wants to ask. Whoever holds the seat for longer than
// a moment looks at it, and lets go.
func (g *Grip) Asked() bool {
	asked, err := g.place.asked()
	return asked || err != nil
}

// Held is what was put down of one gateway.
func (g *Grip) Held(process int, connection uint32) Held {
	for _, h := range g.state.Held {
		if h.Process == process && h.Connection == connection {
			return h
		}
	}
	return Held{Process: process, Connection: connection}
}

// Hold puts down what this gateway holds on the screen from now on, so that others can
// let go of it if this process dies. It is called before it is held.
func (g *Grip) Hold(h Held) error {
	g.state.Held = append(without(g.state.Held, h), h)
	if h.Empty() {
		g.state.Held = without(g.state.Held, h)
	}
	if err := g.place.write(g.state); err != nil {
		return unusable(err)
	}
	return nil
}

// Share keeps the seat until one more has left: what must be cleaned up goes on when the
// call's time is over.
func (g *Grip) Share() { g.users.Add(1) }

// Leave lets others have the seat, when all have left.
func (g *Grip) Leave() {
	if g.users.Add(-1) < 0 {
		_ = g.lock.Unlock()
	}
}

// Begin is for what may move the focus and is not input: a program is asked to act, or
// is started; not where the person has stopped the call. It waits as Take does. Done is called when it has been done; a question
// waits for it for a moment only, since whoever is asked may hang.
func (s *Seat) Begin(ctx context.Context) (done func(), err error) {
	p, err := s.open()
	if err != nil {
		return nil, err
	}
	for {
		if err := aai.MayGoOn(ctx); err != nil {
			return nil, err
		}
		lock, err := p.take(ctx, wanted{deedLock, s.cfg.Stuck, true}, (*flock.Flock).TryRLock)
		if err != nil && !errors.Is(err, errAsked) {
			return nil, s.stands(ctx, p, err)
		}
		if err == nil {
			asked, err := p.asked()
			if err == nil && !asked {
				var once sync.Once
				leave := func() { once.Do(func() { _ = lock.Unlock() }) }
				timer := time.AfterFunc(deed, leave)
				return func() { timer.Stop(); leave() }, nil
			}
			_ = lock.Unlock()
			if err != nil {
				return nil, unusable(err)
			}
		}
		if err := p.awaitAnswer(ctx); err != nil {
			return nil, err
		}
	}
}

// An Asking is the seat in the hands of a question.
type Asking struct {
	place lockNames
	locks []*flock.Flock
	count uint64
}

// Ask takes the seat for a question, as long as that is open. It waits for another
// question until the context ends, and for input under way only for a moment.
func (s *Seat) Ask(ctx context.Context) (*Asking, error) {
	p, err := s.open()
	if err != nil {
		return nil, refused(err)
	}
	a := &Asking{place: p}
	for _, w := range []wanted{{name: asksLock}, {name: inputLock, limit: s.cfg.Stuck}, {name: deedLock, limit: s.cfg.Stuck}} {
		lock, err := p.take(ctx, w, (*flock.Flock).TryLock)
		if err != nil {
			a.End()
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			return nil, refused(s.stands(ctx, p, err))
		}
		a.locks = append(a.locks, lock)
	}
	g := &Grip{seat: s, place: p, state: p.read()}
	s.clean(ctx, g)
	g.state.Asker, g.state.Holder = os.Getpid(), 0
	a.count = g.state.Count
	if err := p.write(g.state); err != nil {
		a.End()
		return nil, refused(unusable(err))
	}
	return a, nil
}

// Disturbed reports whether a gateway made input since the seat was taken. No answer
// that was given meanwhile counts.
func (a *Asking) Disturbed() bool { return a.place.read().Count != a.count }

// End lets others have the seat.
func (a *Asking) End() {
	if len(a.locks) == 3 {
		st := a.place.read()
		st.Asker = 0
		_ = a.place.write(st) // it is only for the hint of who waits
	}
	for i := len(a.locks) - 1; i >= 0; i-- {
		_ = a.locks[i].Unlock()
	}
	a.locks = nil
}

// clean lets go of what the dead held.
func (s *Seat) clean(ctx context.Context, g *Grip) {
	s.mu.Lock()
	letGo := s.letGo
	s.mu.Unlock()
	if letGo == nil || len(g.state.Held) == 0 {
		return
	}
	g.state.Held = letGo(ctx, g, g.state.Held)
}

// open finds the files of the seat.
func (s *Seat) open() (lockNames, error) {
	if s == nil {
		e := aai.Errorf(aai.AutomationNotSupported, "this gateway shares no seat with others, so it makes no input")
		e.Delivery = aai.NotDelivered
		return lockNames{}, e
	}
	folder, err := s.cfg.Folder()
	if err == nil {
		err = os.MkdirAll(folder, 0o700)
	}
	if err != nil {
		return lockNames{}, unusable(err)
	}
	return lockNames{filepath.Join(folder, keyOf(s.cfg.Getenv))}, nil
}

// keyOf is one name for all names of a display: the screen's number is left out, and
// that it is of this computer.
func keyOf(getenv func(string) string) string {
	name := getenv("DISPLAY")
	if name == "" {
		return "wayland-" + clean(filepath.Base(getenv("WAYLAND_DISPLAY")))
	}
	colon := max(0, strings.LastIndexByte(name, ':'))
	host, number := name[:colon], strings.TrimPrefix(name[colon:], ":")
	number, _, _ = strings.Cut(number, ".")
	if host == "unix" {
		host = ""
	}
	return "x11-" + clean(host) + "-" + clean(number)
}

// clean makes part of a file's name.
func clean(text string) string {
	return strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '.' || r == '-' {
			return r
		}
		return '_'
	}, text[:min(len(text), 100)])
}

// stands is the error of who waited for a lock in vain.
func (s *Seat) stands(ctx context.Context, p lockNames, err error) error {
	if !errors.Is(err, errHeld) {
		return unusable(err)
	}
	e := aai.Errorf(aai.AutomationFailed, "another gateway has the pointer and the keyboard, and does not let go of them within %s", s.cfg.Stuck)
	if ctx.Err() != nil {
		e = aai.Errorf(aai.AutomationFailed, "other calls had the pointer and the keyboard until the deadline")
	}
	e.Delivery = aai.NotDelivered
	e.Hint = "Call again."
	if holder := p.read().Holder; holder != 0 && ctx.Err() == nil {
		e.Hint = fmt.Sprintf("Process %d may stand still: ask the person to look at it, or to end it.", holder)
	}
	return e
}
