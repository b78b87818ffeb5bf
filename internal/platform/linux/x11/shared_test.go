//go:build linux

package x11

import (
	"context"
	"errors"
	"fmt"
	"os/exec"
	"slices"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/inputlock"
	"github.com/gybob/aai-gateway/internal/platform/linux/keysym"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// askingLock returns the input lock of another gateway.
func askingLock(s *linuxtest.Session) *inputlock.Lock {
	return inputlock.New(inputlock.Config{Folder: inputlock.Folder, Getenv: s.Getenv})
}

func open(ctx context.Context, t *testing.T, s *linuxtest.Session) *inputlock.QuestionLease {
	t.Helper()
	a, err := askingLock(s).AcquireForQuestion(ctx)
	assert.NilError(t, err)
	return a
}

// windowID returns the fixture's window.
func windowID(ctx context.Context, t *testing.T, d *Display, f *linuxtest.Fixture) desktop.WindowID {
	t.Helper()
	windows, err := d.Windows(ctx)
	assert.NilError(t, err)
	i := slices.IndexFunc(windows, func(w desktop.WindowInfo) bool { return w.Title == f.Title })
	assert.Assert(t, i >= 0, "the fixture's window is none of %+v", windows)
	return windows[i].ID
}

func notes(t *testing.T, f *linuxtest.Fixture) string {
	text, _ := f.State(t)["notes"].(string)
	return text
}

// TestTypingStopsForAQuestion checks that typing pauses during a question, with the
// keyboard restored, and then continues, with either seat.
func TestTypingStopsForAQuestion(t *testing.T) {
	for which, name := range map[desktop.Seat]string{desktop.PersonSeat: "person", desktop.OwnSeat: "own"} {
		t.Run(name, func(t *testing.T) {
			s := linuxtest.Start(t)
			d, conn, _ := inside(t, s)
			ctx, cancel := context.WithTimeout(t.Context(), testPatience)
			defer cancel()
			f := s.Fixture(t, linuxtest.GTK3)
			f.Press(t, "Notes")
			w := windowID(ctx, t, d, f)
			assert.NilError(t, conn.must(ctx, conn.setLocks(capsLock, 0)))
			before, err := conn.layout(ctx)
			assert.NilError(t, err)
			// No keyboard has that many keys, so each batch must have been read before the next.
			var written strings.Builder
			for r := range rune(600) {
				written.WriteRune('一' + r)
			}
			text := written.String()
			typed := make(chan error, 1)
			go func() { typed <- d.Type(ctx, which, w, text) }()
			f.WaitFor(t, "it types", func(state map[string]any) bool { return len(state["notes"].(string)) > 30 })
			a := open(ctx, t, s)
			end := a.Release
			if which == desktop.PersonSeat { // the question's window has the keyboard
				cover := s.Cover(t, f)
				end = func() { cover.Kill(t); a.Release() }
			}
			awaitKeyboardBack(ctx, t, conn, before)
			stopped := ""
			for now := notes(t, f); now != stopped; now = notes(t, f) {
				stopped = now // earlier text is read
				time.Sleep(300 * time.Millisecond)
			}
			assert.Assert(t, stopped != text, "it typed on, %d of %d bytes", len(stopped), len(text))
			assert.Assert(t, !a.WasDisturbed(), "it typed on, %d of %d bytes", len(stopped), len(text))
			select {
			case err := <-typed:
				t.Fatalf("it ended: %v", err)
			default:
			}
			end()
			assert.NilError(t, <-typed)
			f.WaitState(t, "notes", text)
		})
	}
}

// awaitKeyboardBack waits until Caps Lock and all keys are restored.
func awaitKeyboardBack(ctx context.Context, t *testing.T, conn *server, before *layout) {
	t.Helper()
	h := inputConn{server: conn, person: conn}
	for {
		was, err := h.lockState(ctx)
		assert.NilError(t, err)
		l, err := conn.layout(ctx)
		assert.NilError(t, err)
		if was.modifiers == capsLock && len(l.spare()) == len(before.spare()) {
			return
		}
		time.Sleep(10 * time.Millisecond)
	}
}

// TestTypingThatEndsForAQuestion checks that the error gives the progress, and blames no program.
func TestTypingThatEndsForAQuestion(t *testing.T) {
	s := linuxtest.Start(t)
	d, conn, _ := inside(t, s)
	ctx, cancel := context.WithTimeout(t.Context(), testPatience)
	defer cancel()
	f := s.Fixture(t, linuxtest.GTK3)
	f.Press(t, "Notes")
	w := windowID(ctx, t, d, f)
	assert.NilError(t, conn.must(ctx, conn.setLocks(capsLock, 0)))
	before, err := conn.layout(ctx)
	assert.NilError(t, err)
	short, end := context.WithCancel(ctx)
	defer end()
	typed := make(chan error, 1)
	go func() { typed <- d.Type(short, desktop.PersonSeat, w, strings.Repeat("a\n", 40_000)) }()
	f.WaitFor(t, "it types", func(state map[string]any) bool { return len(state["notes"].(string)) > 100 })
	a := open(ctx, t, s)
	defer a.Release()
	awaitKeyboardBack(ctx, t, conn, before) // now it waits
	end()
	err = <-typed
	e, ok := errors.AsType[*aai.Error](err)
	assert.Assert(t, ok, err)
	assert.Equal(t, e.Code, aai.RateLimited, err)
	assert.Assert(t, !e.RetrySafe(), err)
	assert.Assert(t, strings.HasPrefix(e.Message, "typed "), err)
	assert.Assert(t, is.Contains(e.Message, " of 80000, then: "), err)
	at := centreOf(t, f)
	var calls sync.WaitGroup
	for name, call := range map[string]func(context.Context) error{
		"another that types": func(ctx context.Context) error { return d.Type(ctx, desktop.PersonSeat, w, "x") },
		"a key":              func(ctx context.Context) error { return d.Key(ctx, desktop.OwnSeat, w, desktop.Chord{Key: "x"}) },
		"a click":            func(ctx context.Context) error { return d.Click(ctx, desktop.PersonSeat, w, at, 1, 1) },
		"the wheel":          func(ctx context.Context) error { return d.Scroll(ctx, desktop.OwnSeat, w, at, 0, 1) },
		"a drag":             func(ctx context.Context) error { return d.Drag(ctx, desktop.PersonSeat, w, at, at, 0) },
		"an activation":      func(ctx context.Context) error { return d.Activate(ctx, w) },
	} {
		calls.Go(func() {
			for within := 5 * time.Second; ; within *= 2 {
				short, cancel := context.WithTimeout(ctx, within)
				err := call(short)
				cancel()
				e := aai.AsError(err)
				if err != nil && e.Code == aai.Timeout && e.Delivery == aai.NotDelivered && ctx.Err() == nil {
					continue // the call did not reach the input lock
				}
				if err == nil || e.Code != aai.RateLimited || e.Delivery != aai.NotDelivered {
					t.Errorf("%s: %v", name, err)
				}
				return
			}
		})
	}
	calls.Wait()
	assert.Check(t, !a.WasDisturbed(), "input was made")
}

// TestADragEndsForAQuestion checks that the button is released before the question gets the input lock.
func TestADragEndsForAQuestion(t *testing.T) {
	s := linuxtest.Start(t)
	d, conn, ctx := inside(t, s)
	f := s.Fixture(t, linuxtest.GTK3)
	w := windowID(ctx, t, d, f)
	canvas := f.ControlRect(t, "Canvas")
	x, y := canvas.Centre()
	dragged := make(chan error, 1)
	go func() {
		dragged <- d.Drag(ctx, desktop.PersonSeat, w, desktop.Point{X: x, Y: y}, desktop.Point{X: x + 30, Y: y + 30}, time.Hour/240)
	}()
	for !down(ctx, t, conn) {
		time.Sleep(time.Millisecond)
	}
	a := open(ctx, t, s)
	defer a.Release()
	assert.Check(t, !down(ctx, t, conn), "the button is down while the question is open")
	e := aai.AsError(<-dragged)
	assert.Assert(t, e != nil, e)
	assert.Equal(t, e.Code, aai.RateLimited, e)
	assert.Assert(t, is.Contains(e.Message, "steps"), e)
	assert.Assert(t, !e.RetrySafe(), e)
}

// TestAClickThatIsHeldBack checks that a click, or the end of a drag, holds the input lock
// until the window manager has released it, so that it cannot reach a question.
func TestAClickThatIsHeldBack(t *testing.T) {
	s := linuxtest.Start(t)
	d, conn, ctx := inside(t, s)
	f := s.Fixture(t, linuxtest.GTK3)
	w := windowID(ctx, t, d, f)
	manager := windowManager(ctx, t, s, conn)
	at := centreOf(t, f)
	for name, act := range map[string]func() error{
		"click": func() error { return d.Click(ctx, desktop.PersonSeat, w, at, 1, 1) },
		"drag": func() error {
			err := d.Drag(ctx, desktop.PersonSeat, w, at, desktop.Point{X: at.X + 30, Y: at.Y + 30}, time.Hour)
			if e := aai.AsError(err); e == nil || e.Code != aai.RateLimited {
				return fmt.Errorf("the question did not end it: %w", err)
			}
			return nil
		},
	} {
		assert.NilError(t, syscall.Kill(manager, syscall.SIGSTOP))
		defer func() { _ = syscall.Kill(manager, syscall.SIGCONT) }()
		done := make(chan error, 1)
		go func() { done <- act() }()
		for !down(ctx, t, conn) {
			time.Sleep(time.Millisecond)
		}
		asked := make(chan bool, 1)
		go func() {
			a, err := askingLock(s).AcquireForQuestion(ctx)
			pointer := queryPointer(conn.root)
			asked <- err != nil || conn.must(ctx, pointer) != nil || from(pointer.reply, 24).u16()&0x1f00 != 0
			a.Release()
		}()
		time.Sleep(100 * time.Millisecond) // the question waits
		assert.NilError(t, syscall.Kill(manager, syscall.SIGCONT))
		assert.Check(t, !(<-asked), "the question has the seat, and the %s is still to come", name)
		assert.Check(t, <-done, name)
	}
}

// windowManager returns the process of the window manager.
func windowManager(ctx context.Context, t *testing.T, s *linuxtest.Session, conn *server) int {
	t.Helper()
	xprop := exec.CommandContext(ctx, "xprop", "-root", "-notype", "_NET_SUPPORTING_WM_CHECK")
	xprop.Env = s.Env
	said, err := xprop.Output()
	var window xid
	if _, id, _ := strings.Cut(string(said), "# 0x"); err == nil {
		_, err = fmt.Sscanf(id, "%x", &window)
	}
	assert.NilError(t, err, said)
	manager, err := conn.processOf(ctx, window&^conn.setup.idMask)
	assert.NilError(t, err, manager)
	assert.Assert(t, manager != 0, manager)
	return manager
}

// down reports whether a button of the person's pointer is down.
func down(ctx context.Context, t *testing.T, s *server) bool {
	t.Helper()
	pointer := queryPointer(s.root)
	assert.NilError(t, s.must(ctx, pointer))
	return from(pointer.reply, 24).u16()&0x1f00 != 0
}

// TestWhatADeadGatewayHeld checks that the next gateway that acquires the input lock, for
// input or for a question, releases the buttons, keys and locks of a dead one.
func TestWhatADeadGatewayHeld(t *testing.T) {
	s := linuxtest.Start(t)
	for name, next := range map[string]func(context.Context, *Display) error{
		"input": func(ctx context.Context, d *Display) error {
			g, err := d.config.InputLock.Acquire(ctx, nil)
			if err == nil {
				g.Release()
			}
			return err
		},
		"question": func(ctx context.Context, d *Display) error {
			a, err := d.config.InputLock.AcquireForQuestion(ctx)
			if err == nil {
				a.Release()
			}
			return err
		},
	} {
		other, conn, ctx := inside(t, s)
		before, err := conn.layout(ctx)
		assert.NilError(t, err)
		dead, theirs, _ := inside(t, s)
		h := inputConn{server: theirs, person: theirs}
		code := before.spare()[0]
		_, err = dead.stroke(ctx, h, nil, func(g *inputlock.Lease) error {
			err := h.recordHeld(g, func(held *inputlock.HeldInput) {
				held.Buttons, held.Keys = []byte{1}, map[byte]uint32{code: 0x10003a9}
				held.Locked, held.Modifiers = true, capsLock
			})
			return errors.Join(err, h.remap(ctx, map[byte]keysym.Sym{code: 0x10003a9}), h.must(ctx, h.fake(g, buttonPress, 1, desktop.Point{})))
		})
		assert.NilError(t, err)
		assert.Assert(t, down(ctx, t, conn))
		err = next(ctx, other)
		assert.NilError(t, err, name)
		assert.Assert(t, down(ctx, t, conn), "%s: what one holds that lives is let go of: %v", name, err)
		theirs.lose(errors.New("as if it had died"))
		for down(ctx, t, conn) {
			assert.NilError(t, next(ctx, other))
		}
		awaitKeyboardBack(ctx, t, conn, before)
		assert.NilError(t, conn.must(ctx, conn.setLocks(0, 0)))
	}
}

// centreOf returns a point of the fixture's window.
func centreOf(t *testing.T, f *linuxtest.Fixture) desktop.Point {
	t.Helper()
	x, y := f.WindowRect(t).Centre()
	return desktop.Point{X: x, Y: y}
}
