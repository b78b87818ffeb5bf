package screen

import (
	"context"
	"os"
	"slices"
	"time"

	"golang.org/x/sys/windows"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/inputlock"
	"github.com/gybob/aai-gateway/internal/gateway/actionctx"
	"github.com/gybob/aai-gateway/internal/platform/windows/win32"
)

// stroke runs do, which makes input, while it holds the input lock, unless the person has stopped the call.
func (d *Display) stroke(ctx context.Context, do func(*inputlock.Lease) error) error {
	if err := actionctx.CheckStopped(ctx); err != nil {
		return err
	}
	g, err := d.cfg.InputLock.Acquire(ctx, nil)
	if err != nil {
		return err
	}
	defer g.Release()
	return do(g)
}

// send makes input of the person's seat. Its Lease makes input without the lock impossible.
func send(_ *inputlock.Lease, in ...win32.Input) error {
	n, err := win32.SendInput(in...)
	if err == nil {
		return nil
	}
	e := aai.Errorf(aai.AutomationFailed, "Windows took %d of %d pieces of input: %w", n, len(in), err)
	e.Hint = "Another program may block input, or a window of Windows itself is open: look at the screen before trying again."
	e.Delivery = aai.DeliveryUnknown
	return e
}

// holdPatience is the time that awaitNoKeysDown waits for the person to release keys.
const holdPatience = time.Second

// awaitNoKeysDown waits until no modifier key and no button is down: they would change the meaning of the input.
func awaitNoKeysDown(ctx context.Context) error {
	const left, right, middle = 1, 2, 4
	for deadline := time.Now().Add(holdPatience); ; {
		held := ""
		if slices.ContainsFunc([]uint16{left, right, middle}, win32.IsDown) {
			held = "a button of the mouse"
		} else if slices.ContainsFunc([]uint16{keyShift, keyControl, keyAlt, keyWin, keyRWin}, win32.IsDown) {
			held = "a key such as Shift or Ctrl"
		}
		if held == "" {
			return nil
		}
		if time.Now().After(deadline) || aai.Sleep(ctx, 20*time.Millisecond) != nil {
			e := notDelivered(aai.AutomationFailed, "the person is holding %s", held)
			e.Hint = "Try again in a moment."
			return e
		}
	}
}

// releaseDead releases the buttons that gateways held that have ended.
func (*Display) releaseDead(_ context.Context, g *inputlock.Lease, held []inputlock.HeldInput) []inputlock.HeldInput {
	return slices.DeleteFunc(held, func(h inputlock.HeldInput) bool {
		if isRunning(h.Process) {
			return false
		}
		if len(h.Buttons) > 0 {
			_ = send(g, win32.Mouse(buttonFlag(desktop.LeftButton, false), 0, 0, 0)) // the next lease tries nothing more
		}
		return true
	})
}

// isRunning reports whether the process runs.
func isRunning(pid int) bool {
	process, err := windows.OpenProcess(windows.SYNCHRONIZE, false, uint32(pid))
	if err != nil {
		return err == windows.ERROR_ACCESS_DENIED //nolint:errorlint // a system call returns it
	}
	defer windows.CloseHandle(process) //nolint:errcheck // it was only read
	state, err := windows.WaitForSingleObject(process, 0)
	return err == nil && state == uint32(windows.WAIT_TIMEOUT)
}

// recordHeld records that this process holds the buttons.
func recordHeld(g *inputlock.Lease, buttons ...byte) error {
	held := g.HeldInput(os.Getpid(), 0)
	held.Buttons = buttons
	return g.SetHeldInput(held)
}

// ready returns the window if the seat may use it.
func ready(seat desktop.Seat, id desktop.WindowID) (win32.Window, error) {
	w, err := existing(id)
	if err != nil {
		return 0, err
	}
	pid, _ := w.Process()
	style, _ := w.Style()
	switch {
	case seat != desktop.OwnSeat && seat != desktop.PersonSeat:
		return 0, notDelivered(aai.InvalidParams, "there is no seat %d", seat)
	case win32.IsProtected(pid):
		return 0, protectedError()
	case style&win32.StyleDisabled != 0:
		e := notDelivered(aai.AutomationFailed, "the window takes no input while a dialog of its program is open")
		e.Hint = "Answer the dialog first: list the windows, and take the one of the same program that is modal."
		return 0, e
	case seat == desktop.OwnSeat && !takesMessages(w.Class()):
		return 0, unsupported("the program does not take a pointer and keys that are not the person's")
	case seat == desktop.OwnSeat && w.IsMinimized():
		return 0, unsupported("the window is minimized")
	}
	return w, nil
}

func unsupported(reason string) error {
	e := notDelivered(aai.AutomationNotSupported, "%s", reason)
	e.Hint = `Use mode "focus", which takes the person's pointer and keyboard, or give the element's ref as query.`
	return e
}
