package netguard

import (
	"errors"
	"time"
)

// IsRefused reports whether the guard, and nothing else, kept a request back.
func IsRefused(err error) bool { return failureKindOf(err) == refusedByGuard }

// IsTLSError reports whether TLS did.
func IsTLSError(err error) bool { return failureKindOf(err) == tlsFailure }

func failureKindOf(err error) failureKind {
	if f, ok := errors.AsType[*failureCause](err); ok {
		return f.kind
	}
	return -1
}

// MinFailureTime is how long a failure takes at least.
const MinFailureTime = minFailureTime

// SetMinFailure sets how long a failure takes at least.
func (c *Client) SetMinFailure(d time.Duration) { c.minFailure = d }

// SetFetchTimeout sets how long a fetch takes at most.
func (c *Client) SetFetchTimeout(d time.Duration) { c.fetchTimeout = d }
