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
package inputlock

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

	"github.com/gybob/aai-gateway"
)

// Bounds of waiting.
const (
	// stuckAfter is how long a stroke, or what a program is asked to do, may keep the seat
	// from others until whoever holds it counts as one that stands still.
	stuckAfter = 5 * time.Second
	// replyReserve is how much of a call's time is left when it waits no longer for a
	// question: to put things back, and to say what was done.
	replyReserve = 500 * time.Millisecond
	// actionLimit is how long a program that is asked to do something keeps a question waiting.
	actionLimit = time.Second
	// minRetryPause and latest are the pauses between two tries to take a lock.
	minRetryPause = time.Millisecond
	maxRetryPause = 20 * time.Millisecond
)

// Config says which seat is meant.
type Config struct {
	// Folder is where the gateways of the person agree; see [Folder].
	Folder func() (string, error)
	// Getenv looks up DISPLAY and WAYLAND_DISPLAY, as the session room does.
	Getenv func(string) string
	// StuckAfter is how long others may keep the seat, if it is not the usual bound.
	StuckAfter time.Duration
}

// A Seat is the person's pointer, keyboard and focus. It is safe for concurrent use.
// Without one, nil, no input is made.
type Lock struct {
	cfg Config

	mu      sync.Mutex
	release Release
}

// Release lets go of what gateways that have died held, and returns what others hold
// still. It is called with the seat taken.
type Release func(ctx context.Context, g *Lease, held []HeldInput) []HeldInput

// New returns the seat. It does no I/O.
func New(cfg Config) *Lock {
	if cfg.StuckAfter == 0 {
		cfg.StuckAfter = stuckAfter
	}
	return &Lock{cfg: cfg}
}

// SetRelease says who can let go of what others held. It is called before the first use.
func (s *Lock) SetRelease(letGo Release) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.release = letGo
}

// A Grip is the right to make input, for one stroke.
type Lease struct {
	owner    *Lock
	files    lockFiles
	fileLock *flock.Flock
	state    state
	paused   bool
	users    atomic.Int32 // who else must have left
}

// Acquire takes the seat for a stroke. While a question is open or wanted it waits, not
// longer than the context leaves time to say so; yield, if any, is called before, to let
// go of what is held between strokes. Its grip is nil where the question has the seat
// already. Take never fails with TIMEOUT: that the person is asked says nothing against
// a program.
func (s *Lock) Acquire(ctx context.Context, yield func(*Lease)) (*Lease, error) {
	p, err := s.files()
	if err != nil {
		return nil, err
	}
	for paused := false; ; paused = true {
		g, asked, err := s.lockInput(ctx, p)
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
			g.Release()
		}
		if err := p.awaitAnswer(ctx); err != nil {
			return nil, err
		}
	}
}

// lockInput takes the lock of a stroke, and reports whether a question has it or wants it.
func (s *Lock) lockInput(ctx context.Context, p lockFiles) (g *Lease, asked bool, err error) {
	lock, err := p.acquire(ctx, lockRequest{inputLock, s.cfg.StuckAfter, true}, (*flock.Flock).TryLock)
	if errors.Is(err, errQuestion) {
		return nil, true, nil
	}
	if err != nil {
		return nil, false, s.stuckError(ctx, p, err)
	}
	g = &Lease{owner: s, files: p, fileLock: lock, state: p.readState()}
	asked, err = p.hasQuestion()
	if err == nil && !asked {
		err = g.countStroke(ctx)
	}
	if err != nil {
		g.Release()
		return nil, false, unusableError(err)
	}
	return g, asked, nil
}

// countStroke counts the stroke, before it is made.
func (g *Lease) countStroke(ctx context.Context) error {
	g.owner.releaseDead(ctx, g)
	g.state.Count++
	g.state.Holder = os.Getpid()
	return g.files.writeState(g.state)
}

// BusyError is the error of who cannot wait until the person has answered; nil if they are not
// asked.
func (s *Lock) BusyError() error {
	p, err := s.files()
	if err != nil {
		return err
	}
	if asked, err := p.hasQuestion(); err == nil && !asked {
		return nil
	}
	return busyError(p.readState().Asker)
}

// WasPaused reports whether a question was open while the seat was waited for: what was
// seen before may be otherwise.
func (g *Lease) WasPaused() bool { return g.paused }

// IsQuestionWaiting reports whether somebody wants to ask. Whoever holds the seat for longer than
// a moment looks at it, and lets go.
func (g *Lease) IsQuestionWaiting() bool {
	asked, err := g.files.hasQuestion()
	return asked || err != nil
}

// HeldInput is what was put down of one gateway.
func (g *Lease) HeldInput(process int, connection uint32) HeldInput {
	for _, h := range g.state.Held {
		if h.Process == process && h.Connection == connection {
			return h
		}
	}
	return HeldInput{Process: process, Connection: connection}
}

// SetHeldInput puts down what this gateway holds on the screen from now on, so that others can
// let go of it if this process dies. It is called before it is held.
func (g *Lease) SetHeldInput(h HeldInput) error {
	g.state.Held = append(withoutProcess(g.state.Held, h), h)
	if h.IsEmpty() {
		g.state.Held = withoutProcess(g.state.Held, h)
	}
	if err := g.files.writeState(g.state); err != nil {
		return unusableError(err)
	}
	return nil
}

// AddUser keeps the seat until one more has left: what must be cleaned up goes on when the
// call's time is over.
func (g *Lease) AddUser() { g.users.Add(1) }

// Release lets others have the seat, when all have left.
func (g *Lease) Release() {
	if g.users.Add(-1) < 0 {
		_ = g.fileLock.Unlock()
	}
}

// Begin is for what may move the focus and is not input: a program is asked to act, or
// is started; not where the person has stopped the call. It waits as Take does. Done is called when it has been done; a question
// waits for it for a moment only, since whoever is asked may hang.
func (s *Lock) Begin(ctx context.Context) (done func(), err error) {
	p, err := s.files()
	if err != nil {
		return nil, err
	}
	for {
		if err := aai.CheckStopped(ctx); err != nil {
			return nil, err
		}
		lock, err := p.acquire(ctx, lockRequest{actionLock, s.cfg.StuckAfter, true}, (*flock.Flock).TryRLock)
		if err != nil && !errors.Is(err, errQuestion) {
			return nil, s.stuckError(ctx, p, err)
		}
		if err == nil {
			asked, err := p.hasQuestion()
			if err == nil && !asked {
				var once sync.Once
				leave := func() { once.Do(func() { _ = lock.Unlock() }) }
				timer := time.AfterFunc(actionLimit, leave)
				return func() { timer.Stop(); leave() }, nil
			}
			_ = lock.Unlock()
			if err != nil {
				return nil, unusableError(err)
			}
		}
		if err := p.awaitAnswer(ctx); err != nil {
			return nil, err
		}
	}
}

// An Asking is the seat in the hands of a question.
type QuestionLease struct {
	files lockFiles
	locks []*flock.Flock
	count uint64
}

// AcquireForQuestion takes the seat for a question, as long as that is open. It waits for another
// question until the context ends, and for input under way only for a moment.
func (s *Lock) AcquireForQuestion(ctx context.Context) (*QuestionLease, error) {
	p, err := s.files()
	if err != nil {
		return nil, questionRefusedError(err)
	}
	a := &QuestionLease{files: p}
	for _, w := range []lockRequest{{name: questionLock}, {name: inputLock, limit: s.cfg.StuckAfter}, {name: actionLock, limit: s.cfg.StuckAfter}} {
		lock, err := p.acquire(ctx, w, (*flock.Flock).TryLock)
		if err != nil {
			a.Release()
			if ctx.Err() != nil {
				return nil, ctx.Err()
			}
			return nil, questionRefusedError(s.stuckError(ctx, p, err))
		}
		a.locks = append(a.locks, lock)
	}
	g := &Lease{owner: s, files: p, state: p.readState()}
	s.releaseDead(ctx, g)
	g.state.Asker, g.state.Holder = os.Getpid(), 0
	a.count = g.state.Count
	if err := p.writeState(g.state); err != nil {
		a.Release()
		return nil, questionRefusedError(unusableError(err))
	}
	return a, nil
}

// WasDisturbed reports whether a gateway made input since the seat was taken. No answer
// that was given meanwhile counts.
func (a *QuestionLease) WasDisturbed() bool { return a.files.readState().Count != a.count }

// Release lets others have the seat.
func (a *QuestionLease) Release() {
	if len(a.locks) == 3 {
		st := a.files.readState()
		st.Asker = 0
		_ = a.files.writeState(st) // it is only for the hint of who waits
	}
	for i := len(a.locks) - 1; i >= 0; i-- {
		_ = a.locks[i].Unlock()
	}
	a.locks = nil
}

// releaseDead lets go of what the dead held.
func (s *Lock) releaseDead(ctx context.Context, g *Lease) {
	s.mu.Lock()
	letGo := s.release
	s.mu.Unlock()
	if letGo == nil || len(g.state.Held) == 0 {
		return
	}
	g.state.Held = letGo(ctx, g, g.state.Held)
}

// files finds the files of the seat.
func (s *Lock) files() (lockFiles, error) {
	if s == nil {
		e := aai.Errorf(aai.AutomationNotSupported, "this gateway shares no seat with others, so it makes no input")
		e.Delivery = aai.NotDelivered
		return lockFiles{}, e
	}
	folder, err := s.cfg.Folder()
	if err == nil {
		err = os.MkdirAll(folder, 0o700)
	}
	if err != nil {
		return lockFiles{}, unusableError(err)
	}
	return lockFiles{filepath.Join(folder, displayKey(s.cfg.Getenv))}, nil
}

// displayKey is one name for all names of a display: the screen's number is left out, and
// that it is of this computer.
func displayKey(getenv func(string) string) string {
	name := getenv("DISPLAY")
	if name == "" {
		return "wayland-" + fileNamePart(filepath.Base(getenv("WAYLAND_DISPLAY")))
	}
	colon := max(0, strings.LastIndexByte(name, ':'))
	host, number := name[:colon], strings.TrimPrefix(name[colon:], ":")
	number, _, _ = strings.Cut(number, ".")
	if host == "unix" {
		host = ""
	}
	return "x11-" + fileNamePart(host) + "-" + fileNamePart(number)
}

// fileNamePart makes part of a file's name.
func fileNamePart(text string) string {
	return strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '.' || r == '-' {
			return r
		}
		return '_'
	}, text[:min(len(text), 100)])
}

// stuckError is the error of who waited for a lock in vain.
func (s *Lock) stuckError(ctx context.Context, p lockFiles, err error) error {
	if !errors.Is(err, errHeld) {
		return unusableError(err)
	}
	e := aai.Errorf(aai.AutomationFailed, "another gateway has the pointer and the keyboard, and does not let go of them within %s", s.cfg.StuckAfter)
	if ctx.Err() != nil {
		e = aai.Errorf(aai.AutomationFailed, "other calls had the pointer and the keyboard until the deadline")
	}
	e.Delivery = aai.NotDelivered
	e.Hint = "Call again."
	if holder := p.readState().Holder; holder != 0 && ctx.Err() == nil {
		e.Hint = fmt.Sprintf("Process %d may stand still: ask the person to look at it, or to end it.", holder)
	}
	return e
}
