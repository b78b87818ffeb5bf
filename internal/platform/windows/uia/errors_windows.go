package uia

import (
	"context"
	"fmt"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/platform/windows/comcall"
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
	invalidArgument     = 0x80070057
)

// isGone reports whether a result means that the element, its window or its program no longer exists.
func isGone(hr uint32) bool { return hr == elementNotAvailable || comcall.Ended(hr) }

// readError returns the error of a failed read of a window or an element.
func readError(ctx context.Context, window win32.Window, hr uint32) error {
	switch {
	case ctx.Err() != nil || hr == timedOut:
		return win32.NotAnswered(ctx)
	case isGone(hr) || !window.Exists():
		return win32.Gone()
	case hr == comcall.AccessDenied:
		return win32.Denied()
	}
	return &aai.Error{Code: aai.AutomationFailed, Message: fmt.Sprintf("UI Automation cannot read the window (error 0x%08X)", hr), Delivery: aai.NotDelivered,
		Hint: "Read the window again."}
}

// actError returns the error of a failed act. A program that ends during the act has received it: the next snapshot shows that.
func actError(ctx context.Context, e *desktop.Element, hr uint32) error {
	switch hr {
	case comcall.EndedInCall, comcall.DiedInCall:
		return nil
	case timedOut:
		return win32.NotAnswered(ctx)
	case elementNotEnabled:
		return win32.Disabled(e)
	case comcall.AccessDenied:
		return win32.Denied()
	case notSupported, notImplemented, noInterface:
		return win32.Unsupported(e, "does not do this: its program or this Windows lacks the control pattern")
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
