package mcp_test

import (
	"context"
	"fmt"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
)

// TestCancellation checks that a cancelled request reaches the tool's context, is recorded, gets no answer, and does
// not affect others.
func TestCancellation(t *testing.T) {
	w := newWorld(t)
	c := w.dial(t).open("2025-06-18", `{}`)
	first := c.request("tools/call", exec(blockTool, `{"text":"first"}`))
	second := c.request("tools/call", exec(blockTool, `{"text":"second"}`))
	<-w.entered
	<-w.entered
	c.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s,"reason":"enough"}}`, first))
	err := <-w.ended
	assert.Check(t, is.ErrorIs(err, context.Canceled), "the tool's context ended with %v", err)
	close(w.release)
	m := c.receive()
	assert.Check(t, is.Equal(string(m.ID), second), "%+v", m)
	m.result(t).succeeds(t)
	rest, err := c.hangUp()
	assert.Assert(t, is.Len(rest, 0))
	assert.NilError(t, err)
	got := w.journal.outcomes(blockTool)
	assert.Check(t, is.Equal(got[aai.AutomationFailed], 1), got)
	assert.Check(t, is.Equal(got[""], 1), got)
}

// TestCancellationWhileThePersonIsAsked checks that a cancelled call withdraws its question.
func TestCancellationWhileThePersonIsAsked(t *testing.T) {
	w := newWorld(t, withGate(asks))
	c := w.dial(t).open("2025-06-18", elicitationCapability)
	id := c.request("tools/call", exec(addTool, `{}`))
	q := c.receive()
	c.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s}}`, id))
	m := c.receive()
	assert.Check(t, is.Equal(m.Method, "notifications/cancelled"), "expected that the question is withdrawn, got %+v", m)
	c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"decision":"once"}}}`, q.ID))
	rest, err := c.hangUp()
	assert.Assert(t, is.Len(rest, 0))
	assert.NilError(t, err)
	assert.Check(t, len(w.added) <= 0, "the call ran")
	got := w.journal.outcomes(addTool)
	assert.Check(t, is.Equal(got[aai.AutomationFailed], 1), got)
	assert.Check(t, is.Equal(got[aai.ConsentRequired], 1), got)
}

// TestTheSDKsClientCancels checks that the SDK's client cancels by its context, in versions with and
// without sessions.
func TestTheSDKsClientCancels(t *testing.T) {
	for _, version := range []string{"2025-11-25", "2026-07-28"} {
		t.Run(version, func(t *testing.T) {
			w := newWorld(t)
			session := w.connect(t, version, nil)
			ctx, cancel := context.WithCancel(t.Context())
			go func() { <-w.entered; cancel() }()
			_, err := session.CallTool(ctx, &mcp.CallToolParams{
				Name: "aai_exec", Arguments: map[string]any{"app": notes, "tool": blockTool},
			})
			assert.Check(t, is.ErrorIs(err, context.Canceled), "the call ended with %v", err)
			err = <-w.ended
			assert.Check(t, is.ErrorIs(err, context.Canceled), "the tool's context ended with %v", err)
		})
	}
}

// TestACallThatBlocksBlocksNoOther checks that 64 other calls succeed while one tool blocks.
func TestACallThatBlocksBlocksNoOther(t *testing.T) {
	for _, version := range []string{"2025-11-25", "2026-07-28"} {
		t.Run(version, func(t *testing.T) {
			w := newWorld(t)
			session := w.connect(t, version, nil)
			call := func(tool string) error {
				result, err := session.CallTool(t.Context(), &mcp.CallToolParams{
					Name: "aai_exec", Arguments: map[string]any{"app": notes, "tool": tool},
				})
				if err == nil && result.IsError {
					err = fmt.Errorf("%s failed: %v", tool, result.StructuredContent)
				}
				return err
			}
			blocked, others := make(chan error, 1), make(chan error, 64)
			go func() { blocked <- call(blockTool) }()
			<-w.entered
			for range 64 {
				go func() { others <- call(addTool) }()
			}
			for range 64 {
				assert.Check(t, <-others)
			}
			close(w.release)
			assert.Check(t, <-blocked)
			n := w.journal.outcomes(addTool)[""]
			assert.Check(t, is.Equal(n, 64), "%d of 64 calls are on record", n)
			// The grant for a session must be for this client, in every version.
			sessions := map[string]bool{}
			for _, e := range w.journal.asked() {
				sessions[e.Caller.Session] = true
				assert.Check(t, is.Equal(e.Caller.Door, aai.DoorMCP), "%+v", e.Caller)
				assert.Check(t, is.Equal(e.Caller.Name, "tester"), "%+v", e.Caller)
				assert.Check(t, e.Caller.Session != "", "a call came from %+v", e.Caller)
			}
			assert.Check(t, is.Len(sessions, 1), "the calls of one client are of %d sessions", len(sessions))
		})
	}
}

// TestCancellationOfADesktopTool checks that a waiting tool of the desktop ends when its request is
// cancelled. It would succeed after ten seconds.
func TestCancellationOfADesktopTool(t *testing.T) {
	w := newWorld(t, withDesktop, withProfile("desktop"))
	c := w.dial(t).open("2025-11-25", `{}`)
	id := c.request("tools/call", `{"name":"ax_wait_idle","arguments":{"app":"Editor","timeout_ms":60000,"poll_ms":10000},"_meta":{"progressToken":1}}`)
	m := c.receive()
	assert.Equal(t, m.Method, "notifications/progress", "expected to hear that it waits, got %+v", m)
	c.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s}}`, id))
	rest, err := c.hangUp()
	assert.Assert(t, is.Len(rest, 0))
	assert.NilError(t, err)
	got := w.journal.outcomes("ax_wait_idle")
	assert.Check(t, got[""] <= 0, "on record: %v", got)
	assert.Check(t, is.Len(got, 1))
}
