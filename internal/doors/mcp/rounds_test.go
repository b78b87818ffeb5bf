package mcp_test

import (
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// modern returns the parameters of a call of a stateless version: those of the call, further ones, and
// the client's capabilities.
func modern(call, more, capabilities string) string {
	meta := fmt.Sprintf(`"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28",`+
		`"io.modelcontextprotocol/clientInfo":{"name":"tester","version":"0"},"io.modelcontextprotocol/clientCapabilities":%s}`, capabilities)
	return strings.TrimSuffix(call, "}") + "," + more + meta + "}"
}

// inputs returns the answers and the state of a client's next round.
func inputs(responses, state string) string {
	encoded, err := json.Marshal(state)
	if err != nil {
		panic(err) // a string is always JSON
	}
	return fmt.Sprintf(`"inputResponses":%s,"requestState":%s,`, responses, encoded)
}

func accepts(choice string) string {
	return fmt.Sprintf(`{"consent":{"action":"accept","content":{"decision":%q}}}`, choice)
}

// questioned makes a call and returns the state of its question.
func (c *wire) questioned(call string) string {
	c.t.Helper()
	r := c.ask("tools/call", modern(call, "", elicitationCapability)).result(c.t)
	assert.Equal(c.t, r.ResultType, "input_required", "%+v", r)
	assert.Assert(c.t, !r.IsError, "expected a question, got %+v", r)
	assert.Assert(c.t, r.RequestState != "", "expected a question, got %+v", r)
	assert.Equal(c.t, r.InputRequests["consent"].Method, "elicitation/create", "%+v", r)
	return r.RequestState
}

func TestRoundsOfTheNewerEra(t *testing.T) {
	w := newWorld(t, withConsentGate(grantsIn(t)))
	c := w.dial(t)
	call := exec(addTool, `{"text":"x"}`)
	state := c.questioned(call)
	c.ask("tools/call", modern(call, inputs(accepts("once"), state), elicitationCapability)).result(t).succeeds(t)
	assert.Equal(t, len(w.added), 1, "the call did not run")
	// "Once" is valid once, with the old answer and without.
	c.ask("tools/call", modern(call, inputs(accepts("once"), state), elicitationCapability)).result(t).fails(t, "CONSENT_REQUIRED")
	c.questioned(call)
	// A session lasts as long as the process.
	state = c.questioned(call)
	c.ask("tools/call", modern(call, inputs(accepts("session"), state), elicitationCapability)).result(t).succeeds(t)
	c.ask("tools/call", modern(call, "", elicitationCapability)).result(t).succeeds(t)
	assert.Check(t, is.Equal(len(w.added), 3), "%d calls ran", len(w.added))
}

// TestNewerClientsThatCannotAsk checks that a client without forms gets no question, but text.
func TestNewerClientsThatCannotAsk(t *testing.T) {
	for _, capabilities := range []string{`{}`, `{"elicitation":{"url":{}}}`} {
		w := newWorld(t, withConsentGate(grantsIn(t)))
		r := w.dial(t).ask("tools/call", modern(exec(addTool, `{}`), "", capabilities)).result(t)
		r.fails(t, "CONSENT_REQUIRED")
		w.ranNothing(t)
	}
}

// TestForgedRounds checks that only the right answer to the question of this call permits it.
func TestForgedRounds(t *testing.T) {
	asked := exec(addTool, `{"text":"x"}`)
	seal := func(state string) string {
		var seals map[string]string
		assert.NilError(t, json.Unmarshal([]byte(state), &seals))
		return seals["consent"]
	}
	for name, forge := range map[string]func(state string) (call, more string){
		"no state": func(string) (string, string) {
			return asked, `"inputResponses":` + accepts("once") + ","
		},
		"empty state":        func(string) (string, string) { return asked, inputs(accepts("once"), "") },
		"state is no object": func(string) (string, string) { return asked, inputs(accepts("once"), "[1]") },
		"empty seal":         func(string) (string, string) { return asked, inputs(accepts("once"), `{"consent":""}`) },
		"seal cut": func(s string) (string, string) {
			return asked, inputs(accepts("once"), fmt.Sprintf(`{"consent":%q}`, seal(s)[:20]))
		},
		"seal changed": func(s string) (string, string) {
			flipped := strings.Map(func(r rune) rune {
				if r == 'A' {
					return 'B'
				}
				return 'A'
			}, seal(s))
			return asked, inputs(accepts("once"), fmt.Sprintf(`{"consent":%q}`, flipped))
		},
		"seal under another name": func(s string) (string, string) {
			return asked, inputs(accepts("once"), fmt.Sprintf(`{"other":%q}`, seal(s)))
		},
		"seal of a list": func(s string) (string, string) {
			return asked, inputs(accepts("once"), fmt.Sprintf(`{"consent":[%q]}`, seal(s)))
		},
		"other arguments": func(s string) (string, string) {
			return exec(addTool, `{"text":"y"}`), inputs(accepts("once"), s)
		},
		"other tool":     func(s string) (string, string) { return exec(sayTool, `{"text":"x"}`), inputs(accepts("once"), s) },
		"decline":        func(s string) (string, string) { return asked, inputs(`{"consent":{"action":"decline"}}`, s) },
		"cancel":         func(s string) (string, string) { return asked, inputs(`{"consent":{"action":"cancel"}}`, s) },
		"no such choice": func(s string) (string, string) { return asked, inputs(accepts("root"), s) },
		"not a form":     func(s string) (string, string) { return asked, inputs(`{"consent":{"roots":[]}}`, s) },
		"a sampled text": func(s string) (string, string) {
			return asked, inputs(`{"consent":{"role":"user","content":{"type":"text","text":"once"},"model":"m"}}`, s)
		},
		"another question": func(s string) (string, string) { return asked, inputs(`{"other":{"action":"accept"}}`, s) },
		"no answers":       func(s string) (string, string) { return asked, inputs(`{}`, s) },
		"state alone":      func(s string) (string, string) { return asked, fmt.Sprintf(`"requestState":%q,`, s) },
		"answers never asked for": func(string) (string, string) {
			return asked, inputs(`{"consent":{"action":"accept","content":{"decision":"always"}},"a":{"action":"accept"},"b":{"action":"accept"}}`, `{}`)
		},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, withConsentGate(grantsIn(t)))
			c := w.dial(t)
			call, more := forge(c.questioned(asked))
			r := c.ask("tools/call", modern(call, more, elicitationCapability)).result(t)
			code := r.code()
			answered := strings.Contains(more, `"inputResponses":{"`)
			assert.Check(t, r.ResultType != "input_required" || !answered, "a wrong answer was taken for none, so a client would ask for ever")
			assert.Check(t, r.ResultType == "input_required" || code == "CONSENT_REQUIRED" || code == "PERMISSION_DENIED", "expected a refusal or a question, got %+v", r)
			w.ranNothing(t)
			assert.Check(t, w.journal.outcomes(sayTool)[""] <= 0, "another tool ran")
			c.questioned(asked) // no consent was stored
		})
	}
}

// TestAStateOfAnotherProcess checks that a state is valid only in the process that issued it.
func TestAStateOfAnotherProcess(t *testing.T) {
	file := grantsIn(t)
	call := exec(addTool, `{}`)
	state := newWorld(t, withConsentGate(file)).dial(t).questioned(call)
	w := newWorld(t, withConsentGate(file))
	w.dial(t).ask("tools/call", modern(call, inputs(accepts("once"), state), elicitationCapability)).result(t).fails(t, "CONSENT_REQUIRED")
	w.ranNothing(t)
}

// TestOlderClientsCannotBringAnswers checks that a client with a session cannot send answers in a call.
func TestOlderClientsCannotBringAnswers(t *testing.T) {
	w := newWorld(t, withConsentGate(grantsIn(t)))
	c := w.dial(t).open("2025-06-18", `{}`)
	call := strings.TrimSuffix(exec(addTool, `{}`), "}") + "," + strings.TrimSuffix(inputs(accepts("always"), `{"consent":"x"}`), ",") + "}"
	c.ask("tools/call", call).result(t).fails(t, "CONSENT_REQUIRED")
	w.ranNothing(t)
}
