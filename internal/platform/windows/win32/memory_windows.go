package win32

import (
	"context"
	"errors"
	"unsafe"

	"golang.org/x/sys/windows"
)

// memorySize is the size of a Memory.
const memorySize = 8192

// ErrNarrow is the error of OpenMemory for a program of 32 bits: its structures have another layout.
var ErrNarrow = errors.New("the program has 32 bits")

// A Memory is memory in another process, for messages with structures: the system copies those of common controls between programs of
// no kind.
type Memory struct {
	process windows.Handle
	address uintptr
	inUse   bool // a message that was not answered may still use it
}

// OpenMemory allocates memory in the process of a window.
func OpenMemory(pid uint32) (*Memory, error) {
	const access = windows.PROCESS_QUERY_LIMITED_INFORMATION | windows.PROCESS_VM_OPERATION | windows.PROCESS_VM_READ | windows.PROCESS_VM_WRITE
	process, err := windows.OpenProcess(access, false, pid)
	if err != nil {
		return nil, err
	}
	var narrow bool
	if err := windows.IsWow64Process(process, &narrow); err != nil || narrow {
		_ = windows.CloseHandle(process)
		return nil, errors.Join(err, ErrNarrow)
	}
	address, _, err := procedure("kernel32.dll", "VirtualAllocEx").Call(uintptr(process), 0, memorySize, windows.MEM_COMMIT|windows.MEM_RESERVE, windows.PAGE_READWRITE)
	if address == 0 {
		_ = windows.CloseHandle(process)
		return nil, err
	}
	return &Memory{process: process, address: address}, nil
}

// Close frees the memory, unless the program may still use it.
func (m *Memory) Close() {
	if !m.inUse {
		_, _, _ = procedure("kernel32.dll", "VirtualFreeEx").Call(uintptr(m.process), m.address, 0, windows.MEM_RELEASE)
	}
	_ = windows.CloseHandle(m.process)
}

// TextAddress returns the address of the memory behind the structure, for texts of up to MemoryText characters.
func (m *Memory) TextAddress() uintptr { return m.address + memorySize/2 }

// MemoryText is the maximum length of a text in a Memory.
const MemoryText = 1024

// Ask writes a structure of the given size, sends a message with its address as lParam, and reads it back.
func (m *Memory) Ask(ctx context.Context, w Window, message uint32, wParam uintptr, structure unsafe.Pointer, size uintptr) (uintptr, error) {
	if err := windows.WriteProcessMemory(m.process, m.address, (*byte)(structure), size, nil); err != nil {
		return 0, gone(w, err)
	}
	result, err := w.Send(ctx, message, wParam, m.address)
	if err != nil {
		m.inUse = true
		return 0, err
	}
	if err := windows.ReadProcessMemory(m.process, m.address, (*byte)(structure), size, nil); err != nil {
		return 0, gone(w, err)
	}
	return result, nil
}

// AskText sends a message with an address for a text as lParam, and returns that.
func (m *Memory) AskText(ctx context.Context, w Window, message uint32, wParam uintptr) (string, error) {
	if err := m.clearText(); err != nil {
		return "", gone(w, err)
	}
	if _, err := w.Send(ctx, message, wParam, m.TextAddress()); err != nil {
		m.inUse = true
		return "", err
	}
	return m.Text(m.TextAddress())
}

// clearText empties the text, so that a message that fills nothing in yields none.
func (m *Memory) clearText() error {
	var zero [2]byte
	return windows.WriteProcessMemory(m.process, m.TextAddress(), &zero[0], 2, nil)
}

// Text reads a text of the process, such as that of a structure: controls may fill in another address than they were given.
func (m *Memory) Text(address uintptr) (string, error) {
	const callback = ^uintptr(0) // LPSTR_TEXTCALLBACK
	if address == 0 || address == callback {
		return "", nil
	}
	var text [MemoryText]uint16
	var got uintptr
	err := windows.ReadProcessMemory(m.process, address, (*byte)(unsafe.Pointer(&text[0])), unsafe.Sizeof(text), &got) //nolint:gosec // the system fills it in
	if err != nil && got == 0 {
		return "", nil //nolint:nilerr // a text elsewhere that cannot be read is as one that is not there
	}
	return Plain(windows.UTF16ToString(text[:got/2])), nil
}

// gone returns STALE_REF if the window is gone, or else the error.
func gone(w Window, err error) error {
	if !w.Exists() {
		return Gone()
	}
	return err
}
