package streamable

import (
	"cmp"
	"time"
)

// Limits bound the resources of sessions and streams. A zero field means its default.
type Limits struct {
	KeepAlive         time.Duration // after which a silent stream gets a comment: 15 s
	SessionIdle       time.Duration // after which a session without requests ends: 30 min
	SessionsPerCaller int           // of one caller: 1,000
	// AllSessions limits the sessions of all callers together: 4,000
	AllSessions        int
	RequestsPerSession int // at once in a session: 128
	StatelessPerCaller int // at once of one caller without sessions: 1,024
	StoredBytes        int // bytes of events of all sessions, for resumption: 32 MiB
	// StoredBytesPerSession is the limit for one session: 8 MiB
	StoredBytesPerSession int
}

func (l Limits) withDefaults() Limits {
	return Limits{
		KeepAlive:             cmp.Or(l.KeepAlive, 15*time.Second),
		SessionIdle:           cmp.Or(l.SessionIdle, 30*time.Minute),
		SessionsPerCaller:     cmp.Or(l.SessionsPerCaller, 1000),
		AllSessions:           cmp.Or(l.AllSessions, 4000),
		RequestsPerSession:    cmp.Or(l.RequestsPerSession, 128),
		StatelessPerCaller:    cmp.Or(l.StatelessPerCaller, 1024),
		StoredBytes:           cmp.Or(l.StoredBytes, 32<<20),
		StoredBytesPerSession: cmp.Or(l.StoredBytesPerSession, 8<<20),
	}
}
