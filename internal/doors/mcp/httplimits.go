package mcp

import (
	"cmp"
	"time"
)

// HTTPLimits bound what clients can make a server hold. A zero one means its
// default.
type HTTPLimits struct {
	Body      int64         // of a request, in bytes: 4 MiB
	Upload    time.Duration // in which a body must come: 30 s
	Start     time.Duration // in which a request keeps the next ones of its caller from beginning: 100 ms
	Write     time.Duration // in which a client must take a message: 30 s
	KeepAlive time.Duration // after which a silent stream gets a comment: 15 s
	Idle      time.Duration // after which a session without requests ends: 30 min
	Sessions  int           // of one caller: 1,000
	// AllSessions of every caller together: 4,000
	AllSessions int
	Requests    int // at once in a session: 128
	Stateless   int // at once of one caller without sessions: 1,024
	Stored      int // bytes of events that all sessions keep for resumption: 32 MiB
	// StoredPerSession is the part of it that one may have: 8 MiB
	StoredPerSession int
}

// What a request may have that the Go HTTP server looks at itself.
const (
	maxHeader     = 32 << 10 // bytes
	headerTimeout = 10 * time.Second
	unusedTimeout = 2 * time.Minute // of a connection between requests
	maxConns      = 8192            // that have shown a token
)

// Connections that have not shown a token.
const (
	maxStrangers       = 1024
	maxStrangersOfPeer = 64 // of one other computer
	strangerGrace      = 200 * time.Millisecond
)

// maxBatch is how many messages a batch of the older versions may have.
const maxBatch = 100

func (l HTTPLimits) withDefaults() HTTPLimits {
	return HTTPLimits{
		Body:             cmp.Or(l.Body, 4<<20),
		Upload:           cmp.Or(l.Upload, 30*time.Second),
		Start:            cmp.Or(l.Start, 100*time.Millisecond),
		Write:            cmp.Or(l.Write, 30*time.Second),
		KeepAlive:        cmp.Or(l.KeepAlive, 15*time.Second),
		Idle:             cmp.Or(l.Idle, 30*time.Minute),
		Sessions:         cmp.Or(l.Sessions, 1000),
		AllSessions:      cmp.Or(l.AllSessions, 4000),
		Requests:         cmp.Or(l.Requests, 128),
		Stateless:        cmp.Or(l.Stateless, 1024),
		Stored:           cmp.Or(l.Stored, 32<<20),
		StoredPerSession: cmp.Or(l.StoredPerSession, 8<<20),
	}
}
