package dbus

import (
	"context"
	"errors"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/dbus/wire"
)

// errorPrefix begins the names of the protocol's own errors, which dbus-protocol.h of the
// reference implementation lists.
const errorPrefix = "org.freedesktop.DBus.Error."

// codeOf maps D-Bus errors to codes. An app's own errors are AUTOMATION_FAILED.
func codeOf(name string) aai.Code {
	switch strings.TrimPrefix(name, errorPrefix) {
	case "ServiceUnknown", "Spawn.ServiceNotFound", "Spawn.ExecFailed", "Spawn.FileInvalid",
		"Spawn.ServiceNotValid", "Spawn.ConfigInvalid":
		return aai.AppNotFound
	case "NameHasNoOwner", "Disconnected", "NoServer", "Spawn.ChildExited", "Spawn.ChildSignaled", "Spawn.Failed":
		return aai.AppNotRunning
	case "AccessDenied", "AuthFailed", "InteractiveAuthorizationRequired", "Spawn.PermissionsInvalid",
		"org.freedesktop.PolicyKit1.Error.NotAuthorized", "org.freedesktop.PolicyKit1.Error.Cancelled":
		return aai.PermissionDenied
	case "NoReply", "Timeout", "TimedOut":
		return aai.Timeout
	}
	return aai.AutomationFailed
}

// isStale reports whether an error means that the cached object is outdated.
func isStale(name string) bool {
	switch strings.TrimPrefix(name, errorPrefix) {
	case "UnknownMethod", "UnknownObject", "UnknownInterface", "UnknownProperty", "InvalidArgs", "NoSuchObject":
		return true
	}
	return false
}

// isNoOwner reports whether an error of the bus means that the name has no owner.
func isNoOwner(name string) bool {
	return name == errorPrefix+"ServiceUnknown" || name == errorPrefix+"NameHasNoOwner"
}

// deliveryOf returns the delivery of a message that got an error. An error from the app proves
// delivery. An error from the bus means that it did not deliver the message, unless it timed out
// waiting for the app.
func deliveryOf(reply *wire.Message) aai.Delivery {
	if reply.Sender != wire.BusName {
		return aai.Delivered
	}
	switch strings.TrimPrefix(reply.ErrorName, errorPrefix) {
	case "NoReply", "Timeout", "TimedOut", "Disconnected":
		return aai.DeliveryUnknown
	}
	return aai.NotDelivered
}

// called returns the member for messages, with the signature that the descriptor gives.
func (t *target) called() string {
	if t.signature == "" {
		return t.member
	}
	return t.member + "(" + t.signature + ")"
}

// errorFailure converts an error message into a failure.
func (t *target) errorFailure(reply *wire.Message) *failure {
	detail := aai.CleanLabel(reply.ErrorName, 120)
	if texts, err := textsOf(reply, 1); err == nil {
		detail += ": " + aai.CleanLabel(texts[0], 500)
	}
	who := t.service
	if reply.Sender == wire.BusName && t.service != wire.BusName {
		who = "the " + t.bus.name + " bus, for " + t.service + ","
	}
	err := aai.Errorf(codeOf(reply.ErrorName), "%s answered %s with the error %s", who, t.called(), detail)
	err.Delivery = deliveryOf(reply)
	if t.service == wire.BusName { // the bus is the target of the call
		err.Delivery = aai.Delivered
	}
	switch err.Code {
	case aai.PermissionDenied:
		err.Hint = "The app or the bus does not allow this to the user who runs the gateway."
	case aai.Timeout:
		err.Hint = "The app may still be working on it. Look at its state before you try again."
	case aai.AppNotFound, aai.AppNotRunning:
		err.Hint = "Start the app, then try again."
	}
	return &failure{err: err}
}

// absentError reports that the service's name has no owner and the bus cannot start one.
func (t *target) absentError() *aai.Error {
	err := aai.Errorf(aai.AppNotRunning, "%s is not on the %s bus, and the bus has no way to start it",
		t.service, t.bus.name)
	err.Hint = "Make sure that the app is installed and start it, then try again. A tool that acts starts it where the " +
		"descriptor names a desktop_file; one that reads starts nothing."
	err.Delivery = aai.NotDelivered
	return err
}

// goneError reports that the service has left the bus.
func (t *target) goneError(how string) *aai.Error {
	err := aai.Errorf(aai.AppNotRunning, "%s is not running: %s", t.service, how)
	err.Hint = "Start the app, then try again."
	err.Delivery = aai.NotDelivered
	return err
}

// noBus reports that there is no connection to the bus.
func (t *target) noBus(cause error) *aai.Error {
	if err := t.contextError(cause); err != nil {
		return err
	}
	err := aai.Errorf(aai.AppNotRunning, "no %s bus for %s: %w", t.bus.name, t.service, cause)
	if t.bus.name == sessionBus {
		err.Hint = "A session of this user must run. `aai-gateway check` shows the places searched and the next step."
	} else {
		err.Hint = "Check that the system's D-Bus service runs, or set DBUS_SYSTEM_BUS_ADDRESS."
	}
	return err
}

// unanswered reports that no reply came, so the delivery is unknown.
func (t *target) unanswered(cause error) *aai.Error {
	if err := t.contextError(cause); err != nil {
		return err
	}
	err := aai.Errorf(aai.AppNotRunning, "the connection to the %s bus was lost during %s of %s", t.bus.name,
		t.called(), t.service)
	err.Hint = "Look at the app's state before you try again: it may have got the call."
	err.Delivery = aai.DeliveryUnknown
	err.Err = cause
	return err
}

// unsendable reports that a call cannot be encoded as a valid message.
func (t *target) unsendable(cause error) *aai.Error {
	err := aai.Errorf(aai.InvalidParams, "%s of %s: %w", t.called(), t.service, cause)
	err.Hint = "Give the tool smaller values."
	err.Delivery = aai.NotDelivered
	return err
}

// contextError returns the error of an ended context, or nil for another cause.
func (t *target) contextError(cause error) *aai.Error {
	var err *aai.Error
	switch {
	case errors.Is(cause, context.DeadlineExceeded):
		err = aai.Errorf(aai.Timeout, "%s did not answer %s by the deadline", t.service, t.called())
		err.Hint = "The app may be busy or frozen. Look at its state before you try again."
	case errors.Is(cause, context.Canceled):
		err = aai.Errorf(aai.AutomationFailed, "the caller cancelled %s of %s", t.called(), t.service)
	default:
		return nil
	}
	err.Delivery = aai.DeliveryUnknown
	err.Err = cause
	return err
}

// unreadable reports that the app sent a reply that the driver cannot decode.
func (t *target) unreadable(cause error) *aai.Error {
	code := aai.AutomationFailed
	if errors.Is(cause, errDescriptor) {
		code = aai.AutomationNotSupported
	}
	err := aai.Errorf(code, "the reply of %s to %s cannot be read: %w", t.service, t.called(), cause)
	err.Hint = "The app has carried out the call."
	err.Delivery = aai.Delivered
	return err
}

func (t *target) oversized(size int) *aai.Error {
	err := aai.Errorf(aai.AutomationFailed, "the reply of %s to %s has %d MiB, more than the limit of %d",
		t.service, t.called(), size>>20, wire.MaxBody>>20)
	err.Hint = "The app has carried out the call. Ask it for less at a time."
	err.Delivery = aai.Delivered
	return err
}
