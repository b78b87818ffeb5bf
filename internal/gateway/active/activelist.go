package active

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/fsnotify/fsnotify"
	"github.com/gofrs/flock"

	"github.com/gybob/aai-gateway/internal/answer"
	"github.com/gybob/aai-gateway/internal/files/atomicfile"
)

// ListActive returns the active calls of all gateways that publish in the folder, the oldest
// first, and the number of further calls that are not listed. It removes the files of dead
// gateways.
func ListActive(folder string) (rows []answer.ActiveCall, more int, err error) {
	files, err := os.ReadDir(folder)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, 0, nil
	}
	if err != nil {
		return nil, 0, err
	}
	for _, file := range files {
		name, is := strings.CutSuffix(file.Name(), fileEnding)
		path := filepath.Join(folder, name)
		if !is || strings.HasPrefix(name, ".") || !isAlive(path) {
			continue
		}
		text, err := atomicfile.Read(path+fileEnding, atomicfile.ReadLimits{Size: maxActiveFile})
		var said activeFile
		if err != nil || json.Unmarshal(text, &said) != nil {
			continue // removed meanwhile, or a foreign file
		}
		rows, more = append(rows, said.Calls...), more+said.Omitted
	}
	slices.SortFunc(rows, func(a, b answer.ActiveCall) int { return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.Call, b.Call)) })
	return rows, more, nil
}

// isAlive reports whether the publishing gateway still runs. It removes the files of a dead one.
func isAlive(path string) bool {
	lock := flock.New(path+lockEnding, flock.SetPermissions(0o600))
	free, err := lock.TryRLock()
	if err != nil || !free {
		return err == nil
	}
	_ = os.Remove(path + fileEnding)
	_ = lock.Unlock()
	_ = os.Remove(path + lockEnding)
	return false
}

// activePollInterval is the polling interval if the files cannot be watched.
const activePollInterval = 50 * time.Millisecond

// folderWatcher waits for changes in folders. Create it before reading the state, so that no
// change is missed.
type folderWatcher struct{ watcher *fsnotify.Watcher }

// watchFolders creates and watches folders. If watching fails, waitForChange polls.
func watchFolders(folders ...string) folderWatcher {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return folderWatcher{}
	}
	for _, folder := range folders {
		if os.MkdirAll(folder, 0o700) != nil || watcher.Add(folder) != nil {
			_ = watcher.Close()
			return folderWatcher{}
		}
	}
	return folderWatcher{watcher}
}

func (a folderWatcher) waitForChange(ctx context.Context) {
	every := time.Second
	var events chan fsnotify.Event
	var failures chan error
	if a.watcher == nil {
		every = activePollInterval
	} else {
		events, failures = a.watcher.Events, a.watcher.Errors
	}
	timer := time.NewTimer(every)
	defer timer.Stop()
	for {
		select {
		case event := <-events:
			if name := filepath.Base(event.Name); strings.HasPrefix(name, ".") || strings.HasSuffix(name, lockEnding) {
				continue // a file is being written
			}
		case <-failures:
		case <-timer.C:
		case <-ctx.Done():
		}
		return
	}
}

func (a folderWatcher) close() {
	if a.watcher != nil {
		_ = a.watcher.Close()
	}
}
