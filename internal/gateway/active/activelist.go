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

	"github.com/gybob/aai-gateway/internal/files/atomicfile"
)

// ListActive returns the calls that are under way in all gateways that tell in the folder, those
// that began first before the others, and how many more there are that nobody tells. What
// dead gateways left it takes away.
func ListActive(folder string) (rows []ActiveCall, more int, err error) {
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
			continue // it has ended, or is none of ours
		}
		rows, more = append(rows, said.Calls...), more+said.Omitted
	}
	slices.SortFunc(rows, func(a, b ActiveCall) int { return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.Call, b.Call)) })
	return rows, more, nil
}

// isAlive reports whether the gateway that told lives still. What a dead one told is taken
// away.
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

// activePollInterval is how often the files are looked at where they cannot be watched.
const activePollInterval = 50 * time.Millisecond

// folderWatcher returns when something may have changed in one of the folders, or the context has
// ended. The watcher was made before what is known was read, so nothing is missed.
type folderWatcher struct{ watcher *fsnotify.Watcher }

// watchFolders watches folders, which it makes. What cannot be watched is looked at often.
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
				continue // it is being written
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
