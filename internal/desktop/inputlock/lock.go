// Package inputlock gives exclusive use of the person's pointer, keyboard and focus, either to a
// question of a gateway or to a gateway's input. All gateways of a person share the lock. A
// question holds it from before its window starts until it has ended; input stops between two
// strokes for it.
//
// There are three system locks, which end with the process that holds them:
//
//   - asks: a question holds it, and takes it first. While it is held, nothing else begins.
//   - input: held for one stroke, or by a question.
//   - deeds: held, shared, while programs execute actions that may move the focus; then by
//     a question.
//
// A stroke first takes input and then checks asks. So a question that holds all three knows that no
// stroke is running and none will begin. A holder waits only for the X server or, up to a second,
// for a program, and a question waits for no queue slot. So input may wait for the lock while it
// holds the queue slot of its target, without a deadlock.
//
// The package uses the files of one folder. Of this module it imports only the root package and
// atomicfile.
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
	"github.com/gybob/aai-gateway/internal/gateway/actionctx"
)

// Limits for waiting.
const (
	// stuckAfter is how long a stroke or action may block others until its process counts as stuck.
	stuckAfter = 5 * time.Second
	// replyReserve is the part of a call's time that is left when it stops waiting for a question:
	// for cleanup and its reply.
	replyReserve = 500 * time.Millisecond
	// actionLimit limits how long an action of a program delays a question.
	actionLimit = time.Second
	// minRetryPause and maxRetryPause are the pauses between two tries to take a lock.
	minRetryPause = time.Millisecond
	maxRetryPause = 20 * time.Millisecond
)

// Config configures a Lock.
type Config struct {
	// Folder is the folder that the person's gateways share; see [Folder].
	Folder func() (string, error)
	// Getenv looks up DISPLAY and WAYLAND_DISPLAY.
	Getenv func(string) string
	// StuckAfter is how long a call or question waits for a lock before its holder counts as stuck; 0 means the default.
	StuckAfter time.Duration
}

// Lock is the lock of the person's pointer, keyboard and focus. It is safe for concurrent use. A
// nil Lock permits no input.
type Lock struct {
	cfg Config

	mu          sync.Mutex
	release     Release
	pauseReason func(context.Context) string
}

// Release releases input held by gateways that have died, and returns the input that others still
// hold. The caller holds the lock.
type Release func(ctx context.Context, g *Lease, held []HeldInput) []HeldInput

// New returns a Lock. It does no I/O.
func New(cfg Config) *Lock {
	if cfg.StuckAfter == 0 {
		cfg.StuckAfter = stuckAfter
	}
	return &Lock{cfg: cfg}
}

// SetRelease sets the function that releases input of dead gateways. Call it before the first use.
func (s *Lock) SetRelease(letGo Release) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.release = letGo
}

// SetPauseReason sets the function that returns why input and actions must wait, "" for no reason.
// Call it before the first use.
func (s *Lock) SetPauseReason(reason func(context.Context) string) {
	if s == nil {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	s.pauseReason = reason
}

// Lease is the right to make input, for one stroke.
type Lease struct {
	owner    *Lock
	files    lockFiles
	fileLock *flock.Flock
	state    state
	paused   bool
	users    atomic.Int32 // users that must leave first, besides the owner
}

// Acquire takes the lock for a stroke. While a question is open or waiting, or input is paused,
// Acquire waits, but leaves time of ctx for the reply. Before it waits it calls yield, unless nil, to release input
// held between strokes; its lease is nil if the question already has the lock. Acquire never fails
// with TIMEOUT, because an open question is no fault of a program.
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
		wait := p.awaitAnswer
		if !asked {
			if s.PauseReason(ctx) == "" {
				g.paused = paused
				return g, nil
			}
			wait = s.AwaitResume
		}
		if yield != nil {
			yield(g)
			yield = nil
		}
		if g != nil {
			g.Release()
		}
		if err := wait(ctx); err != nil {
			return nil, err
		}
	}
}

// lockInput takes the lock of a stroke, and reports whether a question has it or waits for it.
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

// countStroke counts the stroke before it is made.
func (g *Lease) countStroke(ctx context.Context) error {
	g.owner.releaseDead(ctx, g)
	g.state.Count++
	g.state.Holder = os.Getpid()
	return g.files.writeState(g.state)
}

// BusyError returns the error for a call that cannot wait for the person's answer; nil if no
// question is open.
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

// WasPaused reports whether a question was open during the wait: earlier observations may be
// outdated.
func (g *Lease) WasPaused() bool { return g.paused }

// IsQuestionWaiting reports whether a question waits for the lock. A long holder checks it
// regularly, and releases the lease.
func (g *Lease) IsQuestionWaiting() bool {
	asked, err := g.files.hasQuestion()
	return asked || err != nil
}

// HeldInput returns the recorded input that a gateway holds through the connection, or an empty one.
func (g *Lease) HeldInput(process int, connection uint32) HeldInput {
	for _, h := range g.state.Held {
		if h.Process == process && h.Connection == connection {
			return h
		}
	}
	return HeldInput{Process: process, Connection: connection}
}

// SetHeldInput records the input that this gateway holds on the screen, so that others can release
// it if this process dies. Call it before the input is made.
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

// AddUser keeps the lease until one more user has left: a cleanup may continue after the call's
// deadline.
func (g *Lease) AddUser() { g.users.Add(1) }

// Release ends the lease, when all users have left.
func (g *Lease) Release() {
	if g.users.Add(-1) < 0 {
		_ = g.fileLock.Unlock()
	}
}

// Begin takes the lock for an action that may move the focus and is not input: a program's action
// or its start. It fails if the person has stopped the call, and waits like Acquire. Call done
// after the action; a question waits at most actionLimit for that, since programs may hang.
func (s *Lock) Begin(ctx context.Context) (done func(), err error) {
	p, err := s.files()
	if err != nil {
		return nil, err
	}
	for {
		if err := actionctx.CheckStopped(ctx); err != nil {
			return nil, err
		}
		if err := s.AwaitResume(ctx); err != nil {
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

// QuestionLease is the lock while a question holds it.
type QuestionLease struct {
	files lockFiles
	locks []*flock.Flock
	count uint64
}

// AcquireForQuestion takes the lock while a question is open; QuestionLease.Release releases it. It waits for
// another question until ctx ends. For a running stroke or action it waits at most StuckAfter, and then
// returns CONSENT_REQUIRED.
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

// WasDisturbed reports whether a gateway made input since the lock was taken. An answer from that
// time does not count.
func (a *QuestionLease) WasDisturbed() bool { return a.files.readState().Count != a.count }

// Release releases the lock.
func (a *QuestionLease) Release() {
	if len(a.locks) == 3 {
		st := a.files.readState()
		st.Asker = 0
		_ = a.files.writeState(st) // it only serves the hint for waiting calls
	}
	for i := len(a.locks) - 1; i >= 0; i-- {
		_ = a.locks[i].Unlock()
	}
	a.locks = nil
}

// releaseDead releases the input of dead gateways.
func (s *Lock) releaseDead(ctx context.Context, g *Lease) {
	s.mu.Lock()
	letGo := s.release
	s.mu.Unlock()
	if letGo == nil || len(g.state.Held) == 0 {
		return
	}
	g.state.Held = letGo(ctx, g, g.state.Held)
}

// files returns the lock files.
func (s *Lock) files() (lockFiles, error) {
	if s == nil {
		e := aai.Errorf(aai.AutomationNotSupported, "this gateway shares no input lock with others, so it sends no input")
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

// displayKey returns the same file name for all names of a display: it omits the screen number and
// the local host.
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

// fileNamePart replaces characters that are unsafe in a file name, and limits the length.
func fileNamePart(text string) string {
	return strings.Map(func(r rune) rune {
		if 'a' <= r && r <= 'z' || 'A' <= r && r <= 'Z' || '0' <= r && r <= '9' || r == '.' || r == '-' {
			return r
		}
		return '_'
	}, text[:min(len(text), 100)])
}

// stuckError returns the error for a lock that was not released in time.
func (s *Lock) stuckError(ctx context.Context, p lockFiles, err error) error {
	if !errors.Is(err, errHeld) {
		return unusableError(err)
	}
	e := aai.Errorf(aai.AutomationFailed, "another gateway has the pointer and the keyboard, and did not release them within %s", s.cfg.StuckAfter)
	if ctx.Err() != nil {
		e = aai.Errorf(aai.AutomationFailed, "other calls had the pointer and the keyboard until the deadline")
	}
	e.Delivery = aai.NotDelivered
	e.Hint = "Call again."
	if holder := p.readState().Holder; holder != 0 && ctx.Err() == nil {
		e.Hint = fmt.Sprintf("Process %d may hang: ask the person to check it, or to end it.", holder)
	}
	return e
}
