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
			if n := app.Calls("EchoString"); n != 1 {
				t.Errorf("%d calls of echo have reached the app", n)
			}
			if n := app.Calls("Nothing"); n != 0 {
				t.Error("a refused call has reached the app")
			}
			i.expectJournal(t, "aai guide ok", "org.example.App echo ok", "org.example.App nothing CONSENT_REQUIRED", "aai descriptor ok")
			for _, call := range i.journal(t) {
				if call.caller != "inspector-cli" {
					t.Errorf("a call was of %q", call.caller)
				}
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
	if !slices.Equal(names, []string{"aai_exec", "app_desktop", "app_org_example_App", "web_discover"}) {
		t.Errorf("the tools are %q", names)
	}
	var resources struct {
		Resources []struct{ URI, Name, MIMEType string }
	}
	i.run(t, &resources, 0, "--method", "resources/list")
	r := resources.Resources
	if len(r) != 6 || r[0].URI != "app:"+exampleApp || r[0].MIMEType != "application/aai+json" {
		t.Errorf("the resources are %+v", r)
	}
	for _, other := range r[min(1, len(r)):] {
		if !strings.HasPrefix(other.URI, "axterminator://") {
			t.Errorf("the resource %+v is not one of the desktop", other)
		}
	}
	if calls := i.journal(t); len(calls) > 0 {
		t.Errorf("lists are no calls, but the journal has %+v", calls)
	}
}

func (i inspector) calls(t *testing.T) {
	exec := []string{"--method", "tools/call", "--tool-name", "aai_exec", "--tool-arg", "app=" + exampleApp}
	var guide, echo, refused toolResult
	i.run(t, &guide, 0, "--method", "tools/call", "--tool-name", "app_org_example_App")
	if guide.IsError || len(guide.Content) != 1 || !strings.Contains(guide.Content[0].Text, "echo") {
		t.Errorf("the guide is %+v", guide)
	}
	i.run(t, &echo, 0, append(exec, "--tool-arg", "tool=echo", "--tool-arg", `args={"v":"h\u00e9"}`)...)
	if echo.IsError || echo.StructuredContent.Result != "hé" || echo.Content[0].Text != "hé" {
		t.Errorf("echo gave %+v", echo)
	}
	i.run(t, &refused, 5, append(exec, "--tool-arg", "tool=nothing")...)
	if !refused.IsError || refused.StructuredContent.Type != "CONSENT_REQUIRED" {
		t.Errorf("what nobody allowed gave %+v", refused)
	}
	var read struct{ Contents []struct{ Text string } }
	i.run(t, &read, 0, "--method", "resources/read", "--uri", "app:"+exampleApp)
	if len(read.Contents) != 1 || !describesExample(read.Contents[0].Text) {
		t.Errorf("the descriptor is %+v", read)
	}
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
	if err := json.Unmarshal(answer.Result, result); err != nil {
		t.Fatalf("%q gave %s", args, answer.Result)
	}
	i.checkEra(t, args, answer.Result)
}

// checkEra checks the protocol version: only in the newer one a result has its type.
func (i inspector) checkEra(t *testing.T, args []string, result json.RawMessage) {
	t.Helper()
	if args[1] != "tools/call" {
		return // the Inspector prints only the list
	}
	if modern := strings.Contains(string(result), `"resultType":`); modern != (i.era == "modern") {
		t.Errorf("%q was not answered as in the %s era: %s", args, i.era, result)
	}
}
