package active

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"
)

const (
	// pollInterval is the polling interval in addition to watching, unwatchedPollInterval the one
	// if watching fails.
	pollInterval          = time.Second
	unwatchedPollInterval = 50 * time.Millisecond
)

// startWatching calls OnChange after every change of the file, until Close.
func (h *StopList) startWatching() {
	if h.cfg.OnChange == nil {
		return
	}
	ctx, end := context.WithCancel(context.Background())
	h.mu.Lock()
	h.cancelWatch, h.watchEnded = end, make(chan struct{})
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
		h.cfg.Log.Warn("the stop list cannot be watched, and is polled instead", "cause", err)
	}
	go h.watchLoop(ctx, h.fingerprint(), watcher, err == nil)
}

// watchLoop reports changes relative to was. watcher may be nil.
func (h *StopList) watchLoop(ctx context.Context, was string, watcher *fsnotify.Watcher, watched bool) {
	defer close(h.watchEnded)
	var events chan fsnotify.Event
	var failures chan error
	if watcher != nil {
		defer watcher.Close() //nolint:errcheck // nothing was written
		events, failures = watcher.Events, watcher.Errors
	}
	every := pollInterval
	if !watched {
		every = unwatchedPollInterval
	}
	ticks := time.NewTicker(every)
	defer ticks.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case event := <-events:
			if filepath.Clean(event.Name) == filepath.Dir(h.cfg.Path) { // the folder was removed
				ticks.Reset(unwatchedPollInterval)
			}
		case <-failures:
		case <-ticks.C:
		}
		if is := h.fingerprint(); is != was {
			was = is
			h.notifyChanged()
		}
	}
}

// fingerprint returns a value that changes with the file.
func (h *StopList) fingerprint() string {
	stops, err := h.Stops()
	if err != nil {
		return err.Error()
	}
	if stops == nil {
		return ""
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return string(h.content)
}

func (h *StopList) notifyChanged() {
	if h.cfg.OnChange != nil {
		h.cfg.OnChange()
	}
}

// Close ends the watching of the file.
func (h *StopList) Close() error {
	h.watching.Do(func() {})
	h.mu.Lock()
	end, ended := h.cancelWatch, h.watchEnded
	h.mu.Unlock()
	if end != nil {
		end()
		<-ended
	}
	return nil
}
