package win32

import (
	"context"
	"errors"
	"time"
	"unsafe"

	"golang.org/x/sys/windows"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
)

// smtoAbortIfHung and smtoErrorOnExit make SendMessageTimeout end early if the program hangs or ends.
const (
	smtoAbortIfHung = 0x0002
	smtoErrorOnExit = 0x0020
)

// Send sends a message and returns its result when the program has handled it. It fails with TIMEOUT at the deadline of the context,
// or after ten seconds, and with STALE_REF if the window is gone.
func (w Window) Send(ctx context.Context, message uint32, wParam, lParam uintptr) (uintptr, error) {
	left := 10 * time.Second
	if deadline, ok := ctx.Deadline(); ok {
		left = min(left, time.Until(deadline))
	}
	if left <= 0 || ctx.Err() != nil {
		return 0, NotAnswered(ctx)
	}
	var result uintptr
	//nolint:gosec // the system fills in the result
	ok, _, err := procedure("user32.dll", "SendMessageTimeoutW").Call(uintptr(w), uintptr(message), wParam, lParam,
		smtoAbortIfHung|smtoErrorOnExit, uintptr(left.Milliseconds()+1), uintptr(unsafe.Pointer(&result)))
	switch {
	case ok != 0:
		return result, nil
	case errors.Is(err, windows.ERROR_INVALID_WINDOW_HANDLE) || !w.Exists():
		return 0, Gone()
	}
	return 0, NotAnswered(ctx)
}

// Gone returns the error that an element no longer exists.
func Gone() *aai.Error {
	return &aai.Error{Code: aai.StaleRef, Message: "the element no longer exists", Delivery: aai.NotDelivered}
}

// NotAnswered returns the error that a program did not answer in time, or that the context was cancelled.
func NotAnswered(ctx context.Context) *aai.Error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return &aai.Error{Code: aai.AutomationFailed, Message: "the call was cancelled before the program answered"}
	}
	return &aai.Error{Code: aai.Timeout, Message: "the program does not answer messages to its windows"}
}

// Refuse returns the error that an element cannot be operated now, such as "is disabled".
func Refuse(e *desktop.Element, what, hint string) *aai.Error {
	return &aai.Error{Code: aai.AutomationFailed, Message: desktop.Describe(e) + " " + what, Hint: hint, Delivery: aai.NotDelivered}
}

// NotShowing returns the error that an element does not show.
func NotShowing(e *desktop.Element) *aai.Error {
	return Refuse(e, "is not showing", "Bring it into view first: open its window, menu or tab, or scroll to it.")
}

// Disabled returns the error that an element is disabled.
func Disabled(e *desktop.Element) *aai.Error {
	return Refuse(e, "is disabled", "The app does not allow it now; find out what it waits for.")
}

// ReadOnly returns the error that an element is read-only.
func ReadOnly(e *desktop.Element) *aai.Error {
	return Refuse(e, "is read-only", "Its content cannot be changed.")
}

// Unsupported returns the error that an element does not support an act, such as "has no actions".
func Unsupported(e *desktop.Element, what string) *aai.Error {
	return &aai.Error{Code: aai.AutomationNotSupported, Message: desktop.Describe(e) + " " + what, Delivery: aai.NotDelivered,
		Hint: "Use another way to do it: another element, the keyboard or the pointer."}
}

// Denied returns the error that Windows protects the program from the gateway.
func Denied() *aai.Error {
	return &aai.Error{Code: aai.AutomationFailed, Message: "Windows does not let the gateway operate this program", Delivery: aai.NotDelivered,
		Hint: "A program that runs as administrator can only be operated by a gateway that runs as administrator too."}
}
