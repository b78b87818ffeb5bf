package screen

import (
	"context"
	"errors"
	"time"

	"golang.org/x/sys/windows"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/inputlock"
	"github.com/gybob/aai-gateway/internal/platform/windows/win32"
)

// activatePatience is the time for a window to get the keyboard.
const activatePatience = 2 * time.Second

// Activate implements desktop.Windows. Windows lets a program give away the keyboard only if that program has it, or has made the last
// input; so Activate makes an input that moves nothing and presses nothing, where Windows refuses at first.
func (d *Display) Activate(ctx context.Context, id desktop.WindowID) error {
	w, err := existing(id)
	if err != nil {
		return err
	}
	return d.stroke(ctx, func(g *inputlock.Lease) error { return activate(ctx, g, w) })
}

func activate(ctx context.Context, g *inputlock.Lease, w win32.Window) error {
	if w.IsMinimized() {
		w.ShowAsync(win32.Restore)
	}
	for until := time.Now().Add(activatePatience); ; {
		if win32.Foreground() != w && !w.SetForeground() {
			_ = send(g, win32.Mouse(0, 0, 0, 0))
			w.SetForeground()
		}
		if win32.Foreground() == w && !w.IsMinimized() {
			return nil
		}
		if time.Now().After(until) || aai.Sleep(ctx, 20*time.Millisecond) != nil {
			return notActivated(w)
		}
	}
}

func notActivated(w win32.Window) error {
	if !w.Exists() {
		_, err := existing(desktop.WindowID(w))
		return err
	}
	e := notDelivered(aai.AutomationFailed, "Windows did not give the keyboard to the window")
	style, _ := w.Style()
	switch pid, _ := w.Process(); {
	case style&win32.StyleDisabled != 0:
		e.Message += ": a dialog of its program is open"
		e.Hint = "Answer the dialog first: list the windows, and take the one of the same program that is modal."
	case win32.IsProtected(pid):
		return protectedError()
	default:
		e.Hint = "Ask the person to click on the window, or act in the background."
	}
	return e
}

// Manage implements desktop.Windows.
func (*Display) Manage(_ context.Context, id desktop.WindowID, wish desktop.WindowRequest) error {
	w, err := existing(id)
	if err != nil {
		return err
	}
	if pid, _ := w.Process(); win32.IsProtected(pid) {
		return protectedError()
	}
	switch wish {
	case desktop.Raise:
		if err := w.Raise(); err != nil {
			return systemError("raising the window", err)
		}
	case desktop.Restore:
		w.ShowAsync(win32.ShowNoActivate)
	case desktop.Minimize:
		if win32.Foreground() == w {
			w.ShowAsync(win32.Minimize) // the next window gets the keyboard, as when the person minimizes this one
		} else {
			w.ShowAsync(win32.MinimizeNoActive)
		}
	case desktop.Close:
		return closeWindow(w)
	default:
		return notDelivered(aai.InvalidParams, "a window cannot %q", wish)
	}
	return nil
}

// closeWindow asks the program to close the window, unless one of its dialogs must be answered before: the program would not expect that.
func closeWindow(w win32.Window) error {
	const wmClose = 0x0010
	if style, _ := w.Style(); style&win32.StyleDisabled != 0 {
		e := notDelivered(aai.AutomationFailed, "the window cannot be closed while a dialog of its program is open")
		e.Hint = "Answer the dialog first: list the windows, and take the one of the same program that is modal."
		return e
	}
	if err := w.Post(wmClose, 0, 0); err != nil {
		return postError("closing the window", err)
	}
	return nil
}

// postError returns the error of a message that was not posted.
func postError(doing string, err error) error {
	if errors.Is(err, windows.ERROR_INVALID_WINDOW_HANDLE) {
		_, gone := existing(1 << 40)
		return gone
	}
	return systemError(doing, err)
}
