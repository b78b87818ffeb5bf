package secrets

import (
	"bytes"
	"io/fs"
	"os"
	"sync"
	"time"
)

// The limits of what is remembered: the consents are read at every call, and a
// token or two.
const (
	maxCachedFiles = 32
	maxCachedSize  = 64 << 10 // bytes
)

// settleTime is how old a file must be when it is read to be remembered. A file that is
// written later has a later time then, also where a file system counts time in
// steps of two seconds, so that no two different ones look the same. (Git's index
// has the same rule, for "racy" files.)
const settleTime = 3 * time.Second

// A recall remembers what files held, as long as they do not change.
type fileCache struct {
	mu    sync.Mutex
	files map[string]cachedFile // by path
}

type cachedFile struct {
	info    fs.FileInfo
	content []byte
}

// get returns what the file holds, if that is remembered and the file has not
// changed since.
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

// put remembers what the file held when it was read at that time.
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
