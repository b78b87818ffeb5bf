package atspi

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/dbus/wire"
	"github.com/gybob/aai-gateway/internal/desktop"
)

// noBus returns the error for a missing accessibility bus.
func noBus(what string, cause error) *aai.Error {
	e := &aai.Error{Code: aai.AutomationNotSupported, Message: what + ", so windows cannot be read", Delivery: aai.NotDelivered, Err: cause,
		Hint: "A graphical session of this user must run, with a D-Bus session bus and the package at-spi2-core; a bus that is at no usual place is found by DBUS_SESSION_BUS_ADDRESS alone. `aai-gateway check` says where one was looked for."}
	if errors.Is(cause, context.DeadlineExceeded) {
		e.Code = aai.Timeout
	}
	return e
}

func errClosed() *aai.Error {
	return &aai.Error{Code: aai.AppNotRunning, Message: "the gateway is ending, so windows cannot be read any more", Delivery: aai.NotDelivered}
}

// A refusal is a D-Bus error reply.
type refusal struct {
	name string // of the error, such as org.freedesktop.DBus.Error.UnknownObject
	text string
}

func (r *refusal) Error() string { return r.name + ": " + r.text }

// replyError converts a message of the kind KindError.
func replyError(m *wire.Message) *refusal {
	r := &refusal{name: aai.CleanLabel(m.ErrorName, 100)}
	if strings.HasPrefix(m.Signature, "s") {
		r.text = aai.CleanLabel(m.Decoder().Str(), 200)
	}
	return r
}

// gone reports whether the callee is not, or no longer, on the bus.
func (r *refusal) gone() bool {
	switch strings.TrimPrefix(r.name, "org.freedesktop.DBus.Error.") {
	case "ServiceUnknown", "NameHasNoOwner", "NoReply", "Disconnected":
		return true
	}
	return false
}

// silent reports whether the callee ended without an answer, according to the bus.
func (r *refusal) silent() bool { return r.name == "org.freedesktop.DBus.Error.NoReply" }

// isGone reports whether an error means that the app has ended.
func isGone(err error) bool {
	r, ok := errors.AsType[*refusal](err)
	return ok && r.gone()
}

// noObject reports whether the object does not exist. Qt returns the same error for missing methods.
func (r *refusal) noObject() bool {
	return r.name == "org.freedesktop.DBus.Error.UnknownObject" || strings.HasSuffix(r.name, "ObjectUnknown")
}

// failed converts an error of a call to an app into the caller's error.
func failed(app desktop.App, err error) *aai.Error {
	if e, ok := errors.AsType[*aai.Error](err); ok {
		return e
	}
	name := label(app)
	if r, ok := errors.AsType[*refusal](err); ok {
		if r.gone() {
			return ended(app, err)
		}
		return &aai.Error{Code: aai.AutomationFailed, Message: fmt.Sprintf("%s refused: %s", name, r.Error()), Delivery: aai.Delivered, Err: err}
	}
	delivery := aai.DeliveryUnknown
	if t, ok := errors.AsType[*wire.TransportError](err); ok {
		delivery = t.Delivery
	}
	switch {
	case errors.Is(err, context.DeadlineExceeded):
		return &aai.Error{Code: aai.Timeout, Message: name + " did not answer in time; " + deliveryText(delivery), Delivery: delivery, Err: err,
			Hint: "The app may be busy or hang. Other apps are not affected; look at its window, or try again later."}
	case errors.Is(err, context.Canceled):
		return &aai.Error{Code: aai.AutomationFailed, Message: "the caller cancelled the call to " + name, Delivery: delivery, Err: err}
	case errors.Is(err, wire.ErrConnectionLost):
		return &aai.Error{Code: aai.AppNotRunning, Message: "the accessibility bus went away while " + name + " was asked", Delivery: delivery, Err: err,
			Hint: "Apps that were started before may have to be started again."}
	}
	return &aai.Error{Code: aai.AutomationFailed, Message: name + ": " + aai.CleanLabel(err.Error(), 300), Delivery: delivery, Err: err}
}

// deliveryText says whether the app received the call.
func deliveryText(d aai.Delivery) string {
	switch d {
	case aai.NotDelivered:
		return "it did not get the request"
	case aai.Delivered:
		return "it got the request, and may still do it"
	}
	return "whether it got the request is not known"
}

func ended(app desktop.App, cause error) *aai.Error {
	return &aai.Error{Code: aai.AppNotRunning, Message: label(app) + " has ended", Delivery: aai.NotDelivered, Err: cause,
		Hint: "List the apps again: it may have been started anew."}
}

func stale(app desktop.App, cause error) *aai.Error {
	return &aai.Error{Code: aai.StaleRef, Message: "the element is not in " + label(app) + " any more", Delivery: aai.NotDelivered, Err: cause,
		Hint: "Take a new snapshot and find it there."}
}

// label formats an app's name for messages.
func label(app desktop.App) string {
	for _, name := range []string{app.Name, app.ID} {
		if name = aai.CleanLabel(name, 60); name != "" {
			return name
		}
	}
	return fmt.Sprintf("process %d", app.PID)
}
