package gui

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gui/conversation"
	"github.com/gybob/aai-gateway/internal/gui/eventlog"
)

// A Watcher reports changes of what the tools of a desktop read. It asks for no consent, and reports no content. It is
// safe for concurrent use.
type Watcher struct{ engine *engine }

// WatcherOf returns the watcher of a desktop that New made; false for another app.
func WatcherOf(app *aai.App) (*Watcher, bool) {
	if app == nil {
		return nil, false
	}
	o, ok := app.Operator.(operator)
	if !ok {
		return nil, false
	}
	return &Watcher{o.engine}, true
}

const (
	// pollInterval is how often the system is looked at where it reports no changes.
	pollInterval = time.Second
	// retryInterval is the pause after a connection that reports changes has ended.
	retryInterval = time.Second
)

// Programs calls changed, which must not block, after a program or a window has come, gone, or got the focus, until stop.
func (w *Watcher) Programs(changed func()) (stop func()) {
	d := w.engine
	return follow(func(ctx context.Context, changed func()) error {
		if changes := d.OpenBackend().Changes; changes != nil {
			return changes.WatchWindows(ctx, changed)
		}
		return aai.Errorf(aai.AutomationNotSupported, "the system reports no changes of windows")
	}, d.programsDigest, changed)
}

// Clipboard calls changed, which must not block, after something was copied, until stop.
func (w *Watcher) Clipboard(changed func()) (stop func()) {
	d := w.engine
	return follow(func(ctx context.Context, changed func()) error {
		if changes := d.OpenBackend().Changes; changes != nil {
			return changes.WatchClipboard(ctx, changed)
		}
		return aai.Errorf(aai.AutomationNotSupported, "the system reports no changes of the clipboard")
	}, d.clipDigest, changed)
}

// Program calls changed, which must not block, after changes of a topic in the program with the name, also in its later
// runs, until stop. It fails if the name does not mean one running program.
func (w *Watcher) Program(ctx context.Context, name string, topic eventlog.Topic, changed func()) (stop func(), err error) {
	app, err := w.engine.Named(ctx, name)
	if err != nil {
		return nil, err
	}
	following, end := context.WithCancel(context.Background())
	go w.engine.followProgram(following, app, name, topic, changed)
	return end, nil
}

// followProgram listens to the runs of a program.
func (d *engine) followProgram(ctx context.Context, app desktop.App, name string, topic eventlog.Topic, changed func()) {
	for {
		r := d.recorders.For(ctx, app)
		stop := r.Listen(topic, changed)
		select {
		case <-r.Ended():
			stop()
		case <-ctx.Done():
			stop()
			return
		}
		var again bool
		if app, again = d.awaitProgram(ctx, name); !again {
			return
		}
		changed()
	}
}

// awaitProgram waits until the name means one running program; false if ctx ends before.
func (d *engine) awaitProgram(ctx context.Context, name string) (app desktop.App, ok bool) {
	news := make(chan struct{}, 1)
	news <- struct{}{}
	defer (&Watcher{d}).Programs(func() {
		select {
		case news <- struct{}{}:
		default:
		}
	})()
	for {
		select {
		case <-news:
			if app, err := d.Named(ctx, name); err == nil {
				return app, true
			}
		case <-ctx.Done():
			return app, false
		}
	}
}

// current returns the program as it is listed now.
func (d *engine) current(ctx context.Context, app desktop.App) (desktop.App, error) {
	apps, err := d.Apps(ctx)
	if err != nil {
		return app, err
	}
	for _, now := range apps {
		if conversation.ProcessOf(now) == conversation.ProcessOf(app) {
			return now, nil
		}
	}
	return app, aai.Errorf(aai.AppNotFound, "%s is not listed", aai.CleanLabel(app.Name, 80))
}

// Names returns the names of the running programs.
func (w *Watcher) Names(ctx context.Context) []string {
	apps, err := w.engine.Apps(ctx)
	if err != nil {
		return nil
	}
	names := make([]string, 0, len(apps))
	for _, a := range apps {
		names = append(names, aai.CleanLabel(a.ID, 80))
	}
	return names
}

// follow listens by listen, and calls changed after each event for which the digest differs. Where nothing reports changes
// it compares the digest every second. The first digest is not reported.
func follow(listen func(context.Context, func()) error, digest func(context.Context) [sha256.Size]byte, changed func()) (stop func()) {
	ctx, cancel := context.WithCancel(context.Background())
	news := make(chan struct{}, 1)
	signal := func() {
		select {
		case news <- struct{}{}:
		default:
		}
	}
	go func() {
		for ctx.Err() == nil {
			err := listen(ctx, signal)
			pause := retryInterval
			if err != nil && aai.AsError(err).Code == aai.AutomationNotSupported {
				pause = pollInterval
			}
			_ = aai.Sleep(ctx, pause) // the loop ends with the context
			signal()
		}
	}()
	go func() {
		var last [sha256.Size]byte
		for isFirst := true; ; isFirst = false {
			select {
			case <-news:
			case <-ctx.Done():
				return
			}
			now := digest(ctx)
			if now != last && !isFirst && ctx.Err() == nil {
				changed()
			}
			last = now
			if aai.Sleep(ctx, eventlog.FoldTime) != nil {
				return
			}
		}
	}()
	return cancel
}

// programsDigest identifies the rows of ax_list_apps.
func (d *engine) programsDigest(ctx context.Context) [sha256.Size]byte {
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	apps, err := d.Apps(ctx)
	if err != nil {
		return [sha256.Size]byte{}
	}
	focused := d.focusedWindows(ctx)
	var rows []any
	for _, a := range apps {
		rows = append(rows, viewOfApp(a), a.Started, focused[a.PID])
	}
	return jsonDigest(rows)
}

// clipDigest identifies the content of the clipboard.
func (d *engine) clipDigest(ctx context.Context) [sha256.Size]byte {
	board := d.OpenBackend().Clipboard
	if board == nil {
		return [sha256.Size]byte{}
	}
	ctx, cancel := context.WithTimeout(ctx, checkTimeout)
	defer cancel()
	clip, err := board.Get(ctx)
	if err != nil {
		return [sha256.Size]byte{}
	}
	return jsonDigest(clip)
}

func jsonDigest(v any) [sha256.Size]byte {
	text, err := json.Marshal(v)
	if err != nil {
		return [sha256.Size]byte{}
	}
	return sha256.Sum256(text)
}

// focusedWindows returns the title of the active window, by the process of its program.
func (d *engine) focusedWindows(ctx context.Context) map[int]string {
	windows := d.OpenBackend().Windows
	if windows == nil {
		return nil
	}
	all, err := windows.Windows(ctx)
	if err != nil {
		return nil
	}
	titles := map[int]string{}
	for _, w := range all {
		if _, known := titles[w.PID]; !known || w.Active { // the front one first
			titles[w.PID] = aai.CleanLabel(w.Title, 200)
		}
	}
	return titles
}
