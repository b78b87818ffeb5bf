package workflow

import (
	"context"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/gybob/aai-gateway"
)

const (
	quietPeriod  = 200 * time.Millisecond // without events before reading
	pollInterval = 5 * time.Second        // if nothing can be watched, or the folder is missing
)

// Watch notifies the catalog's listeners of changed workflows, until ctx ends. Calls read the
// files themselves.
func (l *Library) Watch(ctx context.Context) {
	watcher, err := fsnotify.NewWatcher()
	var events chan fsnotify.Event
	if err == nil {
		defer watcher.Close() //nolint:errcheck // no events are left
		events = watcher.Events
	}
	was, watched := l.App(), false
	for {
		var tick <-chan time.Time
		if err == nil && !watched {
			watched = watcher.Add(l.folder) == nil
		}
		if !watched {
			tick = time.After(pollInterval)
		}
		select {
		case <-ctx.Done():
			return
		case event := <-events:
			if filepath.Clean(event.Name) == l.folder && event.Has(fsnotify.Remove|fsnotify.Rename) {
				watched = false
			}
			if aai.Sleep(ctx, quietPeriod) != nil {
				return
			}
		case <-watcherErrors(watcher):
		case <-tick:
		}
		if now := l.App(); now != was {
			was = now
			l.listeners.Call()
		}
	}
}

// watcherErrors returns the errors of a watcher, which may be nil. After an error, events may be lost.
func watcherErrors(w *fsnotify.Watcher) chan error {
	if w == nil {
		return nil
	}
	return w.Errors
}
