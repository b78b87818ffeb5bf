//go:build unix

package secrets

import (
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/gybob/aai-gateway"
)

// TestModes checks that only the owner has access, whatever the umask.
func TestModes(t *testing.T) {
	old := syscall.Umask(0)
	defer syscall.Umask(old)
	v := newVault(t)
	put(t, v, "a", "1")
	put(t, v, "a", "2")
	if err := filepath.WalkDir(filepath.Dir(v.folder.path), func(path string, d fs.DirEntry, err error) error {
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
	}); err != nil {
		t.Fatal(err)
	}
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
		if err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		_, err = openVault(v.folder.path).Get(t.Context(), "a")
		if e := refusal(t, err, aai.AutomationFailed); !strings.Contains(e.Message, path+": others may use it, its mode is 0") {
			t.Error(e)
		}
		if err := os.Chmod(path, info.Mode()); err != nil {
			t.Fatal(err)
		}
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
		if err := errors.Join(os.Rename(path, elsewhere), os.Symlink(elsewhere, path)); err != nil {
			t.Fatal(err)
		}
		_, err := openVault(v.folder.path).Get(t.Context(), "a")
		if e := refusal(t, err, aai.AutomationFailed); !strings.Contains(e.Message, path+" is a symbolic link") {
			t.Error(e)
		}
		if err := errors.Join(os.Remove(path), syscall.Mkfifo(path, 0o600)); err != nil {
			t.Fatal(err)
		}
		_, err = openVault(v.folder.path).Get(t.Context(), "a")
		if e := refusal(t, err, aai.AutomationFailed); !strings.Contains(e.Message, path+" is no regular file") {
			t.Error(e)
		}
		if err := errors.Join(os.Remove(path), os.Rename(elsewhere, path)); err != nil {
			t.Fatal(err)
		}
	}
	has(t, openVault(v.folder.path), "a", "1")

	// The folder itself.
	link := filepath.Join(t.TempDir(), "secrets")
	if err := os.Symlink(v.folder.path, link); err != nil {
		t.Fatal(err)
	}
	_, err := openVault(link).Get(t.Context(), "a")
	refuses(t, err, aai.AutomationFailed)

	// A link in the place of the new content, or of the lock, is not followed.
	victim := filepath.Join(t.TempDir(), "victim")
	write(t, victim, []byte("untouched"))
	stem := v.current.Load().fileOf("a")
	if err := os.Symlink(victim, v.folder.file(stem+".new")); err != nil {
		t.Fatal(err)
	}
	put(t, v, "a", "2")
	if err := errors.Join(os.Remove(v.folder.file(stem+".lock")), os.Symlink(victim, v.folder.file(stem+".lock"))); err != nil {
		t.Fatal(err)
	}
	begun := time.Now()
	refuses(t, v.Update(t.Context(), "a", func([]byte) ([]byte, error) { return []byte("3"), nil }), aai.AutomationFailed)
	if time.Since(begun) > lockPatience/2 {
		t.Error("a link in the place of a lock was waited for")
	}
	if b := read(t, victim); string(b) != "untouched" {
		t.Errorf("the victim has %q", b)
	}
	has(t, v, "a", "2")
}

// TestKeyFileOfOthers checks that a key of another user, or a readable one, is refused by name.
func TestKeyFileOfOthers(t *testing.T) {
	d := newDesk(t)
	path := d.keyFile(newKey())
	d.env[KeyFileEnv] = path
	for _, mode := range []os.FileMode{0o644, 0o640, 0o604, 0o666} {
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		if e := refusal(t, d.tryPut(), aai.AutomationNotSupported); !strings.Contains(e.Message, path+": others may use it") {
			t.Error(e)
		}
	}
	if err := errors.Join(os.Chmod(path, 0o600), os.Symlink(path, path+".link")); err != nil {
		t.Fatal(err)
	}
	d.env[KeyFileEnv] = path + ".link"
	if e := refusal(t, d.tryPut(), aai.AutomationNotSupported); !strings.Contains(e.Message, "is a symbolic link") {
		t.Error(e)
	}
	info, err := os.Stat(path)
	if err != nil {
		t.Fatal(err)
	}
	if err := checkOwner(stranger{info}); err == nil {
		t.Error("a file of another user is ours")
	}
	if err := checkNotWritable(stranger{info}); err == nil {
		t.Error("a credential of another user is ours")
	}
	d.env[KeyFileEnv] = path
	if err := d.tryPut(); err != nil {
		t.Error(err)
	}
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
		if err := os.Chmod(path, mode); err != nil {
			t.Fatal(err)
		}
		if err := d.tryPut(); good != (err == nil) {
			t.Errorf("%04o: %v", mode, err)
		}
	}
}
