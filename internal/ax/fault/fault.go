// Package fault holds the errors that all the tools of the desktop make.
package fault

import (
	"fmt"

	"aai"
)

// Warnings are two warnings in one, of which either may be empty.
func Warnings(one, other string) string {
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

// Unread is the error of a program that cannot be read: whether or not it got the
// question, nothing was asked of it that it could do.
func Unread(err error) error {
	e := *aai.AsError(err)
	e.Delivery = aai.NotDelivered
	return &e
}

// Quoted is a query in an error.
func Quoted(query string) string { return fmt.Sprintf("%q", aai.CleanLabel(query, 100)) }

// Unsupported is the error of what this computer cannot do.
func Unsupported(what string) error {
	e := aai.Errorf(aai.AutomationNotSupported, "this computer offers no %s to the gateway", what)
	e.Delivery = aai.NotDelivered
	e.Hint = "ax_is_accessible says what is missing."
	return e
}
