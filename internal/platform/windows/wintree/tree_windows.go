package wintree

import (
	"context"
	"fmt"
	"log/slog"
	"reflect"
	"slices"
	"strings"
	"sync"
	"time"

	"golang.org/x/sys/windows"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/platform/windows/win32"
)

// Config is the configuration of a Tree.
type Config struct {
	Sources []Source // each window is read by the first that returns elements
	Log     *slog.Logger
}

// A Tree reads and operates programs. It implements desktop.Tree, desktop.Actor and desktop.Events.
type Tree struct {
	config  Config
	workers workers
	apps    appCache
	hooks   win32.WinEvents

	mu      sync.Mutex
	version uint64
	last    map[int]*desktop.Snapshot // the last snapshot of each process
}

// New returns a Tree.
func New(config Config) *Tree {
	keepApartment()
	return &Tree{config: config, last: make(map[int]*desktop.Snapshot)}
}

// Ready implements desktop.Tree.
func (t *Tree) Ready(ctx context.Context) (desktop.Readiness, error) {
	var session uint32
	if err := windows.ProcessIdToSessionId(windows.GetCurrentProcessId(), &session); err == nil && session == 0 && !win32.Foreground().Exists() {
		return desktop.Readiness{
			Detail: "the gateway runs as a service, which sees no windows",
			Hint:   "Start aai-gateway in the session of the person at the screen.",
		}, nil
	}
	apps, err := t.Apps(ctx)
	if err != nil {
		return desktop.Readiness{}, err
	}
	return desktop.Readiness{Ready: true, Detail: fmt.Sprintf("%d programs have windows", len(apps))}, nil
}

// isShown reports whether a top-level window is one that a person sees. The list of a combo box belongs to the box.
func isShown(w win32.Window) bool {
	return w.IsVisible() && !w.IsCloaked() && w.Class() != "ComboLBox" && (w.IsMinimized() || !w.Frame().Empty())
}

// check fails if the app has ended or cannot be read.
func (t *Tree) check(app desktop.App) error {
	is := win32.ReadProcess(uint32(app.PID), false)
	if is.Started == "" || app.Started != "" && is.Started != app.Started {
		t.workers.forget(app.PID)
		return &aai.Error{Code: aai.AppNotRunning, Message: app.Name + " has ended", Delivery: aai.NotDelivered}
	}
	if app.HiddenReason != "" {
		return &aai.Error{Code: aai.AutomationNotSupported, Message: app.Name + " shows no tree of its elements", Hint: app.HiddenReason, Delivery: aai.NotDelivered}
	}
	return nil
}

// Snapshot implements desktop.Tree.
func (t *Tree) Snapshot(ctx context.Context, app desktop.App) (*desktop.Snapshot, error) {
	begun := time.Now()
	defer desktop.ReadsOf(ctx).AddTime(begun)
	if err := t.check(app); err != nil {
		return nil, err
	}
	shot, err := run(ctx, t.workers.of(app.PID), func(ctx context.Context) (*desktop.Snapshot, error) { return t.read(ctx, app) })
	if err != nil {
		if ended := t.check(app); ended != nil && ctx.Err() == nil {
			return nil, ended
		}
		return nil, err
	}
	unchanged := t.number(shot)
	desktop.ReadsOf(ctx).AddElements(len(shot.Elements))
	desktop.ReadsOf(ctx).AddSnapshot(unchanged)
	return shot, nil
}

// read reads all windows of the app.
func (t *Tree) read(ctx context.Context, app desktop.App) (*desktop.Snapshot, error) {
	shot := &desktop.Snapshot{App: app, Taken: time.Now()}
	for _, w := range win32.TopLevel() {
		if pid, _ := w.Process(); int(pid) != app.PID || !isShown(w) {
			continue
		}
		elements, err := t.readWindow(ctx, w)
		switch {
		case err == nil:
		case aai.AsError(err).Code == aai.StaleRef:
			continue // it was closed meanwhile
		default:
			return nil, err
		}
		offset := len(shot.Elements)
		for i := range elements {
			if elements[i].Parent >= 0 {
				elements[i].Parent += offset
			}
		}
		shot.Elements = append(shot.Elements, elements...)
	}
	if win32.ReadProcess(uint32(app.PID), false).Narrow && slices.ContainsFunc(shot.Elements, func(e desktop.Element) bool { return e.UnreadChildren > 0 }) {
		shot.Warnings = append(shot.Warnings, "the program has 32 bits: window messages do not read the items of its lists, trees, tabs and bars")
	}
	desktop.SetEnds(shot.Elements)
	return shot, nil
}

// readWindow reads a window by the first source that returns elements.
func (t *Tree) readWindow(ctx context.Context, w win32.Window) ([]desktop.Element, error) {
	var first error
	for _, source := range t.config.Sources {
		elements, err := source.Read(ctx, w)
		if err == nil && len(elements) > 0 {
			return elements, nil
		}
		if err != nil && first == nil {
			first = err
		}
		if ctx.Err() != nil || !w.Exists() {
			break
		}
	}
	return nil, first
}

// number sets the snapshot's version. It returns true if its elements are those of the last snapshot of the app.
func (t *Tree) number(shot *desktop.Snapshot) (unchanged bool) {
	t.mu.Lock()
	defer t.mu.Unlock()
	last := t.last[shot.App.PID]
	if last != nil && last.App.Started == shot.App.Started && reflect.DeepEqual(last.Elements, shot.Elements) {
		shot.Version = last.Version
		return true
	}
	t.version++
	shot.Version = t.version
	t.last[shot.App.PID] = shot
	return false
}

// source returns the source of an element.
func (t *Tree) source(id desktop.ID) (Source, error) {
	for _, source := range t.config.Sources {
		if strings.HasPrefix(string(id), source.Prefix()) {
			return source, nil
		}
	}
	return nil, win32.Gone()
}

// ask runs a call for one element of an app.
func ask[T any](ctx context.Context, t *Tree, app desktop.App, id desktop.ID, call func(context.Context, Source) (T, error)) (T, error) {
	begun := time.Now()
	defer desktop.ReadsOf(ctx).AddTime(begun)
	var none T
	if ctx.Err() != nil {
		return none, expired(ctx)
	}
	source, err := t.source(id)
	if err != nil {
		return none, err
	}
	if err := t.check(app); err != nil {
		return none, err
	}
	return run(ctx, t.workers.of(app.PID), func(ctx context.Context) (T, error) { return call(ctx, source) })
}

// Read implements desktop.Tree.
func (t *Tree) Read(ctx context.Context, app desktop.App, id desktop.ID) (desktop.Element, error) {
	return ask(ctx, t, app, id, func(ctx context.Context, s Source) (desktop.Element, error) { return s.Element(ctx, id) })
}

// Children implements desktop.Tree.
func (t *Tree) Children(ctx context.Context, app desktop.App, id desktop.ID, first, count int) ([]desktop.Element, error) {
	return ask(ctx, t, app, id, func(ctx context.Context, s Source) ([]desktop.Element, error) {
		return s.Children(ctx, id, first, count)
	})
}

// Execute implements desktop.Actor.
func (t *Tree) Execute(ctx context.Context, app desktop.App, id desktop.ID, act desktop.Act) error {
	_, err := ask(ctx, t, app, id, func(ctx context.Context, s Source) (struct{}, error) { return struct{}{}, s.Execute(ctx, id, act) })
	return err
}
