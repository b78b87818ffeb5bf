package mcp_test

import (
	"context"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/policy"
)

// withConsentGate adds the real consent gate. Gates with the same file share the grants.
func withConsentGate(file string) change {
	gate := policy.NewConsent(policy.ConsentConfig{Store: policy.NewFileStore(file), Elicitation: []string{policy.Wildcard}})
	return func(w *world) {
		w.gate = func(r *aai.Request) ([]aai.Question, error) { return gate.Check(context.Background(), r) }
	}
}

func grantsIn(t *testing.T) string { return filepath.Join(t.TempDir(), "consent.json") }

// askedAbout calls a tool and expects a question to the person.
func (c *wire) askedAbout(tool, args string) (id string, question message) {
	c.t.Helper()
	id = c.request("tools/call", exec(tool, args))
	q := c.receive()
	assert.Equal(c.t, q.Method, "elicitation/create", "%+v", q)
	return id, q
}

// reply answers a question with the rest of a message, and returns the result of the call.
func (c *wire) reply(question message, rest string) toolResult {
	c.t.Helper()
	c.send(fmt.Sprintf(`{"jsonrpc":"2.0","id":%s,%s}`, question.ID, rest))
	return c.receive().result(c.t)
}

func chose(choice string) string {
	return fmt.Sprintf(`"result":{"action":"accept","content":{"decision":%q}}`, choice)
}

// TestEveryChoice checks the effect of each choice: now, at the next call, for another tool, and in
// another process.
func TestEveryChoice(t *testing.T) {
	for choice, c := range map[string]struct {
		now, again, other, elsewhere string // a code, "" for success, "asked"
	}{
		"deny":    {"PERMISSION_DENIED", "asked", "asked", "asked"},
		"once":    {"", "asked", "asked", "asked"},
		"session": {"", "", "asked", "asked"},
		"always":  {"", "", "asked", ""},
		"all":     {"", "", "", ""},
		"never":   {"PERMISSION_DENIED", "CONSENT_REQUIRED", "asked", "CONSENT_REQUIRED"},
	} {
		t.Run(choice, func(t *testing.T) {
			file := grantsIn(t)
			w := newWorld(t, withConsentGate(file), harmless)
			client := w.dial(t).open("2025-06-18", elicitationCapability)
			_, q := client.askedAbout(addTool, `{}`)
			now := client.reply(q, chose(choice)).code()
			assert.Check(t, is.Equal(now, c.now), "the call came to %q, expected %q", now, c.now)
			again := client.outcome(addTool)
			assert.Check(t, is.Equal(again, c.again), "the next call came to %q, expected %q", again, c.again)
			other := client.outcome(sayTool)
			assert.Check(t, is.Equal(other, c.other), "another tool came to %q, expected %q", other, c.other)
			next := newWorld(t, withConsentGate(file), harmless).dial(t).open("2025-06-18", elicitationCapability)
			elsewhere := next.outcome(addTool)
			assert.Check(t, is.Equal(elsewhere, c.elsewhere), "in another process it came to %q, expected %q", elsewhere, c.elsewhere)
		})
	}
}

// harmless removes irreversible tools: of an app with such tools, a client may not ask for all.
func harmless(w *world) {
	app := w.catalog.apps[1]
	app.Tools = slices.DeleteFunc(app.Tools, func(t *aai.Tool) bool { return t.Effect == aai.Destroys })
}

// TestForGoodIsNotAskedThroughTheClient checks that irreversible tools are never asked about through the client.
func TestForGoodIsNotAskedThroughTheClient(t *testing.T) {
	w := newWorld(t, withConsentGate(grantsIn(t)))
	c := w.dial(t).open("2025-06-18", elicitationCapability)
	result := c.ask("tools/call", exec(unknownOutcomeTool, `{}`)).result(t)
	result.fails(t, "CONSENT_REQUIRED")
	for name, want := range map[string]any{
		"app_id": notes, "app_name": "Notes|Notizen", "tool": unknownOutcomeTool, "consent_url": "aai://consent?app=org.example.Notes&tool=send",
	} {
		assert.Check(t, is.Equal(result.StructuredContent[name], want), name)
	}
	for name := range result.StructuredContent { // the caller has the tool's schema
		assert.Assert(t, !strings.Contains(name, "schema"), "it tells %s: %v", name, result.StructuredContent[name])
		assert.Assert(t, !strings.Contains(name, "param"), "it tells %s: %v", name, result.StructuredContent[name])
	}
}

// code returns a call's error code: "" for success.
func (r toolResult) code() string {
	code, _ := r.StructuredContent["type"].(string)
	return code
}

// outcome makes a call and returns its code, or that the person was asked; the person declines.
func (c *wire) outcome(tool string) string {
	c.t.Helper()
	c.request("tools/call", exec(tool, `{}`))
	m := c.receive()
	if m.Method != "elicitation/create" {
		return m.result(c.t).code()
	}
	c.reply(m, `"result":{"action":"decline"}`)
	return "asked"
}

// TestTheQuestion checks that the question describes the request, and that its first choice is no.
func TestTheQuestion(t *testing.T) {
	c := newWorld(t, withConsentGate(grantsIn(t))).dial(t).open("2025-06-18", elicitationCapability)
	_, q := c.askedAbout(addTool, `{"text":"buy milk"}`)
	var form struct {
		Mode, Message   string
		RequestedSchema struct {
			Properties map[string]struct {
				Type    string
				Enum    []string
				Default any
			}
			Required []string
		}
	}
	assert.NilError(t, json.Unmarshal(q.Params, &form))
	for _, part := range []string{`which calls itself "tester"`, notes, addTool, "buy milk"} {
		assert.Check(t, is.Contains(form.Message, part), "the question does not say %q: %s", part, form.Message)
	}
	field := form.RequestedSchema.Properties["decision"]
	assert.Equal(t, form.Mode, "form", q.Params)
	assert.Equal(t, field.Type, "string", q.Params)
	assert.Assert(t, field.Default == nil, "the form is %s", q.Params)
	assert.Assert(t, len(field.Enum) != 0, "the form is %s", q.Params)
	assert.Equal(t, field.Enum[0], "deny", q.Params)
	assert.Assert(t, slices.Equal(form.RequestedSchema.Required, []string{"decision"}), "the form is %s", q.Params)
}

// TestNothingElseIsYes checks that every other response is a refusal.
func TestNothingElseIsYes(t *testing.T) {
	for name, rest := range map[string]string{
		"decline":                `"result":{"action":"decline"}`,
		"cancel":                 `"result":{"action":"cancel"}`,
		"decline, but with once": `"result":{"action":"decline","content":{"decision":"once"}}`,
		"cancel, but with once":  `"result":{"action":"cancel","content":{"decision":"once"}}`,
		"accept without content": `"result":{"action":"accept"}`,
		"accept of nothing":      `"result":{"action":"accept","content":{}}`,
		"no such choice":         `"result":{"action":"accept","content":{"decision":"root"}}`,
		"a label":                `"result":{"action":"accept","content":{"decision":"Allow this once"}}`,
		"upper case":             `"result":{"action":"accept","content":{"decision":"ONCE"}}`,
		"a list":                 `"result":{"action":"accept","content":{"decision":["once"]}}`,
		"true":                   `"result":{"action":"accept","content":{"decision":true}}`,
		"another field":          `"result":{"action":"accept","content":{"Decision":"once"}}`,
		"no action":              `"result":{"content":{"decision":"once"}}`,
		"another action":         `"result":{"action":"yes","content":{"decision":"once"}}`,
		"a string":               `"result":"once"`,
		"null":                   `"result":null`,
		"nothing":                `"x":1`,
		"an error":               `"error":{"code":-32601,"message":"Method not found"}`,
		"an error and a result":  `"error":{"code":1,"message":"no"},"result":{"action":"accept","content":{"decision":"once"}}`,
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, withConsentGate(grantsIn(t)))
			c := w.dial(t).open("2025-06-18", elicitationCapability)
			_, q := c.askedAbout(addTool, `{}`)
			result := c.reply(q, rest)
			code := result.code()
			assert.Assert(t, result.IsError, "expected a refusal, got %+v", result)
			assert.Assert(t, code == "PERMISSION_DENIED" || code == "CONSENT_REQUIRED", "expected a refusal, got %+v", result)
			for action, words := range map[string]string{"decline": "denied", "cancel": "closed without an answer"} {
				assert.Check(t, !strings.HasPrefix(name, action) || strings.Contains(fmt.Sprintf("%s", result.Content), words), "%q %s", words, result.Content)
				assert.Check(t, !strings.HasPrefix(name, action) || result.StructuredContent["elicitation"] == action, "%q %v", action, result.StructuredContent["elicitation"])
			}
			w.ranNothing(t)
			got := c.outcome(addTool)
			assert.Check(t, is.Equal(got, "asked"), "the next call came to %q", got)
		})
	}
}

func (w *world) ranNothing(t *testing.T) {
	t.Helper()
	assert.Assert(t, len(w.added) <= 0, "the call ran")
	assert.Assert(t, w.journal.outcomes(addTool)[""] <= 0, "the call ran")
}

// TestClientsThatCannotAsk checks that without forms at the client, the error tells the person's next step.
func TestClientsThatCannotAsk(t *testing.T) {
	for name, capabilities := range map[string]string{
		"no capability": `{}`, "addresses only": `{"elicitation":{"url":{}}}`, "something else": `{"sampling":{},"roots":{}}`,
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, withConsentGate(grantsIn(t)))
			c := w.dial(t).open("2025-11-25", capabilities)
			result := c.ask("tools/call", exec(addTool, `{}`)).result(t)
			result.fails(t, "CONSENT_REQUIRED")
			hint, _ := result.StructuredContent["suggestion"].(string)
			assert.Check(t, is.Contains(hint, "aai-gateway consent grant "+notes+" "+addTool))
			w.ranNothing(t)
		})
	}
	for name, capabilities := range map[string]string{
		"no mode": `{"elicitation":{}}`, "forms": `{"elicitation":{"form":{}}}`, "both": `{"elicitation":{"form":{},"url":{}}}`,
	} {
		t.Run(name, func(t *testing.T) {
			c := newWorld(t, withConsentGate(grantsIn(t))).dial(t).open("2025-11-25", capabilities)
			c.askedAbout(addTool, `{}`)
		})
	}
}

// TestAQuestionThatIsNotForClients checks that a question is not asked through the client if policy forbids it.
func TestAQuestionThatIsNotForClients(t *testing.T) {
	w := newWorld(t, withGate(func(r *aai.Request) ([]aai.Question, error) {
		questions, _ := asks(r)
		other := questions[0]
		other.ID, other.Channels = "other", []aai.Channel{aai.DesktopDialog, aai.Terminal}
		return append(questions, other), nil
	}))
	c := w.dial(t).open("2025-06-18", elicitationCapability)
	c.ask("tools/call", exec(addTool, `{}`)).result(t).fails(t, "CONSENT_REQUIRED")
	w.ranNothing(t)
}

// TestTheAnsweredCallNamesTheOneThatAsked checks that the call with the answers has the first call as parent.
func TestTheAnsweredCallNamesTheOneThatAsked(t *testing.T) {
	w := newWorld(t, withConsentGate(grantsIn(t)))
	c := w.dial(t).open("2025-06-18", elicitationCapability)
	_, q := c.askedAbout(addTool, `{}`)
	c.reply(q, chose("once")).succeeds(t)
	received := w.journal.asked()
	assert.Assert(t, is.Len(received, 2))
	assert.Assert(t, received[0].Call != "", "the journal has %+v", received)
	assert.Equal(t, received[1].Parent, received[0].Call)
	intents := w.journal.calls(aai.Intent)
	assert.Assert(t, is.Len(intents, 1))
	assert.Equal(t, intents[0].Consent, "once (client)")
}

// TestTheSDKsClientAsks uses the SDK's own client, which asks by itself, in versions with and without sessions.
func TestTheSDKsClientAsks(t *testing.T) {
	for _, version := range []string{"2025-06-18", "2025-11-25", "2026-07-28"} {
		t.Run(version, func(t *testing.T) {
			w := newWorld(t, withConsentGate(grantsIn(t)))
			asked := 0
			session := w.connect(t, version, &mcp.ClientOptions{
				ElicitationHandler: func(_ context.Context, req *mcp.ElicitRequest) (*mcp.ElicitResult, error) {
					asked++
					if asked > 1 {
						return &mcp.ElicitResult{Action: "decline"}, nil
					}
					return &mcp.ElicitResult{Action: "accept", Content: map[string]any{"decision": "once"}}, nil
				},
			})
			for i, fails := range []bool{false, true} {
				result, err := session.CallTool(t.Context(), callOf(notes, addTool, map[string]any{"text": "x"}))
				assert.NilError(t, err, "%d %+v", i, result)
				assert.Equal(t, result.IsError, fails, "%d %+v", i, result)
				assert.Equal(t, asked, i+1, "%d %+v", i, result)
			}
		})
	}
}
