//go:build unix

package account

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"time"

	"aai"
	"aai/internal/wholefile"
)

// Home is the home folder that the system's list of accounts has. The variables of
// whoever started us are not asked, as user.Current would.
func Home() string {
	id := strconv.Itoa(os.Geteuid())
	if u, err := user.LookupId(id); err == nil {
		return u.HomeDir
	}
	// Accounts of a directory service are known to the C library alone.
	ctx, cancel := context.WithTimeout(context.Background(), 2*time.Second)
	defer cancel()
	cmd := exec.CommandContext(ctx, "/usr/bin/getent", "passwd", id)
	cmd.Env = []string{"PATH=/usr/bin:/bin"}
	out, err := cmd.Output()
	fields := strings.Split(strings.TrimSpace(string(out)), ":")
	if err != nil || len(fields) < 7 || fields[2] != id {
		return ""
	}
	return fields[5]
}

// SameFolder reports whether both paths lead to one folder.
func SameFolder(a, b string) bool {
	if a == b {
		return true
	}
	one, err := os.Stat(a)
	if err != nil {
		return false
	}
	other, err := os.Stat(b)
	return err == nil && os.SameFile(one, other)
}

// Root reads a file that root alone may write, of so many bytes at most; nil if there is
// none. What is there and not root's alone is an error: it may be somebody's who would
// allow themselves what they like, and it may be root's who meant to forbid something. So
// is one of whoever is root in a user namespace of their own.
func Root(path string, size int) ([]byte, error) {
	b, err := ofRoot(path, size)
	if b == nil || err != nil {
		return nil, err
	}
	return b, trueRoot()
}

// ofRoot reads a file that root alone may write, as all folders on the way to it.
func ofRoot(path string, size int) ([]byte, error) {
	real, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for at := real; ; at = filepath.Dir(at) {
		if err := rootsAlone(at); err != nil {
			return nil, err
		}
		if at == filepath.Dir(at) {
			return wholefile.Read(real, wholefile.Limits{Size: size})
		}
	}
}

// rootsAlone says why others than root may change what is there.
func rootsAlone(path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	return owned(path, info, 0)
}

// Mine says why others than this account and root may have changed what is there.
func Mine(path string) error {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return owned(path, info, 0, os.Geteuid())
}

// owned says by name why others than the owners may change what is there. Who may write
// a folder with the sticky bit cannot change what others have in it.
func owned(path string, info fs.FileInfo, owners ...int) error {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return fmt.Errorf("%s: nobody knows whose it is", path)
	}
	mine := false
	for _, id := range owners {
		mine = mine || int(stat.Uid) == id
	}
	name := aai.CleanLabel(path, 200)
	if !mine {
		return fmt.Errorf("%s belongs to %s; expected %s", name, userName(int(stat.Uid)), userName(owners[len(owners)-1]))
	}
	sticky := info.IsDir() && info.Mode()&os.ModeSticky != 0 && len(owners) > 1
	if mode := info.Mode().Perm(); mode&0o022 != 0 && !sticky {
		return fmt.Errorf("%s may be written by others, its mode is %04o; expected %04o: chmod go-w %s", name, mode, mode&^0o022, name)
	}
	return nil
}

// CheckHome says why the home folder is not one for this account: what is made in
// another's could not be read by them any more, and what they allowed is not this
// account's. One that is not there is nobody's.
func CheckHome(home string) error {
	var stat syscall.Stat_t
	if err := syscall.Stat(home, &stat); err != nil {
		return nil //nolint:nilerr // nobody's, as said
	}
	if int(stat.Uid) == os.Geteuid() {
		return nil
	}
	owner, self := userName(int(stat.Uid)), userName(os.Geteuid())
	e := aai.Errorf(aai.InvalidParams, "the home folder %s belongs to %s, and this is %s; expected a folder of its own", aai.CleanLabel(home, 200), owner, self)
	e.Hint = fmt.Sprintf("Start the gateway as %s, or set HOME to the home folder of %s (sudo -H does).", owner, self)
	return e
}

// userName is a user by name, as far as the computer knows one.
func userName(id int) string {
	number := strconv.Itoa(id)
	if u, err := user.LookupId(number); err == nil {
		return aai.CleanLabel(u.Username, 60)
	}
	return "the user " + number
}
