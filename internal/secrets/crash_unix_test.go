//go:build unix

package secrets

import (
	"bufio"
	"context"
	"errors"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strconv"
	"sync"
	"syscall"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/testkit"
)

// killRounds returns the number of killed processes: AAI_KILL_ROUNDS, or 20.
func killRounds(t *testing.T) int {
	t.Helper()
	text := os.Getenv("AAI_KILL_ROUNDS")
	if text == "" {
		return 20
	}
	n, err := strconv.Atoi(text)
	assert.NilError(t, err, "AAI_KILL_ROUNDS: %v", err)
	return n
}

// TestKill checks that a process killed at any moment loses no acknowledged record, and
// leaves no partial one. AAI_KILL_ROUNDS=200 kills more often.
func TestKill(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data", "secrets")
	kept := 0
	for round := range killRounds(t) {
		p := testkit.StartProcess(t, child(t, path, []string{allowInsecureEnv}, "count", "number", "1000000"))
		time.AfterFunc(time.Duration(20+rand.IntN(120))*time.Millisecond, func() { _ = p.Process.Kill() })
		for lines := bufio.NewScanner(p.Out); lines.Scan(); {
			if n, err := strconv.Atoi(lines.Text()); err == nil && n == kept+1 {
				kept = n
			} else {
				t.Fatalf("round %d: %q after %d, %v", round, lines.Text(), kept, err)
			}
		}
		_ = p.Wait() // killed
		v := openVault(path)
		b, err := v.Get(t.Context(), "number")
		assert.NilError(t, err, "%d", round)
		// One more record may be stored without acknowledgement.
		if b == nil && kept == 0 {
			continue
		}
		if n, err := strconv.Atoi(string(b)); err != nil || n != kept && n != kept+1 {
			t.Fatalf("round %d: the record is %q; expected %d or one more", round, b, kept)
		} else {
			kept = n
		}
	}
	assert.Check(t, kept != 0, "no process ever came to keep anything")
	left := files(t, openVault(path), ".new")
	if len(left) > 2 { // at most one of the record and one of key.json
		t.Errorf("left behind: %q", left)
	}
	put(t, openVault(path), "number", "0")
	left = files(t, openVault(path), ".new")
	assert.Check(t, len(left) <= 1, "left behind after a change: %q", left)
}

// TestProcesses checks that eight processes on one new folder lose nothing, on the same
// record and on their own, and use one key.
func TestProcesses(t *testing.T) {
	path := filepath.Join(t.TempDir(), "data", "secrets")
	var wg sync.WaitGroup
	for i := range 8 {
		for _, id := range []string{"same", "own " + strconv.Itoa(i)} {
			cmd := child(t, path, []string{allowInsecureEnv}, "count", id, "25")
			wg.Go(func() {
				out, err := cmd.CombinedOutput()
				assert.Check(t, err, out)
			})
		}
	}
	wg.Wait()
	v := openVault(path)
	has(t, v, "same", "200")
	for i := range 8 {
		has(t, v, "own "+strconv.Itoa(i), "25")
	}
	names, err := v.Names(t.Context(), "")
	assert.Assert(t, is.Len(names, 9))
	assert.NilError(t, err)
}

// TestLockedByAnother checks that a held lock of a record does not block reads or changes
// of others, and that waiting for it can be cancelled.
func TestLockedByAnother(t *testing.T) {
	v := newVault(t)
	put(t, v, "a", "1")
	unlock, err := v.folder.lock(t.Context(), v.current.Load().fileOf("a"))
	assert.NilError(t, err)
	other := openVault(v.folder.path)
	has(t, other, "a", "1")
	put(t, other, "b", "2")
	ctx, cancel := context.WithTimeout(t.Context(), 30*time.Millisecond)
	defer cancel()
	err = other.Update(ctx, "a", func([]byte) ([]byte, error) { return []byte("2"), nil })
	e := refusal(t, err, aai.Timeout)
	assert.Check(t, is.Contains(e.Message, ".lock"), e)
	unlock()
	put(t, other, "a", "2")
	has(t, v, "a", "2")
}

// TestFullWriter checks that a change on a full disk fails, that the old record stays, and
// that changes succeed once there is room. The full writer is a fake; see also
// TestFullDisk.
func TestFullWriter(t *testing.T) {
	v := newVault(t)
	put(t, v, "a", "kept")
	whole := v.folder.write
	for room := range 200 {
		v.folder.write = func(f *os.File, content []byte) error {
			if len(content) > room {
				return errors.Join(whole(f, content[:room]), syscall.ENOSPC)
			}
			return whole(f, content)
		}
		err := v.Update(t.Context(), "a", func([]byte) ([]byte, error) { return make([]byte, 100), nil })
		e := refusal(t, err, aai.AutomationFailed)
		assert.Assert(t, is.ErrorIs(e, syscall.ENOSPC))
		assert.Assert(t, is.Contains(e.Message, "no space left"))
		has(t, v, "a", "kept")
		left := files(t, v, ".new")
		assert.Assert(t, is.Len(left, 0), "room for %d: left behind: %q", room, left)
		fresh := openVault(filepath.Join(t.TempDir(), "secrets"))
		fresh.folder.write = v.folder.write
		err = fresh.Update(t.Context(), "a", func([]byte) ([]byte, error) { return make([]byte, 100), nil })
		assert.Assert(t, err != nil, "room for %d: a record of more was kept", room)
		// A key stored before the disk was full is used from then on.
		fresh.folder.write = whole
		put(t, fresh, "a", "at last")
		has(t, openVault(fresh.folder.path), "a", "at last")
	}
	v.folder.write = whole
	put(t, v, "a", "changed")
	has(t, v, "a", "changed")
}
