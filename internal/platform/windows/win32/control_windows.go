package win32

import (
	"context"
	"strings"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
)

// The messages for texts.
const (
	wmGetText       = 0x000D
	wmGetTextLength = 0x000E
)

// maxText is the maximum length of a text that is read, in characters.
const maxText = 1 << 20

// Text asks the window's program for its text, with line breaks as \n.
func (w Window) Text(ctx context.Context) (string, error) {
	n, err := w.Send(ctx, wmGetTextLength, 0, 0)
	if err != nil || n == 0 {
		return "", err
	}
	return w.GetText(ctx, wmGetText, min(n, maxText)+1, int(min(n, maxText)))
}

// GetText sends a message with a buffer as lParam, for a text of at most size characters. For the message WM_GETTEXT wParam is the size.
func (w Window) GetText(ctx context.Context, message uint32, wParam uintptr, size int) (string, error) {
	buffer := make([]uint16, size+1)
	n, err := w.Send(ctx, message, wParam, uintptr(unsafe.Pointer(&buffer[0]))) //nolint:gosec // the system fills it in
	if err != nil || int32(n) <= 0 {
		return "", err
	}
	return Plain(windows.UTF16ToString(buffer)), nil
}

// Plain returns a text with line breaks as \n and valid characters.
func Plain(text string) string {
	return strings.ReplaceAll(strings.ToValidUTF8(text, "\uFFFD"), "\r\n", "\n")
}

// SendText sends a message with a text as lParam.
func (w Window) SendText(ctx context.Context, message uint32, wParam uintptr, text string) error {
	wide, err := windows.UTF16PtrFromString(text)
	if err != nil {
		return &aai.Error{Code: aai.InvalidParams, Message: "the text has a zero character", Delivery: aai.NotDelivered}
	}
	_, err = w.Deliver(ctx, message, wParam, uintptr(unsafe.Pointer(wide))) //nolint:gosec // the system copies it
	return err
}

// modalPatience is the time after which Deliver looks whether the program shows a dialog in answer to the message.
const modalPatience = 500 * time.Millisecond

// Deliver is Send for a message to which the program may answer by a modal dialog, in which it handles other messages. It returns
// without a result when that happens: the program has the message.
func (w Window) Deliver(ctx context.Context, message uint32, wParam, lParam uintptr) (uintptr, error) {
	short, cancel := context.WithTimeout(ctx, modalPatience)
	defer cancel()
	result, err := w.Send(short, message, wParam, lParam)
	if err == nil || ctx.Err() != nil || aai.AsError(err).Code != aai.Timeout {
		return result, err
	}
	_, err = w.Send(ctx, 0, 0, 0) // WM_NULL
	return 0, err
}

// GetRect sends a message with a rectangle as lParam, of the window's content, and returns it on the screen.
func (w Window) GetRect(ctx context.Context, message uint32, wParam uintptr) (desktop.Rect, error) {
	var r windows.Rect
	_, err := w.Send(ctx, message, wParam, uintptr(unsafe.Pointer(&r))) //nolint:gosec // the system fills it in
	return w.ToScreen(r), err
}

// ToScreen converts a rectangle of the window's content to the screen.
func (w Window) ToScreen(r windows.Rect) desktop.Rect {
	_, _, _ = procedure("user32.dll", "MapWindowPoints").Call(uintptr(w), 0, uintptr(unsafe.Pointer(&r)), 2) //nolint:gosec // the system changes it
	return rectOf(r)
}

// Content returns the rectangle of the window's content on the screen.
func (w Window) Content() desktop.Rect {
	var r windows.Rect
	//nolint:gosec // the system fills in the rectangle
	if ok, _, _ := procedure("user32.dll", "GetClientRect").Call(uintptr(w), uintptr(unsafe.Pointer(&r))); ok == 0 {
		return desktop.Rect{}
	}
	return w.ToScreen(r)
}

// Children lists the child windows, front one first.
func (w Window) Children() []Window { return children(w) }

// Parent returns the parent of a child window, or 0.
func (w Window) Parent() Window {
	const gaParent = 1
	parent, _, _ := procedure("user32.dll", "GetAncestor").Call(uintptr(w), gaParent)
	return Window(parent)
}

// Sibling returns the sibling before the window in the order of its parent, or after it; 0 if there is none.
func (w Window) Sibling(before bool) Window {
	which := uintptr(2) // GW_HWNDNEXT
	if before {
		which = 3
	}
	sibling, _, _ := procedure("user32.dll", "GetWindow").Call(uintptr(w), which)
	return Window(sibling)
}

// ControlID returns the identifier of a child window in its parent.
func (w Window) ControlID() uint16 {
	const gwlpID = -12
	index := gwlpID
	id, _, _ := procedure("user32.dll", "GetWindowLongPtrW").Call(uintptr(w), uintptr(index))
	return uint16(id)
}

// IsEnabled reports whether the window takes input.
func (w Window) IsEnabled() bool {
	is, _, _ := procedure("user32.dll", "IsWindowEnabled").Call(uintptr(w))
	return is != 0
}

// Focus gives the window its thread's keyboard focus. If the thread's windows are in the background they stay there.
func (w Window) Focus() {
	_, thread := w.Process()
	own := windows.GetCurrentThreadId()
	attach := procedure("user32.dll", "AttachThreadInput")
	if ok, _, _ := attach.Call(uintptr(own), uintptr(thread), 1); ok == 0 {
		return
	}
	_, _, _ = procedure("user32.dll", "SetFocus").Call(uintptr(w))
	_, _, _ = attach.Call(uintptr(own), uintptr(thread), 0)
}
