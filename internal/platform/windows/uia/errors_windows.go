package uia

import (
	"context"
	"fmt"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/platform/windows/win32"
)

// HRESULTs of UI Automation and of calls to other processes.
const (
	elementNotEnabled   = 0x80040200
	elementNotAvailable = 0x80040201
	notSupported        = 0x80040204
	timedOut            = 0x80131505
	invalidOperation    = 0x80131509
	noInterface         = 0x80004002
	accessDenied        = 0x80070005
	invalidArgument     = 0x80070057
	invalidWindow       = 0x80070578
	callFailed          = 0x800706BE // the program ended during the call
	serverUnavailable   = 0x800706BA
	serverDied          = 0x80010007
	serverDiedInCall    = 0x80010012
	disconnected        = 0x80010108
	notConnected        = 0x800401FD
)

// isGone reports whether a result means that the element, its window or its program no longer exists.
func isGone(hr uint32) bool {
	switch hr {
	case elementNotAvailable, invalidWindow, callFailed, serverUnavailable, serverDied, serverDiedInCall, disconnected, notConnected:
		return true
	}
	return false
}

// readError returns the error of a failed read of a window or an element.
func readError(ctx context.Context, window win32.Window, hr uint32) error {
	switch {
	case ctx.Err() != nil || hr == timedOut:
		return win32.NotAnswered(ctx)
	case isGone(hr) || !window.Exists():
		return win32.Gone()
	case hr == accessDenied:
		return denied()
	}
	return &aai.Error{Code: aai.AutomationFailed, Message: fmt.Sprintf("UI Automation cannot read the window (error 0x%08X)", hr), Delivery: aai.NotDelivered,
		Hint: "Read the window again."}
}

func denied() *aai.Error {
	return &aai.Error{Code: aai.AutomationFailed, Message: "Windows does not let the gateway operate this program", Delivery: aai.NotDelivered,
		Hint: "A program that runs as administrator can only be operated by a gateway that runs as administrator too."}
}

// actError returns the error of a failed act. A program that ends during the act has received it: the next snapshot shows that.
func actError(ctx context.Context, e *desktop.Element, hr uint32) error {
	switch hr {
	case callFailed, serverDiedInCall:
		return nil
	case timedOut:
		return win32.NotAnswered(ctx)
	case elementNotEnabled:
		return refuse(e, "is disabled", "The app does not allow it now; find out what it waits for.")
	case accessDenied:
		return denied()
	case notSupported, notImplemented, noInterface:
		return unsupported(e, "does not do this: its program or this Windows lacks the control pattern")
	}
	if isGone(hr) {
		return win32.Gone()
	}
	message := fmt.Sprintf("the program did not do it (error 0x%08X)", hr)
	if hr == invalidOperation || hr == invalidArgument {
		message = "the program refused it"
	}
	return &aai.Error{Code: aai.AutomationFailed, Message: desktop.Describe(e) + ": " + message, Delivery: aai.Delivered,
		Hint: "Look at the element again; it may be disabled, or not accept this."}
}

func refuse(e *desktop.Element, what, hint string) *aai.Error {
	return &aai.Error{Code: aai.AutomationFailed, Message: desktop.Describe(e) + " " + what, Hint: hint, Delivery: aai.NotDelivered}
}

func unsupported(e *desktop.Element, what string) *aai.Error {
	return &aai.Error{Code: aai.AutomationNotSupported, Message: desktop.Describe(e) + " " + what, Delivery: aai.NotDelivered,
		Hint: "Use another way to do it: another element, the keyboard or the pointer."}
}
