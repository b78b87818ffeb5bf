package catalog

import (
	"bytes"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"
	"sync"
	"time"

	"github.com/gybob/aai-gateway"
)

// mtimeMargin is the minimum age of a modification for a file to count as unchanged later. File
// systems have coarse timestamps, so a second write may leave size and time unchanged.
const mtimeMargin = 2 * time.Second

// A loadedFile is the content of one descriptor's file when it was last read.
type loadedFile struct {
	foundFile
	info         fs.FileInfo
	readAt       time.Time
	readApp      *aai.App // never nil; with faults it holds the readable part
	readWarnings []Fault
	faults       *Faults
}

// stale reports whether the file must be read again.
func (l *loadedFile) stale(now fs.FileInfo) bool {
	if l == nil || l.info == nil || !os.SameFile(l.info, now) {
		return true
	}
	return l.info.Size() != now.Size() || !l.info.ModTime().Equal(now.ModTime()) ||
		l.readAt.Sub(l.info.ModTime()) < mtimeMargin
}

// scanner finds and reads descriptors and caches them. Only one goroutine may use it at a time.
type scanner struct {
	places  []Place
	options Options
	known   map[string]*loadedFile // by path
}

// scan scans all places. The files are in order of precedence.
func (s *scanner) scan() (files []*loadedFile, folders []string) {
	var found []foundFile
	seen := make(map[string]bool)
	for i := range s.places {
		here, looked := s.places[i].find()
		folders = append(folders, looked...)
		for _, f := range here {
			if !seen[f.path] {
				seen[f.path] = true
				found = append(found, f)
			}
		}
	}
	files = s.loadAll(found)
	s.known = make(map[string]*loadedFile, len(files))
	for _, f := range files {
		s.known[f.path] = f
	}
	return files, folders
}

// loadAll reads the files, as many concurrently as there are processors.
func (s *scanner) loadAll(found []foundFile) []*loadedFile {
	files := make([]*loadedFile, len(found))
	next := make(chan int)
	var workers sync.WaitGroup
	for range min(runtime.GOMAXPROCS(0), len(found)) {
		workers.Go(func() {
			var r reader
			for i := range next {
				files[i] = s.load(&r, found[i])
			}
		})
	}
	for i := range found {
		next <- i
	}
	close(next)
	workers.Wait()
	return files
}

// load reads and parses one file, or returns the cached result. It recovers from panics: they
// become a fault of the descriptor.
func (s *scanner) load(r *reader, f foundFile) (l *loadedFile) {
	defer func() {
		if p := recover(); p != nil {
			l = refusedFile(f, fmt.Sprintf("the gateway failed at reading it: %v", p))
			l.faults.List[0].Problem = aai.CleanLabel(l.faults.List[0].Problem, maxText)
		}
	}()
	if f.fault != "" {
		return refusedFile(f, f.fault)
	}
	before := s.known[f.path]
	if before != nil && before.entry != f.entry {
		before = nil
	}
	if info, err := os.Stat(f.path); err == nil && !before.stale(info) {
		same := *before
		same.foundFile = f
		return &same
	}
	readAt := time.Now()
	source, info, err := readRegular(f.path)
	if err != nil {
		return refusedFile(f, aai.AsError(err).Message)
	}
	l = &loadedFile{foundFile: f, info: info, readAt: readAt}
	if before != nil && before.info != nil && bytes.Equal(before.source(), source) {
		l.readApp, l.readWarnings, l.faults = before.readApp, before.readWarnings, before.faults
		return l
	}
	o := s.options
	o.Source, o.Modified, o.DesktopFile = f.path, info.ModTime(), f.entry
	d, faults := r.parse(source, o)
	l.readApp, l.readWarnings, l.faults = d.App, d.Warnings, faults
	return l
}

// source returns the descriptor as read, or nil if there is none.
func (l *loadedFile) source() []byte {
	return l.readApp.Descriptor.Raw
}

func refusedFile(f foundFile, problem string) *loadedFile {
	faults := &Faults{}
	faults.add("", problem)
	return &loadedFile{foundFile: f, readApp: &aai.App{}, faults: faults}
}

// folderName returns the name of the descriptor's folder if it should be the app's id, and
// otherwise "".
func (l *loadedFile) folderName() string {
	if !l.place.FolderIsID || filepath.Base(l.path) != FileName {
		return ""
	}
	return filepath.Base(filepath.Dir(l.path))
}

// snapshot scans and evaluates the files.
func (s *scanner) snapshot(own []*aai.App) *snapshot {
	files, folders := s.scan()
	return newSnapshot(own, files, folders)
}
