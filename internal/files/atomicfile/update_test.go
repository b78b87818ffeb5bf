package atomicfile_test

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/gofrs/flock"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/files/atomicfile"
	"github.com/gybob/aai-gateway/internal/testkit"
)

// small are limits for tests.
func small() atomicfile.ReadLimits { return atomicfile.ReadLimits{Size: 100} }

// add counts one more in a file. On a slow disk the others may take longer than Update
// waits for them.
func add(ctx context.Context, path string) error {
	err := addOnce(ctx, path)
	for errors.Is(err, context.DeadlineExceeded) {
		err = addOnce(ctx, path)
	}
	return err
}

func addOnce(ctx context.Context, path string) error {
	return atomicfile.Update(ctx, path, small(), func(old []byte) ([]byte, error) {
		n := 0
		if old != nil {
			var err error
			if n, err = strconv.Atoi(string(old)); err != nil {
				return nil, err
			}
		}
		return []byte(strconv.Itoa(n + 1)), nil
	})
}

// The modes in which TestProcessesTakeTurns and TestTheDeadHaveNoLock start this test binary.
const (
	adderOf = "TEST_WHOLEFILE_ADDS_TO"
	turns   = 20
)

func TestMain(m *testing.M) {
	path := os.Getenv(adderOf)
	if path == "" {
		os.Exit(m.Run())
	}
	var err error
	if os.Getenv("TEST_WHOLEFILE_STAYS") != "" {
		err = atomicfile.Update(context.Background(), path, small(), func([]byte) ([]byte, error) {
			fmt.Println("within")
			select {} // until it is killed
		})
	}
	for i := 0; i < turns && err == nil; i++ {
		err = add(context.Background(), path)
	}
	if err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	os.Exit(0)
}

// process is this test binary as another process that adds to the file.
func process(t *testing.T, path string, env ...string) *exec.Cmd {
	t.Helper()
	self, err := os.Executable()
	assert.NilError(t, err)
	cmd := exec.CommandContext(t.Context(), self)
	cmd.Env = append(append(os.Environ(), adderOf+"="+path), env...)
	return cmd
}

// TestProcessesTakeTurns: no concurrent write of three processes and many goroutines is lost.
func TestProcessesTakeTurns(t *testing.T) {
	path := filepath.Join(t.TempDir(), "folder", "count")
	var all sync.WaitGroup
	for range 3 {
		cmd := process(t, path)
		all.Go(func() {
			out, err := cmd.CombinedOutput()
			assert.Check(t, err, out)
		})
	}
	for range turns {
		all.Go(func() {
			assert.Check(t, add(t.Context(), path))
		})
	}
	all.Wait()
	got, err := os.ReadFile(path)
	assert.NilError(t, err, "%s %d", got, 4*turns)
	assert.Equal(t, string(got), strconv.Itoa(4*turns), "%s %d", got, 4*turns)
	onlyOwner(t, filepath.Dir(path), "count", "count.lock")
}

// TestTheDeadHaveNoLock: a process killed during an update changes nothing and blocks no other.
func TestTheDeadHaveNoLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "count")
	assert.NilError(t, add(t.Context(), path))
	p := testkit.StartProcess(t, process(t, path, "TEST_WHOLEFILE_STAYS=1"))
	assert.Equal(t, p.ReadLine(t), "within")
	lock := flock.New(path + ".lock")
	free, err := lock.TryLock()
	assert.Assert(t, !free, "the lock is free: %v, %v", free, err)
	assert.NilError(t, err, free)
	// Readers do not wait.
	got, err := atomicfile.Read(path, small())
	assert.NilError(t, err, got)
	assert.Equal(t, string(got), "1", got)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	err = add(ended, path)
	assert.Assert(t, is.ErrorIs(err, context.Canceled))
	assert.Assert(t, is.ErrorContains(err, path+".lock"))
	p.Kill()
	assert.Check(t, add(t.Context(), path))
	got, err = atomicfile.Read(path, small())
	assert.NilError(t, err, got)
	assert.Equal(t, string(got), "2", got)
}

// TestEditFails: the error of edit is returned, and the file stays unchanged; likewise if the new
// content is too large.
func TestEditFails(t *testing.T) {
	path := filepath.Join(t.TempDir(), "count")
	assert.NilError(t, add(t.Context(), path))
	refused := errors.New("refused")
	err := atomicfile.Update(t.Context(), path, small(), func([]byte) ([]byte, error) { return []byte("9"), refused })
	assert.Assert(t, is.ErrorIs(err, refused))
	assert.Equal(t, err.Error(), "refused")
	err = atomicfile.Update(t.Context(), path, small(), func([]byte) ([]byte, error) { return make([]byte, 101), nil })
	assert.Assert(t, err != nil, err)
	assert.Equal(t, err.Error(), "expected at most 100 bytes", err)
	err = atomicfile.Update(t.Context(), path, small(), func([]byte) ([]byte, error) { return []byte(strings.Repeat("1", 100)), nil })
	assert.Check(t, err)
	err = atomicfile.Update(t.Context(), path, atomicfile.ReadLimits{Size: 99}, func([]byte) ([]byte, error) {
		t.Error("what is too large was cut off")
		return nil, nil
	})
	assert.Assert(t, err != nil, err)
	assert.Equal(t, err.Error(), "expected at most 99 bytes", err)
	got, err := os.ReadFile(path)
	assert.NilError(t, err)
	assert.Assert(t, is.Len(got, 100))
	onlyOwner(t, filepath.Dir(path), "count", "count.lock")
}

// onlyOwner checks that the folder and those files in it are their owner's alone, and
// nothing else is there.
func onlyOwner(t *testing.T, folder string, names ...string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	assert.NilError(t, err)
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
		info, err := e.Info()
		assert.NilError(t, err)
		assert.Check(t, checkPrivate(filepath.Join(folder, e.Name()), info))
	}
	assert.Check(t, is.Equal(strings.Join(got, " "), strings.Join(names, " ")), "%q %q", got, names)
}

// TestWatch: changes of a file, of a folder's entries and of a folder created later are reported
// by their words; siblings are not.
func TestWatch(t *testing.T) {
	folder := t.TempDir()
	write := func(name string) {
		t.Helper()
		path := filepath.Join(folder, name)
		assert.NilError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		f, err := os.OpenFile(path, os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
		assert.NilError(t, err)
		_, err = f.WriteString("line\n")
		assert.NilError(t, err)
		assert.NilError(t, f.Close())
	}
	write("below/first")
	told := make(chan string, 1000)
	assert.NilError(t, atomicfile.Watch(t.Context(), map[string]string{
		filepath.Join(folder, "file"): "file", filepath.Join(folder, "below"): "below", filepath.Join(folder, "later", "file"): "later",
	}, func(word string) { told <- word }))
	for _, c := range []struct{ path, word string }{
		{"file", "file"}, {"beside", ""}, {"file", "file"}, {"below/second", "below"}, {"later/file", "later"},
	} {
		write(c.path)
		for c.word != "" && <-told != c.word { // until it is reported, however often others are
		}
		if c.word == "" {
			for len(told) > 0 {
				<-told
			}
			write(c.path)
			write("file")
			got := <-told
			assert.Check(t, is.Equal(got, "file"), "%s is told as %q", c.path, got)
		}
	}
}
