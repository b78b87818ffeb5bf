package inputlock

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"syscall"
)

// Folder is the folder in which all gateways of this account agree: in the folder of
// the login, by the account's number and whatever the environment says, or else in
// /tmp, where the sockets of X servers are too. It is made if need be, and refused if it
// is another's or others may write there.
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

// private fails for what is not a folder that the account alone may use.
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
