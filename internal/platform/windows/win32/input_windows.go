package win32

import (
	"encoding/binary"
	"unsafe"

	"golang.org/x/sys/windows"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// The kinds of input for an Input, and their flags.
const (
	mouseInput    = 0
	keyboardInput = 1

	MouseMove       = 0x0001
	MouseLeftDown   = 0x0002
	MouseLeftUp     = 0x0004
	MouseRightDown  = 0x0008
	MouseRightUp    = 0x0010
	MouseMiddleDown = 0x0020
	MouseMiddleUp   = 0x0040
	MouseWheel      = 0x0800
	MouseHWheel     = 0x1000
	MouseVirtual    = 0x4000 // the coordinates are those of all monitors
	MouseAbsolute   = 0x8000

	KeyExtended = 0x0001
	KeyUp       = 0x0002
	KeyUnicode  = 0x0004
)

// An Input is one piece of input for SendInput (INPUT). Its fields are those of a 64-bit system.
type Input struct {
	kind uint32
	_    uint32
	data [32]byte
}

// Mouse returns input of the mouse. x and y are of 0 to 65535 with MouseAbsolute.
func Mouse(flags uint32, x, y, data int32) Input {
	in := Input{kind: mouseInput}
	for i, field := range []uint32{uint32(x), uint32(y), uint32(data), flags} {
		binary.LittleEndian.PutUint32(in.data[4*i:], field)
	}
	return in
}

// Key returns input of a key.
func Key(virtual, scan uint16, flags uint32) Input {
	in := Input{kind: keyboardInput}
	binary.LittleEndian.PutUint16(in.data[0:], virtual)
	binary.LittleEndian.PutUint16(in.data[2:], scan)
	binary.LittleEndian.PutUint32(in.data[4:], flags)
	return in
}

// SendInput makes input as by the person's mouse and keyboard, without input of others in between. It returns how much was made.
func SendInput(in ...Input) (int, error) {
	if len(in) == 0 {
		return 0, nil
	}
	n, _, err := procedure("user32.dll", "SendInput").Call(uintptr(len(in)), uintptr(unsafe.Pointer(&in[0])), unsafe.Sizeof(in[0])) //nolint:gosec // the system reads the input
	if int(n) != len(in) {
		return int(n), err
	}
	return int(n), nil
}

// IsDown reports whether a key or button is down now.
func IsDown(virtual uint16) bool {
	state, _, _ := procedure("user32.dll", "GetAsyncKeyState").Call(uintptr(virtual))
	return uint16(state)&0x8000 != 0
}

// Pointer returns the place of the person's pointer.
func Pointer() desktop.Point {
	var at struct{ X, Y int32 }
	_, _, _ = procedure("user32.dll", "GetCursorPos").Call(uintptr(unsafe.Pointer(&at))) //nolint:gosec // the system fills in the point
	return desktop.Point{X: int(at.X), Y: int(at.Y)}
}

// Metric returns a measure of the system, such as [SwapButton].
func Metric(which int) int {
	value, _, _ := procedure("user32.dll", "GetSystemMetrics").Call(uintptr(which))
	return int(int32(value))
}

// The measures for Metric.
const (
	SwapButton = 23 // not 0: the right button is the main one
	virtualX   = 76
	virtualY   = 77
	virtualW   = 78
	virtualH   = 79
)

// VirtualScreen returns the rectangle around all monitors.
func VirtualScreen() desktop.Rect {
	return desktop.Rect{X: Metric(virtualX), Y: Metric(virtualY), W: Metric(virtualW), H: Metric(virtualH)}
}

// KeyFor returns the key of a character in the keyboard layout of the window's program, and its modifiers: 1 Shift, 2 Ctrl, 4 Alt. It
// returns false if no key types it.
func (w Window) KeyFor(r rune) (virtual uint16, modifiers byte, ok bool) {
	if r > 0xffff {
		return 0, 0, false
	}
	code, _, _ := procedure("user32.dll", "VkKeyScanExW").Call(uintptr(r), w.layout())
	if int16(code) == -1 {
		return 0, 0, false
	}
	return uint16(byte(code)), byte(code >> 8), true
}

// ScanCode returns the number of a key on the keyboard.
func (w Window) ScanCode(virtual uint16) uint16 {
	code, _, _ := procedure("user32.dll", "MapVirtualKeyExW").Call(uintptr(virtual), 0, w.layout())
	return uint16(code)
}

func (w Window) layout() uintptr {
	_, thread := w.Process()
	layout, _, _ := procedure("user32.dll", "GetKeyboardLayout").Call(uintptr(thread))
	return layout
}

// IsProtected reports whether the process has a higher integrity than this one, as a program run as administrator: Windows drops input
// for it without an error.
func IsProtected(pid uint32) bool {
	own, err := integrity(windows.GetCurrentProcessToken())
	if err != nil || pid == 0 {
		return false
	}
	process, err := windows.OpenProcess(windows.PROCESS_QUERY_LIMITED_INFORMATION, false, pid)
	if err != nil {
		return err == windows.ERROR_ACCESS_DENIED //nolint:errorlint // a system call returns it
	}
	defer windows.CloseHandle(process) //nolint:errcheck // it was only read
	var token windows.Token
	if err := windows.OpenProcessToken(process, windows.TOKEN_QUERY, &token); err != nil {
		return err == windows.ERROR_ACCESS_DENIED //nolint:errorlint // a system call returns it
	}
	defer token.Close() //nolint:errcheck // it was only read
	other, err := integrity(token)
	return err == nil && other > own
}

// integrity returns the integrity level of a token: the last part of its label's SID.
func integrity(token windows.Token) (uint32, error) {
	var size uint32
	_ = windows.GetTokenInformation(token, windows.TokenIntegrityLevel, nil, 0, &size)
	if size == 0 {
		return 0, windows.ERROR_NOT_SUPPORTED
	}
	buf := make([]byte, size)
	if err := windows.GetTokenInformation(token, windows.TokenIntegrityLevel, &buf[0], size, &size); err != nil {
		return 0, err
	}
	label := (*windows.Tokenmandatorylabel)(unsafe.Pointer(&buf[0])) //nolint:gosec // the system filled it in
	sid := label.Label.Sid
	return sid.SubAuthority(uint32(sid.SubAuthorityCount()) - 1), nil
}
