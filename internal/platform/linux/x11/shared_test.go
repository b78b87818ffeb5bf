//go:build linux

package x11

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/inputlock"
	"github.com/gybob/aai-gateway/internal/gateway"
	"github.com/gybob/aai-gateway/internal/platform/linux/keysym"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// askingLock returns the input lock of another gateway.
func askingLock(s *linuxtest.Session) *inputlock.Lock {
	return inputlock.New(inputlock.Config{Folder: inputlock.Folder, Getenv: s.Getenv})
}

func ask(ctx context.Context, t *testing.T, s *linuxtest.Session) *inputlock.QuestionLease {
	t.Helper()
	a, err := askingLock(s).AcquireForQuestion(ctx)
	assert.NilError(t, err)
	return a
}

// TestInterrupted runs tests of input that ends or waits for a question or a stop, in one window.
func TestInterrupted(t *testing.T) {
	t.Parallel()
	s := linuxtest.Start(t)
	f := s.Fixture(t, linuxtest.GTK3)
	for _, c := range []struct {
		name string
		run  func(*testing.T, *author)
	}{
		{"drag", testDragEnds}, {"click that is held back", testHeldBack}, {"person types", testPersonWaits}, {"own types", testOwnWaits},
		{"stop", testStop}, {"typing ends", testTypingEnds},
	} {
		t.Run(c.name, func(t *testing.T) { c.run(t, newAuthor(t, s, f)) })
	}
}

// An author types into the notes of a window while Caps Lock is on.
type author struct {
	*linuxtest.Session
	d      *Display
	conn   *server
	f      *linuxtest.Fixture
	w      desktop.WindowID
	before *layout
}

// newAuthor returns an author in front of empty notes.
func newAuthor(t *testing.T, s *linuxtest.Session, f *linuxtest.Fixture) *author {
	t.Helper()
	d, conn, ctx := inside(t, s)
	y := &author{Session: s, d: d, conn: conn, f: f, w: front(t, s, d, f)}
	f.Press(t, "Notes")
	tool(t, s, nil, "xdotool", "key", "ctrl+a", "Delete")
	f.WaitState(t, "notes", "")
	assert.NilError(t, conn.must(ctx, conn.setLocks(capsLock, 0)))
	var err error
	y.before, err = conn.layout(ctx)
	assert.NilError(t, err)
	return y
}

// begin waits until the program has got some of the text.
func (y *author) begin(t *testing.T) {
	t.Helper()
	y.f.WaitFor(t, "it types", func(state map[string]any) bool { return len(state["notes"].(string)) > 100 })
}

// stopped waits until no more text comes, and returns it.
func (y *author) stopped(t *testing.T) (text string) {
	t.Helper()
	for now := notes(t, y.f); now != text; now = notes(t, y.f) {
		text = now // earlier text is read
		time.Sleep(300 * time.Millisecond)
	}
	return text
}

func notes(t *testing.T, f *linuxtest.Fixture) string {
	text, _ := f.State(t)["notes"].(string)
	return text
}

func testPersonWaits(t *testing.T, y *author) { y.waits(t, desktop.PersonSeat) }

func testOwnWaits(t *testing.T, y *author) { y.waits(t, desktop.OwnSeat) }

// waits checks that typing pauses during a question, with the keyboard restored, and then continues.
func (y *author) waits(t *testing.T, seat desktop.Seat) {
	ctx, text, typed := soon(t), manyRunes(600), make(chan error, 1) // each batch of keys must have been read before the next
	go func() { typed <- y.d.Type(ctx, seat, y.w, text) }()
	y.begin(t)
	a := ask(ctx, t, y.Session)
	end := a.Release
	if seat == desktop.PersonSeat { // the question's window has the keyboard
		cover := y.Cover(t, y.f)
		end = func() { cover.Kill(t); a.Release() }
	}
	awaitKeyboardBack(ctx, t, y.conn, y.before)
	stopped := y.stopped(t)
	assert.Assert(t, stopped != text, "it typed on")
	assert.Assert(t, !a.WasDisturbed(), "it typed on, %d of %d bytes", len(stopped), len(text))
	select {
	case err := <-typed:
		t.Fatalf("it ended: %v", err)
	default:
	}
	end()
	assert.NilError(t, <-typed)
	y.f.WaitState(t, "notes", text)
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

// testTypingEnds checks that the error gives the progress, and blames no program.
func testTypingEnds(t *testing.T, y *author) {
	ctx, d, w := soon(t), y.d, y.w
	short, end := context.WithCancel(ctx)
	defer end()
	typed := make(chan error, 1)
	go func() { typed <- d.Type(short, desktop.PersonSeat, w, strings.Repeat("a\n", 40_000)) }()
	y.begin(t)
	a := ask(ctx, t, y.Session)
	defer a.Release()
	awaitKeyboardBack(ctx, t, y.conn, y.before) // now it waits
	end()
	err := <-typed
	e, ok := errors.AsType[*aai.Error](err)
	assert.Assert(t, ok, err)
	assert.Equal(t, e.Code, aai.RateLimited, err)
	assert.Assert(t, !e.RetrySafe(), err)
	assert.Assert(t, strings.HasPrefix(e.Message, "typed "), err)
	assert.Assert(t, is.Contains(e.Message, " of 80000, then: "), err)
	at := centreOf(t, y.f)
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

// testDragEnds checks that the button is released before the question gets the input lock.
func testDragEnds(t *testing.T, y *author) {
	ctx, d, conn := soon(t), y.d, y.conn
	at := centre(y.f.ControlRect(t, "Canvas"))
	dragged := make(chan error, 1)
	go func() {
		dragged <- d.Drag(ctx, desktop.PersonSeat, y.w, at, desktop.Point{X: at.X + 30, Y: at.Y + 30}, time.Hour/240)
	}()
	for !down(ctx, t, conn) {
		time.Sleep(time.Millisecond)
	}
	a := ask(ctx, t, y.Session)
	defer a.Release()
	assert.Check(t, !down(ctx, t, conn), "the button is down while the question is open")
	e := aai.AsError(<-dragged)
	assert.Assert(t, e != nil, e)
	assert.Equal(t, e.Code, aai.RateLimited, e)
	assert.Assert(t, is.Contains(e.Message, "steps"), e)
	assert.Assert(t, !e.RetrySafe(), e)
}

// testHeldBack checks that a click, or the end of a drag, holds the input lock until the window manager has released
// it, so that it cannot reach a question.
func testHeldBack(t *testing.T, y *author) {
	ctx, s, d, conn, w := soon(t), y.Session, y.d, y.conn, y.w
	manager := windowManager(ctx, t, conn)
	at := centreOf(t, y.f)
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
func windowManager(ctx context.Context, t *testing.T, conn *server) int {
	t.Helper()
	check := getProperty(conn.root, conn.atoms["_NET_SUPPORTING_WM_CHECK"], 4, false)
	assert.NilError(t, conn.must(ctx, check))
	process, err := conn.processOf(ctx, check.property().first()&^conn.setup.idMask)
	assert.NilError(t, err)
	assert.Assert(t, process != 0)
	return process
}

// down reports whether a button of the person's pointer is down.
func down(ctx context.Context, t *testing.T, s *server) bool {
	t.Helper()
	pointer := queryPointer(s.root)
	assert.NilError(t, s.must(ctx, pointer))
	return from(pointer.reply, 24).u16()&0x1f00 != 0
}

// testDeadGateway checks that the next gateway that acquires the input lock, for
// input or for a question, releases the buttons, keys and locks of a dead one.
func testDeadGateway(t *testing.T, s *linuxtest.Session) {
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

// A singleAppCatalog is a gateway's catalog of one app, its gate, its journal, and its stop.
type singleAppCatalog struct {
	app     *aai.App
	stopped atomic.Bool
}

func (d *singleAppCatalog) Apps() []*aai.App                               { return []*aai.App{d.app} }
func (d *singleAppCatalog) Find(context.Context, string) (*aai.App, error) { return d.app, nil }
func (d *singleAppCatalog) OnChange(func()) (stop func())                  { return func() {} }
func (d *singleAppCatalog) Record(context.Context, *aai.Entry) error       { return nil }
func (d *singleAppCatalog) Check(context.Context, *aai.Request) ([]aai.Question, error) {
	return nil, nil
}

// CheckStopped implements the gateway's stop. There is no notification of changes: strokes poll it.
func (d *singleAppCatalog) CheckStopped(gateway.CallScope) *aai.Error {
	if d.stopped.Load() {
		return aai.Errorf(aai.PermissionDenied, "the person has stopped it")
	}
	return nil
}

// testStop checks that a stopped call presses no further key, and restores the keyboard.
func testStop(t *testing.T, y *author) {
	ctx, text := soon(t), manyRunes(600) // each batch of keys must have been read before the next
	seen := &singleAppCatalog{app: &aai.App{ID: "org.example.Typist", Name: "Typist", Tools: []*aai.Tool{{
		Name: "type", Effect: aai.Changes, Run: func(ctx context.Context, _ *aai.Call) (*aai.Result, error) {
			return &aai.Result{}, y.d.Type(ctx, desktop.OwnSeat, y.w, text)
		},
	}}}}
	g := &gateway.Gateway{Catalog: seen, Gates: []aai.Gate{seen}, Journal: seen, Stops: seen}
	ended := make(chan error, 1)
	go func() {
		_, err := g.Do(ctx, &aai.Call{App: seen.app.ID, Tool: "type"})
		ended <- err
	}()
	y.begin(t)
	seen.stopped.Store(true)
	if e, is := errors.AsType[*aai.Error](<-ended); !is || e.Code != aai.PermissionDenied || e.Delivery == aai.NotDelivered {
		t.Errorf("the call ended with %v", e)
	}
	awaitKeyboardBack(ctx, t, y.conn, y.before)
	typed := y.stopped(t)
	assert.Assert(t, len(typed) != 0, "%d of %d bytes are typed: %.60q", len(typed), len(text), typed)
	assert.Assert(t, len(typed) != len(text), "%d of %d bytes are typed: %.60q", len(typed), len(text), typed)
	assert.Assert(t, strings.HasPrefix(text, typed), "%d of %d bytes are typed: %.60q", len(typed), len(text), typed)
}
