package atomicfile

import "golang.org/x/sys/windows"

// SetAccess sets the access list of a file to that of a descriptor in its text form.
func SetAccess(path, sddl string) error {
	d, err := windows.SecurityDescriptorFromString(sddl)
	if err != nil {
		return err
	}
	return setAccess(path, d)
}
