package comwindow

import (
	"context"
	"reflect"
	"runtime"
	"sync"
	"testing"
	"time"

	"golang.org/x/sys/windows"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/desktoptest"
	"github.com/gybob/aai-gateway/internal/platform/windows/win32"
)

// A Source is a wintree.Source without its prefix.
type Source interface {
	Read(ctx context.Context, window win32.Window) ([]desktop.Element, error)
	Element(ctx context.Context, id desktop.ID) (desktop.Element, error)
	Children(ctx context.Context, id desktop.ID, first, count int) ([]desktop.Element, error)
	Execute(ctx context.Context, id desktop.ID, act desktop.Act) error
}

// A Tree is a desktop.Tree and Actor of one window around a source, for tests of the source alone.
type Tree struct {
	Source Source
	PID    int
	Title  string
	Window win32.Window
	Gone   func() bool // whether the program has ended

	mu      sync.Mutex
	last    []desktop.Element
	version uint64
}

// OnThread runs f on a thread of the multithreaded apartment, at most until the deadline.
func OnThread[T any](ctx context.Context, f func() (T, error)) (T, error) {
	type result struct {
		value T
		err   error
	}
	done := make(chan result, 1)
	go func() {
		runtime.LockOSThread()
		_ = windows.CoInitializeEx(0, windows.COINIT_MULTITHREADED)
		v, err := f()
		done <- result{v, err}
	}()
	select {
	case r := <-done:
		if r.err == nil && ctx.Err() != nil {
			return r.value, win32.NotAnswered(ctx)
		}
		return r.value, r.err
	case <-ctx.Done():
		var none T
		return none, win32.NotAnswered(ctx)
	}
}

// App returns the program.
func (t *Tree) App() desktop.App { return desktop.App{PID: t.PID, Name: t.Title, ID: "comwindow"} }

// Ready implements desktop.Tree.
func (t *Tree) Ready(context.Context) (desktop.Readiness, error) {
	return desktop.Readiness{Ready: true, Detail: "a test"}, nil
}

// Apps implements desktop.Tree.
func (t *Tree) Apps(context.Context) ([]desktop.App, error) { return []desktop.App{t.App()}, nil }

// Snapshot implements desktop.Tree.
func (t *Tree) Snapshot(ctx context.Context, _ desktop.App) (*desktop.Snapshot, error) {
	elements, err := OnThread(ctx, func() ([]desktop.Element, error) { return t.Source.Read(ctx, t.Window) })
	if err != nil {
		if t.Gone() && aai.AsError(err).Code == aai.StaleRef {
			return nil, &aai.Error{Code: aai.AppNotRunning, Message: "the program has ended"}
		}
		return nil, err
	}
	desktop.SetEnds(elements)
	t.mu.Lock()
	defer t.mu.Unlock()
	if !reflect.DeepEqual(t.last, elements) {
		t.version++
		t.last = elements
	}
	return &desktop.Snapshot{App: t.App(), Elements: elements, Version: t.version, Taken: time.Now()}, nil
}

// Read implements desktop.Tree.
func (t *Tree) Read(ctx context.Context, _ desktop.App, id desktop.ID) (desktop.Element, error) {
	return OnThread(ctx, func() (desktop.Element, error) { return t.Source.Element(ctx, id) })
}

// Children implements desktop.Tree.
func (t *Tree) Children(ctx context.Context, _ desktop.App, id desktop.ID, first, count int) ([]desktop.Element, error) {
	return OnThread(ctx, func() ([]desktop.Element, error) { return t.Source.Children(ctx, id, first, count) })
}

// Execute implements desktop.Actor.
func (t *Tree) Execute(ctx context.Context, _ desktop.App, id desktop.ID, act desktop.Act) error {
	_, err := OnThread(ctx, func() (bool, error) { return true, t.Source.Execute(ctx, id, act) })
	return err
}

// Elements reads the window and checks the snapshot.
func (t *Tree) Elements(tb testing.TB) []desktop.Element {
	tb.Helper()
	shot, err := t.Snapshot(tb.Context(), t.App())
	if err != nil {
		tb.Fatal(err)
	}
	desktoptest.WellFormed(tb, shot)
	return shot.Elements
}

// Named returns the only element with a name and a role.
func Named(tb testing.TB, elements []desktop.Element, name string, role desktop.Role) desktop.Element {
	tb.Helper()
	var found []desktop.Element
	for _, e := range elements {
		if e.Name == name && e.Role == role {
			found = append(found, e)
		}
	}
	if len(found) != 1 {
		tb.Fatalf("%d elements %s %q, want one", len(found), role, name)
	}
	return found[0]
}
