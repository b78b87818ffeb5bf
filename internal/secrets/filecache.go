package secrets

import (
	"bytes"
	"io/fs"
	"os"
	"sync"
	"time"
)

// Limits of the cache: every call reads the consents, and a token or two.
const (
	maxCachedFiles = 32
	maxCachedSize  = 64 << 10 // bytes
)

// settleTime is the minimum age of a file, at the time of reading, for the cache. A later
// change then has a later time, even if the file system counts time in steps of two
// seconds, so that two different files never look the same. (Git's index has the same
// rule, for "racy" files.)
const settleTime = 3 * time.Second

// A fileCache holds the content of unchanged files.
type fileCache struct {
	mu    sync.Mutex
	files map[string]cachedFile // by path
}

type cachedFile struct {
	info    fs.FileInfo
	content []byte
}

// get returns the content of the file, if it is cached and the file has not changed since.
func (r *fileCache) get(path string) ([]byte, bool) {
	r.mu.Lock()
	was, known := r.files[path]
	r.mu.Unlock()
	if !known {
		return nil, false
	}
	is, err := os.Lstat(path)
	if err != nil || !os.SameFile(was.info, is) || is.Mode() != was.info.Mode() ||
		is.Size() != was.info.Size() || !is.ModTime().Equal(was.info.ModTime()) {
		r.mu.Lock()
		delete(r.files, path)
		r.mu.Unlock()
		return nil, false
	}
	return bytes.Clone(was.content), true
}

// put caches the content of a file that was read at that time.
func (r *fileCache) put(path string, info fs.FileInfo, content []byte, at time.Time) {
	if len(content) > maxCachedSize || at.Sub(info.ModTime()) < settleTime {
		return
	}
	r.mu.Lock()
	defer r.mu.Unlock()
	if r.files == nil || len(r.files) >= maxCachedFiles {
		r.files = make(map[string]cachedFile)
	}
	r.files[path] = cachedFile{info, bytes.Clone(content)}
}
