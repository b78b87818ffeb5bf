package dialog

import (
	"context"
	"fmt"
	"os"
	"strings"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"
)

// boxMaxBytes is the limit for text in a message box on a small screen, in bytes.
const boxMaxBytes = 2000

// Flags and results of MessageBox, from winuser.h.
const (
	mbYesNo         = 0x00000004
	mbYesNoCancel   = 0x00000003
	mbIconWarning   = 0x00000030
	mbDefButton2    = 0x00000100
	mbDefButton3    = 0x00000200
	mbSetForeground = 0x00010000
	mbTopmost       = 0x00040000

	idCancel  = 2
	idYes     = 6
	idNo      = 7
	idTimeout = 32000
)

// presenters returns the presenter of Windows: a message box of this process.
func presenters(getenv func(string) string) []presenter {
	box := windows.NewLazySystemDLL("user32.dll").NewProc("MessageBoxTimeoutW")
	if box.Find() != nil {
		return nil
	}
	return []presenter{{name: "message box", maxButtons: 3, maxBytes: boxMaxBytes,
		show: func(ctx context.Context, p page, process func(int)) (int, error) {
			return messageBox(ctx, box, p, process)
		}}}
}

// screen returns "": screens have no names here.
func screen(func(string) string) string { return "" }

// messageBox shows the page. Windows sets the names of its buttons, so the text explains
// them. The box cannot be closed by the gateway; it closes after its timeout.
func messageBox(ctx context.Context, box *windows.LazyProc, p page, process func(int)) (int, error) {
	w := messagesIn("")
	left, flags := patience, uintptr(mbYesNoCancel|mbDefButton3)
	if deadline, ok := ctx.Deadline(); ok {
		left = time.Until(deadline)
	}
	meaning := []string{w.cancel + ": " + p.buttons[0], w.yes + ": " + p.buttons[1]}
	if len(p.buttons) > 2 {
		meaning = append(meaning, w.no+": "+p.buttons[2])
	} else {
		meaning[0] = w.no + ": " + p.buttons[0]
		flags = mbYesNo | mbDefButton2
	}
	text, err := windows.UTF16PtrFromString(p.text + "\n\n" + strings.Join(meaning, "\n"))
	if err != nil {
		return 0, err
	}
	title, err := windows.UTF16PtrFromString(p.title)
	if err != nil {
		return 0, err
	}
	process(os.Getpid())
	chosen := make(chan uintptr, 1)
	go func() {
		//nolint:gosec // the system reads the two texts
		id, _, _ := box.Call(0, uintptr(unsafe.Pointer(text)), uintptr(unsafe.Pointer(title)),
			flags|mbIconWarning|mbSetForeground|mbTopmost, 0, uintptr(left.Milliseconds()))
		chosen <- id
	}()
	select {
	case id := <-chosen:
		return boxButton(id, len(p.buttons))
	case <-ctx.Done():
		return 0, ctx.Err()
	}
}

// boxButton returns the index of the button for the result of a box.
func boxButton(id uintptr, buttons int) (int, error) {
	switch {
	case id == idYes:
		return 1, nil
	case id == idNo && buttons > 2:
		return 2, nil
	case id == idNo || id == idCancel:
		return 0, nil
	case id == idTimeout:
		return 0, context.DeadlineExceeded
	}
	return 0, fmt.Errorf("the message box returned %d", id)
}
