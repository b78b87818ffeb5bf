package netguard

import (
	"errors"
	"time"
)

// IsRefused reports whether the guard, and nothing else, kept a request back.
func IsRefused(err error) bool { return failureKindOf(err) == refusedByGuard }

func failureKindOf(err error) failureKind {
	if f, ok := errors.AsType[*failureCause](err); ok {
		return f.kind
	}
	return -1
}

// MinFailureTime is the minimum duration of a failure.
const MinFailureTime = minFailureTime

// SetMinFailure sets the minimum duration of a failure.
func (c *Client) SetMinFailure(d time.Duration) { c.minFailure = d }

// SetFetchTimeout sets the limit for a fetch.
func (c *Client) SetFetchTimeout(d time.Duration) { c.fetchTimeout = d }
