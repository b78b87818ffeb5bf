// Package fault holds the errors that all the tools of the desktop make.
package guierr

import (
	"fmt"

	"github.com/gybob/aai-gateway"
)

// JoinWarnings are two warnings in one, of which either may be empty.
func JoinWarnings(one, other string) string {
	if one == "" || other == "" {
		return one + other
	}
	return one + "; " + other
}

// Failed is the error of an act that did not come to what it was to.
func Failed(delivery aai.Delivery, format string, args ...any) error {
	e := aai.Errorf(aai.AutomationFailed, format, args...)
	e.Delivery = delivery
	return e
}

// Unreadable is the error of a program that cannot be read: whether or not it got the
// question, nothing was asked of it that it could do.
func Unreadable(err error) error {
	e := *aai.AsError(err)
	e.Delivery = aai.NotDelivered
	return &e
}

// QuoteQuery is a query in an error.
func QuoteQuery(query string) string { return fmt.Sprintf("%q", aai.CleanLabel(query, 100)) }

// Unsupported is the error of what this computer cannot do.
func Unsupported(what string) error {
	e := aai.Errorf(aai.AutomationNotSupported, "this computer offers no %s to the gateway", what)
	e.Delivery = aai.NotDelivered
	e.Hint = "ax_is_accessible says what is missing."
	return e
}
