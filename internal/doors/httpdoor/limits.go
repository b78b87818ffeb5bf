package httpdoor

import (
	"cmp"
	"time"
)

// Limits bound the resources that a request can use. A zero field means its default.
type Limits struct {
	MaxBody       int64         // bytes of a request's body; default 4 MiB
	BodyTimeout   time.Duration // for a whole body to arrive; default 30 s
	StartInterval time.Duration // for which a starting request delays the caller's next one; default 100 ms
	WriteTimeout  time.Duration // for a client to accept written data; default 30 s
}

// Limits that a Config cannot change.
const (
	maxHeader       = 32 << 10 // bytes
	headerTimeout   = 10 * time.Second
	idleTimeout     = 2 * time.Minute // of a connection between requests
	maxConns        = 8192            // authenticated ones
	maxPendingBytes = 64 << 20        // bytes of bodies of one caller before their requests start
)

// Limits for connections that have not shown a token.
const (
	maxUnauthenticated        = 1024
	maxUnauthenticatedPerPeer = 64 // of one other computer
	unauthenticatedGrace      = 200 * time.Millisecond
)

// Timeouts for closing a server.
const (
	// shutdownTimeout is the time that running calls have to end when the door closes.
	// After that they are abandoned.
	shutdownTimeout = 2 * time.Second
	// cancelTimeout is the time that cancelled calls have to report their outcome.
	cancelTimeout = 500 * time.Millisecond
)

// WithDefaults returns the limits with defaults in place of zero fields.
func (l Limits) WithDefaults() Limits {
	return Limits{
		MaxBody:       cmp.Or(l.MaxBody, 4<<20),
		BodyTimeout:   cmp.Or(l.BodyTimeout, 30*time.Second),
		StartInterval: cmp.Or(l.StartInterval, 100*time.Millisecond),
		WriteTimeout:  cmp.Or(l.WriteTimeout, 30*time.Second),
	}
}
