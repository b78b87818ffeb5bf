package win32

import (
	"context"
	"unsafe"

	"golang.org/x/sys/windows"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// A Menu is the handle of a menu (HMENU). Wine shows menus only to their own program.
type Menu uintptr

// A MenuItem is an item of a menu.
type MenuItem struct {
	Text      string // with & before the access key, and the shortcut behind a tab
	ID        uint32 // that the program receives
	Sub       Menu   // the menu that it opens, or 0
	Separator bool
	Radio     bool // it is one of several
	Grayed    bool
	Checked   bool
	Default   bool
}

// Menu returns the menu bar of the window, or 0.
func (w Window) Menu() Menu {
	menu, _, _ := procedure("user32.dll", "GetMenu").Call(uintptr(w))
	return Menu(menu)
}

// OpenMenu returns the menu that a window of the class #32768 shows, or 0.
func (w Window) OpenMenu(ctx context.Context) Menu {
	const getHMenu = 0x01E1 // MN_GETHMENU
	menu, err := w.Send(ctx, getHMenu, 0, 0)
	if err != nil {
		return 0
	}
	return Menu(menu)
}

// Len returns the number of items; 0 if the menu is gone or cannot be read.
func (m Menu) Len() int {
	n, _, _ := procedure("user32.dll", "GetMenuItemCount").Call(uintptr(m))
	return max(0, int(int32(n)))
}

// Item returns an item; false if it is not there.
func (m Menu) Item(index int) (MenuItem, bool) {
	var text [512]uint16
	info := struct { // MENUITEMINFOW
		size, mask, kind, state, id uint32
		sub                         Menu
		checked, unchecked, data    uintptr
		text                        *uint16
		length                      uint32
		bitmap                      uintptr
	}{mask: 0x1 | 0x2 | 0x4 | 0x40 | 0x100, text: &text[0], length: uint32(len(text) - 1)} // state, id, submenu, string, type
	info.size = uint32(unsafe.Sizeof(info))
	//nolint:gosec // the system fills it in
	if ok, _, _ := procedure("user32.dll", "GetMenuItemInfoW").Call(uintptr(m), uintptr(index), 1, uintptr(unsafe.Pointer(&info))); ok == 0 {
		return MenuItem{}, false
	}
	return MenuItem{
		Text: Plain(windows.UTF16ToString(text[:])), ID: info.id, Sub: info.sub, Separator: info.kind&0x800 != 0, Radio: info.kind&0x200 != 0,
		Grayed: info.state&0x3 != 0, Checked: info.state&0x8 != 0, Default: info.state&0x1000 != 0,
	}, true
}

// ItemFrame returns the rectangle of an item on the screen. w is the window with the menu bar, or 0 for an open menu.
func (m Menu) ItemFrame(w Window, index int) desktop.Rect {
	var r windows.Rect
	//nolint:gosec // the system fills it in
	if ok, _, _ := procedure("user32.dll", "GetMenuItemRect").Call(uintptr(w), uintptr(m), uintptr(index), uintptr(unsafe.Pointer(&r))); ok == 0 {
		return desktop.Rect{}
	}
	return rectOf(r)
}
