package hwnd

import (
	"strings"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/platform/windows/win32"
)

// barPath is the path of the menu bar itself.
const barPath = 0xFFFF

// maxMenuDepth ends a menu that contains itself.
const maxMenuDepth = 8

// menu returns the menu of the window: its bar, or the menu that it shows.
func (c *control) menu() win32.Menu {
	if c.kind == popupMenu {
		return c.OpenMenu(c.ctx)
	}
	return c.Menu()
}

// readMenu appends the menu bar with the items of its menus, or the items of an open menu.
func (c *control) readMenu(parent int) {
	menu := c.menu()
	if menu == 0 || menu.Len() == 0 {
		return
	}
	if c.kind != popupMenu {
		bar, _ := c.menuItem([]uint64{barPath})
		parent = c.append(bar, parent)
	}
	c.readEntries(menu, nil, parent)
}

// readEntries appends the items of a menu.
func (c *control) readEntries(menu win32.Menu, above []uint64, parent int) {
	if len(above) >= maxMenuDepth {
		return
	}
	for i := range min(menu.Len(), maxItems) {
		path := append(above[:len(above):len(above)], uint64(i))
		e, ok := c.menuItem(path)
		if !ok {
			continue
		}
		index := c.append(e, parent)
		if entry, _ := menu.Item(i); entry.Sub != 0 {
			c.readEntries(entry.Sub, path, index)
		}
	}
}

// entryAt returns the item with a path, its menu and its index there.
func (c *control) entryAt(path []uint64) (entry win32.MenuItem, menu win32.Menu, ok bool) {
	menu = c.menu()
	for depth, i := range path {
		if depth > 0 {
			menu = entry.Sub
		}
		if menu == 0 || i >= barPath {
			return entry, menu, false
		}
		if entry, ok = menu.Item(int(i)); !ok {
			return entry, menu, false
		}
	}
	return entry, menu, ok
}

// menuItem reads an item of the menu.
func (c *control) menuItem(path []uint64) (desktop.Element, bool) {
	if len(path) == 1 && path[0] == barPath {
		bar := desktop.Element{ID: c.at(menuEntry, "", barPath).id(), Role: desktop.Menubar, States: desktop.Enabled}
		if c.IsVisible() {
			bar.States |= desktop.Showing
		}
		return bar, c.Menu() != 0
	}
	entry, menu, ok := c.entryAt(path)
	if !ok {
		return desktop.Element{}, false
	}
	label, _, _ := strings.Cut(entry.Text, "\t") // the shortcut is behind the tab
	e := desktop.Element{ID: c.at(menuEntry, plainLabel(label), path...).id(), Role: desktop.MenuItem, Name: plainLabel(label)}
	switch {
	case entry.Separator:
		e.Role = desktop.Separator
	case entry.Sub != 0:
		e.States |= desktop.HasPopup | desktop.Expandable
	case entry.Radio:
		e.Role, e.States = desktop.MenuRadio, e.States|desktop.Checkable
	case entry.Checked:
		e.Role, e.States = desktop.MenuCheckbox, e.States|desktop.Checkable
	}
	if entry.Sub == 0 && !entry.Separator {
		e.Actions = []string{"press"}
	}
	if entry.Checked {
		e.States |= desktop.Checked
	}
	if entry.Default {
		e.States |= desktop.Default
	}
	if !entry.Grayed {
		e.States |= desktop.Enabled
	}
	if len(path) == 1 && c.IsVisible() { // the menus below are closed; an open one is a window of its own
		e.States |= desktop.Showing
		owner := c.Window
		if c.kind == popupMenu {
			owner = 0
		}
		e.Frame = menu.ItemFrame(owner, int(path[0]))
	}
	return e, true
}
