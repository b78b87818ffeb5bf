package mcp_test

import (
	"context"
	"errors"
	"fmt"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"

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
	if err := <-w.ended; !errors.Is(err, context.Canceled) {
		t.Errorf("the tool's context ended with %v", err)
	}
	close(w.release)
	m := c.receive()
	if string(m.ID) != second {
		t.Errorf("expected the answer to %s, got %+v", second, m)
	}
	m.result(t).succeeds(t)
	if rest, err := c.hangUp(); len(rest) > 0 || err != nil {
		t.Errorf("at the end came %q and %v", rest, err)
	}
	if got := w.journal.outcomes(blockTool); got[aai.AutomationFailed] != 1 || got[""] != 1 {
		t.Errorf("the journal has %v", got)
	}
}

// TestCancellationWhileThePersonIsAsked checks that a cancelled call withdraws its question.
func TestCancellationWhileThePersonIsAsked(t *testing.T) {
	w := newWorld(t, withGate(asks))
	c := w.dial(t).open("2025-06-18", elicitationCapability)
	id := c.request("tools/call", exec(addTool, `{}`))
	q := c.receive()
	c.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s}}`, id))
	if m := c.receive(); m.Method != "notifications/cancelled" {
		t.Errorf("expected that the question is withdrawn, got %+v", m)
	}
	c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"decision":"once"}}}`, q.ID))
	if rest, err := c.hangUp(); len(rest) > 0 || err != nil {
		t.Errorf("at the end came %q and %v", rest, err)
	}
	if len(w.added) > 0 {
		t.Error("the call ran")
	}
	if got := w.journal.outcomes(addTool); got[aai.AutomationFailed] != 1 || got[aai.ConsentRequired] != 1 {
		t.Errorf("the journal has %v", got)
	}
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
			if !errors.Is(err, context.Canceled) {
				t.Errorf("the call ended with %v", err)
			}
			if err := <-w.ended; !errors.Is(err, context.Canceled) {
				t.Errorf("the tool's context ended with %v", err)
			}
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
				if err := <-others; err != nil {
					t.Error(err)
				}
			}
			close(w.release)
			if err := <-blocked; err != nil {
				t.Error(err)
			}
			if n := w.journal.outcomes(addTool)[""]; n != 64 {
				t.Errorf("%d of 64 calls are on record", n)
			}
			// The grant for a session must be for this client, in every version.
			sessions := map[string]bool{}
			for _, e := range w.journal.asked() {
				sessions[e.Caller.Session] = true
				if e.Caller.Door != aai.DoorMCP || e.Caller.Name != "tester" || e.Caller.Session == "" {
					t.Errorf("a call came from %+v", e.Caller)
				}
			}
			if len(sessions) != 1 {
				t.Errorf("the calls of one client are of %d sessions", len(sessions))
			}
		})
	}
}

// TestCancellationOfADesktopTool checks that a waiting tool of the desktop ends when its request is
// cancelled. It would succeed after ten seconds.
func TestCancellationOfADesktopTool(t *testing.T) {
	w := newWorld(t, withDesktop, withProfile("desktop"))
	c := w.dial(t).open("2025-11-25", `{}`)
	id := c.request("tools/call", `{"name":"ax_wait_idle","arguments":{"app":"Editor","timeout_ms":60000,"poll_ms":10000},"_meta":{"progressToken":1}}`)
	if m := c.receive(); m.Method != "notifications/progress" {
		t.Fatalf("expected to hear that it waits, got %+v", m)
	}
	c.send(fmt.Sprintf(`{"jsonrpc":"2.0","method":"notifications/cancelled","params":{"requestId":%s}}`, id))
	if rest, err := c.hangUp(); len(rest) > 0 || err != nil {
		t.Errorf("at the end came %q and %v", rest, err)
	}
	if got := w.journal.outcomes("ax_wait_idle"); got[""] > 0 || len(got) != 1 {
		t.Errorf("on record: %v", got)
	}
}
