package main_test

import (
	"bytes"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/testkit"
)

// inspector is the MCP Inspector's command line: a client that shares no code with the gateway's
// SDK.
type inspector struct {
	home
	node, script, era string
	target            []string // arguments for reaching the server
}

// mcpInspector operates the program with the MCP Inspector, in both protocol versions, and
// compares the results with the app and the journal.
func mcpInspector(t *testing.T, b programPath) {
	node, modules := nodeIn(t, "inspector", "scripts/need-inspector")
	script := filepath.Join(modules, ".bin", "mcp-inspector")
	for _, c := range []struct{ era, over string }{{"legacy", "stdio"}, {"modern", "stdio"}, {"legacy", "http"}, {"modern", "http"}} {
		t.Run(c.era+" over "+c.over, func(t *testing.T) {
			bus := testkit.StartBus(t)
			app := testkit.ServeOnBus(t, bus, exampleApp)
			i := inspector{home: b.home(t, bus), node: node, script: script, era: c.era}
			i.reach(t, c.over)
			i.lists(t)
			i.calls(t)
			n := app.Calls("EchoString")
			assert.Check(t, is.Equal(n, 1), "%d calls of echo have reached the app", n)
			assert.Check(t, is.Equal(app.Calls("Nothing"), 0), "a refused call has reached the app")
			i.expectJournal(t, "aai guide ok", "org.example.App echo ok", "org.example.App nothing CONSENT_REQUIRED", "aai descriptor ok")
			for _, call := range i.journal(t) {
				assert.Check(t, is.Equal(call.caller, "inspector-cli"))
			}
		})
	}
}

// reach sets the Inspector's target: it starts the program itself, or connects to a running one.
func (i *inspector) reach(t *testing.T, over string) {
	if over == "http" {
		s := i.serveHTTP(t)
		i.target = []string{s.url, "--header", "Authorization: Bearer " + s.token}
		return
	}
	i.target = []string{string(i.binary)}
	for _, variable := range i.env {
		i.target = append(i.target, "-e", variable)
	}
}

func (i inspector) lists(t *testing.T) {
	var tools struct{ Tools []struct{ Name string } }
	// --strict also fails for schemas that other clients would reject.
	i.run(t, &tools, 0, "--method", "tools/list", "--strict")
	var names []string
	for _, tool := range tools.Tools {
		names = append(names, tool.Name)
	}
	assert.Check(t, slices.Equal(names, []string{"aai_exec", "app_desktop", "app_org_example_App", "web_discover"}), "the tools are %q", names)
	var resources struct {
		Resources []struct{ URI, Name, MIMEType string }
	}
	i.run(t, &resources, 0, "--method", "resources/list")
	r := resources.Resources
	assert.Assert(t, is.Len(r, 6))
	assert.Equal(t, r[0].URI, "app:"+exampleApp)
	assert.Equal(t, r[0].MIMEType, "application/aai+json")
	for _, other := range r[min(1, len(r)):] {
		assert.Check(t, strings.HasPrefix(other.URI, "axterminator://"), "the resource %+v is not one of the desktop", other)
	}
	calls := i.journal(t)
	assert.Check(t, is.Len(calls, 0), "lists are no calls, but the journal has %+v", calls)
}

func (i inspector) calls(t *testing.T) {
	exec := []string{"--method", "tools/call", "--tool-name", "aai_exec", "--tool-arg", "app=" + exampleApp}
	var guide, echo, refused toolResult
	i.run(t, &guide, 0, "--method", "tools/call", "--tool-name", "app_org_example_App")
	assert.Assert(t, !guide.IsError, "the guide is %+v", guide)
	assert.Assert(t, is.Len(guide.Content, 1), "%+v", guide)
	assert.Assert(t, is.Contains(guide.Content[0].Text, "echo"), "%+v", guide)
	i.run(t, &echo, 0, append(exec, "--tool-arg", "tool=echo", "--tool-arg", `args={"v":"h\u00e9"}`)...)
	assert.Assert(t, !echo.IsError, "echo gave %+v", echo)
	assert.Equal(t, echo.StructuredContent.Result, "hé", "%+v", echo)
	assert.Equal(t, echo.Content[0].Text, "hé", "%+v", echo)
	i.run(t, &refused, 5, append(exec, "--tool-arg", "tool=nothing")...)
	assert.Assert(t, refused.IsError, "what nobody allowed gave %+v", refused)
	assert.Equal(t, refused.StructuredContent.Type, "CONSENT_REQUIRED", "%+v", refused)
	var read struct{ Contents []struct{ Text string } }
	i.run(t, &read, 0, "--method", "resources/read", "--uri", "app:"+exampleApp)
	assert.Assert(t, is.Len(read.Contents, 1), "%+v", read)
	assert.Assert(t, describesExample(read.Contents[0].Text), "the descriptor is %+v", read)
}

// run runs the Inspector, which must end with the exit code, and decodes its result. 5 is its code
// for a failed tool.
func (i inspector) run(t *testing.T, result any, code int, args ...string) {
	t.Helper()
	all := slices.Concat([]string{i.script, "--cli", i.target[0], "--format", "json", "-q", "--protocol-era", i.era}, args, i.target[1:])
	cmd := exec.CommandContext(t.Context(), i.node, all...)
	var out, log bytes.Buffer
	// It has its own folder.
	cmd.Env, cmd.Stdout, cmd.Stderr = append(os.Environ(), "HOME="+t.TempDir()), &out, &log
	if err := cmd.Run(); cmd.ProcessState == nil || cmd.ProcessState.ExitCode() != code {
		t.Fatalf("%q: %v: %s%s", args, err, out.String(), log.String())
	}
	var answer struct{ Result json.RawMessage }
	if err := json.Unmarshal(out.Bytes(), &answer); err != nil {
		t.Fatalf("%q printed %s", args, out.String())
	}
	assert.NilError(t, json.Unmarshal(answer.Result, result), "%q %s", args, answer.Result)
	i.checkEra(t, args, answer.Result)
}

// checkEra checks the protocol version: only in the newer one a result has its type.
func (i inspector) checkEra(t *testing.T, args []string, result json.RawMessage) {
	t.Helper()
	if args[1] != "tools/call" {
		return // the Inspector prints only the list
	}
	assert.Check(t, is.Equal(strings.Contains(string(result), `"resultType":`), (i.era == "modern")), "%q was not answered as in the %s era: %s", args, i.era, result)
}
