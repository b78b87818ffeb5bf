package windowstest

import (
	"fmt"
	"unsafe"

	"golang.org/x/sys/windows"
)

// fill creates the controls.
func (p *program) fill() {
	add := func(class, text string, style uint32, r rect, id uintptr) uintptr {
		return p.create(class, text, wsChild|wsVisible|style, r, p.main, id)
	}
	button := func(text string, x, y int, id uintptr) { add("Button", text, wsTabStop, rect{x, y, 90, 24}, id) }
	label := func(text string, x, y int) { add("Static", text, 0, rect{x, y, 80, 18}, 0xFFFF) }
	button("&Press", 10, 10, idPress)
	add("Static", "Pressed 0 times", 0, rect{110, 14, 150, 18}, idTimes)
	add("Button", "Disabled", wsTabStop|wsDisabled, rect{10, 40, 90, 24}, idDisabled)
	button("Twin", 110, 40, idTwin1)
	button("Twin", 210, 40, idTwin2)
	add("Button", "&Agree", wsTabStop|3, rect{10, 70, 120, 22}, idAgree) // BS_AUTOCHECKBOX
	label("F&ull name:", 10, 102)
	add("Edit", "", wsTabStop|wsBorder|0x80, rect{100, 100, 220, 22}, idName) // ES_AUTOHSCROLL
	label("Password", 10, 130)
	add("Edit", "", wsTabStop|wsBorder|0xA0, rect{100, 128, 220, 22}, idPassword) // ES_PASSWORD
	label("Notes", 10, 160)
	add("Edit", "", wsTabStop|wsBorder|wsVScroll|0x1044, rect{100, 158, 220, 80}, idNotes) // ES_MULTILINE, ES_AUTOVSCROLL, ES_WANTRETURN
	label("Volume", 10, 250)
	volume := add("msctls_trackbar32", "", wsTabStop, rect{100, 246, 220, 30}, idVolume)
	p.call("SendMessageW", volume, 0x406, 1, 100<<16) // TBM_SETRANGE
	p.call("SendMessageW", volume, 0x405, 1, 30)      // TBM_SETPOS
	label("Count", 10, 286)
	add("Edit", "5", wsTabStop|wsBorder|0x2000, rect{100, 284, 80, 22}, idCount) // ES_NUMBER
	spin := add("msctls_updown32", "", 0x36, rect{0, 0, 0, 0}, idSpin)           // UDS_SETBUDDYINT, ALIGNRIGHT, AUTOBUDDY, ARROWKEYS
	p.call("SendMessageW", spin, 0x465, 0, 100)                                  // UDM_SETRANGE
	p.call("SendMessageW", spin, 0x467, 0, 5)                                    // UDM_SETPOS
	label("Colour", 10, 318)
	colour := add("ComboBox", "", wsTabStop|wsVScroll|3, rect{100, 314, 120, 200}, idColour) // CBS_DROPDOWNLIST
	for _, text := range []string{"Red", "Green", "Blue"} {
		p.call("SendMessageW", colour, 0x143, 0, p.wide(text)) // CB_ADDSTRING
	}
	p.call("SendMessageW", colour, 0x14E, 0, 0) // CB_SETCURSEL
	button("Slow", 10, 350, idSlow)
	button("Dead", 110, 350, idDead)
	if IsWine() {
		button("File", 210, 350, idDead)
	}
	add("Static", "Status: ready", 0, rect{10, 384, 150, 18}, 0xFFFF)
	p.right(add, button)
}

// right creates the controls of the right column.
func (p *program) right(add func(class, text string, style uint32, r rect, id uintptr) uintptr, button func(text string, x, y int, id uintptr)) {
	tabs := add("SysTabControl32", "", wsTabStop, rect{350, 10, 320, 100}, idTabs)
	for i, text := range []string{"First", "Second"} {
		item := struct {
			mask, state, stateMask uint32
			text                   uintptr
			length, image          int32
			data                   uintptr
		}{mask: 1, text: p.wide(text)}
		p.call("SendMessageW", tabs, 0x133E, uintptr(i), uintptr(unsafe.Pointer(&item))) //nolint:gosec // TCM_INSERTITEMW reads it
	}
	p.pages = []uintptr{
		add("Static", "This is first", 0, rect{370, 50, 120, 18}, 0xFFFF),
		p.create("Button", "On second", wsChild|wsTabStop, rect{370, 50, 120, 24}, p.main, idSecond),
	}
	for _, page := range p.pages {
		p.call("SetWindowPos", page, 0, 0, 0, 0, 0, 3) // above the tab control, which would draw over it
	}
	add("Static", "Fruits", 0, rect{350, 120, 80, 18}, 0xFFFF)
	fruits := add("ListBox", "", wsTabStop|wsBorder|wsVScroll|0x101, rect{350, 140, 320, 150}, idFruits) // LBS_NOTIFY, NOINTEGRALHEIGHT
	for i := range 40 {
		p.call("SendMessageW", fruits, 0x180, 0, p.wide(fmt.Sprintf("Fruit %d", i+1))) // LB_ADDSTRING
	}
	button("Shuffle", 350, 300, idShuffle)
	button("Open dialog", 450, 300, idDialog)
	button("Hide", 350, 330, idHide)
	button("Ghost", 450, 330, idGhost)
	add("AaiCanvas", "Canvas", wsBorder, rect{350, 364, 320, 200}, idCanvas)
}

// onCommand handles a notification of a control or the choice of a menu's item.
func (p *program) onCommand(id, code uintptr) {
	switch {
	case code == enChange && id == idName:
		p.set("name", p.text(p.control(id)))
	case code == enChange && id == idPassword:
		p.set("password", p.text(p.control(id)))
	case code == enChange && id == idNotes:
		p.set("notes", p.text(p.control(id)))
	case code == enChange && id == idCount:
		p.readCount()
	case code == cbnSelChange && id == idColour:
		p.set("colour", p.itemText(id, 0x147, 0x148)) // CB_GETCURSEL, CB_GETLBTEXT
	case code == lbnSelChange && id == idFruits:
		p.set("fruit", p.itemText(id, 0x188, 0x189)) // LB_GETCURSEL, LB_GETTEXT
	case code == bnClicked:
		p.onClick(id)
	}
}

// onClick handles a button or an item of the menu.
func (p *program) onClick(id uintptr) {
	switch id {
	case idPress, idDisabled:
		p.call("SetWindowTextW", p.control(idTimes), p.wide(fmt.Sprintf("Pressed %d times", p.add("presses"))))
	case idTwin1, idTwin2:
		p.set("twin", int(id-idTwin1)+1)
	case idAgree:
		p.set("agree", p.call("SendMessageW", p.control(id), 0xF0, 0, 0) == 1) // BM_GETCHECK
	case idSecond:
		p.add("second")
	case idShuffle:
		fruits := p.control(idFruits)
		p.call("SendMessageW", fruits, 0x184, 0, 0) // LB_RESETCONTENT
		for i := range 40 {
			p.call("SendMessageW", fruits, 0x180, 0, p.wide(fmt.Sprintf("Fruit %d", 40-i)))
		}
		p.add("shuffled")
	case idDialog:
		p.set("dialog", "open")
		const yesNo, yes = 4, 6
		if p.call("MessageBoxW", p.main, p.wide("It cannot be undone."), p.wide("Really?"), yesNo) == yes {
			p.set("dialog", "yes")
			return
		}
		p.set("dialog", "no")
	case idHide:
		p.call("ShowWindow", p.control(idGhost), 0)
		p.set("hidden", true)
	case idGhost:
		p.add("ghost")
	case idSlow:
		p.call("SetTimer", p.main, 1, 150, 0)
	case idNew:
		p.set("menu", "New")
	case idQuit:
		p.set("menu", "Quit-not")
	}
}

// readCount reads the number of the spin button.
func (p *program) readCount() {
	var n int
	if _, err := fmt.Sscan(p.text(p.control(idCount)), &n); err == nil {
		p.set("count", n)
	}
}

// itemText returns the text of the chosen item of a list, by the messages for its index and its text.
func (p *program) itemText(id, getIndex, getText uintptr) string {
	list := p.control(id)
	index := p.call("SendMessageW", list, getIndex, 0, 0)
	var text [256]uint16
	n := p.call("SendMessageW", list, getText, index, uintptr(unsafe.Pointer(&text[0]))) //nolint:gosec // the control fills it in
	if int32(n) < 0 {
		return ""
	}
	return string(utf16Runes(text[:n]))
}

// onNotify handles a change of the tab.
func (p *program) onNotify(header uintptr) {
	var h struct {
		window, id uintptr
		code       int32
	}
	//nolint:gosec // the system's structure is copied
	if windows.ReadProcessMemory(windows.CurrentProcess(), header, (*byte)(unsafe.Pointer(&h)), unsafe.Sizeof(h), nil) != nil {
		return
	}
	if h.id != idTabs || h.code != tcnSelChange {
		return
	}
	chosen := int(p.call("SendMessageW", h.window, 0x130B, 0, 0)) // TCM_GETCURSEL
	for i, page := range p.pages {
		show := uintptr(0)
		if i == chosen {
			show = 5
		}
		p.call("ShowWindow", page, show)
	}
	p.set("tab", []string{"First", "Second"}[chosen])
}

// onScroll handles a movement of the slider or the spin button.
func (p *program) onScroll() {
	p.set("volume", int(p.call("SendMessageW", p.control(idVolume), 0x400, 0, 0))) // TBM_GETPOS
}
