package dialog

import (
	"context"
	"os"
	"runtime"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"

	"github.com/gybob/aai-gateway/internal/platform/windows/win32"
)

// presenters returns the presenters of Windows: a task dialog, with the labels of the question, and a message box for a program
// without a manifest. It returns none in a session without a screen, such as that of services.
func presenters(func(string) string) []presenter {
	if !hasScreen() {
		return nil
	}
	found := []presenter{{name: "message box", maxButtons: 3, maxBytes: boxMaxBytes, show: messageBox}}
	if hasTaskDialogs() {
		found = append([]presenter{{name: "task dialog", maxButtons: taskMaxButtons, maxBytes: taskMaxBytes, show: taskDialog}}, found...)
	}
	return found
}

// screen returns "": screens have no names here.
func screen(func(string) string) string { return "" }

// user32 returns a function of the system's library of windows.
func user32(name string) *windows.LazyProc {
	return windows.NewLazySystemDLL("user32.dll").NewProc(name)
}

// hasScreen reports whether the window station of this process shows windows.
func hasScreen() bool {
	const uoiFlags, wsfVisible = 1, 1
	var flags struct{ inherit, reserved, flags uint32 } // USEROBJECTFLAGS
	station, _, _ := user32("GetProcessWindowStation").Call()
	//nolint:gosec // the system fills in the flags
	ok, _, _ := user32("GetUserObjectInformationW").Call(station, uoiFlags, uintptr(unsafe.Pointer(&flags)), unsafe.Sizeof(flags), 0)
	return ok != 0 && flags.flags&wsfVisible != 0
}

// FocusedPID returns the process of the window with the person's keyboard, or 0 if there is none. A console's window belongs to no
// program: Windows names one of those that use it.
func FocusedPID(context.Context) (int, error) {
	w := win32.Window(windows.GetForegroundWindow())
	if w.Class() == "ConsoleWindowClass" {
		return 0, nil
	}
	pid, _ := w.Process()
	return int(pid), nil
}

// A modal is a function that shows a window of the class of dialogs until the person answers.
type modal struct {
	run func() (int, error)
	// refuse presses the button that refuses.
	refuse func(window win32.Window)
}

// show shows the window in front of all others, and closes it when the context ends.
func (m modal) show(ctx context.Context, process func(int)) (int, error) {
	type answer struct {
		button int
		err    error
	}
	answered, thread := make(chan answer, 1), make(chan uint32, 1)
	go func() {
		runtime.LockOSThread() // its windows are those of the question; it ends with the goroutine
		thread <- windows.GetCurrentThreadId()
		button, err := m.run()
		answered <- answer{button, err}
	}()
	process(os.Getpid())
	own := <-thread
	looks := time.NewTicker(focusPollInterval)
	defer looks.Stop()
	for raised := false; ; {
		select {
		case a := <-answered:
			if ctx.Err() != nil {
				return 0, ctx.Err()
			}
			return a.button, a.err
		case <-looks.C:
			w := dialogOf(own)
			if w != 0 && !raised {
				raised = true
				raise(w)
			}
			if w != 0 && ctx.Err() != nil {
				m.refuse(w)
			}
		}
	}
}

// dialogOf returns the visible dialog of a thread, or 0.
func dialogOf(thread uint32) win32.Window {
	for _, w := range win32.TopLevel() {
		if _, owner := w.Process(); owner == thread && w.Class() == "#32770" && w.IsVisible() {
			return w
		}
	}
	return 0
}

// raise keeps a window in front of the others, and gives it the keyboard if Windows allows it: while the person types elsewhere,
// it only flashes.
func raise(w win32.Window) {
	const top, noSize, noMove = ^uintptr(0), 1, 2
	_, _, _ = user32("SetWindowPos").Call(uintptr(w), top, 0, 0, 0, 0, noSize|noMove)
	_, _, _ = user32("SetForegroundWindow").Call(uintptr(w))
}

// post sends a message to the window without waiting for an answer.
func post(w win32.Window, message uint32, wParam uintptr) {
	_, _, _ = user32("PostMessageW").Call(uintptr(w), uintptr(message), wParam, 0)
}
