package win32

import (
	"context"
	"runtime"
	"sync"
	"unsafe"

	"golang.org/x/sys/windows"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// The messages that loops receive.
const (
	MessageHotKey    = 0x0312
	MessageClipboard = 0x031D // WM_CLIPBOARDUPDATE
	messageQuit      = 0x0012
)

// A Message is a message that a loop received (MSG).
type Message struct {
	Window Window
	ID     uint32
	WParam uintptr
	LParam uintptr
	_      [5]uint32 // its time, and the pointer's place
}

// RunLoop calls begin on a thread of its own, and then received for each message to the thread, until ctx ends. The thread then ends,
// and with it its windows, hot keys and hooks. RunLoop returns the error of begin or of ctx.
func RunLoop(ctx context.Context, begin func() error, received func(Message)) error {
	done := make(chan error, 1)
	go func() {
		runtime.LockOSThread() // and never unlocked, so that the thread ends with the goroutine
		done <- runLoop(ctx, begin, received)
	}()
	return <-done
}

func runLoop(ctx context.Context, begin func() error, received func(Message)) error {
	var m Message
	at := uintptr(unsafe.Pointer(&m)) //nolint:gosec // the system fills it in
	// A thread has no queue for messages before it looks for one.
	_, _, _ = procedure("user32.dll", "PeekMessageW").Call(at, 0, 0, 0, 0)
	if err := begin(); err != nil {
		return err
	}
	thread := windows.GetCurrentThreadId()
	defer context.AfterFunc(ctx, func() {
		_, _, _ = procedure("user32.dll", "PostThreadMessageW").Call(uintptr(thread), messageQuit, 0, 0)
	})()
	next, dispatch := procedure("user32.dll", "GetMessageW"), procedure("user32.dll", "DispatchMessageW")
	for {
		got, _, err := next.Call(uintptr(unsafe.Pointer(&m)), 0, 0, 0) //nolint:gosec // the system fills it in
		switch int32(got) {
		case 0:
			return ctx.Err()
		case -1:
			return err
		}
		received(m)
		_, _, _ = dispatch.Call(uintptr(unsafe.Pointer(&m))) //nolint:gosec // the system reads it
	}
}

// A WindowSpec describes a window of this program.
type WindowSpec struct {
	// Class is the name of the class: a class of this program's own, which does nothing, unless the system has one of the name.
	Class, Title string
	Style, Ex    uint32
	Frame        desktop.Rect
	MessageOnly  bool // it is no window on the screen
}

// StylePopup is the style of a window without any decoration.
const StylePopup = 0x80000000

// NewWindow makes a window of the calling thread. Its messages are handled as the system does by default.
func NewWindow(spec WindowSpec) (Window, error) {
	class, err := windows.UTF16PtrFromString(spec.Class)
	if err != nil {
		return 0, err
	}
	title, err := windows.UTF16PtrFromString(spec.Title)
	if err != nil {
		return 0, err
	}
	description := struct {
		size, style                         uint32
		procedure                           uintptr
		extraClass, extraWindow             int32
		instance, icon, cursor, brush, menu uintptr
		name                                *uint16
		small                               uintptr
	}{procedure: procedure("user32.dll", "DefWindowProcW").Addr(), name: class}
	description.size = uint32(unsafe.Sizeof(description))
	_, _, _ = procedure("user32.dll", "RegisterClassExW").Call(uintptr(unsafe.Pointer(&description))) //nolint:gosec // it fails if the class exists
	const messageParent = ^uintptr(2)                                                                 // -3
	parent := uintptr(0)
	if spec.MessageOnly {
		parent = messageParent
	}
	w, _, err := procedure("user32.dll", "CreateWindowExW").Call(uintptr(spec.Ex), uintptr(unsafe.Pointer(class)), uintptr(unsafe.Pointer(title)), //nolint:gosec // the system reads them
		uintptr(spec.Style), uintptr(spec.Frame.X), uintptr(spec.Frame.Y), uintptr(spec.Frame.W), uintptr(spec.Frame.H), parent, 0, 0, 0)
	if w == 0 {
		return 0, err
	}
	return Window(w), nil
}

// Destroy removes a window that the calling thread made.
func (w Window) Destroy() { _, _, _ = procedure("user32.dll", "DestroyWindow").Call(uintptr(w)) }

// Show draws the canvas as the content of a layered window of this program, puts the window at the point and above all others, and
// leaves the keyboard where it is.
func (c *Canvas) Show(w Window, at desktop.Point) error {
	const opaque = 2 // ULW_ALPHA, with the alpha of the points
	type point struct{ X, Y int32 }
	to, size, from := point{int32(at.X), int32(at.Y)}, point{int32(c.size.X), int32(c.size.Y)}, point{}
	blend := [4]byte{0, 0, 255, 1}                                                                                 // AC_SRC_OVER, AC_SRC_ALPHA
	ok, _, err := procedure("user32.dll", "UpdateLayeredWindow").Call(uintptr(w), 0, uintptr(unsafe.Pointer(&to)), //nolint:gosec // the system reads them
		uintptr(unsafe.Pointer(&size)), c.dc, uintptr(unsafe.Pointer(&from)), 0, uintptr(unsafe.Pointer(&blend)), opaque) //nolint:gosec // likewise
	if ok == 0 {
		return err
	}
	w.ShowAsync(ShowNoActivate)
	return w.Raise()
}

// ExcludeFromPictures keeps a window of this program out of all pictures of the screen, and reports whether Windows does that (since
// Windows 10 of 2020).
func (w Window) ExcludeFromPictures() bool {
	const excludeFromCapture = 0x11
	ok, _, _ := procedure("user32.dll", "SetWindowDisplayAffinity").Call(uintptr(w), excludeFromCapture)
	return ok != 0
}

// The modifiers of hot keys.
const (
	HotAlt      = 1
	HotControl  = 2
	HotShift    = 4
	HotWin      = 8
	hotNoRepeat = 0x4000
)

// RegisterHotKey makes the calling thread's loop receive MessageHotKey when the person presses the key. It fails if another program
// has the key.
func RegisterHotKey(modifiers uint32, virtual uint16) error {
	ok, _, err := procedure("user32.dll", "RegisterHotKey").Call(0, 1, uintptr(modifiers|hotNoRepeat), uintptr(virtual))
	if ok == 0 {
		return err
	}
	return nil
}

// ListenToClipboard makes the loop of the window's thread receive MessageClipboard when something is copied.
func (w Window) ListenToClipboard() error {
	ok, _, err := procedure("user32.dll", "AddClipboardFormatListener").Call(uintptr(w))
	if ok == 0 {
		return err
	}
	return nil
}

// WinEvents reports events of windows (SetWinEventHook). The zero value is ready. Keep one for the life of the process: its callback is
// never freed.
type WinEvents struct {
	mu       sync.Mutex
	callback uintptr
	watchers map[uintptr]winEventFunc
}

// A winEventFunc is called for an event of a window or of an object inside.
type winEventFunc func(event uint32, w Window, object, child int32)

// The events of whole windows for Watch.
const (
	EventForeground    = 0x0003
	EventMinimizeStart = 0x0016
	EventMinimizeEnd   = 0x0017
	EventShow          = 0x8002
	EventHide          = 0x8003
	EventCloaked       = 0x8017
	EventUncloaked     = 0x8018
)

// Watch calls ready once it listens, and then happened for each event of a window of all programs between two events of a pair, until
// ctx ends. Both are called by one thread and must not block.
func (e *WinEvents) Watch(ctx context.Context, pairs [][2]uint32, ready func(), happened func(event uint32, w Window)) error {
	return e.watch(ctx, 0, pairs, ready, func(event uint32, w Window, object, child int32) {
		if object == 0 && child == 0 { // OBJID_WINDOW, CHILDID_SELF
			happened(event, w)
		}
	})
}

// WatchProcess is Watch for all events of a process, also those of objects inside windows, except for movements of the pointer's picture.
func (e *WinEvents) WatchProcess(ctx context.Context, pid uint32, ready, happened func()) error {
	const all, last, cursor = 0x0001, 0x80FF, -9 // OBJID_CURSOR
	return e.watch(ctx, pid, [][2]uint32{{all, last}}, ready, func(_ uint32, _ Window, object, _ int32) {
		if object != cursor {
			happened()
		}
	})
}

func (e *WinEvents) watch(ctx context.Context, pid uint32, pairs [][2]uint32, ready func(), happened winEventFunc) error {
	var hooks []uintptr
	defer func() {
		e.mu.Lock()
		defer e.mu.Unlock()
		for _, hook := range hooks {
			delete(e.watchers, hook)
		}
	}()
	return RunLoop(ctx, func() error {
		for _, pair := range pairs {
			hook, err := e.hook(pid, pair, happened)
			if err != nil {
				return err
			}
			hooks = append(hooks, hook)
		}
		ready()
		return nil
	}, func(Message) {})
}

// hook begins to watch the events of a pair on the calling thread, of one process or for 0 of all.
func (e *WinEvents) hook(pid uint32, pair [2]uint32, happened winEventFunc) (uintptr, error) {
	e.mu.Lock()
	defer e.mu.Unlock()
	if e.callback == 0 {
		e.watchers = make(map[uintptr]winEventFunc)
		e.callback = windows.NewCallback(e.received)
	}
	const outOfContext, skipOwnProcess = 0, 2
	hook, _, err := procedure("user32.dll", "SetWinEventHook").Call(uintptr(pair[0]), uintptr(pair[1]), 0, e.callback, uintptr(pid), 0, outOfContext|skipOwnProcess)
	if hook == 0 {
		return 0, err
	}
	e.watchers[hook] = happened
	return hook, nil
}

// received is the callback (WINEVENTPROC).
func (e *WinEvents) received(hook uintptr, event uint32, w uintptr, object, child int32, _, _ uint32) uintptr {
	e.mu.Lock()
	happened := e.watchers[hook]
	e.mu.Unlock()
	if happened != nil {
		happened(event, Window(w), object, child)
	}
	return 0
}
