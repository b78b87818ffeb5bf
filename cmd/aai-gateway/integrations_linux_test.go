package main

import (
	"context"
	"encoding/json"
	"errors"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/catalog/discovery"
	"github.com/gybob/aai-gateway/internal/policy"
	"github.com/gybob/aai-gateway/internal/testkit"
)

// recordingPerson is a user with a fixed answer, who records the questions.
type recordingPerson struct {
	agreeingPerson
	choice    string
	questions []aai.Question
	absent    bool // an absent user does not answer
}

func (l *recordingPerson) Ask(_ context.Context, q aai.Question) (aai.Answer, error) {
	l.questions = append(l.questions, q)
	if l.absent {
		return aai.Answer{}, errors.New("there is no screen")
	}
	return aai.Answer{Choice: l.choice, Seal: q.Seal, Channel: aai.DesktopDialog}, nil
}

// secretOfClient is in the clients' configurations of these tests.
const secretOfClient = "sk-canary-51c9"

// integrationWorld is a computer with an app on a bus with a descriptor, a desktop entry, and a
// client with servers.
type integrationWorld struct {
	*components
	home   string
	person *recordingPerson
}

func newIntegrationWorld(t *testing.T, choice string, config ...string) *integrationWorld {
	t.Helper()
	bus, home, person := testkit.StartBus(t), t.TempDir(), &recordingPerson{choice: choice}
	testkit.ServeOnBus(t, bus, "org.example.Notes")
	for path, text := range map[string]string{
		".cursor/mcp.json": `{"mcpServers": {"tickets": {"command": "npx", "args": ["--token=` + secretOfClient + `"], "env": {"TICKETS_TOKEN": "` + secretOfClient + `"}}}}`,
		".aai/org.example.Notes/aai.json": `{"schema_version": "1.0", "version": "1.0.0", "appId": "org.example.Notes", "name": "Notes", "description": "Notes",
			"platforms": {"linux": {"automation": "dbus", "service": "org.example.Notes", "object": "/org/example/Test", "interface": "org.example.Test", "tools": [
			{"name": "ping", "description": "Pings", "method": "Ping", "parameters": {"type": "object", "properties": {}}}]}}}`,
		".aai/config.json":                         strings.Join(append(config, "{}")[:1], ""),
		".local/share/applications/editor.desktop": "[Desktop Entry]\nType=Application\nName=Editor\nExec=editor --key=" + secretOfClient + "\nActions=new;\n[Desktop Action new]\nName=New Window\nExec=editor\n",
	} {
		writeFile(t, home, path, text)
	}
	getenv := func(name string) string {
		return map[string]string{
			"HOME": home, "DBUS_SESSION_BUS_ADDRESS": bus.Address, "DBUS_SYSTEM_BUS_ADDRESS": bus.Address, "XDG_DATA_DIRS": filepath.Join(home, "system"), "AAI_PRIVATE_SESSION": "1",
		}[name]
	}
	g := testHost(getenv)
	g.person = func() (policy.Authenticator, aai.Asker) { return person, person }
	return &integrationWorld{inProcess{home: home, getenv: getenv, host: g}.build(t), home, person}
}

// discover calls the tool at a door.
func (s *integrationWorld) discover(t *testing.T, door string, args map[string]any) (*aai.Result, *aai.Error) {
	t.Helper()
	return s.callBuiltin(t, door, "discover", args)
}

// callBuiltin calls a builtin tool at a door.
func (s *integrationWorld) callBuiltin(t *testing.T, door, tool string, args map[string]any) (*aai.Result, *aai.Error) {
	t.Helper()
	caller := aai.Caller{Door: door, Name: "agent", Identity: "/usr/bin/agent", Session: "s"}
	if door == aai.DoorCLI {
		caller = aai.Caller{Door: door, Name: "terminal", Identity: aai.IdentityTerminal}
	}
	result, err := s.gateway.Do(t.Context(), &aai.Call{ID: aai.NewCallID(), Caller: caller, App: aai.BuiltinApp, Tool: tool, Args: args})
	if err != nil {
		return nil, aai.AsError(err)
	}
	return result, nil
}

// TestWhoMaySeeIntegrations: the user at once, an agent after one question; no value of a
// configuration is returned or in the journal.
func TestWhoMaySeeIntegrations(t *testing.T) {
	s := newIntegrationWorld(t, "always")
	result, err := s.discover(t, aai.DoorCLI, nil)
	if err != nil || len(s.person.questions) > 0 {
		t.Fatalf("the person is asked %d questions: %v", len(s.person.questions), err)
	}
	report, _ := result.Data.(*discovery.ScanReport)
	states := make(map[string]string)
	for _, w := range report.Integrations {
		states[w.Kind+" "+w.App] = w.State + " " + w.CoveredBy
	}
	for way, want := range map[string]string{
		"dbus org.example.Notes": "running org.example.Notes", "desktop-actions editor": "installed ", "mcp-server tickets": "configured ",
	} {
		if states[way] != want {
			t.Errorf("%s is %q; want %q; all: %v, %q, %q", way, states[way], want, states, report.Unresponsive, report.Notes)
		}
	}
	for range 2 {
		if result, err = s.discover(t, aai.DoorMCP, nil); err != nil {
			t.Fatal(err, err.Hint)
		}
	}
	assert.Assert(t, is.Len(s.person.questions, 1))
	assert.Assert(t, is.Contains(s.person.questions[0].Title+s.person.questions[0].Text, "discover"))
	choices := s.person.questions[0].Choices
	assert.Check(t, !slices.ContainsFunc(choices, func(c aai.Choice) bool { return c.ID == "all" }), "all of the gateway's own tools can be allowed: %+v", choices)
	assert.Check(t, result.UntrustedSource != "", "programs' words are not told as theirs")
	text, _ := json.Marshal(result)
	assert.Assert(t, !strings.Contains(string(text), secretOfClient), "a value, or no name, came out: %s", text)
	assert.Assert(t, is.Contains(string(text), "TICKETS_TOKEN"), text)
	log, readErr := os.ReadFile(filepath.Join(s.home, ".local/share/aai-gateway/audit.jsonl"))
	assert.NilError(t, readErr, log)
	assert.Assert(t, is.Contains(string(log), `"discover"`), log)
	assert.Assert(t, !strings.Contains(string(log), secretOfClient), "the record (%v): %s", readErr, log)
}

// TestIntegrationsRefused: a refusal counts, and calls without a question still work.
func TestIntegrationsRefused(t *testing.T) {
	s := newIntegrationWorld(t, "deny")
	_, err := s.discover(t, aai.DoorMCP, nil)
	assert.Assert(t, err != nil, "against the person's word: %v", err)
	assert.Equal(t, err.Code, aai.PermissionDenied, err)
	if _, err := s.discover(t, aai.DoorMCP, map[string]any{"url": "127.0.0.1:9"}); err == nil || err.Code == aai.PermissionDenied || len(s.person.questions) != 1 {
		t.Errorf("a site: %v, %d questions", err, len(s.person.questions))
	}
	_, err = s.discover(t, aai.DoorMCP, map[string]any{"url": "127.0.0.1:9", "hints": true})
	assert.Assert(t, err != nil, "hints for an agent: %v", err)
	assert.Equal(t, err.Code, aai.PermissionDenied, err)
	_, err = s.discover(t, aai.DoorMCP, map[string]any{"url": ""})
	assert.Assert(t, err != nil, "an empty address: %v", err)
	assert.Equal(t, err.Code, aai.InvalidParams, err)
}

// TestChangedSources: an app is offered again when its source has changed: a program, a document
// in a file, or a client's server. A command shows it.
func TestChangedSources(t *testing.T) {
	s := newIntegrationWorld(t, "deny")
	document := writeFile(t, s.home, "shop.json", "{}")
	const other = "aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa"
	for id, from := range map[string]string{
		"org.example.Notes": "dbus:org.example.Notes", "com.example.shop": "openapi:" + document,
		"mcp.tickets": "client:cursor/tickets", "com.example.far": "openapi:https://far.example.com/openapi.json",
	} {
		text := `{"schema_version": "1.0", "version": "1.0.0", "appId": "` + id + `", "name": "A", "description": "A",
			"generated": {"from": "` + from + `", "digest": "` + other + `"},
			"platforms": {"linux": {"automation": "dbus", "service": "` + id + `", "object": "/org/example/Test", "interface": "org.example.Test", "tools": [
			{"name": "ping", "description": "Pings", "method": "Ping", "parameters": {"type": "object", "properties": {}}}]}}}`
		writeFile(t, s.home, filepath.Join(".aai", id, "aai.json"), text)
	}
	result, err := s.discover(t, aai.DoorCLI, nil)
	assert.Assert(t, err == nil, err)
	report, _ := result.Data.(*discovery.ScanReport)
	got := make(map[string]string)
	for _, w := range report.Integrations {
		if w.Changed {
			got[w.CoveredBy] = strings.TrimSuffix(strings.TrimPrefix(w.HowTo, "Its source has changed: "), " shows its new descriptor.")
		}
	}
	if diff := cmp.Diff(map[string]string{
		"org.example.Notes": "aai-gateway generate org.example.Notes",
		"com.example.shop":  "aai-gateway import openapi " + document + " --id com.example.shop",
		"mcp.tickets":       "aai-gateway import --from cursor --server tickets",
	}, got); diff != "" {
		checked, _ := s.callBuiltin(t, aai.DoorCLI, "generate_check", map[string]any{})
		t.Errorf("changed (-want +got):\n%s\nsilent: %q; %+v", diff, report.Unresponsive, checked)
	}
}

// TestScansOfAServer: with scan.interval a running gateway scans regularly.
func TestScansOfAServer(t *testing.T) {
	s := newIntegrationWorld(t, "deny")
	file := filepath.Join(s.home, ".local/share/aai-gateway/ways.json")
	looker := &integrationScanner{discovery.NewScanner(discovery.ScannerConfig{HistoryFile: file, InitialDelay: time.Millisecond, Servers: func(context.Context) ([]discovery.MCPServer, []string) {
		return []discovery.MCPServer{{Client: "Cursor", Name: "tickets"}}, nil
	}}), time.Hour}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	looker.alongside(func(ctx context.Context) { // returns at once, as a watch of nothing
		for ctx.Err() == nil {
			if text, err := os.ReadFile(file); err == nil && strings.Contains(string(text), "mcp-server Cursor tickets") {
				return
			}
			_ = aai.Sleep(ctx, 10*time.Millisecond)
		}
	})(ctx)
	result, err := s.discover(t, aai.DoorCLI, nil)
	assert.Assert(t, err == nil, err)
	report, _ := result.Data.(*discovery.ScanReport)
	assert.Check(t, report.LastScan != nil, "nobody says when it was scanned: %+v", report)
}

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
