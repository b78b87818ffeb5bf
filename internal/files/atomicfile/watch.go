// Package watchfile tells when files change, whoever changes them, for who shows what several
// gateways of a person do. It knows paths and nothing of what is in them.
package atomicfile

import (
	"context"
	"os"
	"path/filepath"
	"time"

	"github.com/fsnotify/fsnotify"
)

// rewatchInterval is how often folders that could not be watched are tried again.
const rewatchInterval = 2 * time.Second

// Watch tells of changes until ctx ends: of a file, or of whatever lies in a folder, at one of
// the paths. It tells by the word that stands for the path, from one goroutine, at once and
// not always of each change; a tell that blocks delays the next. Where the system tells
// nothing, neither does Watch: it returns why.
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
					tell(word) // what came meanwhile nobody saw
				}
			}
		}
	}
	begin(true) // what comes after Watch has returned is told
	go watchLoop(ctx, watcher, words, watched, begin, tell)
	return nil
}

func watchLoop(ctx context.Context, watcher *fsnotify.Watcher, words map[string]string, watched map[string]bool, begin func(first bool), tell func(word string)) {
	defer watcher.Close() //nolint:errcheck // nothing is left to be told
	again := time.NewTicker(rewatchInterval)
	defer again.Stop()
	for {
		select {
		case <-ctx.Done():
			return
		case <-again.C:
			begin(false)
		case <-watcher.Errors: // events were lost: anything may have happened
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
