package running

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

	"aai/internal/wholefile"
)

// List returns the calls that are under way in all gateways that tell in the folder, those
// that began first before the others, and how many more there are that nobody tells. What
// dead gateways left it takes away.
func List(folder string) (rows []Row, more int, err error) {
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
		if !is || strings.HasPrefix(name, ".") || !lives(path) {
			continue
		}
		text, err := wholefile.Read(path+fileEnding, wholefile.Limits{Size: maxFile})
		var said told
		if err != nil || json.Unmarshal(text, &said) != nil {
			continue // it has ended, or is none of ours
		}
		rows, more = append(rows, said.Calls...), more+said.More
	}
	slices.SortFunc(rows, func(a, b Row) int { return cmp.Or(a.Since.Compare(b.Since), cmp.Compare(a.Call, b.Call)) })
	return rows, more, nil
}

// lives reports whether the gateway that told lives still. What a dead one told is taken
// away.
func lives(path string) bool {
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

// look is how often the files are looked at where they cannot be watched.
const look = 50 * time.Millisecond

// await returns when something may have changed in one of the folders, or the context has
// ended. The watcher was made before what is known was read, so nothing is missed.
type await struct{ watcher *fsnotify.Watcher }

// awaiting watches folders, which it makes. What cannot be watched is looked at often.
func awaiting(folders ...string) await {
	watcher, err := fsnotify.NewWatcher()
	if err != nil {
		return await{}
	}
	for _, folder := range folders {
		if os.MkdirAll(folder, 0o700) != nil || watcher.Add(folder) != nil {
			_ = watcher.Close()
			return await{}
		}
	}
	return await{watcher}
}

func (a await) change(ctx context.Context) {
	every := time.Second
	var events chan fsnotify.Event
	var failures chan error
	if a.watcher == nil {
		every = look
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

func (a await) close() {
	if a.watcher != nil {
		_ = a.watcher.Close()
	}
}
