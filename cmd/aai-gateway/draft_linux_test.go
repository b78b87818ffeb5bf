package main

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/catalog/discovery"
)

// TestWhoMayHaveADraft: an agent gets a draft of a descriptor after one question; only the texts
// of its input count. It saves nothing, and must not start a program, read a file or probe.
func TestWhoMayHaveADraft(t *testing.T) {
	s := newIntegrationWorld(t, "always")
	before, err := os.ReadFile(filepath.Join(s.home, ".aai/org.example.Notes/aai.json"))
	assert.NilError(t, err)
	app := func(more map[string]any) map[string]any {
		args := map[string]any{"app": "org.example.Notes"}
		for name, value := range more {
			args[name] = value
		}
		return args
	}
	var result *aai.Result
	for _, more := range []map[string]any{{}, {"words": map[string]any{"tools": []any{map[string]any{"name": "echo_string", "description": "Says a text again. " + strings.Repeat("x", 200)}}, "app": map[string]any{"description": strings.Repeat("More than a question can show. ", 60)}}}} {
		var e *aai.Error
		if result, e = s.callBuiltin(t, aai.DoorMCP, "generate", app(more)); e != nil {
			t.Fatal(e, e.Hint)
		}
	}
	assert.Assert(t, is.Len(s.person.questions, 1))
	assert.Assert(t, is.Contains(s.person.questions[0].Title+s.person.questions[0].Text, "generate"))
	assert.Assert(t, is.Contains(s.person.questions[0].Text, "org.example.Notes"))
	text, _ := json.Marshal(result.Data)
	for _, want := range []string{"Says a text again.", `"save":"Nothing is saved.`, "aai-gateway generate org.example.Notes --words", `"lint"`, "not taken, since each has more"} {
		assert.Check(t, is.Contains(string(text), want), text)
	}
	assert.Check(t, result.UntrustedSource != "", "a program's words are not told as its")
	for tool, args := range map[string]map[string]any{
		"generate_check": {}, "generate_probe": app(map[string]any{"tool": "echo_string"}),
		"generate": app(map[string]any{"words": filepath.Join(s.home, ".cursor/mcp.json")}),
	} {
		s.person.choice = "no" // for every other question
		result, err := s.callBuiltin(t, aai.DoorMCP, tool, args)
		assert.Assert(t, err != nil, "%s %v %+v %v", tool, args, result, err)
		assert.Equal(t, err.Code, aai.PermissionDenied, "%s %v %+v %v", tool, args, result, err)
		assert.Assert(t, !strings.Contains(err.Error(), secretOfClient), "%s %v %+v %v", tool, args, result, err)
	}
	now, err := os.ReadFile(filepath.Join(s.home, ".aai/org.example.Notes/aai.json"))
	assert.NilError(t, err, now)
	assert.Equal(t, string(now), string(before), now)
	// The user at the terminal is not asked.
	asked := len(s.person.questions)
	if _, err := s.callBuiltin(t, aai.DoorCLI, "generate", app(nil)); err != nil || len(s.person.questions) != asked {
		t.Errorf("the person: %v, %d questions", err, len(s.person.questions)-asked)
	}
}

// TestNoAgentHasAProgramStarted: an agent's request to start and read a program is refused without
// a question, because no answer could allow it.
func TestNoAgentHasAProgramStarted(t *testing.T) {
	s := newIntegrationWorld(t, "always")
	_, err := s.callBuiltin(t, aai.DoorMCP, "generate", map[string]any{"app": "org.example.Notes", "start": true})
	if err == nil || err.Code != aai.PermissionDenied || !strings.Contains(err.Message, "start: ") || len(s.person.questions) > 0 {
		t.Errorf("%v; asked %+v", err, s.person.questions)
	}
	if _, err := s.callBuiltin(t, aai.DoorMCP, "generate", map[string]any{"app": "org.example.Notes"}); err != nil || len(s.person.questions) != 1 {
		t.Errorf("without it: %v, %d questions", err, len(s.person.questions))
	}
}

// TestNoDraftAgainstThePersonsWord: a refusal counts, and the program is not asked.
func TestNoDraftAgainstThePersonsWord(t *testing.T) {
	s := newIntegrationWorld(t, "deny")
	for _, app := range []string{"org.example.Notes", "org.example.Nobody"} {
		_, err := s.callBuiltin(t, aai.DoorMCP, "generate", map[string]any{"app": app})
		assert.Assert(t, err != nil, "%s: against the person's word: %v", app, err)
		assert.Equal(t, err.Code, aai.PermissionDenied, "%s %v", app, err)
	}
}

// TestNoDraftOfADeniedApp: a denied app is not described either, under any of its names, and the
// refusal has the same text.
func TestNoDraftOfADeniedApp(t *testing.T) {
	for _, lists := range []string{`{"security": {"denied_apps": ["notes"]}}`, `{"security": {"denied_apps": ["org.example.*"]}}`, `{"security": {"allowed_apps": ["Calculator"]}}`} {
		s := newIntegrationWorld(t, "always", lists)
		call := &aai.Call{ID: aai.NewCallID(), Caller: aai.Caller{Door: aai.DoorMCP, Name: "agent", Identity: "/usr/bin/agent", Session: "s"}, App: "org.example.Notes", Tool: "ping"}
		_, elsewhere := s.gateway.Do(t.Context(), call)
		want := aai.AsError(elsewhere)
		assert.Assert(t, elsewhere != nil, "%s %v", lists, elsewhere)
		assert.Equal(t, want.Code, aai.PermissionDenied, "%s %v", lists, elsewhere)
		for _, app := range []string{"org.example.Notes", "notes"} {
			_, err := s.callBuiltin(t, aai.DoorMCP, "generate", map[string]any{"app": app})
			assert.Assert(t, err != nil, "%s %s %+v %+v", lists, app, err, want)
			assert.Equal(t, err.Code, want.Code, "%s %s %+v %+v", lists, app, err, want)
			assert.Equal(t, err.Message, want.Message, "%s %s %+v %+v", lists, app, err, want)
			assert.Equal(t, err.Hint, want.Hint, "%s %s %+v %+v", lists, app, err, want)
			assert.Equal(t, err.Delivery, aai.NotDelivered, "%s %s %+v %+v", lists, app, err, want)
		}
	}
	s := newIntegrationWorld(t, "always", `{"security": {"denied_apps": ["org.example.*"]}}`)
	result, err := s.discover(t, aai.DoorMCP, nil)
	assert.Assert(t, err == nil, err)
	text, _ := json.Marshal(result.Data)
	assert.Assert(t, is.Contains(string(text), discovery.DeniedHowTo), text)
	assert.Assert(t, !strings.Contains(string(text), "generate org.example.Notes"), "discover has %s", text)
	s = newIntegrationWorld(t, "always", `{"security": {"denied_apps": ["Editor"], "allowed_apps": ["Notes"]}}`)
	_, err = s.callBuiltin(t, aai.DoorMCP, "generate", map[string]any{"app": "org.example.Notes"})
	assert.Check(t, err == nil, "one that may be read: %v", err)
}

// TestScanConsentInAdvance: the user can allow an agent's scan in advance, as for any app, and without
// an answer the error explains how; no other builtin tool can be allowed so.
func TestScanConsentInAdvance(t *testing.T) {
	grant := func(s *integrationWorld, tool string) *aai.Error {
		_, err := s.callBuiltin(t, aai.DoorCLI, "consent_grant", map[string]any{"app": "aai", "tool": tool, "caller": "mcp:agent", "identity": "/usr/bin/agent"})
		return err
	}
	for tool, args := range map[string]map[string]any{"generate": {"app": "org.example.Notes"}, "discover": nil} {
		s := newIntegrationWorld(t, "yes") // for reauthentication questions only
		s.person.absent = true
		_, err := s.callBuiltin(t, aai.DoorMCP, tool, args)
		assert.Assert(t, err != nil, "%s, and nobody is there: %+v", tool, err)
		assert.Equal(t, err.Code, aai.ConsentRequired, "%s %+v", tool, err)
		assert.Assert(t, is.Contains(err.Message, "a person must allow"), "%s %+v", tool, err)
		assert.Assert(t, is.Contains(err.Hint, "aai-gateway consent grant aai "+tool+" --caller "), "%s %+v", tool, err)
		s.person.absent = false
		err = grant(s, tool)
		assert.Assert(t, err == nil, "%v %v", tool, err)
		s.person.questions = nil
		if _, err := s.callBuiltin(t, aai.DoorMCP, tool, args); err != nil || len(s.person.questions) > 0 {
			t.Errorf("%s, allowed ahead: %v, asked %+v", tool, err, s.person.questions)
		}
		for _, other := range []string{"generate_save", "consent_grant", "*"} {
			err := grant(s, other)
			assert.Assert(t, err != nil, "%s %v", other, err)
			assert.Equal(t, err.Code, aai.PermissionDenied, "%s %v", other, err)
		}
	}
}
