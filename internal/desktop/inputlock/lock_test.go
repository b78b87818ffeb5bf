package inputlock_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/flock"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop/inputlock"
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
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func ask(t *testing.T, s *inputlock.Lock) *inputlock.QuestionLease {
	t.Helper()
	a, err := s.AcquireForQuestion(within(t, 10*time.Second))
	if err != nil {
		t.Fatal(err)
	}
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
		if e, ok := errors.AsType[*aai.Error](err); !ok || e.Code != aai.RateLimited || e.Delivery != aai.NotDelivered || !strings.HasPrefix(e.Message, "not now: ") || !strings.Contains(e.Hint, "not called too often") || ctx.Err() != nil {
			t.Errorf("%s: %v, %v", name, err, ctx.Err())
		}
	}
	if a.WasDisturbed() {
		t.Error("input was made")
	}
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
		if err != nil {
			t.Error(err)
		}
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
	if e, ok := errors.AsType[*aai.Error](err); !ok || e.Code != aai.ConsentRequired || !strings.Contains(e.Hint, "may hang") {
		t.Error(err)
	}
	if _, err := at(folder).Acquire(within(t, 10*time.Second), nil); err == nil || aai.AsError(err).Code != aai.AutomationFailed {
		t.Error(err)
	}
	g.Release()
	ask(t, at(folder)).Release()
}

// An action of a program that hangs delays a question only for a moment, and ends later.
func TestAnActionThatHangs(t *testing.T) {
	s := inputlock.New(inputlock.Config{Folder: func() (string, error) { return t.TempDir(), nil }, Getenv: func(string) string { return "" }})
	done, err := s.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ask(t, s).Release()
	done()
}

// Input during a question, such as by a gateway that does not see the lock, makes the answer void.
func TestInputDuringAQuestion(t *testing.T) {
	folder := t.TempDir()
	a := ask(t, at(folder))
	locks, err := filepath.Glob(filepath.Join(folder, "*.*"))
	if err != nil {
		t.Fatal(err)
	}
	for _, lock := range locks {
		if !strings.HasSuffix(lock, ".json") {
			if err := os.Remove(lock); err != nil {
				t.Fatal(err)
			}
		}
	}
	take(t, at(folder)).Release()
	if !a.WasDisturbed() {
		t.Error("input was made and not noticed")
	}
}

// Two displays have two locks; one display has one, under all its names.
func TestDisplays(t *testing.T) {
	folder := t.TempDir()
	a := ask(t, on(folder, ":7"))
	defer a.Release()
	for name, same := range map[string]bool{":7": true, ":7.0": true, "unix:7": true, "unix:7.1": true, ":8": false, "host:7": false, "": false} {
		_, err := on(folder, name).Acquire(within(t, 600*time.Millisecond), nil)
		if same != (err != nil) {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// Without a lock, or without a folder, there is no input and no question.
func TestNoLock(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, s := range map[string]*inputlock.Lock{"none": nil, "no folder": at(file)} {
		if _, err := s.Acquire(t.Context(), nil); err == nil {
			t.Errorf("%s: input", name)
		}
		if _, err := s.Begin(t.Context()); err == nil {
			t.Errorf("%s: a deed", name)
		}
		if _, err := s.AcquireForQuestion(t.Context()); err == nil || aai.AsError(err).Code != aai.ConsentRequired {
			t.Errorf("%s: %v", name, err)
		}
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
		if err := g.SetHeldInput(inputlock.HeldInput{Process: 4711, Connection: 1, Buttons: []byte{1}}); err != nil {
			t.Fatal(err)
		}
		g.Release()
		s := at(folder)
		var let []inputlock.HeldInput
		s.SetRelease(func(_ context.Context, _ *inputlock.Lease, held []inputlock.HeldInput) []inputlock.HeldInput {
			let = held
			return nil
		})
		next(s)
		if len(let) != 1 || let[0].Process != 4711 || len(let[0].Buttons) != 1 {
			t.Errorf("%s: let go of %+v", name, let)
		}
		let = nil
		next(s)
		if let != nil {
			t.Errorf("%s: let go of it twice", name)
		}
	}
}

// A waiting question goes before all later strokes, even while the current one is running.
func TestWhoAsksGoesFirst(t *testing.T) {
	folder := t.TempDir()
	take(t, at(folder)).Release()
	locks, err := filepath.Glob(filepath.Join(folder, "*.asks"))
	if err != nil || len(locks) != 1 {
		t.Fatalf("%q, %v", locks, err)
	}
	wants := flock.New(locks[0])
	if ok, err := wants.TryLock(); !ok {
		t.Fatal(err)
	}
	for name, try := range map[string]func(context.Context, *inputlock.Lock) error{
		"input": func(ctx context.Context, s *inputlock.Lock) error { _, err := s.Acquire(ctx, nil); return err },
		"deed":  func(ctx context.Context, s *inputlock.Lock) error { _, err := s.Begin(ctx); return err },
	} {
		if err := try(within(t, 600*time.Millisecond), at(folder)); err == nil || aai.AsError(err).Code != aai.RateLimited {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := at(folder).BusyError(); err == nil {
		t.Error("nobody is said to ask")
	}
	if err := wants.Unlock(); err != nil {
		t.Fatal(err)
	}
	if err := at(folder).BusyError(); err != nil {
		t.Error(err)
	}
}
