package recording

import (
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"time"

	"github.com/gybob/aai-gateway/internal/automation/recorded"
)

// A stepFile is the file of a recording. New steps are appended. A replaced step may have held the beginning of a secret, so the
// file is then written anew, without it.
type stepFile struct {
	path   string
	header recorded.Header
	steps  []*recorded.Step // nil for one that was dropped
	file   *os.File
}

// createFile creates the file of a recording, with its header.
func (m *Manager) createFile(app string) (*stepFile, error) {
	begun := time.Now()
	f := &stepFile{header: recorded.Header{Recording: recorded.Version, App: app, Begun: begun.UTC()}}
	f.path = filepath.Join(m.Folder, fmt.Sprintf("%s-%s%s", recorded.Slug(app), begun.Format("20060102-150405"), suffix))
	if err := f.create(f.path); err != nil {
		return nil, unkeptError(err)
	}
	return f, nil
}

// create creates a file at the path with all that is known, and appends to it from then on.
func (f *stepFile) create(path string) error {
	file, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_EXCL|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	err = encode(file, f.header)
	for i, s := range f.steps {
		err = errors.Join(err, encode(file, recorded.Line{N: i + 1, Step: s}))
	}
	if err != nil {
		return errors.Join(err, file.Close(), os.Remove(path))
	}
	f.file = file
	return nil
}

// write keeps the nth step, from 1; nil drops it.
func (f *stepFile) write(n int, s *recorded.Step) error {
	if n > len(f.steps) {
		f.steps = append(f.steps, s)
		return encode(f.file, recorded.Line{N: n, Step: s})
	}
	f.steps[n-1] = s
	old, next := f.file, f.path+".new"
	if err := os.Remove(next); err != nil && !errors.Is(err, os.ErrNotExist) {
		return err
	}
	if err := f.create(next); err != nil {
		return err
	}
	return errors.Join(os.Rename(next, f.path), old.Close())
}

func (f *stepFile) close() error { return f.file.Close() }

func encode(file *os.File, line any) error {
	e := json.NewEncoder(file)
	e.SetEscapeHTML(false)
	return e.Encode(line)
}
