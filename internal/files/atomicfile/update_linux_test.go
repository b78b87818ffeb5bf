package atomicfile_test

import (
	"os"
	"path/filepath"
	"syscall"
	"testing"

	"github.com/gybob/aai-gateway/internal/files/atomicfile"
)

// TestUpdateOfLinks: a link is read through and replaced, where it leads stays as it was;
// a link in the place of the lock is not followed.
func TestUpdateOfLinks(t *testing.T) {
	folder := t.TempDir()
	there, path := filepath.Join(folder, "there"), filepath.Join(folder, "link")
	if err := os.WriteFile(there, []byte("7"), 0o644); err != nil {
		t.Fatal(err)
	}
	if err := os.Symlink(there, path); err != nil {
		t.Fatal(err)
	}
	if err := add(t.Context(), path); err != nil {
		t.Fatal(err)
	}
	if got, err := os.ReadFile(there); err != nil || string(got) != "7" {
		t.Errorf("where it led: %s, %v", got, err)
	}
	info, err := os.Lstat(path)
	if err != nil || info.Mode() != 0o600 {
		t.Fatalf("%v, %v", info, err)
	}
	if got, err := os.ReadFile(path); err != nil || string(got) != "8" {
		t.Errorf("%s, %v", got, err)
	}

	made := filepath.Join(folder, "made")
	if err := os.Symlink(made, there+".lock"); err != nil {
		t.Fatal(err)
	}
	if err := add(t.Context(), there); err == nil {
		t.Error("the link was followed")
	}
	if _, err := os.Lstat(made); err == nil {
		t.Error("a file was made where the link leads")
	}
}

// TestUpdateOfWhatIsNoFile: it is not waited for, and stays.
func TestUpdateOfWhatIsNoFile(t *testing.T) {
	folder := t.TempDir()
	pipe := filepath.Join(folder, "pipe")
	if err := syscall.Mkfifo(pipe, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := add(t.Context(), pipe); err == nil || err.Error() != "expected a regular file" {
		t.Errorf("got %v", err)
	}
	if info, err := os.Lstat(pipe); err != nil || info.Mode().IsRegular() {
		t.Errorf("%v, %v", info, err)
	}
}

// TestPrivate: with Private, a file that others can read is rejected.
func TestPrivate(t *testing.T) {
	path := filepath.Join(t.TempDir(), "secret")
	for mode, private := range map[os.FileMode]bool{0o600: true, 0o400: true, 0o640: false, 0o604: false, 0o610: false} {
		_ = os.Remove(path) // it may be read-only
		if err := os.WriteFile(path, []byte("1"), mode); err != nil {
			t.Fatal(err)
		}
		if err := os.Chmod(path, mode); err != nil { // whatever the umask
			t.Fatal(err)
		}
		limits := atomicfile.ReadLimits{Size: 10, Private: true}
		if _, err := atomicfile.Read(path, limits); (err == nil) != private {
			t.Errorf("%v: %v", mode, err)
		}
		limits.Private = false
		if _, err := atomicfile.Read(path, limits); err != nil {
			t.Errorf("%v, where that does not matter: %v", mode, err)
		}
	}
}

// TestLockThatIsAPipe: a pipe in place of a lock file does not block.
func TestLockThatIsAPipe(t *testing.T) {
	path := filepath.Join(t.TempDir(), "kept")
	if err := syscall.Mkfifo(path+".lock", 0o600); err != nil {
		t.Fatal(err)
	}
	_ = atomicfile.Update(t.Context(), path, atomicfile.ReadLimits{Size: 10}, func([]byte) ([]byte, error) { return []byte("x"), nil })
}
