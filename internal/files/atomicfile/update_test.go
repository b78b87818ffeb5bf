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
	if err != nil {
		t.Fatal(err)
	}
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
			if out, err := cmd.CombinedOutput(); err != nil {
				t.Errorf("%v: %s", err, out)
			}
		})
	}
	for range turns {
		all.Go(func() {
			if err := add(t.Context(), path); err != nil {
				t.Error(err)
			}
		})
	}
	all.Wait()
	if got, err := os.ReadFile(path); err != nil || string(got) != strconv.Itoa(4*turns) {
		t.Errorf("%s, %v; expected %d", got, err, 4*turns)
	}
	onlyOwner(t, filepath.Dir(path), "count", "count.lock")
}

// TestTheDeadHaveNoLock: a process killed during an update changes nothing and blocks no other.
func TestTheDeadHaveNoLock(t *testing.T) {
	path := filepath.Join(t.TempDir(), "count")
	if err := add(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	p := testkit.StartProcess(t, process(t, path, "TEST_WHOLEFILE_STAYS=1"))
	if line := p.ReadLine(t); line != "within" {
		t.Fatalf("%q", line)
	}
	lock := flock.New(path + ".lock")
	if free, err := lock.TryLock(); free || err != nil {
		t.Errorf("the lock is free: %v, %v", free, err)
	}
	// Readers do not wait.
	if got, err := atomicfile.Read(path, small()); err != nil || string(got) != "1" {
		t.Errorf("%s, %v", got, err)
	}
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if err := add(ended, path); !errors.Is(err, context.Canceled) || !strings.Contains(err.Error(), path+".lock") {
		t.Errorf("who waits no longer: %v", err)
	}
	p.Kill()
	if err := add(t.Context(), path); err != nil {
		t.Error(err)
	}
	if got, err := atomicfile.Read(path, small()); err != nil || string(got) != "2" {
		t.Errorf("%s, %v", got, err)
	}
}

// TestEditFails: the error of edit is returned, and the file stays unchanged; likewise if the new
// content is too large.
func TestEditFails(t *testing.T) {
	path := filepath.Join(t.TempDir(), "count")
	if err := add(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	refused := errors.New("refused")
	err := atomicfile.Update(t.Context(), path, small(), func([]byte) ([]byte, error) { return []byte("9"), refused })
	if !errors.Is(err, refused) || err.Error() != "refused" {
		t.Errorf("got %v", err)
	}
	err = atomicfile.Update(t.Context(), path, small(), func([]byte) ([]byte, error) { return make([]byte, 101), nil })
	if err == nil || err.Error() != "expected at most 100 bytes" {
		t.Errorf("got %v", err)
	}
	err = atomicfile.Update(t.Context(), path, small(), func([]byte) ([]byte, error) { return []byte(strings.Repeat("1", 100)), nil })
	if err != nil {
		t.Error(err)
	}
	err = atomicfile.Update(t.Context(), path, atomicfile.ReadLimits{Size: 99}, func([]byte) ([]byte, error) {
		t.Error("what is too large was cut off")
		return nil, nil
	})
	if err == nil || err.Error() != "expected at most 99 bytes" {
		t.Errorf("got %v", err)
	}
	if got, err := os.ReadFile(path); err != nil || len(got) != 100 {
		t.Errorf("%d bytes, %v", len(got), err)
	}
	onlyOwner(t, filepath.Dir(path), "count", "count.lock")
}

// onlyOwner checks that the folder and those files in it are their owner's alone, and
// nothing else is there.
func onlyOwner(t *testing.T, folder string, names ...string) {
	t.Helper()
	entries, err := os.ReadDir(folder)
	if err != nil {
		t.Fatal(err)
	}
	var got []string
	for _, e := range entries {
		got = append(got, e.Name())
		if info, err := e.Info(); err != nil || info.Mode().Perm()&0o077 != 0 {
			t.Errorf("%s: %v, %v", e.Name(), info.Mode(), err)
		}
	}
	if strings.Join(got, " ") != strings.Join(names, " ") {
		t.Errorf("the folder has %q; expected %q", got, names)
	}
}
