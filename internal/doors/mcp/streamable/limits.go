package streamable

import (
	"cmp"
	"time"
)

// Limits bound what sessions and streams take. A zero one means its default.
type Limits struct {
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

// maxBatch is how many messages a batch of the older versions may have.
const maxBatch = 100

func (l Limits) withDefaults() Limits {
	return Limits{
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
