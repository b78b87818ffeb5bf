package policy

import (
	"context"
	"sync"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/gateway"
)

// TestACancelledCallLocksNothing checks that a call cancelled while it waits for the gate
// releases its slot and blocks no other call.
func TestACancelledCallLocksNothing(t *testing.T) {
	l := NewLimits(DefaultLimits())
	app := &aai.App{ID: "org.example.App", Tools: []*aai.Tool{{Name: "t", Effect: aai.Reads,
		Run: func(context.Context, *aai.Call) (*aai.Result, error) { return &aai.Result{}, nil }}}}
	g := &gateway.Gateway{Catalog: shelfOf(app), Journal: &records{}, Gates: []aai.Gate{l}}
	call := func() *aai.Call {
		return &aai.Call{Caller: aai.Caller{Door: aai.DoorMCP, Name: "x"}, App: "a", Tool: "t"}
	}

	l.mu.Lock() // another call is in Check
	ctx, cancel := context.WithCancel(context.Background())
	var all sync.WaitGroup
	all.Go(func() { _, _ = g.Do(ctx, call()) })
	time.Sleep(20 * time.Millisecond)
	cancel()
	all.Wait() // a tenth of a second later Do has returned
	l.mu.Unlock()
	time.Sleep(50 * time.Millisecond)

	done := make(chan error, 1)
	go func() { _, err := g.Do(context.Background(), call()); done <- err }()
	select {
	case err := <-done:
		assert.NilError(t, err)
	case <-time.After(5 * time.Second):
		t.Fatal("no call of anybody passes the gate any more: l.mu is held for ever")
	}
}
