package win32

import (
	"unsafe"

	"golang.org/x/sys/windows"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// The styles of windows in use, by GetWindowLongPtr.
const (
	StyleCaption  = 0x00C00000 // WS_CAPTION: a title bar
	StyleDisabled = 0x08000000
	StyleChild    = 0x40000000

	ExTopmost     = 0x00000008
	ExTransparent = 0x00000020 // it lets clicks through
	ExTool        = 0x00000080
	ExApp         = 0x00040000
	ExLayered     = 0x00080000
	ExNoActivate  = 0x08000000
)

// Style returns the styles and the extended styles of the window; zeros if it is gone.
func (w Window) Style() (style, ex uint32) {
	const gwlStyle, gwlExStyle = -16, -20
	long := func(index int) uint32 {
		value, _, _ := procedure("user32.dll", "GetWindowLongPtrW").Call(uintptr(w), uintptr(index))
		return uint32(value)
	}
	return long(gwlStyle), long(gwlExStyle)
}

// Title returns the window's title without asking its program, so that a hung one does not matter.
func (w Window) Title() string {
	var text [512]uint16
	n, _, _ := procedure("user32.dll", "InternalGetWindowText").Call(uintptr(w), uintptr(unsafe.Pointer(&text[0])), uintptr(len(text))) //nolint:gosec // the system fills in the text
	return windows.UTF16ToString(text[:min(int(n), len(text))])
}

// Owner returns the window that owns this one, as a dialog's, or 0.
func (w Window) Owner() Window {
	const gwOwner = 4
	owner, _, _ := procedure("user32.dll", "GetWindow").Call(uintptr(w), gwOwner)
	return Window(owner)
}

// Root returns the top-level window that contains the window.
func (w Window) Root() Window {
	const gaRoot = 2
	root, _, _ := procedure("user32.dll", "GetAncestor").Call(uintptr(w), gaRoot)
	return Window(root)
}

// IsMinimized reports whether the window is minimized.
func (w Window) IsMinimized() bool {
	is, _, _ := procedure("user32.dll", "IsIconic").Call(uintptr(w))
	return is != 0
}

// IsHung reports whether the window's program has not looked for messages for some seconds.
func (w Window) IsHung() bool {
	is, _, _ := procedure("user32.dll", "IsHungAppWindow").Call(uintptr(w))
	return is != 0
}

// IsCloaked reports whether the window manager hides the window although it is visible: it is on another virtual desktop, or a
// suspended app of the Store.
func (w Window) IsCloaked() bool {
	const cloaked = 14 // DWMWA_CLOAKED
	var value uint32
	return w.attribute(cloaked, unsafe.Pointer(&value), unsafe.Sizeof(value)) && value != 0
}

// VisibleFrame returns the window's rectangle without the invisible borders by which Windows lets a person resize it.
func (w Window) VisibleFrame() desktop.Rect {
	const extendedFrameBounds = 9 // DWMWA_EXTENDED_FRAME_BOUNDS
	var r windows.Rect
	whole := w.Frame()
	if w.IsMinimized() || !w.attribute(extendedFrameBounds, unsafe.Pointer(&r), unsafe.Sizeof(r)) {
		return whole
	}
	if inner := rectOf(r).Intersect(whole); !inner.Empty() {
		return inner
	}
	return whole
}

// attribute reads an attribute from the window manager.
func (w Window) attribute(which uint32, value unsafe.Pointer, size uintptr) bool {
	result, _, _ := procedure("dwmapi.dll", "DwmGetWindowAttribute").Call(uintptr(w), uintptr(which), uintptr(value), size)
	return result == 0
}

func rectOf(r windows.Rect) desktop.Rect {
	return desktop.Rect{X: int(r.Left), Y: int(r.Top), W: int(r.Right - r.Left), H: int(r.Bottom - r.Top)}
}

// IsOpaque reports whether the window certainly hides what is below it: it is not drawn with transparency, and has no other shape than
// its rectangle.
func (w Window) IsOpaque() bool {
	_, ex := w.Style()
	if ex&ExLayered != 0 {
		const byAlpha, opaque = 2, 255 // LWA_ALPHA
		var alpha byte
		var flags uint32
		ok, _, _ := procedure("user32.dll", "GetLayeredWindowAttributes").Call(uintptr(w), 0,
			uintptr(unsafe.Pointer(&alpha)), uintptr(unsafe.Pointer(&flags))) //nolint:gosec // the system fills them in
		if ok == 0 || flags != byAlpha || alpha != opaque {
			return false
		}
	}
	var shape windows.Rect
	kind, _, _ := procedure("user32.dll", "GetWindowRgnBox").Call(uintptr(w), uintptr(unsafe.Pointer(&shape))) //nolint:gosec // the system fills it in
	const noRegion, simpleRegion = 0, 2
	return kind == noRegion || kind == simpleRegion
}

// Foreground returns the window with the person's keyboard, or 0.
func Foreground() Window { return Window(windows.GetForegroundWindow()) }

// SetForeground asks for the person's keyboard for the window. Windows refuses it to most programs that the person does not use.
func (w Window) SetForeground() bool {
	ok, _, _ := procedure("user32.dll", "SetForegroundWindow").Call(uintptr(w))
	return ok != 0
}

// The ways of showing a window, for ShowAsync.
const (
	ShowNoActivate    = 4
	Minimize          = 6
	MinimizeNoActive  = 7
	Restore           = 9
	hwndTopmost       = ^uintptr(0)     // -1
	hwndNoTopmost     = ^uintptr(0) - 1 // -2
	swpNoSize         = 0x0001
	swpNoMove         = 0x0002
	swpNoActivate     = 0x0010
	swpAsyncWindowPos = 0x4000
)

// ShowAsync changes how the window shows, and does not wait for its program.
func (w Window) ShowAsync(how int) {
	_, _, _ = procedure("user32.dll", "ShowWindowAsync").Call(uintptr(w), uintptr(how))
}

// Raise moves the window above all others and gives it no keyboard. A program in the background may raise a window only above the
// windows that are always on top; so it becomes such a one for a moment.
func (w Window) Raise() error {
	_, ex := w.Style()
	orders := []uintptr{hwndTopmost}
	if ex&ExTopmost == 0 {
		orders = append(orders, hwndNoTopmost)
	}
	for _, order := range orders {
		ok, _, err := procedure("user32.dll", "SetWindowPos").Call(uintptr(w), order, 0, 0, 0, 0,
			swpNoSize|swpNoMove|swpNoActivate|swpAsyncWindowPos)
		if ok == 0 {
			return err
		}
	}
	return nil
}

// Post sends a message and does not wait for the program.
func (w Window) Post(message uint32, wParam, lParam uintptr) error {
	ok, _, err := procedure("user32.dll", "PostMessageW").Call(uintptr(w), uintptr(message), wParam, lParam)
	if ok == 0 {
		return err
	}
	return nil
}

// ToClient converts a point of the screen to one of the window's content.
func (w Window) ToClient(p desktop.Point) desktop.Point {
	at := struct{ X, Y int32 }{int32(p.X), int32(p.Y)}
	_, _, _ = procedure("user32.dll", "ScreenToClient").Call(uintptr(w), uintptr(unsafe.Pointer(&at))) //nolint:gosec // the system changes the point
	return desktop.Point{X: int(at.X), Y: int(at.Y)}
}

// ChildAt returns the child window at a point of the screen that takes clicks, at any depth, or the window itself.
func (w Window) ChildAt(p desktop.Point) Window {
	const skipInvisible, skipDisabled, skipTransparent, most = 1, 2, 4, 50
	for range most {
		at := w.ToClient(p)
		child, _, _ := procedure("user32.dll", "ChildWindowFromPointEx").Call(uintptr(w),
			uintptr(uint32(int32(at.X)))|uintptr(uint32(int32(at.Y)))<<32, skipInvisible|skipDisabled|skipTransparent)
		if child == 0 || Window(child) == w {
			break
		}
		w = Window(child)
	}
	return w
}

// ClassStyle returns the style of the window's class.
func (w Window) ClassStyle() uint32 {
	const gclStyle = -26
	index := gclStyle
	style, _, _ := procedure("user32.dll", "GetClassLongPtrW").Call(uintptr(w), uintptr(index))
	return uint32(style)
}

// Focused returns the window with the keyboard focus among those of the window's thread; 0 if its program is in the background.
func (w Window) Focused() Window {
	_, thread := w.Process()
	info := windows.GUIThreadInfo{Size: uint32(unsafe.Sizeof(windows.GUIThreadInfo{}))}
	if windows.GetGUIThreadInfo(thread, &info) != nil {
		return 0
	}
	return Window(info.Focus)
}

// ClientSize returns the size of the window's content, without borders and scroll bars.
func (w Window) ClientSize() desktop.Point {
	var r windows.Rect
	_, _, _ = procedure("user32.dll", "GetClientRect").Call(uintptr(w), uintptr(unsafe.Pointer(&r))) //nolint:gosec // the system fills in the rectangle
	return desktop.Point{X: int(r.Right), Y: int(r.Bottom)}
}
