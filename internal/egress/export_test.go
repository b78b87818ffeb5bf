package egress

import (
	"errors"
	"time"
)

// Refused reports whether the guard, and nothing else, kept a request back.
func Refused(err error) bool { return kindOf(err) == refused }

// Unsafe reports whether TLS did.
func Unsafe(err error) bool { return kindOf(err) == unsafe }

func kindOf(err error) kind {
	if f, ok := errors.AsType[*cause](err); ok {
		return f.kind
	}
	return -1
}

// RefusalTime is how long a failure takes at least.
const RefusalTime = refusalTime

// SetFloor sets how long a failure takes at least.
func (c *Client) SetFloor(d time.Duration) { c.floor = d }

// SetPatience sets how long a fetch takes at most.
func (c *Client) SetPatience(d time.Duration) { c.patience = d }
