package mcp_test

import (
	"context"
	"fmt"
	"io"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
)

// asks is a gate that asks about every call.
func asks(*aai.Request) ([]aai.Question, error) {
	return []aai.Question{{
		ID: "consent", Channels: []aai.Channel{aai.Client}, Title: "Allow it?", Seal: "s",
		Choices: []aai.Choice{{ID: "deny", Label: "Deny"}, {ID: "once", Label: "Once"}},
	}}, nil
}

const elicitationCapability = `{"elicitation":{}}`

// TestTheEndOfTheInputLosesNoAnswer checks that a client that writes its requests and closes its end at
// once gets every answer.
func TestTheEndOfTheInputLosesNoAnswer(t *testing.T) {
	for range 20 {
		w := newWorld(t)
		c := w.dial(t).open("2025-06-18", `{}`)
		var all strings.Builder
		for i := range 20 {
			fmt.Fprintf(&all, `{"jsonrpc":"2.0","id":"n%d","method":"tools/call","params":%s}`+"\n", i, exec(addTool, `{}`))
		}
		c.write(strings.TrimSuffix(all.String(), "\n")) // the last line has no line break
		rest, err := c.hangUp()
		assert.Assert(t, is.Len(rest, 20))
		assert.NilError(t, err)
		n := w.journal.outcomes(addTool)[""]
		assert.Equal(t, n, 20, "%d of 20 calls are on record", n)
	}
}

// TestTheEndOfTheInputWaitsForASlowTool checks the same while a tool runs.
func TestTheEndOfTheInputWaitsForASlowTool(t *testing.T) {
	w := newWorld(t)
	c := w.dial(t).open("2025-06-18", `{}`)
	for range 20 {
		c.request("tools/call", exec(blockTool, `{}`))
	}
	for range 20 {
		<-w.entered
	}
	_ = c.in.Close()
	close(w.release)
	rest, err := c.rest()
	assert.Assert(t, is.Len(rest, 20))
	assert.NilError(t, err)
	assert.Check(t, !strings.Contains(strings.Join(rest, ""), "isError"), "a call failed: %q", rest)
}

func TestTheEndOfTheInput(t *testing.T) {
	ping := `{"jsonrpc":"2.0","id":"p","method":"ping"}`
	listen := `{"jsonrpc":"2.0","id":"l","method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true},` +
		`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":{}}}}`
	for name, c := range map[string]struct {
		last  string
		lines int // expected lines
	}{
		"nothing":                    {"", 0},
		"white space":                {"  ", 0},
		"in the middle of a message": {ping[:20], 1},
		"in the middle of a rune":    {`{"jsonrpc":"2.0","id":"` + "\xc3", 1},
		"after a message":            {ping, 1},
		"in a line too long":         {strings.Repeat("x", 17<<20), 0},
		"in a subscription":          {listen + "\n" + ping, 2},            // it is acknowledged, but ends with the connection
		"behind a batch with one":    {"[" + listen + "," + ping + "]", 2}, // the others do not wait for it
		"in a batch":                 {"[" + ping + "," + ping[:10], 1},
		"after a batch":              {"[" + ping + "," + strings.Replace(ping, "p", "q", 1) + "]", 1},
	} {
		t.Run(name, func(t *testing.T) {
			client := newWorld(t).dial(t).open("2025-03-26", `{}`)
			client.write(c.last)
			rest, err := client.hangUp()
			assert.Assert(t, is.Len(rest, c.lines), "%d", c.lines)
			assert.NilError(t, err, "%d", c.lines)
		})
	}
	t.Run("before anything", func(t *testing.T) {
		rest, err := newWorld(t).dial(t).hangUp()
		assert.Assert(t, is.Len(rest, 0))
		assert.NilError(t, err)
	})
}

// TestTheEndOfTheInputWithAnOpenQuestion checks that a question without a client is refused, and the door ends.
func TestTheEndOfTheInputWithAnOpenQuestion(t *testing.T) {
	w := newWorld(t, withGate(asks))
	c := w.dial(t).open("2025-06-18", elicitationCapability)
	id := c.request("tools/call", exec(addTool, `{}`))
	m := c.receive()
	assert.Equal(t, m.Method, "elicitation/create", "%+v", m)
	rest, err := c.hangUp()
	assert.Assert(t, is.Len(rest, 1), id)
	assert.NilError(t, err, id)
	assert.Assert(t, is.Contains(rest[0], `"id":`+id), id)
	assert.Assert(t, is.Contains(rest[0], "CONSENT_REQUIRED"), id)
	assert.Check(t, len(w.added) <= 0, "the call ran")
}

// TestAQuestionAfterTheEndOfTheInput checks that a question after the end is refused as well.
func TestAQuestionAfterTheEndOfTheInput(t *testing.T) {
	held := make(chan struct{})
	atGate := make(chan struct{})
	w := newWorld(t, withGate(func(r *aai.Request) ([]aai.Question, error) {
		close(atGate)
		<-held
		return asks(r)
	}))
	c := w.dial(t).open("2025-06-18", elicitationCapability)
	c.request("tools/call", exec(addTool, `{}`))
	<-atGate
	_ = c.in.Close()
	// Another request would be refused now. The test cannot see when the door has read the end, so both
	// orders must have the same result.
	close(held)
	rest, err := c.rest()
	assert.NilError(t, err, "%q", rest)
	assert.Assert(t, len(rest) != 0, "expected a refusal, got %q and %v", rest, err)
	assert.Assert(t, is.Contains(rest[len(rest)-1], "CONSENT_REQUIRED"), "%q", rest)
}

// TestAnAnswerBeforeTheEndOfTheInputCounts checks that an answer counts although the client closes its
// end after it.
func TestAnAnswerBeforeTheEndOfTheInputCounts(t *testing.T) {
	for range 50 {
		w := newWorld(t, withGate(asksAboutSend))
		c := w.dial(t).open("2025-06-18", elicitationCapability)
		c.request("tools/call", exec(unknownOutcomeTool, `{}`))
		q := c.receive()
		c.write(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,"result":{"action":"accept","content":{"decision":"once"}}}`, q.ID))
		rest, err := c.hangUp()
		assert.Assert(t, is.Len(rest, 1))
		assert.NilError(t, err)
		assert.Assert(t, is.Contains(rest[0], "TIMEOUT"))
	}
}

// TestTheEndOfTheContext checks that the door ends with its context, also while calls run or wait.
func TestTheEndOfTheContext(t *testing.T) {
	for name, c := range map[string]struct {
		version, call string
		gate          func(*aai.Request) ([]aai.Question, error)
	}{
		"idle":              {},
		"while a tool runs": {call: exec(blockTool, `{}`)},
		"with a question":   {call: exec(addTool, `{}`), gate: asks},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			if c.gate != nil {
				w.gate = c.gate
			}
			ctx, cancel := context.WithCancel(t.Context())
			defer cancel()
			client := w.dialIn(t, ctx).open("2025-06-18", elicitationCapability)
			if c.call != "" {
				client.request("tools/call", c.call)
				if c.gate != nil {
					client.line()
				} else {
					<-w.entered
				}
			}
			cancel()
			_, err := client.rest()
			assert.Check(t, is.ErrorIs(err, context.Canceled), "the door ended with %v", err)
			if c.gate == nil && c.call != "" {
				err := <-w.ended
				assert.Check(t, is.ErrorIs(err, context.Canceled), "the tool's context ended with %v", err)
			}
		})
	}
}

// TestAClientThatDoesNotRead checks that a client that never reads blocks neither the reading of its
// requests nor the door's end.
func TestAClientThatDoesNotRead(t *testing.T) {
	w := newWorld(t)
	in, write := io.Pipe()
	_, out := io.Pipe() // never read
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	done := make(chan error, 1)
	go func() { done <- w.door.ServeStdio(ctx, in, out) }()
	go func() {
		_, _ = io.WriteString(write, `{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{}}}`+"\n")
		for i := range 100 {
			_, _ = fmt.Fprintf(write, `{"jsonrpc":"2.0","id":"n%d","method":"ping"}`+"\n", i)
			_, _ = fmt.Fprintf(write, `{"jsonrpc":"2.0","id":"c%d","method":"resources/read","params":{"uri":"app:%s"}}`+"\n", i, notes)
		}
		cancel()
	}()
	err := <-done
	assert.Check(t, is.ErrorIs(err, context.Canceled), "the door ended with %v", err)
	_ = out.Close()
}

// TestAnOutputThatCannotBeWritten checks that a failed write ends the door, though the input stays open.
func TestAnOutputThatCannotBeWritten(t *testing.T) {
	for name, line := range map[string]string{
		"an answer":           `{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{}}}`,
		"a refusal of a line": `nonsense`,
	} {
		t.Run(name, func(t *testing.T) {
			in, write := io.Pipe()
			read, out := io.Pipe()
			_ = read.Close()
			done := make(chan error, 1)
			w := newWorld(t)
			go func() { done <- w.door.ServeStdio(t.Context(), in, out) }()
			go func() { _, _ = io.WriteString(write, line+"\n") }()
			<-done
			_ = write.Close()
		})
	}
}

// A waitingDialog is a window of the gateway in which the person answers nothing. It closes with the context.
type waitingDialog chan struct{}

// Ask implements aai.Asker.
func (d waitingDialog) Ask(ctx context.Context, _ aai.Question) (aai.Answer, error) {
	close(d)
	<-ctx.Done()
	return aai.Answer{}, ctx.Err()
}

// TestTheEndOfTheInputEndsQuestions checks that a question to the person closes soon after the client has closed its input.
func TestTheEndOfTheInputEndsQuestions(t *testing.T) {
	asked := make(waitingDialog)
	w := newWorld(t, withGate(asksByDialog), func(w *world) { w.dialog = asked })
	c := w.dial(t).open("2025-06-18", `{}`)
	c.request("tools/call", exec(addTool, `{}`))
	<-asked
	_ = c.in.Close()
	m := c.receive()
	assert.Check(t, is.Contains(string(m.Result), "CONSENT_REQUIRED"), "after the end: %s %v", m.Result, m.Error)
	<-c.done
}

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
	c.ends()
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
	c.ends()
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
			_, err := session.CallTool(ctx, callOf(notes, blockTool, nil))
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
				result, err := session.CallTool(t.Context(), callOf(notes, tool, nil))
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
	c.ends()
	got := w.journal.outcomes("ax_wait_idle")
	assert.Check(t, got[""] <= 0, "on record: %v", got)
	assert.Check(t, is.Len(got, 1))
}
