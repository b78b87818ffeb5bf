package win32

import (
	"errors"
	"unsafe"

	"golang.org/x/sys/windows"
)

// A ClipFormat is a format of the clipboard.
type ClipFormat uint32

// The formats that Windows numbers.
const (
	ClipText   ClipFormat = 13 // CF_UNICODETEXT
	ClipBitmap ClipFormat = 17 // CF_DIBV5
)

// RegisterClipFormat returns the format of a name, such as "PNG".
func RegisterClipFormat(name string) ClipFormat {
	text, err := windows.UTF16PtrFromString(name)
	if err != nil {
		return 0
	}
	format, _, _ := procedure("user32.dll", "RegisterClipboardFormatW").Call(uintptr(unsafe.Pointer(text))) //nolint:gosec // the system reads it
	return ClipFormat(format)
}

// A Clipboard is the open clipboard. The thread that opened it uses and closes it.
type Clipboard struct{ owner Window }

// OpenClipboard opens the clipboard for the calling thread. It fails while another program has it open.
func OpenClipboard() (*Clipboard, error) {
	owner, err := NewWindow(WindowSpec{Class: "Static", MessageOnly: true}) // without an owner nothing can be put there
	if err != nil {
		return nil, err
	}
	if ok, _, err := procedure("user32.dll", "OpenClipboard").Call(uintptr(owner)); ok == 0 {
		owner.Destroy()
		return nil, err
	}
	return &Clipboard{owner}, nil
}

// ClipboardHolder returns the process that has the clipboard open, or 0.
func ClipboardHolder() uint32 {
	w, _, _ := procedure("user32.dll", "GetOpenClipboardWindow").Call()
	pid, _ := Window(w).Process()
	return pid
}

// Close closes the clipboard; its content stays.
func (c *Clipboard) Close() {
	_, _, _ = procedure("user32.dll", "CloseClipboard").Call()
	c.owner.Destroy()
}

// Has reports whether the clipboard holds the format, or one that Windows converts to it.
func (*Clipboard) Has(format ClipFormat) bool {
	ok, _, _ := procedure("user32.dll", "IsClipboardFormatAvailable").Call(uintptr(format))
	return ok != 0
}

// ErrClipTooLarge reports more bytes than the caller accepts.
var ErrClipTooLarge = errors.New("the clip is too large")

// Read returns the content in the format; Windows may append zeros. It waits for a program that provides its content only when asked.
func (*Clipboard) Read(format ClipFormat, most int) ([]byte, error) {
	memory, _, err := procedure("user32.dll", "GetClipboardData").Call(uintptr(format))
	if memory == 0 {
		return nil, err
	}
	size, _, _ := procedure("kernel32.dll", "GlobalSize").Call(memory)
	if int(size) > most {
		return nil, ErrClipTooLarge
	}
	at, _, err := procedure("kernel32.dll", "GlobalLock").Call(memory)
	if at == 0 {
		return nil, err
	}
	defer procedure("kernel32.dll", "GlobalUnlock").Call(memory) //nolint:errcheck // it always works
	data := make([]byte, size)
	copyMemory(uintptr(unsafe.Pointer(unsafe.SliceData(data))), at, size) //nolint:gosec // the system fills it in
	return data, nil
}

// Clear empties the clipboard.
func (*Clipboard) Clear() error {
	if ok, _, err := procedure("user32.dll", "EmptyClipboard").Call(); ok == 0 {
		return err
	}
	return nil
}

// Write adds content in the format.
func (*Clipboard) Write(format ClipFormat, data []byte) error {
	const moveable = 2
	memory, _, err := procedure("kernel32.dll", "GlobalAlloc").Call(moveable, uintptr(max(1, len(data))))
	if memory == 0 {
		return err
	}
	at, _, err := procedure("kernel32.dll", "GlobalLock").Call(memory)
	if at == 0 {
		return err
	}
	copyMemory(at, uintptr(unsafe.Pointer(unsafe.SliceData(data))), uintptr(len(data))) //nolint:gosec // the system reads it
	_, _, _ = procedure("kernel32.dll", "GlobalUnlock").Call(memory)
	if ok, _, err := procedure("user32.dll", "SetClipboardData").Call(uintptr(format), memory); ok == 0 {
		_, _, _ = procedure("kernel32.dll", "GlobalFree").Call(memory)
		return err
	}
	return nil // the memory is the system's now
}

// copyMemory copies bytes between memory of Go and of the system.
func copyMemory(to, from, size uintptr) {
	_, _, _ = procedure("kernel32.dll", "RtlMoveMemory").Call(to, from, size)
}
