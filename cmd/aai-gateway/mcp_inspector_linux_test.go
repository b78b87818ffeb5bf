package main

import (
	"bytes"
	"encoding/json"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync/atomic"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	aai "github.com/gybob/aai-gateway"
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
				assert.Check(t, call.result != "ok" || call.app == aai.BuiltinApp || call.consent == "preapproved (native)", "%+v", call)
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

// mcpInspectorWaitsForATask: in the newer version the program makes a task of a long call, and the
// Inspector fetches its result.
func mcpInspectorWaitsForATask(t *testing.T, b programPath) {
	bus := testkit.StartBus(t)
	app := testkit.ServeOnBus(t, bus, exampleApp)
	node, modules := nodeIn(t, "inspector", "scripts/need-inspector")
	i := inspector{home: b.home(t, bus), node: node, script: filepath.Join(modules, ".bin", "mcp-inspector"), era: "modern"}
	s := i.serveHTTP(t)
	to, err := url.Parse(s.url)
	assert.NilError(t, err)
	var polls atomic.Int32
	between := httptest.NewServer(&httputil.ReverseProxy{Rewrite: func(r *httputil.ProxyRequest) {
		r.Out.URL.Host, r.Out.URL.Scheme, r.Out.Host = to.Host, to.Scheme, to.Host
		if r.In.Header.Get("Mcp-Method") == "tasks/get" && polls.Add(1) == 1 {
			app.Release()
		}
	}})
	defer between.Close()
	i.target = []string{between.URL + "/mcp", "--header", "Authorization: Bearer " + s.token}
	var result toolResult
	i.run(t, &result, 0, "--method", "tools/call", "--tool-name", "aai_exec", "--tool-arg", "app="+exampleApp, "--tool-arg", "tool=block")
	if result.IsError || polls.Load() == 0 {
		t.Errorf("the call gave %+v, and was asked for %d times", result, polls.Load())
	}
	i.expectJournal(t, exampleApp+" block ok")
}

// mcpInstalledInto: third-party clients find the entry that install wrote, and start it with only
// HOME and PATH. The MCP Inspector lists and calls; with AAI_CLIENTS=all the clients of
// scripts/need-clients do so too, by their own "mcp list", without network.
func mcpInstalledInto(t *testing.T, b programPath) {
	h := b.home(t, nil)
	for _, name := range []string{".claude", ".cursor", ".codex", ".gemini"} {
		assert.NilError(t, os.Mkdir(filepath.Join(h.folder, name), 0o700))
	}
	h.write(t, ".codex/config.toml", "# mine\nmodel = \"o3\"\n\n[mcp_servers.docs]\ncommand = \"/bin/false\"\nenabled = false")
	h.write(t, ".claude.json", "{\n  \"numStartups\": 2\n}")
	h.write(t, ".gemini/trustedFolders.json", `{"`+h.folder+`": "TRUST_FOLDER"}`)
	bare := []string{"HOME=" + h.folder, "PATH=/usr/bin:/bin"}
	install := exec.CommandContext(t.Context(), string(b), "install", "--yes")
	install.Env = []string{bare[0], "PATH=" + filepath.Dir(string(b))}
	out, err := install.CombinedOutput()
	assert.NilError(t, err, out)
	assert.Equal(t, strings.Count(string(out), "Started as "), 4, out)
	t.Run("Inspector", func(t *testing.T) { h.inspectsInstalled(t, bare) })
	if os.Getenv("AAI_CLIENTS") != "all" {
		return
	}
	node, modules := nodeIn(t, "clients", "scripts/need-clients")
	for _, c := range []struct{ name, script, seen string }{
		{"ClaudeCode", "@anthropic-ai/claude-code/cli-wrapper.cjs", `aai-gateway: ` + string(b) + ` mcp serve - .* Connected`},
		{"Gemini", "@google/gemini-cli/bundle/gemini.js", `aai-gateway: ` + string(b) + ` mcp serve \(stdio\) - Connected`},
		{"Codex", "@openai/codex/bin/codex.js", `aai-gateway +` + string(b) + ` +mcp serve .* enabled`},
	} {
		t.Run(c.name, func(t *testing.T) {
			cmd := exec.CommandContext(t.Context(), "unshare", "--user", "--map-current-user", "--net", node, filepath.Join(modules, c.script), "mcp", "list")
			cmd.Dir, cmd.Env = h.folder, []string{bare[0], "PATH=" + filepath.Dir(node) + ":/usr/bin:/bin"}
			out, err := cmd.CombinedOutput()
			assert.NilError(t, err, out)
			assert.Assert(t, regexp.MustCompile(c.seen).Match(out), out)
		})
	}
}

// inspectsInstalled lists the tools and calls one, which the journal shows.
func (h home) inspectsInstalled(t *testing.T, bare []string) {
	node, modules := nodeIn(t, "inspector", "scripts/need-inspector")
	run := func(result any, args ...string) {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), node, append([]string{filepath.Join(modules, ".bin", "mcp-inspector"), "--cli", "--format", "json", "-q",
			"--config", filepath.Join(h.folder, ".cursor/mcp.json"), "--server", "aai-gateway"}, args...)...)
		cmd.Env = bare
		out, err := cmd.Output()
		var answer struct{ Result json.RawMessage }
		if err == nil {
			err = json.Unmarshal(out, &answer)
		}
		if err == nil {
			err = json.Unmarshal(answer.Result, result)
		}
		assert.NilError(t, err, "%q %s", args, out)
	}
	var list struct{ Tools []struct{ Name string } }
	run(&list, "--method", "tools/list")
	assert.Check(t, len(list.Tools) != 0, "no tools are listed")
	var guide toolResult
	run(&guide, "--method", "tools/call", "--tool-name", "app_org_example_App")
	assert.Assert(t, !guide.IsError, "the guide is %+v", guide)
	assert.Assert(t, is.Len(guide.Content, 1), "%+v", guide)
	assert.Assert(t, is.Contains(guide.Content[0].Text, "echo"), "%+v", guide)
	h.expectJournal(t, "aai guide ok")
}
