package uia

import (
	"context"
	"errors"
	"fmt"
	"reflect"
	"runtime"
	"sync"
	"time"

	"golang.org/x/sys/windows"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/platform/windows/win32"
)

// A tree is a desktop.Tree and Actor of one window around a source.
type tree struct {
	source *Source
	pid    int
	title  string
	window win32.Window
	gone   func() bool

	mu      sync.Mutex
	last    []desktop.Element
	version uint64
}

// on runs f on a thread of the multithreaded apartment, at most until the deadline.
func on[T any](ctx context.Context, f func() (T, error)) (T, error) {
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

func (t *tree) app() desktop.App { return desktop.App{PID: t.pid, Name: t.title, ID: "provider"} }

func (t *tree) Ready(context.Context) (desktop.Readiness, error) {
	return desktop.Readiness{Ready: true, Detail: "UI Automation"}, nil
}

func (t *tree) Apps(context.Context) ([]desktop.App, error) { return []desktop.App{t.app()}, nil }

func (t *tree) Snapshot(ctx context.Context, _ desktop.App) (*desktop.Snapshot, error) {
	elements, err := on(ctx, func() ([]desktop.Element, error) { return t.source.Read(ctx, t.window) })
	if err != nil {
		if t.gone() && aai.AsError(err).Code == aai.StaleRef {
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
	return &desktop.Snapshot{App: t.app(), Elements: elements, Version: t.version, Taken: time.Now()}, nil
}

func (t *tree) Read(ctx context.Context, _ desktop.App, id desktop.ID) (desktop.Element, error) {
	return on(ctx, func() (desktop.Element, error) { return t.source.Element(ctx, id) })
}

func (t *tree) Children(ctx context.Context, _ desktop.App, id desktop.ID, first, count int) ([]desktop.Element, error) {
	return on(ctx, func() ([]desktop.Element, error) { return t.source.Children(ctx, id, first, count) })
}

func (t *tree) Execute(ctx context.Context, _ desktop.App, id desktop.ID, act desktop.Act) error {
	_, err := on(ctx, func() (bool, error) { return true, t.source.Execute(ctx, id, act) })
	return err
}

// named returns the only element with a name and a role.
func named(elements []desktop.Element, name string, role desktop.Role) (desktop.Element, error) {
	var found []desktop.Element
	for _, e := range elements {
		if e.Name == name && e.Role == role {
			found = append(found, e)
		}
	}
	if len(found) != 1 {
		return desktop.Element{}, errors.New(fmt.Sprint(len(found), " elements ", role, " ", name, ", want one"))
	}
	return found[0], nil
}
