package atomicfile

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"
)

// rewatchInterval is the interval of attempts to watch missing folders.
const rewatchInterval = 2 * time.Second

// Watch watches the paths that are the keys of words, until ctx ends. A path is a file, or a folder
// with its entries. After a change one goroutine calls tell with the path's word; several changes
// may result in one call, and a call that blocks delays the next. If the system supports no
// watching, Watch returns an error.
func Watch(ctx context.Context, words map[string]string, tell func(word string)) error {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return err
	}
	watched := make(map[string]bool)
	begin := func(first bool) {
		for path, word := range words {
			for _, folder := range []string{filepath.Dir(path), path} {
				if watched[folder] || folder == path && !isDir(path) || watcher.Add(folder) != nil {
					continue
				}
				watched[folder] = true
				if !first {
					tell(word) // changes before the watch were missed
				}
			}
		}
	}
	begin(true) // before Watch returns, so that later changes are reported
	go watchLoop(ctx, watcher, words, watched, begin, tell)
	return nil
}

func watchLoop(ctx context.Context, watcher *fsnotify.Watcher, words map[string]string, watched map[string]bool,
	begin func(first bool), tell func(word string)) {
	defer watcher.Close() //nolint:errcheck // nothing was written
	again := time.NewTicker(rewatchInterval)
	defer again.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-again.C:
			begin(false)
		case <-watcher.Errors: // events were lost: anything may have changed
			for _, word := range words {
				tell(word)
			}
		case event := <-watcher.Events:
			name := filepath.Clean(event.Name)
			if event.Has(fsnotify.Remove | fsnotify.Rename) {
				delete(watched, name)
			}
			for _, at := range []string{name, filepath.Dir(name)} {
				if word, ok := words[at]; ok {
					tell(word)
				}
			}
		}
	}
}
func isDir(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
