//go:build unix

package audit

import (
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"syscall"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
)

// TestModes checks that only the owner can access the files.
func TestModes(t *testing.T) {
	old := syscall.Umask(0)
	defer syscall.Umask(old)
	path := journalPath(t)
	record(t, open(t, path), received("c1"))
	for name, want := range map[string]os.FileMode{
		path: 0o600, filepath.Dir(path): 0o700 | os.ModeDir, filepath.Dir(filepath.Dir(path)): 0o700 | os.ModeDir,
	} {
		info, err := os.Stat(name)
		assert.NilError(t, err)
		assert.Check(t, is.Equal(info.Mode(), want), name)
	}
}

// TestSymlink checks that a link cannot redirect the journal, before the first entry or after.
func TestSymlink(t *testing.T) {
	for _, exists := range []bool{true, false} {
		folder := t.TempDir()
		elsewhere, path := filepath.Join(folder, "elsewhere"), filepath.Join(folder, "audit.jsonl")
		if exists {
			write(t, elsewhere, "")
		}
		assert.NilError(t, os.Symlink(elsewhere, path))
		j := New(path)
		assert.Check(t, j.Record(t.Context(), received("c1")) != nil, "the link was followed")
		info, err := os.Stat(elsewhere)
		assert.Check(t, is.Equal(exists, (err == nil)), "%v %v", info, err)
		assert.Check(t, !exists || info.Size() == 0, "elsewhere: %v, %v", info, err)
		assert.NilError(t, os.Remove(path))
		record(t, j, received("c2"))
		assert.NilError(t, os.Rename(path, elsewhere))
		assert.NilError(t, os.Symlink(elsewhere, path))
		assert.Check(t, j.Record(t.Context(), intent("c3")) != nil, "the link was followed to the very same file")
		assert.Check(t, j.Close())
	}
}

// TestFullDisk checks that records fail on a full disk, and that the journal continues
// once there is room, without damage from a partial line.
func TestFullDisk(t *testing.T) {
	path := journalPath(t)
	child(t, "full", path, "")
	found := past(t, path)
	assert.Assert(t, len(found) >= 2, "%+v", found)
	assert.Equal(t, found[0].Call, "after", "%+v", found)
	assert.Equal(t, found[0].Door, aai.DoorMCP, "%+v", found)
	assert.Equal(t, found[0].Result, "unknown", "%+v", found)
	for _, p := range found[1:] {
		assert.Check(t, p.Call != "too much", "what could not be recorded is in the history")
	}
}

// fillAsChild records up to a limit on the size of files, which the system applies in the
// middle of a line, as a full disk would; then it lifts the limit. The limit is per
// process, so this runs in a child.
func fillAsChild(path string) error {
	signal.Ignore(syscall.SIGXFSZ)
	var limit syscall.Rlimit
	if err := syscall.Getrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		return err
	}
	small := limit
	small.Cur = 1100
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &small); err != nil {
		return err
	}
	j := New(path)
	failed := 0
	for i := range 20 {
		id := fmt.Sprint("c", i)
		if failed > 0 {
			id = "too much"
		}
		if j.Record(nil, received(id)) != nil { //nolint:staticcheck // Record has no use for a context
			failed++
		}
	}
	if failed < 10 {
		return fmt.Errorf("only %d entries did not fit into %d bytes", failed, small.Cur)
	}
	if b, err := os.ReadFile(path); err != nil || len(b) == 0 || b[len(b)-1] != '\n' {
		return fmt.Errorf("%q, %w: what was written of a line was not taken back", b, err)
	}
	if err := syscall.Setrlimit(syscall.RLIMIT_FSIZE, &limit); err != nil {
		return err
	}
	return errors.Join(j.Record(nil, received("after")), j.Close()) //nolint:staticcheck // as above
}

// TestPipesAreNotWaitedFor checks that irregular files are named in errors, and block
// neither a record nor a reader nor Close.
func TestPipesAreNotWaitedFor(t *testing.T) {
	for _, end := range []string{"", ".key", ".chain"} {
		t.Run("audit.jsonl"+end, func(t *testing.T) {
			path := filepath.Join(t.TempDir(), "audit.jsonl")
			assert.NilError(t, syscall.Mkfifo(path+end, 0o600))
			j := New(path)
			_, verify := j.Verify(t.Context())
			for what, err := range map[string]error{"record": j.Record(t.Context(), received("c1")), "ready": j.Ready(t.Context()), "verify": verify} {
				assert.Check(t, is.ErrorContains(err, path+end+": it is a named pipe; expected a regular file"), what)
			}
			assert.Check(t, j.Close())
		})
	}
}
