package win32

import (
	"unsafe"

	"golang.org/x/sys/windows"
)

// DesktopOfInput returns the name of the desktop that receives the person's input: "Default" is the usual one, "Winlogon" is that of the
// lock screen and of UAC. It returns "" if this process may not see it.
func DesktopOfInput() string {
	const readObjects, name = 1, 2
	handle, _, _ := procedure("user32.dll", "OpenInputDesktop").Call(0, 0, readObjects)
	if handle == 0 {
		return ""
	}
	defer procedure("user32.dll", "CloseDesktop").Call(handle) //nolint:errcheck // it was only read
	var text [128]uint16
	var needed uint32
	ok, _, _ := procedure("user32.dll", "GetUserObjectInformationW").Call(handle, name, uintptr(unsafe.Pointer(&text[0])), //nolint:gosec // the system fills it in
		unsafe.Sizeof(text), uintptr(unsafe.Pointer(&needed))) //nolint:gosec // likewise
	if ok == 0 {
		return ""
	}
	return windows.UTF16ToString(text[:])
}

// IsSessionLocked reports whether the person's session is locked; known is false if Windows does not tell.
func IsSessionLocked() (locked, known bool) {
	const sessionInfoEx, level1, lock, unlock = 25, 1, 0, 1
	var info *struct {
		level, _ uint32
		session  uint32
		state    int32
		flags    int32
	}
	var size uint32
	current := ^uintptr(0)
	ok, _, _ := procedure("wtsapi32.dll", "WTSQuerySessionInformationW").Call(0, current, sessionInfoEx,
		uintptr(unsafe.Pointer(&info)), uintptr(unsafe.Pointer(&size))) //nolint:gosec // the system fills them in
	if ok == 0 || info == nil {
		return false, false
	}
	defer procedure("wtsapi32.dll", "WTSFreeMemory").Call(uintptr(unsafe.Pointer(info))) //nolint:errcheck,gosec // it always works
	if uintptr(size) < unsafe.Sizeof(*info) || info.level != level1 {
		return false, false
	}
	return info.flags == lock, info.flags == lock || info.flags == unlock
}
