package mcp

import (
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"aai"
)

// A guest is what the door remembers of a client as long as it is connected. Most
// clients need none.
type guest struct {
	mu       sync.Mutex
	logs     bool       // it has asked for logs
	allowed  float64    // how many messages it may have now
	counted  time.Time  // when that was so
	withheld int        // messages since the last one
	roots    []aai.Root // nil: not known
	version  int        // of the roots; grows when they change
	shelf    shelf      // guarded by Door.sync
}

// guests are what is remembered of clients. Safe for concurrent use.
type guests struct {
	mu sync.Mutex
	of map[*mcp.ServerSession]*guest
}

// guestOf returns what is remembered of a client, from now on until it goes.
func (d *Door) guestOf(session *mcp.ServerSession) *guest {
	d.guests.mu.Lock()
	defer d.guests.mu.Unlock()
	if g := d.guests.of[session]; g != nil {
		return g
	}
	g := &guest{}
	d.guests.of[session] = g
	go func() {
		_ = session.Wait() // how it ended does not matter
		d.following.removeAll(session)
		d.guests.mu.Lock()
		defer d.guests.mu.Unlock()
		delete(d.guests.of, session)
	}()
	return g
}

// knownGuest is guestOf for those that are remembered already; otherwise it
// returns nil.
func (d *Door) knownGuest(session *mcp.ServerSession) *guest {
	d.guests.mu.Lock()
	defer d.guests.mu.Unlock()
	return d.guests.of[session]
}
