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

// HomeDir returns the home folder in the system's account database. It ignores the environment,
// unlike user.Current.
func HomeDir() string {
	id := strconv.Itoa(os.Geteuid())
	if u, err := user.LookupId(id); err == nil {
		return u.HomeDir
	}
	// Only the C library knows accounts of a directory service.
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

// SameDir reports whether both paths lead to the same folder.
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

// ReadRootOwned reads a file of at most size bytes that only root can write; nil if it is
// missing. A file that others can write is an error: it may grant its author rights, or may be
// root's attempt to forbid something. A file from a user namespace with its own root is an error
// too.
func ReadRootOwned(path string, size int) ([]byte, error) {
	b, err := readRootOwned(path, size)
	if b == nil || err != nil {
		return nil, err
	}
	return b, checkInitialRoot()
}

// readRootOwned reads a file if only root can write it and all folders above.
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

// checkRootOnly returns an error if others than root can change the path.
func checkRootOnly(path string) error {
	info, err := os.Lstat(path)
	if err != nil {
		return err
	}
	return checkOwnerAndMode(path, info, 0)
}

// CheckOwned returns an error if others than this account and root can change the path. It accepts a missing path.
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

// ResolveOwned returns the path of a file of this account with links resolved. This account must
// own the file and its folder, or the deepest existing folder above. Links on the way must belong
// to this account or root, since their owner controls the target.
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
			return "", err // such as a link without a target
		}
		real, rest = filepath.Dir(real), filepath.Join(filepath.Base(real), rest)
	}
	for at := real; ; at = filepath.Dir(at) {
		info, err := os.Stat(at)
		if errors.Is(err, fs.ErrNotExist) {
			continue // ends at the root at the latest
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

// checkLinkOwners returns an error that names a link on the path that belongs to another account.
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

// checkOwnerAndMode returns an error if path belongs to none of the owners, or if the group or
// others may write to it. It accepts a folder with the sticky bit, in which others cannot replace
// an owner's files, unless there is only one owner.
func checkOwnerAndMode(path string, info fs.FileInfo, owners ...int) error {
	if err := checkOwner(path, info, owners...); err != nil {
		return err
	}
	name := aai.CleanLabel(path, 200)
	sticky := info.IsDir() && info.Mode()&os.ModeSticky != 0 && len(owners) > 1
	if mode := info.Mode().Perm(); mode&0o022 != 0 && !sticky {
		return fmt.Errorf("%s may be written by others, its mode is %04o; expected %04o: chmod go-w %s", name, mode,
			mode&^0o022, name)
	}
	return nil
}

// checkOwner returns an error with the owner's name if it is none of the owners.
func checkOwner(path string, info fs.FileInfo, owners ...int) error {
	stat, ok := info.Sys().(*syscall.Stat_t)
	if !ok {
		return fmt.Errorf("%s: nobody knows whose it is", path)
	}
	if slices.Contains(owners, int(stat.Uid)) {
		return nil
	}
	return fmt.Errorf("%s belongs to %s; expected %s", aai.CleanLabel(path, 200), userName(int(stat.Uid)),
		userName(owners[len(owners)-1]))
}

// CheckHome returns an error if the home folder does not suit this account: files in another
// account's home could become unreadable to that account, and its consents do not apply here. A
// missing folder is accepted. The file system's root is rejected even for root, since all users
// share it.
func CheckHome(home string) error {
	if filepath.Clean(home) == "/" {
		self := userName(os.Geteuid())
		e := aai.Errorf(aai.InvalidParams, "the home folder is /, where all files of the computer are; expected a folder of %s", self)
		e.Hint = fmt.Sprintf("Set HOME to the home folder of %s (getent passwd %d names it), or to any folder that may "+
			"keep the gateway's files.", self, os.Geteuid())
		return e
	}
	var stat syscall.Stat_t
	if err := syscall.Stat(home, &stat); err != nil {
		return nil //nolint:nilerr // a missing home is accepted
	}
	if int(stat.Uid) == os.Geteuid() {
		return nil
	}
	owner, self := userName(int(stat.Uid)), userName(os.Geteuid())
	e := aai.Errorf(aai.InvalidParams, "the home folder %s belongs to %s, and this is %s; expected a folder of its own",
		aai.CleanLabel(home, 200), owner, self)
	e.Hint = fmt.Sprintf("Start the gateway as %s, or set HOME to the home folder of %s (sudo -H does).", owner, self)
	return e
}

// userName returns the name of a user, or its number in words.
func userName(id int) string {
	number := strconv.Itoa(id)
	if u, err := user.LookupId(number); err == nil {
		return aai.CleanLabel(u.Username, 60)
	}
	return "the user " + number
}
