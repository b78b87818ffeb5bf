package httpdoor

import (
	"cmp"
	"time"
)

// Limits bound what a request can make a server hold. A zero one means its default.
type Limits struct {
	MaxBody       int64         // of a request, in bytes: 4 MiB
	BodyTimeout   time.Duration // in which a body must come: 30 s
	StartInterval time.Duration // in which a request keeps the next ones of its caller from beginning: 100 ms
	WriteTimeout  time.Duration // in which a client must take what is written: 30 s
}

// What a request may have that the Go HTTP server looks at itself.
const (
	maxHeader       = 32 << 10 // bytes
	headerTimeout   = 10 * time.Second
	idleTimeout     = 2 * time.Minute // of a connection between requests
	maxConns        = 8192            // that have shown a token
	maxPendingBytes = 64 << 20        // bytes of bodies of one caller that have not begun
)

// Connections that have not shown a token.
const (
	maxUnauthenticated        = 1024
	maxUnauthenticatedPerPeer = 64 // of one other computer
	unauthenticatedGrace      = 200 * time.Millisecond
)

// What the end of a server may take.
const (
	// shutdownTimeout is how long calls that are running when the door must close have to
	// end. After that they are left behind.
	shutdownTimeout = 2 * time.Second
	// cancelTimeout is how long cancelled calls have to say what became of them.
	cancelTimeout = 500 * time.Millisecond
)

// WithDefaults are the limits that hold.
func (l Limits) WithDefaults() Limits {
	return Limits{
		MaxBody:       cmp.Or(l.MaxBody, 4<<20),
		BodyTimeout:   cmp.Or(l.BodyTimeout, 30*time.Second),
		StartInterval: cmp.Or(l.StartInterval, 100*time.Millisecond),
		WriteTimeout:  cmp.Or(l.WriteTimeout, 30*time.Second),
	}
}
