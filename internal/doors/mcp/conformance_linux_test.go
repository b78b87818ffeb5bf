package mcp_test

import (
	"context"
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"log/slog"
	"net/http/httptest"
	"os"
	command "os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	door "github.com/gybob/aai-gateway/internal/doors/mcp"
	"github.com/gybob/aai-gateway/internal/doors/mcp/streamable"
	"github.com/gybob/aai-gateway/internal/doors/mcp/tasks"
	"github.com/gybob/aai-gateway/internal/gateway"
	"github.com/gybob/aai-gateway/internal/testkit"
)

// The official conformance suite of MCP, against the door over HTTP. It needs tools, resources and
// prompts of certain names; a test adds them to the door's own server, behind the door's middleware.
// The suite's general scenarios also run against the door without them.

// A revision is a version of the protocol with the number of scenarios that the suite requires for it.
// The suite froze the list when the version was published.
type revision struct {
	version  string
	required int
	tasks    int // scenarios of the tasks extension, which it reports beside them
}

func revisions() []revision {
	return []revision{{"2025-11-25", 30, 0}, {"2026-07-28", 37, 10}}
}

func TestConformance(t *testing.T) {
	for _, r := range revisions() {
		t.Run(r.version, func(t *testing.T) {
			t.Parallel()
			results := runSuite(t, conformanceDoor(t), r.version)
			required, tasks := 0, 0
			for name, s := range results {
				if strings.HasPrefix(name, "tasks-") {
					tasks++
				} else if !slices.Contains(unscored(), name) {
					required++
				}
				if name == "tasks-status-notifications" { // the suite has no checks for it yet
					s.report(t, name, "SKIPPED")
					continue
				}
				s.report(t, name)
			}
			assert.Check(t, is.Equal(required, r.required))
			assert.Check(t, is.Equal(tasks, r.tasks))
		})
	}
}

// unscored are the scenarios that the suite runs without requiring them. They pass, too.
func unscored() []string {
	return []string{
		"server-session-lifecycle", "json-schema-2020-12", "server-sse-polling",
		"http-header-validation", "http-custom-header-server-validation",
	}
}

// TestConformanceOfTheDoorAsItIs checks that scenarios without fixtures pass without them.
func TestConformanceOfTheDoorAsItIs(t *testing.T) {
	for version, names := range map[string][]string{
		"2025-11-25": {
			"server-initialize", "server-session-lifecycle", "logging-set-level", "ping", "tools-list",
			"server-sse-multiple-streams", "resources-list", "prompts-list", "dns-rebinding-protection",
		},
		"2026-07-28": {
			"tools-list", "server-sse-multiple-streams", "resources-list", "sep-2164-resource-not-found", "prompts-list",
			"dns-rebinding-protection", "caching", "http-header-validation", "input-required-result-missing-input-response",
			"input-required-result-unsupported-methods", "input-required-result-ignore-extra-params",
			"input-required-result-validate-input",
		},
	} {
		t.Run(version, func(t *testing.T) {
			t.Parallel()
			results := runSuite(t, newWorld(t).door, version)
			for _, name := range names {
				s, ran := results[name]
				assert.Check(t, ran, "%s did not run", name)
				// The suite warns of unknown tools, because its own are missing.
				s.report(t, name, "WARNING")
			}
		})
	}
}

// conformanceDoor returns a door with the suite's fixtures.
func conformanceDoor(t *testing.T) *door.Door {
	w := newWorld(t)
	cfg := door.Config{
		Gateway: &gateway.Gateway{Catalog: w.catalog, Gates: []aai.Gate{w}, Journal: w.journal},
		Version: "1.2.3", Log: slog.New(slog.NewTextHandler(t.Output(), nil)), TaskSyncTimeout: suitePatience,
	}
	d := door.NewAltered(cfg, func(options *mcp.ServerOptions, ofTasks *tasks.Config) {
		ofTasks.Support = conformanceSupport
		options.Capabilities = nil // set by the features
		options.CompletionHandler = func(context.Context, *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
			return &mcp.CompleteResult{Completion: mcp.CompletionResultDetails{Values: []string{}}}, nil
		}
		options.SubscribeHandler = func(context.Context, *mcp.SubscribeRequest) error { return nil }
		options.UnsubscribeHandler = func(context.Context, *mcp.UnsubscribeRequest) error { return nil }
	})
	addConformanceTools(t, d.Server())
	addConformanceInputs(d.Server())
	addConformanceThings(t, d.Server())
	addConformanceTasks(d)
	return d
}

// A scenario is the suite's result for one scenario: its checks.
type scenario []struct {
	ID, Name, Status, ErrorMessage string
}

// report fails the test for each check that did not pass, including warnings and skipped checks.
func (s scenario) report(t *testing.T, name string, tolerated ...string) {
	t.Helper()
	for _, check := range s {
		assert.Check(t, check.Status == "SUCCESS" || check.Status == "INFO" || slices.Contains(tolerated, check.Status), "%s %s %s %s", name, check.ID, check.Status, check.ErrorMessage)
	}
}

// runSuite runs the suite for a version, and returns the scenarios.
func runSuite(t *testing.T, d *door.Door, version string) map[string]scenario {
	t.Helper()
	served, err := d.HTTP(streamable.Config{})
	assert.NilError(t, err)
	server := httptest.NewServer(served)
	defer server.Close()
	defer served.Close()

	modules, err := filepath.Abs("../../../.cache/conformance/node_modules")
	assert.NilError(t, err)
	// The suite's own Node.js: a distribution's may be too old for it.
	node, err := filepath.Glob(filepath.Join(modules, "node-linux-*", "bin", "node"))
	suite := filepath.Join(modules, "@modelcontextprotocol", "conformance", "dist", "index.js")
	_, missing := os.Stat(suite)
	assert.NilError(t, err)
	testkit.Installed(t, missing == nil && len(node) != 0, "install the conformance suite of MCP: scripts/need-conformance")
	found := t.TempDir()
	cmd := command.CommandContext(t.Context(), node[0], suite, "server", "--url", server.URL+"/mcp", "--requirements", version, "-o", found)
	// The checks say more than the exit code.
	said, err := cmd.CombinedOutput()
	results := readScenarios(t, found)
	assert.Assert(t, len(results) != 0, "the suite found nothing: %v\n%s", err, said)
	return results
}

// ranAt matches the name of a scenario's folder.
var ranAt = regexp.MustCompile(`^server-(.+)-\d{4}-\d\d-\d\dT[-\d]+Z$`)

// readScenarios reads the folders of a run: one for each scenario, with its checks.
func readScenarios(t *testing.T, found string) map[string]scenario {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(found, "*", "checks.json"))
	assert.NilError(t, err)
	results := make(map[string]scenario)
	for _, file := range files {
		b, err := os.ReadFile(file)
		assert.NilError(t, err)
		var s scenario
		assert.NilError(t, json.Unmarshal(b, &s), file)
		folder := filepath.Base(filepath.Dir(file))
		name := ranAt.FindStringSubmatch(folder)
		assert.Assert(t, name != nil, "%s: expected the name of a scenario and a time", folder)
		results[name[1]] = s
	}
	return results
}

// The tools and the prompt of the conformance suite that ask questions in their results (SEP-2322).

func asksFor(message, properties string) *mcp.ElicitParams {
	return &mcp.ElicitParams{Message: message, RequestedSchema: anyObject(properties)}
}

func asksName() *mcp.ElicitParams { return asksFor("What is your name?", `"name":{"type":"string"}`) }

func asksModel(prompt string) *mcp.CreateMessageParams {
	return &mcp.CreateMessageParams{MaxTokens: 100, Messages: []*mcp.SamplingMessage{{Role: "user", Content: text("%s", prompt)}}}
}

func asking(state string, requests mcp.InputRequestMap) (*mcp.CallToolResult, error) {
	return &mcp.CallToolResult{InputRequests: requests, RequestState: state}, nil
}

// filled returns the text that a person entered into a form, or nil.
func filled(responses mcp.InputResponseMap, name string) map[string]any {
	if result, ok := responses[name].(*mcp.ElicitResult); ok && result.Action == "accept" {
		return result.Content
	}
	return nil
}

func filledText(responses mcp.InputResponseMap, name, field string) string {
	value, _ := filled(responses, name)[field].(string)
	return value
}

func sampled(responses mcp.InputResponseMap, name string) string {
	result, ok := responses[name].(*mcp.CreateMessageWithToolsResult)
	if !ok || len(result.Content) == 0 {
		return ""
	}
	said, _ := result.Content[0].(*mcp.TextContent)
	return said.Text
}

// sealed returns a state that others cannot forge.
func sealed(state string) string {
	mac := hmac.New(sha256.New, []byte("a key of the fixture"))
	mac.Write([]byte(state))
	return state + "." + hex.EncodeToString(mac.Sum(nil))
}

func unsealed(sent string) (string, error) {
	state, _, _ := strings.Cut(sent, ".")
	if sealed(state) != sent {
		return "", &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: "requestState: it is none that was given out"}
	}
	return state, nil
}

func addConformanceInputs(server *mcp.Server) {
	addTools(server, map[string]handler{
		"test_input_required_result_elicitation":     inputName,
		"test_input_required_result_sampling":        inputSampling,
		"test_input_required_result_list_roots":      inputRoots,
		"test_input_required_result_request_state":   inputState,
		"test_input_required_result_tampered_state":  inputState,
		"test_input_required_result_multiple_inputs": inputAll,
		"test_input_required_result_multi_round":     inputRounds,
		"test_input_required_result_capabilities":    inputByCapability,
	})
	p := &mcp.Prompt{Name: "test_input_required_result_prompt", Description: "A fixture of the conformance suite."}
	server.AddPrompt(p, func(_ context.Context, req *mcp.GetPromptRequest) (*mcp.GetPromptResult, error) {
		if context := filledText(req.Params.InputResponses, "user_context", "context"); context != "" {
			return prompted(text("Context: %s", context)), nil
		}
		return &mcp.GetPromptResult{InputRequests: mcp.InputRequestMap{
			"user_context": asksFor("What is it about?", `"context":{"type":"string"}`),
		}}, nil
	})
}

func inputName(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if name := filledText(req.Params.InputResponses, "user_name", "name"); name != "" {
		return answered("Hello, %s!", name)
	}
	return asking("", mcp.InputRequestMap{"user_name": asksName()})
}

func inputSampling(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if said := sampled(req.Params.InputResponses, "capital_question"); said != "" {
		return answered("The model said: %s", said)
	}
	return asking("", mcp.InputRequestMap{"capital_question": asksModel("What is the capital of France?")})
}

func inputRoots(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if result, ok := req.Params.InputResponses["client_roots"].(*mcp.ListRootsResult); ok {
		return answered("The client has %d roots", len(result.Roots))
	}
	return asking("", mcp.InputRequestMap{"client_roots": &mcp.ListRootsParams{}})
}

func inputState(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if req.Params.RequestState != "" || len(req.Params.InputResponses) > 0 {
		if _, err := unsealed(req.Params.RequestState); err != nil {
			return nil, err
		}
		if filled(req.Params.InputResponses, "confirm") != nil {
			return answered("state-ok")
		}
	}
	return asking(sealed("asked"), mcp.InputRequestMap{"confirm": asksFor("Go on?", `"ok":{"type":"boolean"}`)})
}

func inputAll(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	responses := req.Params.InputResponses
	name, greeting := filledText(responses, "user_name", "name"), sampled(responses, "greeting")
	roots, ok := responses["client_roots"].(*mcp.ListRootsResult)
	if name != "" && greeting != "" && ok {
		return answered("%s, %s with %d roots", greeting, name, len(roots.Roots))
	}
	return asking(sealed("all"), mcp.InputRequestMap{
		"user_name": asksName(), "greeting": asksModel("Make a greeting."), "client_roots": &mcp.ListRootsParams{},
	})
}

func inputRounds(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if req.Params.RequestState == "" {
		return asking(sealed("first"), mcp.InputRequestMap{"step1": asksName()})
	}
	state, err := unsealed(req.Params.RequestState)
	if err != nil {
		return nil, err
	}
	if state == "first" {
		name := filledText(req.Params.InputResponses, "step1", "name")
		return asking(sealed("second "+name), mcp.InputRequestMap{"step2": asksFor("Which color?", `"color":{"type":"string"}`)})
	}
	return answered("%s likes %s", strings.TrimPrefix(state, "second "), filledText(req.Params.InputResponses, "step2", "color"))
}

func inputByCapability(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
	if len(req.Params.InputResponses) > 0 {
		return answered("answered")
	}
	requests := mcp.InputRequestMap{}
	if caps := req.ClientCapabilities(); caps != nil {
		if caps.Elicitation != nil {
			requests["user_name"] = asksName()
		}
		if caps.Sampling != nil {
			requests["greeting"] = asksModel("Make a greeting.")
		}
		if caps.RootsV2 != nil {
			requests["client_roots"] = &mcp.ListRootsParams{}
		}
	}
	if len(requests) == 0 {
		return answered("there is nothing that the client can be asked")
	}
	return asking("", requests)
}
