//go:build unix

package userinfo

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"os/exec"
	"os/user"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"syscall"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/files/atomicfile"
)

// HomeDir is the home folder that the system's list of accounts has. The variables of
// whoever started us are not asked, as user.Current would.
func HomeDir() string {
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

// SameDir reports whether both paths lead to one folder.
func SameDir(a, b string) bool {
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

// ReadRootOwned reads a file that root alone may write, of so many bytes at most; nil if there is
// none. What is there and not root's alone is an error: it may be somebody's who would
// allow themselves what they like, and it may be root's who meant to forbid something. So
// is one of whoever is root in a user namespace of their own.
func ReadRootOwned(path string, size int) ([]byte, error) {
	b, err := readRootOwned(path, size)
	if b == nil || err != nil {
		return nil, err
	}
	return b, checkInitialRoot()
}

// readRootOwned reads a file that root alone may write, as all folders on the way to it.
func readRootOwned(path string, size int) ([]byte, error) {
	real, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, nil
	}
	if err != nil {
		return nil, err
	}
	for at := real; ; at = filepath.Dir(at) {
		if err := checkRootOnly(at); err != nil {
			return nil, err
		}
		if at == filepath.Dir(at) {
			return atomicfile.Read(real, atomicfile.ReadLimits{Size: size})
		}
	}
}

// checkRootOnly says why others than root may change what is there.
func checkRootOnly(path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	return checkOwnerAndMode(path, info, 0)
}

// CheckOwned says why others than this account and root may have changed what is there.
func CheckOwned(path string) error {
	info, err := os.Stat(path)
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	if err != nil {
		return err
	}
	return checkOwnerAndMode(path, info, 0, os.Geteuid())
}

// ResolveOwned is where a file of this account really is, links followed. The file and its folder,
// or the deepest folder on the way to it that is there, must be this account's, and links
// on the way this account's or root's: what another one's link leads to is theirs to choose.
func ResolveOwned(path string) (string, error) {
	real, rest := filepath.Clean(path), ""
	for {
		found, err := filepath.EvalSymlinks(real)
		if err == nil {
			if err := checkLinkOwners(real); err != nil {
				return "", err
			}
			real = filepath.Join(found, rest)
			break
		}
		if _, linkErr := os.Lstat(real); !errors.Is(err, fs.ErrNotExist) || linkErr == nil || real == filepath.Dir(real) {
			return "", err // such as a link that leads nowhere
		}
		real, rest = filepath.Dir(real), filepath.Join(filepath.Base(real), rest)
	}
	for at := real; ; at = filepath.Dir(at) {
		info, err := os.Stat(at)
		if errors.Is(err, fs.ErrNotExist) {
			continue // the root is there
		}
		if err == nil {
			err = checkOwner(at, info, os.Geteuid())
		}
		if err != nil {
			return "", err
		}
		if at != real {
			return real, nil
		}
	}
}

// checkLinkOwners says which link on the way to a path is another account's.
func checkLinkOwners(path string) error {
	for at := path; at != filepath.Dir(at); at = filepath.Dir(at) {
		info, err := os.Lstat(at)
		if err != nil {
			return err
		}
		if info.Mode()&fs.ModeSymlink == 0 {
			continue
		}
		if err := checkOwner(at, info, 0, os.Geteuid()); err != nil {
			return err
		}
		to, err := os.Readlink(at)
		if err != nil {
			return err
		}
		if !filepath.IsAbs(to) {
			to = filepath.Join(filepath.Dir(at), to)
		}
		if err := checkLinkOwners(to); err != nil {
			return err
		}
	}
	return nil
}

// checkOwnerAndMode says by name why others than the owners may change what is there. Who may write
// a folder with the sticky bit cannot change what others have in it.
func checkOwnerAndMode(path string, info fs.FileInfo, owners ...int) error {
	if err := checkOwner(path, info, owners...); err != nil {
		return err
	}
	name := aai.CleanLabel(path, 200)
	sticky := info.IsDir() && info.Mode()&os.ModeSticky != 0 && len(owners) > 1
	if mode := info.Mode().Perm(); mode&0o022 != 0 && !sticky {
		return fmt.Errorf("%s may be written by others, its mode is %04o; expected %04o: chmod go-w %s", name, mode, mode&^0o022, name)
	}
	return nil
}

// checkOwner says by name whose something is that should be one of the owners'.
func checkOwner(path string, info fs.FileInfo, owners ...int) error {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return fmt.Errorf("%s: nobody knows whose it is", path)
	}
	if slices.Contains(owners, int(stat.Uid)) {
		return nil
	}
	return fmt.Errorf("%s belongs to %s; expected %s", aai.CleanLabel(path, 200), userName(int(stat.Uid)), userName(owners[len(owners)-1]))
}

// CheckHome says why the home folder is not one for this account: what is made in
// another's could not be read by them any more, and what they allowed is not this
// account's. One that is not there is nobody's. The root of the file system is no home,
// even root's: what is made there is everybody's.
func CheckHome(home string) error {
	if filepath.Clean(home) == "/" {
		self := userName(os.Geteuid())
		e := aai.Errorf(aai.InvalidParams, "the home folder is /, where all files of the computer are; expected a folder of %s", self)
		e.Hint = fmt.Sprintf("Set HOME to the home folder of %s (getent passwd %d names it), or to any folder that may keep the gateway's files.", self, os.Geteuid())
		return e
	}
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
