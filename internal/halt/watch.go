package halt

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"
)

const (
	// usual is how often the file is looked at beside its being watched, blind how often
	// where it cannot be.
	usual = time.Second
	blind = 50 * time.Millisecond
)

// watch tells of every change of the file, until Close.
func (h *Halt) watch() {
	if h.cfg.Changed == nil {
		return
	}
	ctx, end := context.WithCancel(context.Background())
	h.mu.Lock()
	h.end, h.ended = end, make(chan struct{})
	h.mu.Unlock()
	folder := filepath.Dir(h.cfg.Path)
	watcher, err := fsnotify.NewWatcher()
	if err == nil {
		err = os.MkdirAll(folder, 0o700)
	}
	if err == nil {
		err = watcher.Add(folder)
	}
	if err != nil {
		h.cfg.Log.Warn("what a person stops cannot be watched, and is looked at instead", "cause", err)
	}
	go h.look(ctx, h.mark(), watcher, err == nil)
}

// look tells of changes of what was. The watcher may be nil.
func (h *Halt) look(ctx context.Context, was string, watcher *fsnotify.Watcher, watched bool) {
	defer close(h.ended)
	var events chan fsnotify.Event
	var failures chan error
	if watcher != nil {
		defer watcher.Close() //nolint:errcheck // nothing is left to be told
		events, failures = watcher.Events, watcher.Errors
	}
	every := usual
	if !watched {
		every = blind
	}
	ticks := time.NewTicker(every)
	defer ticks.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case event := <-events:
			if filepath.Clean(event.Name) == filepath.Dir(h.cfg.Path) { // somebody took the folder away
				ticks.Reset(blind)
			}
		case <-failures:
		case <-ticks.C:
		}
		if is := h.mark(); is != was {
			was = is
			h.changed()
		}
	}
}

// mark is another one when the file is another one.
func (h *Halt) mark() string {
	stops, err := h.Stops()
	if err != nil {
		return err.Error()
	}
	if stops == nil {
		return ""
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return string(h.text)
}

func (h *Halt) changed() {
	if h.cfg.Changed != nil {
		h.cfg.Changed()
	}
}

// Close ends the watching.
func (h *Halt) Close() error {
	h.watching.Do(func() {})
	h.mu.Lock()
	end, ended := h.end, h.ended
	h.mu.Unlock()
	if end != nil {
		end()
		<-ended
	}
	return nil
}
