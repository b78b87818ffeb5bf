package ax

import (
	"context"
	"errors"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/platform/darwin/native"
)

// permissionPlace is where a person allows a program to use accessibility.
const permissionPlace = "System Settings > Privacy & Security > Accessibility"

// permissionHint returns the next step for a program without the permission. The system grants it to the program that started the
// gateway, and the gateway cannot grant it to itself. program is the name of that program; "" if it is unknown.
func permissionHint(program string) string {
	if program == "" {
		program = "the program that started aai-gateway (the terminal or the agent's app)"
	}
	return "In " + permissionPlace + ", switch on " + program + ", then restart it. If it is on already, remove it there and add it again: " +
		"an update of the program may have changed its signature."
}

// gone returns the error for an element that no longer exists.
func gone() *aai.Error {
	return &aai.Error{Code: aai.StaleRef, Message: "the element no longer exists", Delivery: aai.NotDelivered}
}

// expired returns the error of a context that ended before the call began.
func expired(ctx context.Context) *aai.Error {
	err := notAnswered(ctx)
	err.Message, err.Delivery = "the time for the call was over before it began", aai.NotDelivered
	return err
}

// notAnswered returns the error of a context that ended during the call.
func notAnswered(ctx context.Context) *aai.Error {
	if errors.Is(ctx.Err(), context.Canceled) {
		return &aai.Error{Code: aai.AutomationFailed, Message: "the call was cancelled before the app answered"}
	}
	return &aai.Error{Code: aai.Timeout, Message: "the app does not answer requests for its windows"}
}

// failure returns the error for an error of the accessibility API. running reports whether the process still runs; program is that of
// permissionHint.
func failure(code native.AXError, running bool, program string) *aai.Error {
	err := &aai.Error{Code: aai.AutomationFailed, Message: "accessibility: " + code.Words()}
	switch code {
	case native.ErrDisabled:
		err.Code, err.Hint, err.Delivery = aai.PermissionDenied, permissionHint(program), aai.NotDelivered
		err.Message = "macOS does not let this program use accessibility"
	case native.ErrCannotComplete:
		if err.Code = aai.Timeout; !running {
			err.Code, err.Message = aai.AppNotRunning, "the app has ended"
		}
	case native.ErrInvalidElement:
		return gone()
	case native.ErrAttributeUnsupported, native.ErrActionUnsupported, native.ErrNotImplemented, native.ErrParameterUnsupported, native.ErrNoNotification:
		err.Code, err.Delivery = aai.AutomationNotSupported, aai.NotDelivered
	case native.ErrIllegalArgument:
		err.Delivery = aai.NotDelivered
	default:
	}
	return err
}
