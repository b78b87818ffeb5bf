package atomicfile

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"unsafe"

	"golang.org/x/sys/windows"
)

// noFollow has no equivalent on Windows.
const noFollow = 0

// isReadableByOthers reports whether the access list of a file gives others any access to it.
func isReadableByOthers(path string, _ fs.FileInfo) bool { return CheckPrivate(path) != nil }

// isOwnedByUser returns true: files in a profile belong to its owner.
func isOwnedByUser(fs.FileInfo) bool { return true }

// copyOwnerAndMode gives a file the access list of the file at a path; owners stay as they are.
func copyOwnerAndMode(f *os.File, path string, _ fs.FileInfo) error {
	like, err := windows.GetNamedSecurityInfo(path, windows.SE_FILE_OBJECT, windows.DACL_SECURITY_INFORMATION)
	if err != nil {
		return err
	}
	control, _, err := like.Control()
	if err != nil || control&windows.SE_DACL_PROTECTED == 0 {
		return err // both inherit that of the folder
	}
	return setAccess(f.Name(), like)
}

// Restrict gives access to a file or folder, and to new entries of a folder, to this account and to the system only.
func Restrict(path string) error {
	user, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		return err
	}
	flags := ""
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		flags = "OICI"
	}
	d, err := windows.SecurityDescriptorFromString(fmt.Sprintf("D:P(A;%s;FA;;;%s)(A;%s;FA;;;SY)", flags, user.User.Sid, flags))
	if err != nil {
		return err
	}
	return setAccess(path, d)
}

// setAccess sets the access list of a file or folder, without that of the folder above.
func setAccess(path string, d *windows.SECURITY_DESCRIPTOR) error {
	name, err := windows.UTF16PtrFromString(path)
	if err != nil {
		return err
	}
	handle, err := windows.CreateFile(name, windows.WRITE_DAC, windows.FILE_SHARE_READ|windows.FILE_SHARE_WRITE|windows.FILE_SHARE_DELETE, nil,
		windows.OPEN_EXISTING, windows.FILE_FLAG_BACKUP_SEMANTICS, 0) // also folders
	if err != nil {
		return &os.PathError{Op: "restrict", Path: path, Err: err}
	}
	defer windows.CloseHandle(handle) //nolint:errcheck // it was only lent
	return windows.SetKernelObjectSecurity(handle, windows.DACL_SECURITY_INFORMATION|windows.PROTECTED_DACL_SECURITY_INFORMATION, d)
}

// CheckPrivate returns an error if accounts other than this one, the system and the administrators have access to a file or
// folder, other than to its attributes.
func CheckPrivate(path string) error {
	user, err := windows.GetCurrentProcessToken().GetTokenUser()
	if err != nil {
		return err
	}
	d, err := windows.GetNamedSecurityInfo(path, windows.SE_FILE_OBJECT, windows.OWNER_SECURITY_INFORMATION|windows.DACL_SECURITY_INFORMATION)
	if err != nil {
		return err
	}
	owner, _, err := d.Owner()
	if err != nil {
		return err
	}
	if !isTrusted(owner, user.User.Sid) {
		return fmt.Errorf("it belongs to another account, %s", accountName(owner))
	}
	list, _, err := d.DACL()
	if err != nil || list == nil {
		return errors.Join(errors.New("everybody has access to it; expected only this account"), err)
	}
	for i := range uint32(list.AceCount) {
		var entry *windows.ACCESS_ALLOWED_ACE
		if err := windows.GetAce(list, i, &entry); err != nil {
			return err
		}
		if sid := allowed(entry); sid != nil && !isTrusted(sid, user.User.Sid) {
			return fmt.Errorf("%s has access to it; expected only this account", accountName(sid))
		}
	}
	return nil
}

// allowed returns the account to which an entry of an access list gives more than a look at attributes, or nil.
func allowed(entry *windows.ACCESS_ALLOWED_ACE) *windows.SID {
	const attributes = windows.READ_CONTROL | windows.SYNCHRONIZE | windows.FILE_READ_ATTRIBUTES | windows.FILE_READ_EA
	if entry.Header.AceType == windows.ACCESS_DENIED_ACE_TYPE || entry.Header.AceFlags&windows.INHERIT_ONLY_ACE != 0 || entry.Mask&^attributes == 0 {
		return nil
	}
	return (*windows.SID)(unsafe.Pointer(&entry.SidStart)) //nolint:gosec // as the structure is documented
}

// isTrusted reports whether an account is the user, or one that Windows does not keep from any file.
func isTrusted(sid, user *windows.SID) bool {
	return sid.Equals(user) || sid.IsWellKnown(windows.WinLocalSystemSid) || sid.IsWellKnown(windows.WinBuiltinAdministratorsSid) ||
		sid.IsWellKnown(windows.WinCreatorOwnerRightsSid)
}

func accountName(sid *windows.SID) string {
	name, domain, _, err := sid.LookupAccount("")
	if err != nil {
		return sid.String()
	}
	if domain == "" {
		return name
	}
	return domain + `\` + name
}
