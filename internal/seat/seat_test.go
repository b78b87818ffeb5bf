package seat_test

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/gofrs/flock"

	"aai"
	"aai/internal/seat"
)

// at returns a gateway's seat of the folder, on one display.
func at(folder string) *seat.Seat { return on(folder, ":7") }

func on(folder, display string) *seat.Seat {
	return seat.New(seat.Config{
		Folder: func() (string, error) { return folder, nil },
		Getenv: func(name string) string { return map[string]string{"DISPLAY": display}[name] },
		Stuck:  300 * time.Millisecond,
	})
}

func within(t *testing.T, d time.Duration) context.Context {
	t.Helper()
	ctx, cancel := context.WithTimeout(t.Context(), d)
	t.Cleanup(cancel)
	return ctx
}

func take(t *testing.T, s *seat.Seat) *seat.Grip {
	t.Helper()
	g, err := s.Take(within(t, 10*time.Second), nil)
	if err != nil {
		t.Fatal(err)
	}
	return g
}

func ask(t *testing.T, s *seat.Seat) *seat.Asking {
	t.Helper()
	a, err := s.Ask(within(t, 10*time.Second))
	if err != nil {
		t.Fatal(err)
	}
	return a
}

// While a question is open nobody gets the seat, and who waits is told so in time for
// the rest of its call, with an error that says nothing against any program.
func TestAQuestionHasTheSeat(t *testing.T) {
	folder := t.TempDir()
	a := ask(t, at(folder))
	for name, try := range map[string]func(context.Context, *seat.Seat) error{
		"input": func(ctx context.Context, s *seat.Seat) error { _, err := s.Take(ctx, nil); return err },
		"deed":  func(ctx context.Context, s *seat.Seat) error { _, err := s.Begin(ctx); return err },
	} {
		ctx := within(t, time.Second)
		err := try(ctx, at(folder))
		if e, ok := errors.AsType[*aai.Error](err); !ok || e.Code != aai.RateLimited || e.Delivery != aai.NotDelivered || !strings.HasPrefix(e.Message, "not now: ") || !strings.Contains(e.Hint, "not called too often") || ctx.Err() != nil {
			t.Errorf("%s: %v, %v", name, err, ctx.Err())
		}
	}
	if a.Disturbed() {
		t.Error("input was made")
	}
	a.End()
	take(t, at(folder)).Leave()
}

// What waits goes on when the question has ended, and knows that there was one. It lets
// go of what it held before the question has the seat.
func TestInputGoesOn(t *testing.T) {
	folder := t.TempDir()
	g := take(t, at(folder))
	asking := make(chan *seat.Asking)
	go func() { a, _ := at(folder).Ask(t.Context()); asking <- a }()
	for !g.Asked() {
		time.Sleep(time.Millisecond)
	}
	g.Leave()
	a := <-asking
	taken := make(chan *seat.Grip)
	yielded := false
	go func() {
		g, err := at(folder).Take(t.Context(), func(*seat.Grip) { yielded = true })
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
	a.End()
	if g := <-taken; !g.Paused() || !yielded {
		t.Errorf("paused %v, yielded %v", g.Paused(), yielded)
	}
}

// A question waits for the stroke under way, and for one that does not end only so long.
func TestAStrokeThatStandsStill(t *testing.T) {
	folder := t.TempDir()
	g := take(t, at(folder))
	_, err := at(folder).Ask(within(t, 10*time.Second))
	if e, ok := errors.AsType[*aai.Error](err); !ok || e.Code != aai.ConsentRequired || !strings.Contains(e.Hint, "stand still") {
		t.Error(err)
	}
	if _, err := at(folder).Take(within(t, 10*time.Second), nil); err == nil || aai.AsError(err).Code != aai.AutomationFailed {
		t.Error(err)
	}
	g.Leave()
	ask(t, at(folder)).End()
}

// A program that hangs keeps a question waiting for a moment, and its deed ends later.
func TestADeedThatHangs(t *testing.T) {
	s := seat.New(seat.Config{Folder: func() (string, error) { return t.TempDir(), nil }, Getenv: func(string) string { return "" }})
	done, err := s.Begin(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	ask(t, s).End()
	done()
}

// Input that is made although a question is open, such as by a gateway that does not
// find the lock, is noticed: the answer is void.
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
	take(t, at(folder)).Leave()
	if !a.Disturbed() {
		t.Error("input was made and not noticed")
	}
}

// Two displays are two seats; one display is one, whatever it is called.
func TestDisplays(t *testing.T) {
	folder := t.TempDir()
	a := ask(t, on(folder, ":7"))
	defer a.End()
	for name, same := range map[string]bool{":7": true, ":7.0": true, "unix:7": true, "unix:7.1": true, ":8": false, "host:7": false, "": false} {
		_, err := on(folder, name).Take(within(t, 600*time.Millisecond), nil)
		if same != (err != nil) {
			t.Errorf("%q: %v", name, err)
		}
	}
}

// Without a seat to share, or without a folder, there is no input and no question.
func TestNoSeat(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	if err := os.WriteFile(file, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	for name, s := range map[string]*seat.Seat{"none": nil, "no folder": at(file)} {
		if _, err := s.Take(t.Context(), nil); err == nil {
			t.Errorf("%s: input", name)
		}
		if _, err := s.Begin(t.Context()); err == nil {
			t.Errorf("%s: a deed", name)
		}
		if _, err := s.Ask(t.Context()); err == nil || aai.AsError(err).Code != aai.ConsentRequired {
			t.Errorf("%s: %v", name, err)
		}
	}
}

// What the dead held is let go of by whoever takes the seat next, also for a question.
func TestTheDeadLetGo(t *testing.T) {
	for name, next := range map[string]func(*seat.Seat){
		"input":    func(s *seat.Seat) { take(t, s).Leave() },
		"question": func(s *seat.Seat) { ask(t, s).End() },
	} {
		folder := t.TempDir()
		g := take(t, at(folder))
		if err := g.Hold(seat.Held{Process: 4711, Connection: 1, Buttons: []byte{1}}); err != nil {
			t.Fatal(err)
		}
		g.Leave()
		s := at(folder)
		var let []seat.Held
		s.Clean(func(_ context.Context, _ *seat.Grip, held []seat.Held) []seat.Held { let = held; return nil })
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

// Who wants to ask goes before all strokes that come after, also while the last one is
// still under way.
func TestWhoAsksGoesFirst(t *testing.T) {
	folder := t.TempDir()
	take(t, at(folder)).Leave()
	locks, err := filepath.Glob(filepath.Join(folder, "*.asks"))
	if err != nil || len(locks) != 1 {
		t.Fatalf("%q, %v", locks, err)
	}
	wants := flock.New(locks[0])
	if ok, err := wants.TryLock(); !ok {
		t.Fatal(err)
	}
	for name, try := range map[string]func(context.Context, *seat.Seat) error{
		"input": func(ctx context.Context, s *seat.Seat) error { _, err := s.Take(ctx, nil); return err },
		"deed":  func(ctx context.Context, s *seat.Seat) error { _, err := s.Begin(ctx); return err },
	} {
		if err := try(within(t, 600*time.Millisecond), at(folder)); err == nil || aai.AsError(err).Code != aai.RateLimited {
			t.Errorf("%s: %v", name, err)
		}
	}
	if err := at(folder).Busy(); err == nil {
		t.Error("nobody is said to ask")
	}
	if err := wants.Unlock(); err != nil {
		t.Fatal(err)
	}
	if err := at(folder).Busy(); err != nil {
		t.Error(err)
	}
}
