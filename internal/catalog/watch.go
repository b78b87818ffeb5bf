package catalog

import (
	"context"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"
)

// Timing of the watcher.
const (
	quietPeriod  = 200 * time.Millisecond // time without events before a scan
	maxQuietWait = 2 * time.Second        // maximum delay during continuous events
	pollEvery    = 5 * time.Second        // if watching is impossible
	maxWatches   = 4096                   // folders
	settleScans  = 5                      // scans while new folders keep appearing
)

// Start scans in the background and then watches the places until ctx ends. The returned channel closes when the
// watcher has stopped. If the system cannot watch, the watcher scans every few seconds. A second call starts nothing
// and returns a closed channel.
func (c *Catalog) Start(ctx context.Context) (stopped <-chan struct{}) {
	done := make(chan struct{})
	if c.started.Swap(true) {
		close(done)
		return done
	}
	go func() {
		defer close(done)
		s, err := c.current(ctx)
		if err != nil || !c.pause(ctx) {
			return
		}
		w := c.newWatch()
		defer w.close()
		w.run(ctx, w.follow(s))
	}()
	return done
}

// pause waits briefly after the first scan: the caller that waited for that scan is busy now, and
// setting watches uses the disk and a processor. The scan after setting the watches finds changes
// made meanwhile. It returns false if the context ended.
func (c *Catalog) pause(ctx context.Context) bool {
	timer := time.NewTimer(c.watchDelay)
	defer timer.Stop()
	select {
	case <-timer.C:
		return true
	case <-ctx.Done():
		return false
	}
}

// watch is the watcher's state. Only one goroutine uses it.
type watch struct {
	c       *Catalog
	watcher *fsnotify.Watcher // nil: polling only
	// watched holds the FileInfo of each folder when its watch was set. The watch of a moved folder moves with it, even
	// if another folder takes its name.
	watched  map[string]fs.FileInfo
	pollOnly bool // some folder cannot be watched
}

func (c *Catalog) newWatch() *watch {
	w := &watch{c: c, watched: make(map[string]fs.FileInfo)}
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		w.fallBackToPolling("the system's file watcher cannot be used", err)
		return w
	}
	w.watcher = watcher
	return w
}

func (w *watch) close() {
	if w.watcher != nil {
		_ = w.watcher.Close()
	}
}

func (w *watch) fallBackToPolling(why string, err error) {
	if !w.pollOnly {
		w.c.log.Warn("descriptors are looked for every few seconds instead of being watched: "+why,
			"every", pollEvery, "error", err)
	}
	w.pollOnly = true
}

// follow watches the folders of a snapshot. It scans again after setting watches, since files may
// have changed before, until all watches are set. It reports whether it succeeded.
func (w *watch) follow(s *snapshot) (settled bool) {
	for range settleScans {
		if !w.set(w.foldersToWatch(s)) {
			return true
		}
		s = w.c.rescan()
	}
	return false
}

// foldersToWatch returns the folders to watch: those that were read and the roots, or their
// nearest existing parents.
func (w *watch) foldersToWatch(s *snapshot) map[string]bool {
	folders := make(map[string]bool)
	for _, folder := range s.folders {
		folders[nearestExisting(folder)] = true
	}
	for _, place := range w.c.config.Places {
		if filepath.IsAbs(place.Root) {
			folders[nearestExisting(filepath.Clean(place.Root))] = true
			// Also the parent of the root, because a replaced folder keeps its old watch.
			folders[nearestExisting(filepath.Dir(filepath.Clean(place.Root)))] = true
		}
	}
	return folders
}

// nearestExisting returns the folder or its nearest existing parent.
func nearestExisting(folder string) string {
	for {
		info, err := os.Stat(folder)
		parent := filepath.Dir(folder)
		if err == nil && info.IsDir() || parent == folder {
			return folder
		}
		folder = parent
	}
}

// set sets the watches to those that are wanted, and reports whether any changed. It adds new
// watches before it removes others, so that a folder and its parent are never both unwatched.
func (w *watch) set(wanted map[string]bool) (changed bool) {
	if w.watcher == nil {
		return false
	}
	for folder, before := range w.watched {
		if now, err := os.Stat(folder); err != nil || !os.SameFile(before, now) {
			w.forget(folder)
			changed = true
		}
	}
	for folder := range wanted {
		if w.watched[folder] == nil {
			changed = w.add(folder) || changed
		}
	}
	for folder := range w.watched {
		if !wanted[folder] {
			w.forget(folder)
			changed = true
		}
	}
	return changed
}

// add watches a folder. It reports whether to scan again: not if the folder cannot be watched.
func (w *watch) add(folder string) bool {
	if len(w.watched) >= maxWatches {
		w.fallBackToPolling("there are too many folders", nil)
		return false
	}
	info, err := os.Stat(folder)
	if err != nil {
		return true // removed since
	}
	if err := w.watcher.Add(folder); err != nil {
		if _, gone := os.Stat(folder); gone != nil {
			return true
		}
		if !os.IsPermission(err) {
			w.fallBackToPolling("a folder cannot be watched", err)
		}
		return false
	}
	w.watched[folder] = info
	return true
}

// forget removes a watch. The folder may be gone, and its watch with it.
func (w *watch) forget(folder string) {
	_ = w.watcher.Remove(folder)
	delete(w.watched, folder)
}

// run scans after events, at intervals, and immediately if the watches are not settled.
func (w *watch) run(ctx context.Context, settled bool) {
	var events chan fsnotify.Event
	var failures chan error
	if w.watcher != nil {
		events, failures = w.watcher.Events, w.watcher.Errors
	}
	tick := newTicker(w.c.config.RescanInterval)
	defer tick.stop()
	var due debounce
	if !settled {
		due.push()
	}
	for {
		if w.pollOnly && tick.every != pollEvery && (tick.every == 0 || tick.every > pollEvery) {
			tick.stop()
			tick = newTicker(pollEvery)
		}
		select {
		case <-ctx.Done():
			return
		case event, ok := <-events:
			if !ok {
				events = nil
				w.fallBackToPolling("the watcher ended", nil)
			} else if w.isRelevant(event) {
				due.push()
			}
		case err, ok := <-failures:
			if !ok {
				failures = nil
			} else { // such as an overflow: events were lost
				w.c.log.Warn("the file watcher lost events", "error", err)
				due.push()
			}
		case <-due.channel():
			due = debounce{}
			if !w.follow(w.c.rescan()) {
				due.push()
			}
		case <-tick.channel():
			if !w.follow(w.c.rescan()) {
				due.push()
			}
		}
	}
}

// isRelevant reports whether an event can change the files of the places. It forgets the watch of
// a removed folder, so that it is set again.
func (w *watch) isRelevant(event fsnotify.Event) bool {
	if event.Has(fsnotify.Remove) || event.Has(fsnotify.Rename) {
		if w.watched[event.Name] != nil {
			w.forget(event.Name)
			return true
		}
	}
	for i := range w.c.config.Places {
		if w.c.config.Places[i].concerns(event.Name) {
			return true
		}
	}
	return w.isDescriptor(event.Name)
}

// isDescriptor reports whether the path is that of a descriptor or a parent of one. A .desktop
// file may name one outside the places' own folders.
func (w *watch) isDescriptor(name string) bool {
	for _, file := range w.c.snapshot.Load().files {
		if file.path == name || strings.HasPrefix(file.path, withSeparator(name)) {
			return true
		}
	}
	return false
}

// debounce waits for a pause in events, up to maxQuietWait.
type debounce struct {
	since time.Time
	timer <-chan time.Time
}

func (d *debounce) push() {
	now := time.Now()
	if d.since.IsZero() {
		d.since = now
	}
	d.timer = time.After(max(0, min(quietPeriod, maxQuietWait-now.Sub(d.since))))
}

func (d *debounce) channel() <-chan time.Time { return d.timer }

// ticker is a time.Ticker that may never tick.
type ticker struct {
	every  time.Duration
	ticker *time.Ticker
}

func newTicker(every time.Duration) ticker {
	if every <= 0 {
		return ticker{}
	}
	return ticker{every: every, ticker: time.NewTicker(every)}
}

func (t ticker) channel() <-chan time.Time {
	if t.ticker == nil {
		return nil
	}
	return t.ticker.C
}

func (t ticker) stop() {
	if t.ticker != nil {
		t.ticker.Stop()
	}
}
