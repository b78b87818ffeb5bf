package main_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

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
