package mcp

import (
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gybob/aai-gateway"
)

// clientState is the door's state for one client while it is connected. Most clients need
// none.
type clientState struct {
	mu             sync.Mutex
	wantsLog       bool           // it has requested logs
	logTokens      float64        // messages that it may get now
	logTokensAt    time.Time      // the time of logTokens
	suppressedLogs int            // messages dropped since the last sent one
	roots          []aai.Root     // nil: unknown
	rootsVersion   int            // grows when the roots change
	selection      entrySelection // guarded by Door.sync
}

// clientStates maps sessions to their state. It is safe for concurrent use.
type clientStates struct {
	mu sync.Mutex
	of map[*mcp.ServerSession]*clientState
}

// clientStateOf returns the state of a client and creates it if necessary; it is deleted
// when the session ends.
func (d *Door) clientStateOf(session *mcp.ServerSession) *clientState {
	d.clients.mu.Lock()
	defer d.clients.mu.Unlock()
	if g := d.clients.of[session]; g != nil {
		return g
	}
	g := &clientState{}
	d.clients.of[session] = g
	go func() {
		_ = session.Wait() // the error does not matter
		d.subscriptions.removeAll(session)
		d.clients.mu.Lock()
		defer d.clients.mu.Unlock()
		delete(d.clients.of, session)
	}()
	return g
}

// existingClientState returns the state of a client, or nil if it has none.
func (d *Door) existingClientState(session *mcp.ServerSession) *clientState {
	d.clients.mu.Lock()
	defer d.clients.mu.Unlock()
	return d.clients.of[session]
}
