//go:build unix

package secrets

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
)

// TestModes checks that only the owner has access, whatever the umask.
func TestModes(t *testing.T) {
	old := syscall.Umask(0)
	defer syscall.Umask(old)
	v := newVault(t)
	put(t, v, "a", "1")
	put(t, v, "a", "2")
	assert.NilError(t, filepath.WalkDir(filepath.Dir(v.folder.path), func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		want := os.FileMode(0o600)
		if d.IsDir() {
			want = 0o700 | os.ModeDir
		}
		info, err := d.Info()
		if err == nil && info.Mode() != want {
			t.Errorf("%s has mode %s, expected %s", path, info.Mode(), want)
		}
		return err
	}))
}

// TestOpenModes checks that files that others may have read or changed are refused by name.
func TestOpenModes(t *testing.T) {
	v := newVault(t)
	put(t, v, "a", "1")
	for name, mode := range map[string]os.FileMode{
		"": 0o755, filepath.Base(theRecord(t, v)): 0o640, labelFile: 0o604, insecureFile: 0o660,
	} {
		path := v.folder.file(name)
		info, err := os.Stat(path)
		assert.NilError(t, err)
		assert.NilError(t, os.Chmod(path, mode))
		_, err = openVault(v.folder.path).Get(t.Context(), "a")
		e := refusal(t, err, aai.AutomationFailed)
		assert.Check(t, is.Contains(e.Message, path+": others may use it, its mode is 0"), e)
		assert.NilError(t, os.Chmod(path, info.Mode()))
		has(t, openVault(v.folder.path), "a", "1")
	}
}

// TestLinksAndPipes checks that a link cannot redirect the vault, and that a named pipe
// does not block it.
func TestLinksAndPipes(t *testing.T) {
	v := newVault(t)
	put(t, v, "a", "1")
	for _, name := range []string{filepath.Base(theRecord(t, v)), labelFile, insecureFile} {
		path := v.folder.file(name)
		elsewhere := filepath.Join(t.TempDir(), "elsewhere")
		assert.NilError(t, errors.Join(os.Rename(path, elsewhere), os.Symlink(elsewhere, path)))
		_, err := openVault(v.folder.path).Get(t.Context(), "a")
		e := refusal(t, err, aai.AutomationFailed)
		assert.Check(t, is.Contains(e.Message, path+" is a symbolic link"), e)
		assert.NilError(t, errors.Join(os.Remove(path), syscall.Mkfifo(path, 0o600)))
		_, err = openVault(v.folder.path).Get(t.Context(), "a")
		e = refusal(t, err, aai.AutomationFailed)
		assert.Check(t, is.Contains(e.Message, path+" is no regular file"), e)
		assert.NilError(t, errors.Join(os.Remove(path), os.Rename(elsewhere, path)))
	}
	has(t, openVault(v.folder.path), "a", "1")

	// The folder itself.
	link := filepath.Join(t.TempDir(), "secrets")
	assert.NilError(t, os.Symlink(v.folder.path, link))
	_, err := openVault(link).Get(t.Context(), "a")
	refuses(t, err, aai.AutomationFailed)

	// A link in the place of the new content, or of the lock, is not followed.
	victim := filepath.Join(t.TempDir(), "victim")
	write(t, victim, []byte("untouched"))
	stem := v.current.Load().fileOf("a")
	assert.NilError(t, os.Symlink(victim, v.folder.file(stem+".new")))
	put(t, v, "a", "2")
	assert.NilError(t, errors.Join(os.Remove(v.folder.file(stem+".lock")), os.Symlink(victim, v.folder.file(stem+".lock"))))
	begun := time.Now()
	refuses(t, v.Update(t.Context(), "a", func([]byte) ([]byte, error) { return []byte("3"), nil }), aai.AutomationFailed)
	assert.Check(t, time.Since(begun) <= lockPatience/2, "a link in the place of a lock was waited for")
	b := read(t, victim)
	assert.Check(t, is.Equal(string(b), "untouched"), "%q", b)
	has(t, v, "a", "2")
}

// TestKeyFileOfOthers checks that a key of another user, or a readable one, is refused by name.
func TestKeyFileOfOthers(t *testing.T) {
	d := newDesk(t)
	path := d.keyFile(newKey())
	d.env[KeyFileEnv] = path
	for _, mode := range []os.FileMode{0o644, 0o640, 0o604, 0o666} {
		assert.NilError(t, os.Chmod(path, mode))
		e := refusal(t, d.tryPut(), aai.AutomationNotSupported)
		assert.Check(t, is.Contains(e.Message, path+": others may use it"), e)
	}
	assert.NilError(t, errors.Join(os.Chmod(path, 0o600), os.Symlink(path, path+".link")))
	d.env[KeyFileEnv] = path + ".link"
	e := refusal(t, d.tryPut(), aai.AutomationNotSupported)
	assert.Check(t, is.Contains(e.Message, "is a symbolic link"), e)
	info, err := os.Stat(path)
	assert.NilError(t, err)
	assert.Check(t, checkOwner(stranger{info}) != nil, "a file of another user is ours")
	assert.Check(t, checkNotWritable("", stranger{info}) != nil, "a credential of another user is ours")
	d.env[KeyFileEnv] = path
	assert.Check(t, d.tryPut())
}

// stranger is a file of another user; only root could create a real one.
type stranger struct{ fs.FileInfo }

func (s stranger) Sys() any { return &syscall.Stat_t{Uid: uint32(os.Geteuid()) + 4711} }

// TestCredentialModes checks systemd's modes of a credential: 0440 with a list of readers, or 0400.
func TestCredentialModes(t *testing.T) {
	for mode, good := range map[os.FileMode]bool{0o400: true, 0o440: true, 0o600: true, 0o444: false, 0o420: false, 0o602: false} {
		d := newDesk(t)
		path := d.keyFile(newKey())
		d.env["CREDENTIALS_DIRECTORY"] = filepath.Dir(path)
		assert.NilError(t, os.Chmod(path, mode))
		err := d.tryPut()
		assert.Check(t, is.Equal(good, (err == nil)), "%04o %v", mode, err)
	}
}
