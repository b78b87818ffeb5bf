// Package guierr provides the errors that all desktop tools share.
package guierr

import (
	"fmt"

	"github.com/gybob/aai-gateway"
)

// JoinWarnings joins two warnings, either of which may be empty.
func JoinWarnings(one, other string) string {
	if one == "" || other == "" {
		return one + other
	}
	return one + "; " + other
}

// Failed returns an AUTOMATION_FAILED error with the delivery, for an action without its intended effect.
func Failed(delivery aai.Delivery, format string, args ...any) error {
	e := aai.Errorf(aai.AutomationFailed, format, args...)
	e.Delivery = delivery
	return e
}

// Unreadable returns err for a program that cannot be read, marked as not delivered: a read changes
// nothing even if the program receives it.
func Unreadable(err error) error {
	e := *aai.AsError(err)
	e.Delivery = aai.NotDelivered
	return &e
}

// QuoteQuery cleans, shortens and quotes a query for an error message.
func QuoteQuery(query string) string { return fmt.Sprintf("%q", aai.CleanLabel(query, 100)) }

// Unsupported returns an AUTOMATION_NOT_SUPPORTED error for the named feature, which this computer lacks.
func Unsupported(what string) error {
	e := aai.Errorf(aai.AutomationNotSupported, "this computer offers no %s to the gateway", what)
	e.Delivery = aai.NotDelivered
	e.Hint = "ax_is_accessible says what is missing."
	return e
}
