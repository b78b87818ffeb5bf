package win32

import (
	"unsafe"

	"golang.org/x/sys/windows"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// A Window is the handle of a window (HWND).
type Window uintptr

// procedure returns a function of a system library. Its Call panics if the library lacks it.
func procedure(library, name string) *windows.LazyProc {
	return windows.NewLazySystemDLL(library).NewProc(name)
}

// TopLevel lists the top-level windows, front one first, with those that do not show.
func TopLevel() []Window { return children(0) }

// Descendants lists the child windows of a window at all depths, a parent before its children, siblings front one first.
func (w Window) Descendants() []Window {
	var all []Window
	for _, child := range children(w) {
		all = append(append(all, child), child.Descendants()...)
	}
	return all
}

// maxSiblings ends an enumeration in which windows change places for ever.
const maxSiblings = 10000

// children lists the child windows of a window, or the top-level windows for 0. If a window goes meanwhile, those behind it are missing.
func children(parent Window) []Window {
	next := procedure("user32.dll", "FindWindowExW")
	var found []Window
	seen := map[Window]bool{}
	for last := Window(0); len(found) < maxSiblings; found = append(found, last) {
		handle, _, _ := next.Call(uintptr(parent), uintptr(last), 0, 0)
		if last = Window(handle); last == 0 || seen[last] {
			break
		}
		seen[last] = true
	}
	return found
}

// Process returns the process and the thread of the window; zeros if it is gone.
func (w Window) Process() (pid, thread uint32) {
	thread, _ = windows.GetWindowThreadProcessId(windows.HWND(w), &pid)
	return pid, thread
}

// IsVisible reports whether the window and its ancestors have the style WS_VISIBLE.
func (w Window) IsVisible() bool { return windows.IsWindowVisible(windows.HWND(w)) }

// Exists reports whether the window exists.
func (w Window) Exists() bool { return windows.IsWindow(windows.HWND(w)) }

// Class returns the name of the window's class, or "" if it is gone.
func (w Window) Class() string {
	var name [256]uint16
	n, _ := windows.GetClassName(windows.HWND(w), &name[0], int32(len(name)))
	return windows.UTF16ToString(name[:n])
}

// Frame returns the window's rectangle on the screen with its borders, in physical pixels; empty if it is gone.
func (w Window) Frame() desktop.Rect {
	var r windows.Rect
	//nolint:gosec // the system fills in the rectangle
	if ok, _, _ := procedure("user32.dll", "GetWindowRect").Call(uintptr(w), uintptr(unsafe.Pointer(&r))); ok == 0 {
		return desktop.Rect{}
	}
	return desktop.Rect{X: int(r.Left), Y: int(r.Top), W: int(r.Right - r.Left), H: int(r.Bottom - r.Top)}
}
