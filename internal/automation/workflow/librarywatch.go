package workflow

import (
	"context"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"

	"github.com/gybob/aai-gateway"
)

const (
	quietPeriod  = 200 * time.Millisecond // without events before it looks
	pollInterval = 5 * time.Second        // how often it looks where nothing can be watched, or there is no folder yet
)

// Watch tells the catalog's listeners when the workflows have changed, until ctx ends. Calls
// look for themselves.
func (l *Library) Watch(ctx context.Context) {
	watcher, err := fsnotify.NewWatcher()
	var events chan fsnotify.Event
	if err == nil {
		defer watcher.Close() //nolint:errcheck // nothing is left to be told
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

// watcherErrors are a watcher's, which may be none: after one anything may have happened.
func watcherErrors(w *fsnotify.Watcher) chan error {
	if w == nil {
		return nil
	}
	return w.Errors
}
