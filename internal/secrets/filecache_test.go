package secrets

import (
	"bytes"
	"errors"
	"os"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/files/atomicfile"
)

// makeOld sets a file's time to a minute ago.
func makeOld(t *testing.T, path string) time.Time {
	t.Helper()
	then := time.Now().Add(-time.Minute).Truncate(time.Second)
	assert.NilError(t, os.Chtimes(path, then, then))
	return then
}

func isRemembered(v *Vault, path string) bool {
	_, known := v.cache.get(path)
	return known
}

// TestRecall checks that the cache returns the current content after any change.
func TestRecall(t *testing.T) {
	v := newVault(t)
	put(t, v, "a", "first")
	path := theRecord(t, v)
	has(t, v, "a", "first")
	assert.Check(t, !isRemembered(v, path), "a file that was just written is remembered; the next one may look the same")
	for i, change := range []func(){
		func() { put(t, v, "a", "other") },
		func() { put(t, openVault(v.folder.path), "a", "other") },
		func() { put(t, openVault(v.folder.path), "a", "a longer one") },
	} {
		put(t, v, "a", "first")
		makeOld(t, path)
		has(t, v, "a", "first")
		assert.Check(t, isRemembered(v, path), "a file that is settled is not remembered")
		has(t, v, "a", "first")
		change()
		makeOld(t, path) // the time alone does not tell
		want, err := openVault(v.folder.path).Get(t.Context(), "a")
		assert.NilError(t, err, "%d %q", i, want)
		assert.Assert(t, string(want) != "first", "change %d: %q, %v", i, want, err)
		has(t, v, "a", string(want))
	}
	assert.NilError(t, v.Update(t.Context(), "a", func([]byte) ([]byte, error) { return nil, nil }))
	has(t, v, "a", "absent")
}

// TestRecallSeesDamage checks that damage is detected despite the cache.
func TestRecallSeesDamage(t *testing.T) {
	v := newVault(t)
	put(t, v, "a", "first")
	path := theRecord(t, v)
	good := read(t, path)
	for name, damage := range map[string]func() error{
		"cut":       func() error { return os.Truncate(path, 10) },
		"in place":  func() error { return os.WriteFile(path, bytes.Repeat([]byte{1}, len(good)), 0o600) },
		"is a link": func() error { return errors.Join(os.Rename(path, path+".moved"), os.Symlink(path+".moved", path)) },
	} {
		makeOld(t, path)
		has(t, v, "a", "first")
		assert.NilError(t, damage())
		if b, err := v.Get(t.Context(), "a"); err == nil {
			t.Errorf("%s: %q", name, b)
		} else {
			refuses(t, err, aai.AutomationFailed)
		}
		assert.NilError(t, errors.Join(os.Remove(path), os.WriteFile(path, good, 0o600), atomicfile.Restrict(path)))
	}
}

// TestRecallIsNotShared checks that the cache returns copies, within its limits.
func TestRecallIsNotShared(t *testing.T) {
	v := newVault(t)
	put(t, v, "a", "first")
	makeOld(t, theRecord(t, v))
	for range 3 {
		b, err := v.Get(t.Context(), "a")
		assert.Equal(t, string(b), "first", "%q", b)
		assert.NilError(t, err, "%q", b)
		clear(b)
	}
	put(t, v, "large", string(make([]byte, maxCachedSize+1)))
	large := v.folder.file(v.current.Load().fileOf("large") + sealedEnding)
	makeOld(t, large)
	has(t, v, "large", string(make([]byte, maxCachedSize+1)))
	assert.Check(t, !isRemembered(v, large), "a large record is remembered")
	for i := range 3 * maxCachedFiles {
		v.cache.put(string(rune('a'+i)), stale{}, nil, time.Now())
	}
	n := len(v.cache.files)
	assert.Check(t, n <= maxCachedFiles, "%d files are remembered", n)
}

// stale is a file of long ago.
type stale struct{ os.FileInfo }

func (stale) ModTime() time.Time { return time.Time{} }
