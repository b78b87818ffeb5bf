package inputlock_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gofrs/flock"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop/inputlock"
	"github.com/gybob/aai-gateway/internal/gateway"
	"github.com/gybob/aai-gateway/internal/testkit/fakeoperator"
)

// at returns a gateway's lock in the folder, on one display.
func at(folder string) *inputlock.Lock { return on(folder, ":7") }

func on(folder, display string) *inputlock.Lock {
	return inputlock.New(inputlock.Config{
		Folder:     func() (string, error) { return folder, nil },
		Getenv:     func(name string) string { return map[string]string{"DISPLAY": display}[name] },
		StuckAfter: 300 * time.Millisecond,
	})
}

func within(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

func take(t *testing.T, s *inputlock.Lock) *inputlock.Lease {
	t.Helper()
	g, err := s.Acquire(within(t, 10*time.Second), nil)
	assert.NilError(t, err)
	return g
}

func ask(t *testing.T, s *inputlock.Lock) *inputlock.QuestionLease {
	t.Helper()
	a, err := s.AcquireForQuestion(within(t, 10*time.Second))
	assert.NilError(t, err)
	return a
}

// While a question is open no call gets the lock. A waiting call gets an error early enough for its
// reply, and the error blames no program.
func TestAQuestionHoldsTheLock(t *testing.T) {
	folder := t.TempDir()
	a := ask(t, at(folder))
	for name, try := range map[string]func(context.Context, *inputlock.Lock) error{
		"input": func(ctx context.Context, s *inputlock.Lock) error { _, err := s.Acquire(ctx, nil); return err },
		"deed":  func(ctx context.Context, s *inputlock.Lock) error { _, err := s.Begin(ctx); return err },
	} {
		ctx := within(t, time.Second)
		err := try(ctx, at(folder))
		e, ok := errors.AsType[*aai.Error](err)
		assert.Assert(t, ok, "%s %v", name, err)
		assert.Equal(t, e.Code, aai.RateLimited, "%s %v", name, err)
		assert.Equal(t, e.Delivery, aai.NotDelivered, "%s %v", name, err)
		assert.Assert(t, strings.HasPrefix(e.Message, "not now: "), "%s %v", name, err)
		assert.Assert(t, is.Contains(e.Hint, "not called too often"), "%s %v", name, err)
		assert.NilError(t, ctx.Err(), "%s %v", name, err)
	}
	assert.Check(t, !a.WasDisturbed(), "input was made")
	a.Release()
	take(t, at(folder)).Release()
}

// Waiting input continues after the question, and knows that there was one. It releases held input
// before the question gets the lock.
func TestInputGoesOn(t *testing.T) {
	folder := t.TempDir()
	g := take(t, at(folder))
	asking := make(chan *inputlock.QuestionLease)
	go func() { a, _ := at(folder).AcquireForQuestion(t.Context()); asking <- a }()
	for !g.IsQuestionWaiting() {
		time.Sleep(time.Millisecond)
	}
	g.Release()
	a := <-asking
	taken := make(chan *inputlock.Lease)
	yielded := false
	go func() {
		g, err := at(folder).Acquire(t.Context(), func(*inputlock.Lease) { yielded = true })
		assert.Check(t, err)
		taken <- g
	}()
	select {
	case <-taken:
		t.Fatal("input had the seat while the question was open")
	case <-time.After(50 * time.Millisecond):
	}
	a.Release()
	if g := <-taken; !g.WasPaused() || !yielded {
		t.Errorf("paused %v, yielded %v", g.WasPaused(), yielded)
	}
}

// A question waits for the current stroke, but only for a limited time.
func TestAStrokeThatStandsStill(t *testing.T) {
	folder := t.TempDir()
	g := take(t, at(folder))
	_, err := at(folder).AcquireForQuestion(within(t, 10*time.Second))
	e, ok := errors.AsType[*aai.Error](err)
	assert.Assert(t, ok, err)
	assert.Equal(t, e.Code, aai.ConsentRequired, err)
	assert.Assert(t, is.Contains(e.Hint, "may hang"), err)
	_, err = at(folder).Acquire(within(t, 10*time.Second), nil)
	assert.Assert(t, err != nil, err)
	assert.Equal(t, aai.AsError(err).Code, aai.AutomationFailed, err)
	g.Release()
	ask(t, at(folder)).Release()
}

// An action of a program that hangs delays a question only for a moment, and ends later.
func TestAnActionThatHangs(t *testing.T) {
	s := inputlock.New(inputlock.Config{Folder: func() (string, error) { return t.TempDir(), nil }, Getenv: func(string) string { return "" }})
	done, err := s.Begin(t.Context())
	assert.NilError(t, err)
	ask(t, s).Release()
	done()
}

// Input during a question, such as by a gateway that does not see the lock, makes the answer void.
func TestInputDuringAQuestion(t *testing.T) {
	folder := t.TempDir()
	a := ask(t, at(folder))
	locks, err := filepath.Glob(filepath.Join(folder, "*.*"))
	assert.NilError(t, err)
	for _, lock := range locks {
		if !strings.HasSuffix(lock, ".json") {
			assert.NilError(t, os.Remove(lock))
		}
	}
	take(t, at(folder)).Release()
	assert.Check(t, a.WasDisturbed(), "input was made and not noticed")
}

// Two displays have two locks; one display has one, under all its names.
func TestDisplays(t *testing.T) {
	folder := t.TempDir()
	a := ask(t, on(folder, ":7"))
	defer a.Release()
	for name, same := range map[string]bool{":7": true, ":7.0": true, "unix:7": true, "unix:7.1": true, ":8": false, "host:7": false, "": false} {
		_, err := on(folder, name).Acquire(within(t, 600*time.Millisecond), nil)
		assert.Check(t, is.Equal(same, (err != nil)), "%q %v", name, err)
	}
}

// Without a lock, or without a folder, there is no input and no question.
func TestNoLock(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	assert.NilError(t, os.WriteFile(file, nil, 0o600))
	for name, s := range map[string]*inputlock.Lock{"none": nil, "no folder": at(file)} {
		_, err := s.Acquire(t.Context(), nil)
		assert.Check(t, err != nil, "%s: input", name)
		_, err = s.Begin(t.Context())
		assert.Check(t, err != nil, "%s: a deed", name)
		_, err = s.AcquireForQuestion(t.Context())
		assert.Assert(t, err != nil, "%s %v", name, err)
		assert.Equal(t, aai.AsError(err).Code, aai.ConsentRequired, "%s %v", name, err)
	}
}

// The next holder releases the input of dead processes, also a question.
func TestHeldInputOfDeadProcessesIsReleased(t *testing.T) {
	for name, next := range map[string]func(*inputlock.Lock){
		"input":    func(s *inputlock.Lock) { take(t, s).Release() },
		"question": func(s *inputlock.Lock) { ask(t, s).Release() },
	} {
		folder := t.TempDir()
		g := take(t, at(folder))
		assert.NilError(t, g.SetHeldInput(inputlock.HeldInput{Process: 4711, Connection: 1, Buttons: []byte{1}}))
		g.Release()
		s := at(folder)
		var let []inputlock.HeldInput
		s.SetRelease(func(_ context.Context, _ *inputlock.Lease, held []inputlock.HeldInput) []inputlock.HeldInput {
			let = held
			return nil
		})
		next(s)
		assert.Assert(t, is.Len(let, 1), name)
		assert.Equal(t, let[0].Process, 4711, name)
		assert.Assert(t, is.Len(let[0].Buttons, 1), name)
		let = nil
		next(s)
		assert.Check(t, let == nil, "%s: let go of it twice", name)
	}
}

// A waiting question goes before all later strokes, even while the current one is running.
func TestWhoAsksGoesFirst(t *testing.T) {
	folder := t.TempDir()
	take(t, at(folder)).Release()
	locks, err := filepath.Glob(filepath.Join(folder, "*.asks"))
	assert.NilError(t, err)
	assert.Assert(t, is.Len(locks, 1))
	wants := flock.New(locks[0])
	ok, err := wants.TryLock()
	assert.Assert(t, ok, err)
	for name, try := range map[string]func(context.Context, *inputlock.Lock) error{
		"input": func(ctx context.Context, s *inputlock.Lock) error { _, err := s.Acquire(ctx, nil); return err },
		"deed":  func(ctx context.Context, s *inputlock.Lock) error { _, err := s.Begin(ctx); return err },
	} {
		err := try(within(t, 600*time.Millisecond), at(folder))
		assert.Assert(t, err != nil, "%s %v", name, err)
		assert.Equal(t, aai.AsError(err).Code, aai.RateLimited, "%s %v", name, err)
	}
	assert.Check(t, at(folder).BusyError() != nil, "nobody is said to ask")
	assert.NilError(t, wants.Unlock())
	assert.Check(t, at(folder).BusyError())
}

// one is a catalog with one app, on windows, with a tool that makes a stroke.
type one struct{ app *aai.App }

func (c one) Apps() []*aai.App                               { return []*aai.App{c.app} }
func (c one) Find(context.Context, string) (*aai.App, error) { return c.app, nil }
func (c one) OnChange(func()) func()                         { return func() {} }

// admits is a gate and a journal that accept everything.
type admits struct{}

func (admits) Record(context.Context, *aai.Entry) error { return nil }

func (admits) Check(context.Context, *aai.Request) ([]aai.Question, error) { return nil, nil }

// TestWaitingIsNotTheCallsTime: a wait within the Action for another call's question does not count
// against the call's timeout.
func TestWaitingIsNotTheCallsTime(t *testing.T) {
	const limit = 1500 * time.Millisecond
	for name, stroke := range map[string]func(context.Context, *inputlock.Lock) error{
		"input": func(ctx context.Context, s *inputlock.Lock) error {
			g, err := s.Acquire(ctx, nil)
			if err == nil {
				g.Release()
			}
			return err
		},
		"deed": func(ctx context.Context, s *inputlock.Lock) error {
			done, err := s.Begin(ctx)
			if err == nil {
				done()
			}
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			app := &aai.App{ID: "desktop", Name: "Desktop"}
			app.Operator = fakeoperator.Operator{Find: func(context.Context, *aai.Call, string) (*aai.App, error) { return app, nil }}
			app.Tools = []*aai.Tool{{Name: "act", Limits: aai.Limits{Timeout: limit}, Run: func(ctx context.Context, _ *aai.Call) (*aai.Result, error) {
				return &aai.Result{}, stroke(ctx, at(folder))
			}}}
			g := &gateway.Gateway{Catalog: one{app}, Gates: []aai.Gate{admits{}}, Journal: admits{}}
			a := ask(t, at(folder))
			ended := make(chan error, 1)
			go func() {
				_, err := g.Do(t.Context(), &aai.Call{App: app.ID, Tool: "act"})
				ended <- err
			}()
			select {
			case err := <-ended:
				t.Fatalf("it ended while the question was open: %v", err)
			case <-time.After(2 * limit):
			}
			a.Release()
			assert.Check(t, <-ended)
		})
	}
}

// pausable returns a lock that is paused until the function is called.
func pausable(t *testing.T) (s *inputlock.Lock, resume func()) {
	t.Helper()
	var resumed atomic.Bool
	s = at(t.TempDir())
	s.SetPauseReason(func(context.Context) string {
		if resumed.Load() {
			return ""
		}
		return "the screen is locked"
	})
	return s, func() { resumed.Store(true) }
}

// strokes are the ways in which calls use a lock.
func strokes() map[string]func(context.Context, *inputlock.Lock) error {
	return map[string]func(context.Context, *inputlock.Lock) error{
		"input": func(ctx context.Context, s *inputlock.Lock) error {
			g, err := s.Acquire(ctx, nil)
			if err == nil {
				g.Release()
			}
			return err
		},
		"action": func(ctx context.Context, s *inputlock.Lock) error {
			done, err := s.Begin(ctx)
			if err == nil {
				done()
			}
			return err
		},
		"set text": func(ctx context.Context, s *inputlock.Lock) error { return s.AwaitResume(ctx) },
	}
}

// TestPausedUntilTheDeadline: while paused nothing begins, and the error names the reason in time for
// the reply.
func TestPausedUntilTheDeadline(t *testing.T) {
	for name, stroke := range strokes() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, _ := pausable(t)
			ctx := within(t, time.Second)
			e := aai.AsError(stroke(ctx, s))
			assert.Assert(t, e != nil, "%+v", e)
			assert.Equal(t, e.Code, aai.RateLimited, "%+v", e)
			assert.Equal(t, e.Delivery, aai.NotDelivered, "%+v", e)
			assert.Check(t, is.Contains(e.Message, "the screen is locked"))
			assert.Check(t, ctx.Err(), "no time is left for the reply")
		})
	}
}

// TestResumes: what waits goes on when the person is back.
func TestResumes(t *testing.T) {
	for name, stroke := range strokes() {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s, resume := pausable(t)
			ended := make(chan error, 1)
			go func() { ended <- stroke(within(t, time.Minute), s) }()
			resume()
			assert.Check(t, <-ended)
		})
	}
}

// TestPauseIsKnownToInput: input that waited knows it, and has released held input before.
func TestPauseIsKnownToInput(t *testing.T) {
	s, resume := pausable(t)
	yielded := false
	g, err := s.Acquire(within(t, time.Minute), func(g *inputlock.Lease) { yielded = g != nil; resume() })
	assert.NilError(t, err)
	defer g.Release()
	assert.Check(t, yielded, "held input was not released")
	assert.Check(t, g.WasPaused(), "the lease does not say that it waited")
}
