package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
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

// rootsTool returns the client's roots.
func rootsTool(ctx context.Context, _ *aai.Call) (*aai.Result, error) {
	ask := aai.ClientCapabilitiesOf(ctx).Roots
	if ask == nil {
		return &aai.Result{Text: "no folders"}, nil
	}
	roots, err := ask(ctx)
	if err != nil {
		return nil, err
	}
	return &aai.Result{Text: fmt.Sprint(roots)}, nil
}

// withRootsTool adds the tool to the gateway's own app and to another app.
func withRootsTool(w *world) {
	w.catalog.apps[0].Tools = append(w.catalog.apps[0].Tools, tool("where", aai.Reads, rootsTool))
	adding(slowly(rootsTool))(w)
}

const whereCall = `{"name":"aai_exec","arguments":{"app":"aai","tool":"where"}}`

// TestRootsInRounds checks that the gateway's own tools get the roots of stateless clients in a second round.
func TestRootsInRounds(t *testing.T) {
	folder := t.TempDir()
	w := newWorld(t, withRootsTool)
	client := mcp.NewClient(&mcp.Implementation{Name: "tester", Version: "0"}, nil)
	client.AddRoots(&mcp.Root{URI: "file://" + filepath.ToSlash(folder), Name: "project"}, &mcp.Root{URI: "https://example.com/x"})
	session := w.connectClient(t, "2026-07-28", client)
	result, err := session.CallTool(t.Context(), callOf("aai", "where", nil))
	assert.NilError(t, err)
	got, want := textIn(t, result), fmt.Sprintf("[{%s project}]", folder)
	assert.Check(t, is.Equal(got, want), "the folders are %q, want %q", got, want)
	// Another app's tool might have effects: it is not run twice.
	got = textIn(t, callWork(t, session))
	assert.Check(t, is.Equal(got, "no folders"), "an app's tool knows %q", got)
}

// TestAnswersThatAreNoRoots tests other answers of stateless clients. None is asked twice.
func TestAnswersThatAreNoRoots(t *testing.T) {
	const knowsRoots = `{"roots":{}}`
	w := newWorld(t, withRootsTool)
	c := w.dial(t)
	r := c.ask("tools/call", modern(whereCall, "", knowsRoots)).result(t)
	assert.Equal(t, r.ResultType, "input_required", "%+v", r)
	assert.Equal(t, r.InputRequests["aai.roots"].Method, "roots/list", "%+v", r)
	for answer, want := range map[string]string{
		`{"aai.roots":{"roots":[]}}`:                                "[]",
		`{"aai.roots":{"roots":[{"uri":"https://a.b/"}]}}`:          "[]",
		`{"aai.roots":{"action":"accept","content":{}}}`:            "AUTOMATION_FAILED",
		`{"consent":{"action":"decline"},"aai.roots":{"roots":[]}}`: "[]",
	} {
		r := c.ask("tools/call", modern(whereCall, `"inputResponses":`+answer+`,`, knowsRoots)).result(t)
		text := r.Content[0].Text
		assert.Check(t, strings.HasPrefix(text, want), "%s gave %q, want %q", answer, text, want)
	}
	text := c.ask("tools/call", modern(whereCall, "", `{}`)).result(t).Content[0].Text
	assert.Check(t, is.Equal(text, "no folders"), "a client without roots gave %q", text)
}

// askTool asks the client's model about the argument text.
func askTool(ctx context.Context, call *aai.Call) (*aai.Result, error) {
	sample := aai.ClientCapabilitiesOf(ctx).Sample
	if sample == nil {
		return &aai.Result{Text: "no model"}, nil
	}
	text, _ := call.Args["text"].(string)
	got, err := sample(ctx, aai.SamplingRequest{MaxTokens: 5, Messages: []aai.Message{{Text: text}}})
	if err != nil {
		return nil, err
	}
	return &aai.Result{Text: got.Text}, nil
}

// TestModelInRounds: a stateless client gets the question in the result of the call. Its answer counts for an equal question
// only, and no other tool is run twice.
func TestModelInRounds(t *testing.T) {
	const knowsModels = `{"sampling":{}}`
	call := func(tool, text string) string {
		return fmt.Sprintf(`{"name":"aai_exec","arguments":{"app":"desktop","tool":%q,"args":{"text":%q}}}`, tool, text)
	}
	w := newWorld(t, adding(&aai.App{ID: aai.DesktopApp, Name: "Desktop", Tools: []*aai.Tool{tool("ax_ask_model", aai.Reads, askTool), tool("ax_click", aai.Reads, askTool)}}))
	c := w.dial(t)
	r := c.ask("tools/call", modern(call("ax_ask_model", "a"), "", knowsModels)).result(t)
	assert.Equal(t, r.ResultType, "input_required", "%+v", r)
	assert.Assert(t, is.Len(r.InputRequests, 1), "%+v", r)
	name := ""
	for key, request := range r.InputRequests {
		name = key
		assert.Check(t, is.Equal(request.Method, "sampling/createMessage"), "%s %+v", key, request)
		assert.Check(t, strings.HasPrefix(key, "aai.sample."), "the request %s is %+v", key, request)
	}
	answer := fmt.Sprintf(`"inputResponses":{%q:{"role":"assistant","model":"m","content":{"type":"text","text":"yes"}}},`, name)
	for about, want := range map[string]string{"a": "yes", "b": "AUTOMATION_FAILED"} {
		r := c.ask("tools/call", modern(call("ax_ask_model", about), answer, knowsModels)).result(t)
		text := r.Content[0].Text
		assert.Check(t, strings.HasPrefix(text, want), "the answer to a for %s gave %q, want %q", about, text, want)
	}
	for _, other := range []string{
		modern(call("ax_click", "a"), "", knowsModels), modern(call("ax_ask_model", "a"), "", `{}`),
	} {
		assert.Check(t, is.Equal(c.ask("tools/call", other).result(t).Content[0].Text, "no model"), other)
	}
}
