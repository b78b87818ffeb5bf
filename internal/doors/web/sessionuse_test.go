package web_test

import (
	"context"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/policy"
)

// sessionAllower is a person who consents for the session.
type sessionAllower struct{}

func (sessionAllower) Ask(_ context.Context, q aai.Question) (aai.Answer, error) {
	return aai.Answer{Choice: "session", Seal: q.Seal, Channel: aai.DesktopDialog}, nil
}

// TestWhatSessionsMay checks that uses of session consents are listed, that one button revokes all of
// them, and that the gateway asks again after that.
func TestWhatSessionsMay(t *testing.T) {
	w, _ := appWorld(t, mail(tool("ask", `{"type": "object", "properties": {}}`, nil), tool("send", kinds, nil)))
	expectPage(t, w.get(t, "/consent"), "Allowed for a session", "No caller used one.")
	agent := claude()
	agent.Session = "s1"
	call := func() error {
		_, err := w.gateway.Do(t.Context(), &aai.Call{Caller: agent, App: "org.test.Mail", Tool: "ask"})
		return err
	}
	w.gateway.Dialog = sessionAllower{}
	assert.NilError(t, call())
	w.gateway.Dialog = nil
	err := call()
	assert.NilError(t, err, "it was allowed for the session: %v", err)
	w.makeCall(t, "", "", claude(), "org.test.Mail", "send", map[string]any{"to": "session"}) // only the word
	listed := `<td data-label="What"><div><bdi class="theirs">org.test.Mail</bdi> · <code><bdi class="theirs">`
	expectPage(t, w.get(t, "/consent"), listed+"ask<", "!"+listed+"send<", "!No caller used")
	expectPage(t, w.in(t, "zh", "/consent"), "本次会话的授权")
	refused := policy.Grant{Caller: "mcp:other", App: "org.test.Mail", Tool: "ask", Decision: policy.Deny}
	assert.NilError(t, w.store.Add(refused))
	expectPage(t, w.post(t, "/consent/sessions", w.form(t, "/consent")), "All consents for sessions are revoked.", "No caller used one.", "mcp:other")
	e := aai.AsError(call())
	assert.Assert(t, e != nil, "it may still: %v", e)
	assert.Equal(t, e.Code, aai.ConsentRequired, e)
}
