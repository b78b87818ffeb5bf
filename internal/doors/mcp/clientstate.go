package mcp

import (
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gybob/aai-gateway"
)

// A guest is what the door remembers of a client as long as it is connected. Most
// clients need none.
type clientState struct {
	mu             sync.Mutex
	wantsLog       bool           // it has asked for logs
	logTokens      float64        // how many messages it may have now
	logTokensAt    time.Time      // when that was so
	suppressedLogs int            // messages since the last one
	roots          []aai.Root     // nil: not known
	rootsVersion   int            // of the roots; grows when they change
	selection      entrySelection // guarded by Door.sync
}

// clientStates are what is remembered of clients. Safe for concurrent use.
type clientStates struct {
	mu sync.Mutex
	of map[*mcp.ServerSession]*clientState
}

// clientStateOf returns what is remembered of a client, from now on until it goes.
func (d *Door) clientStateOf(session *mcp.ServerSession) *clientState {
	d.clients.mu.Lock()
	defer d.clients.mu.Unlock()
	if g := d.clients.of[session]; g != nil {
		return g
	}
	g := &clientState{}
	d.clients.of[session] = g
	go func() {
		_ = session.Wait() // how it ended does not matter
		d.subscriptions.removeAll(session)
		d.clients.mu.Lock()
		defer d.clients.mu.Unlock()
		delete(d.clients.of, session)
	}()
	return g
}

// existingClientState is guestOf for those that are remembered already; otherwise it
// returns nil.
func (d *Door) existingClientState(session *mcp.ServerSession) *clientState {
	d.clients.mu.Lock()
	defer d.clients.mu.Unlock()
	return d.clients.of[session]
}
