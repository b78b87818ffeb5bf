package windowstest

import (
	"fmt"
	"os"
	"runtime"
	"strings"
	"unsafe"

	"golang.org/x/sys/windows"
)

// The identifiers of the controls.
const (
	idPress = 100 + iota
	idDisabled
	idTwin1
	idTwin2
	idAgree
	idName
	idPassword
	idNotes
	idVolume
	idCount
	idSpin
	idColour
	idTabs
	idSecond
	idFruits
	idShuffle
	idDialog
	idHide
	idGhost
	idSlow
	idDead
	idTimes
	idNew
	idQuit
	idCanvas
)

// Styles and messages.
const (
	wsChild, wsVisible, wsTabStop, wsBorder, wsVScroll = 0x40000000, 0x10000000, 0x00010000, 0x00800000, 0x00200000
	wsOverlapped, wsClipChildren, wsDisabled           = 0x00CF0000, 0x02000000, 0x08000000

	wmActivate, wmSetFont, wmNotify, wmCommand, wmTimer, wmHScroll, wmDestroy = 0x0006, 0x0030, 0x004E, 0x0111, 0x0113, 0x0114, 0x0002

	enChange, lbnSelChange, cbnSelChange, bnClicked = 0x0300, 1, 1, 0
	tcnSelChange                                    = -551
)

// A program is the running program of a fixture. Its window procedures run on one thread.
type program struct {
	*state
	user  *windows.LazyDLL
	main  uintptr
	pages []uintptr // the texts and buttons of the tabs
	texts []*uint16 // for the system
	press point     // of the button of the pointer, on the canvas
}

type point struct{ x, y int }

// runProgram shows the window until the process ends.
func runProgram(title string) {
	runtime.LockOSThread()
	p := &program{state: newState(), user: windows.NewLazySystemDLL("user32.dll")}
	_ = windows.NewLazySystemDLL("comctl32.dll").NewProc("InitCommonControls").Find() // loads it, which registers its classes
	p.class("AaiFixture", windows.NewCallback(p.onMain))
	p.class("AaiCanvas", windows.NewCallback(p.onCanvas))
	p.main = p.create("AaiFixture", title, wsOverlapped|wsClipChildren, rect{40, 40, 700, 640}, 0, p.menu())
	if p.main == 0 {
		fmt.Fprintln(os.Stderr, "the fixture has no window")
		os.Exit(1)
	}
	p.fill()
	p.call("ShowWindow", p.main, 5)
	p.call("SetForegroundWindow", p.main)
	p.call("UpdateWindow", p.main)
	go p.serve()
	var message struct {
		window  uintptr
		message uint32
		w, l    uintptr
		time    uint32
		at      [2]int32
		_       uint32
	}
	at := uintptr(unsafe.Pointer(&message)) //nolint:gosec // the system fills in the message
	for int32(p.call("GetMessageW", at, 0, 0, 0)) > 0 {
		p.noteKey(message.message, message.w, message.l)
		if p.call("IsDialogMessageW", p.main, at) == 0 {
			p.call("TranslateMessage", at)
			p.call("DispatchMessageW", at)
		}
	}
	os.Exit(0)
}

// call calls a function of user32.dll.
func (p *program) call(function string, args ...uintptr) uintptr {
	result, _, _ := p.user.NewProc(function).Call(args...)
	return result
}

// wide returns the address of a text. The text lives as long as the program.
func (p *program) wide(text string) uintptr {
	p.texts = append(p.texts, windows.StringToUTF16Ptr(text))
	return uintptr(unsafe.Pointer(p.texts[len(p.texts)-1])) //nolint:gosec // the program keeps it
}

type rect struct{ x, y, w, h int }

// class registers a class of windows.
func (p *program) class(name string, procedure uintptr) {
	c := struct {
		size, style          uint32
		procedure            uintptr
		classExtra, winExtra int32
		instance, icon       uintptr
		cursor, background   uintptr
		menu                 uintptr
		name                 *uint16
		smallIcon            uintptr
	}{style: 8, procedure: procedure, cursor: p.call("LoadCursorW", 0, 32512), background: 16, name: windows.StringToUTF16Ptr(name)} // CS_DBLCLKS
	c.size = uint32(unsafe.Sizeof(c))
	p.call("RegisterClassExW", uintptr(unsafe.Pointer(&c))) //nolint:gosec // the system reads it
	runtime.KeepAlive(&c)
}

// create creates a window.
func (p *program) create(class, text string, style uint32, r rect, parent, id uintptr) uintptr {
	c, t := windows.StringToUTF16Ptr(class), windows.StringToUTF16Ptr(text)
	//nolint:gosec // the system reads both texts
	w := p.call("CreateWindowExW", 0, uintptr(unsafe.Pointer(c)), uintptr(unsafe.Pointer(t)), uintptr(style), uintptr(r.x), uintptr(r.y), uintptr(r.w), uintptr(r.h), parent, id, 0, 0)
	font, _, _ := windows.NewLazySystemDLL("gdi32.dll").NewProc("GetStockObject").Call(17) // DEFAULT_GUI_FONT
	p.call("SendMessageW", w, wmSetFont, font, 1)
	return w
}

// menu returns the menu bar.
func (p *program) menu() uintptr {
	bar, file := p.call("CreateMenu"), p.call("CreatePopupMenu")
	p.call("AppendMenuW", file, 0, idNew, p.wide("&New\tCtrl+N"))
	p.call("AppendMenuW", file, 0x800, 0, 0)
	p.call("AppendMenuW", file, 0, idQuit, p.wide("&Quit-not"))
	p.call("AppendMenuW", bar, 0x10, file, p.wide("&File"))
	return bar
}

// text returns the text of a window.
func (p *program) text(w uintptr) string {
	buffer := make([]uint16, p.call("GetWindowTextLengthW", w)+1)
	p.call("GetWindowTextW", w, uintptr(unsafe.Pointer(&buffer[0])), uintptr(len(buffer))) //nolint:gosec // the system fills it in
	return strings.ReplaceAll(windows.UTF16ToString(buffer), "\r\n", "\n")
}

// control returns the control with the identifier.
func (p *program) control(id uintptr) uintptr { return p.call("GetDlgItem", p.main, id) }

// onMain is the procedure of the window.
func (p *program) onMain(window, message, w, l uintptr) uintptr {
	switch message {
	case wmCommand:
		p.onCommand(w&0xFFFF, w>>16&0xFFFF)
	case wmNotify:
		p.onNotify(l)
	case wmHScroll, wmHScroll + 1:
		p.onScroll()
	case wmTimer:
		p.call("KillTimer", window, w)
		p.call("SetWindowTextW", p.control(idTimes), p.wide(fmt.Sprintf("Slow %d times", p.add("slow"))))
	case wmActivate:
		p.set("focused", w&0xFFFF != 0)
	case wmDestroy:
		p.call("PostQuitMessage", 0)
	}
	return p.call("DefWindowProcW", window, message, w, l)
}
