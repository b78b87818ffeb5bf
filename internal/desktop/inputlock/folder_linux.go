package inputlock

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// Folder returns the folder that all gateways of this account share. It is in /run/user/<uid>,
// regardless of the environment, or else in /tmp, where X server sockets are too. Folder creates
// the one in /tmp if needed, and returns an error if it belongs to another account or is accessible
// to others.
func Folder() (string, error) {
	uid := os.Getuid()
	login := filepath.Join("/run/user", strconv.Itoa(uid))
	if private(login, uid) == nil {
		return filepath.Join(login, "aai-gateway", "seat"), nil
	}
	folder := filepath.Join("/tmp", "aai-gateway-"+strconv.Itoa(uid))
	if err := os.Mkdir(folder, 0o700); err != nil && !os.IsExist(err) {
		return "", err
	}
	if err := private(folder, uid); err != nil {
		return "", err
	}
	return filepath.Join(folder, "seat"), nil
}

// private returns an error unless folder is a directory that only the account may use.
func private(folder string, uid int) error {
	info, err := os.Lstat(folder)
	if err != nil {
		return err
	}
	stat, ok := info.Sys().(*syscall.Stat_t)
	switch {
	case !ok || !info.IsDir():
		return fmt.Errorf("%s is not a folder", folder)
	case int(stat.Uid) != uid:
		return fmt.Errorf("%s belongs to account %d, expected %d", folder, stat.Uid, uid)
	case info.Mode().Perm()&0o077 != 0:
		return fmt.Errorf("%s may be used by other accounts (%s), expected drwx------", folder, info.Mode())
	}
	return nil
}
