package httpdoor

import (
	"cmp"
	"time"
)

// Limits bound what a request can make a server hold. A zero one means its default.
type Limits struct {
	Body   int64         // of a request, in bytes: 4 MiB
	Upload time.Duration // in which a body must come: 30 s
	Start  time.Duration // in which a request keeps the next ones of its caller from beginning: 100 ms
	Write  time.Duration // in which a client must take what is written: 30 s
}

// What a request may have that the Go HTTP server looks at itself.
const (
	maxHeader     = 32 << 10 // bytes
	headerTimeout = 10 * time.Second
	unusedTimeout = 2 * time.Minute // of a connection between requests
	maxConns      = 8192            // that have shown a token
	maxSending    = 64 << 20        // bytes of bodies of one caller that have not begun
)

// Connections that have not shown a token.
const (
	maxStrangers       = 1024
	maxStrangersOfPeer = 64 // of one other computer
	strangerGrace      = 200 * time.Millisecond
)

// What the end of a server may take.
const (
	// lastWords is how long calls that are running when the door must close have to
	// end. After that they are left behind.
	lastWords = 2 * time.Second
	// afterwards is how long cancelled calls have to say what became of them.
	afterwards = 500 * time.Millisecond
)

// WithDefaults are the limits that hold.
func (l Limits) WithDefaults() Limits {
	return Limits{
		Body:   cmp.Or(l.Body, 4<<20),
		Upload: cmp.Or(l.Upload, 30*time.Second),
		Start:  cmp.Or(l.Start, 100*time.Millisecond),
		Write:  cmp.Or(l.Write, 30*time.Second),
	}
}
