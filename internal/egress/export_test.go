package egress

import (
	"errors"
	"time"
)

// Refused reports whether the guard, and nothing else, kept a request back.
func Refused(err error) bool {
	f, ok := errors.AsType[*failure](err)
	return ok && f.kind == refused
}

// RefusalTime is how long a failure takes at least.
const RefusalTime = refusalTime

// SetFloor sets how long a failure takes at least.
func (c *Client) SetFloor(d time.Duration) { c.floor = d }
