package atomicfile_test

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"runtime"
	"slices"
	"sync"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/files/atomicfile"
)

// TestReadersSeeWholeFiles: while contents of two lengths take turns, a reader finds
// one of them, and nothing stays behind.
func TestReadersSeeWholeFiles(t *testing.T) {
	contents := [][]byte{bytes.Repeat([]byte("a"), 100_000), bytes.Repeat([]byte("b"), 7)}
	for name, put := range map[string]func(string, []byte) error{"replaced": atomicfile.Replace, "kept": atomicfile.ReplaceDurable} {
		t.Run(name, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "state.json")
			assert.NilError(t, put(path, contents[0]))
			var writer sync.WaitGroup
			done := make(chan struct{})
			writer.Go(func() {
				defer close(done)
				for i := range 100 {
					assert.Check(t, put(path, contents[i%2]))
				}
			})
			for reading := true; reading; {
				select {
				case <-done:
					reading = false
				default:
				}
				got, err := atomicfile.Read(path, atomicfile.ReadLimits{Size: 1 << 20})
				assert.NilError(t, err, "%d", len(got))
				assert.Assert(t, bytes.Equal(got, contents[0]) || bytes.Equal(got, contents[1]), "%d bytes, %v", len(got), err)
			}
			writer.Wait()
			alone(t, path)
		})
	}
}

// TestConcurrentReplaceDurable: one of them is last.
func TestConcurrentReplaceDurable(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.json")
	var all sync.WaitGroup
	for i := range 20 {
		all.Go(func() {
			assert.Check(t, atomicfile.ReplaceDurable(path, bytes.Repeat([]byte{'a' + byte(i)}, 1000)))
		})
	}
	all.Wait()
	got, err := os.ReadFile(path)
	assert.NilError(t, err)
	assert.Assert(t, is.Len(got, 1000))
	assert.Assert(t, bytes.Equal(got, bytes.Repeat(got[:1], 1000)), "%d bytes, %v", len(got), err)
	alone(t, path)
}

// hard is a file's name that patterns would take for others; Windows has no file with a star.
func hard() string {
	if runtime.GOOS == "windows" {
		return "a [b].json"
	}
	return "a [b]*.json"
}

// TestWhatTheKilledLeft: an abandoned temporary file is removed at the next write of the file;
// recent ones and similar names stay.
func TestWhatTheKilledLeft(t *testing.T) {
	for name, put := range map[string]func(string, []byte) error{"kept": atomicfile.ReplaceDurable, "amended": atomicfile.Modify} {
		folder := t.TempDir()
		path := filepath.Join(folder, hard())
		old := time.Now().Add(-2 * time.Minute)
		for _, left := range []string{"." + hard() + "-123", "." + hard() + "-124"} {
			assert.NilError(t, os.WriteFile(filepath.Join(folder, left), []byte("half of i"), 0o600))
		}
		assert.NilError(t, os.Chtimes(filepath.Join(folder, "."+hard()+"-123"), old, old))
		stays := []string{"." + hard() + "-", "." + hard() + "-1a", "." + hard() + "-1.new", hard() + "-1", ".a [b]x.json-1", ".other-1", "." + hard() + "-9"}
		for _, other := range stays {
			var err error
			if other == "."+hard()+"-9" {
				err = os.Mkdir(filepath.Join(folder, other), 0o700)
			} else {
				err = os.WriteFile(filepath.Join(folder, other), nil, 0o600)
			}
			err = errors.Join(err, os.Chtimes(filepath.Join(folder, other), old, old))
			assert.NilError(t, err)
		}
		assert.NilError(t, put(path, []byte("x")))
		var got []string
		entries, err := os.ReadDir(folder)
		for _, e := range entries {
			got = append(got, e.Name())
		}
		want := append(stays, "."+hard()+"-124", hard())
		slices.Sort(want)
		if slices.Sort(got); err != nil || !slices.Equal(got, want) {
			t.Errorf("%s: there are %q, %v; expected %q", name, got, err, want)
		}
	}
}

// TestWhatFailsLeavesNothing: a folder stands where the file should.
func TestWhatFailsLeavesNothing(t *testing.T) {
	path := filepath.Join(t.TempDir(), "state.json")
	assert.NilError(t, os.MkdirAll(filepath.Join(path, "in it"), 0o700))
	assert.Check(t, atomicfile.ReplaceDurable(path, []byte("x")) != nil, "a folder was replaced")
	alone(t, path)
	assert.Assert(t, atomicfile.ReplaceDurable(filepath.Join(path, "no folder", "f"), nil) != nil, "no folder, and no error")
	assert.Assert(t, atomicfile.Replace(filepath.Join(path, "no folder", "f"), nil) != nil, "no folder, and no error")
}

// alone checks that nothing else is in the file's folder, and that a file is its
// owner's alone.
func alone(t *testing.T, path string) {
	t.Helper()
	entries, err := os.ReadDir(filepath.Dir(path))
	assert.NilError(t, err)
	assert.Assert(t, is.Len(entries, 1))
	info, err := entries[0].Info()
	assert.NilError(t, err)
	if info.Mode().IsRegular() {
		assert.Check(t, checkPrivate(path, info))
	}
}
