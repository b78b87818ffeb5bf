package importers_test

import (
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"pgregory.net/rapid"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/catalog"
	"github.com/gybob/aai-gateway/internal/importers"
	"github.com/gybob/aai-gateway/internal/testkit"
)

// serverCommand returns the command of a server that was imported, with what it saves in the vault, or why the
// server is left out.
func serverCommand(t tester, folder string, fields map[string]any) (words []string, vault, leftOut string) {
	t.Helper()
	c := &client{servers: map[string]map[string]any{"s": fields}}
	_, saved, left := takenServer(t, c, folder)
	if saved["s"] == nil {
		return nil, "", left["s"]
	}
	s := saved["s"].Document.Sections[0]
	return append([]string{s.Command}, s.Args...), c.values["mcp-env/mcp.s"], ""
}

// TestCodeIsShown checks that code in a command is never taken for a secret, whatever its form: it stays in the
// descriptor, or the server is left out.
func TestCodeIsShown(t *testing.T) {
	folder := t.TempDir()
	code := rapid.OneOf(
		rapid.Just(`import os;os.system('touch /tmp/x')`), rapid.Just(`a=require("child_process").exec("id")`),
		rapid.Just(`token=require("x").y("z");password:f()`), rapid.Just("eval(atob('aW1wb3J0IG9z'))"),
		rapid.Just(`cd /srv/a1b2c3d4 && node x.js | tee log`), rapid.Just("x=`id`;token=1"), rapid.Just(`["token", f("xY9zW8vU")]`),
		rapid.StringMatching(`[a-z]{2}\("[A-Za-z0-9]{8,30}"\);`), rapid.StringMatching(`exec\(bytes\.fromhex\('[0-9a-f]{30}'\)\)`),
	)
	rapid.Check(t, func(t *rapid.T) {
		form := rapid.SampledFrom([][]string{
			{"python3", "-c", "CODE"}, {"python3.12", "-Ic", "CODE"}, {"python3", "-cCODE"}, {"node", "-e", "CODE"}, {"node", "-p", "CODE"},
			{"node", "--eval=CODE"}, {"node", "--print", "CODE"}, {"node", "--import", "data:text/javascript,CODE"}, {"/usr/bin/sh", "-c", "CODE"},
			{"bash", "-lc", "CODE"}, {"perl", "-ne", "CODE"}, {"ruby", "-e", "CODE"}, {"deno", "eval", "CODE"}, {"uv", "run", "python", "-c", "CODE"},
			{"env", "-i", "bash", "-c", "CODE"}, {"env", "-S", "CODE"}, {"timeout", "5", "sh", "-c", "CODE"}, {"npx", "-y", "-c", "CODE"},
			{"unknown", "-c", "CODE"}, {"unknown", "--eval", "CODE"}, {"docker", "run", "-i", "node:20", "node", "-e", "CODE"}, {"php", "-r", "CODE"},
		}).Draw(t, "form")
		text := code.Draw(t, "code")
		var want []string
		for _, word := range form {
			want = append(want, strings.ReplaceAll(word, "CODE", text))
		}
		args := make([]any, len(want)-1)
		for i, word := range want[1:] {
			args[i] = word
		}
		got, _, why := serverCommand(t, filepath.Join(folder, rapid.StringMatching(`[a-z]{12}`).Draw(t, "folder")), map[string]any{"command": want[0], "args": args})
		assert.Assert(t, why != "" || slices.Equal(got, want), "%q became %q, left out because %q", want, got, why)
		assert.Assert(t, why == "" || strings.Contains(why, "key"), "%q became %q, left out because %q", want, got, why)
	})
}

// TestCodeAndKeys checks which commands stay whole, which are left out because code and a key cannot be told apart,
// and which lose a key to the vault.
func TestCodeAndKeys(t *testing.T) {
	for args, want := range map[string]string{
		`["python3", "-c", "import os;os.system('id > /tmp/x')"]`:  "",
		`["sh", "-c", "cd /srv/a1b2c3d4e5 && exec node ./a.js"]`:   "",
		`["node", "-e", "console.log(process.argv)"]`:              "",
		`["npx", "-y", "mcp-server-kubernetes", "--port", "8080"]`: "",
		`["uvx", "--from", "git+https://h.example/x.git", "x"]`:    "",
		`["python3", "-c", "x('sk-a1b2c3d4e5f6a7b8c9d0') or 1"]`:   "a key among other words",
		`["python3", "hQ7xk29Zp4vT81LmNb3c"]`:                      "looks like a key",
		`["deno", "run", "https://h.example/x.ts?token=a1b2c3"]`:   "looks like a key",
		`["npx", "-p", "hQ7xk29Zp4vT81LmNb3c", "x"]`:               "looks like a key",
		`["python3", "-c", "${CODE}"]`:                             "takes a part from a variable",
		`["npx", "-y", "foo", "hQ7xk29Zp4vT81LmNb3c"]`:             "npx -y foo ${SECRET}",
		`["npx", "-y", "foo", "-p", "hush"]`:                       "npx -y foo -p ${PASSWORD}",
		`["python3", "a.py", "--k", "HUSHx1y2"]`:                   "python3 a.py --k ${ARG_K}",
		`["node", "a.js", "-e", "NAME=hush"]`:                      "node a.js -e NAME=${ARG_NAME}",
		`["python3", "-m", "pkg", "--token", "hush"]`:              "python3 -m pkg --token ${TOKEN}",
		`["docker", "run", "-i", "-e", "NAME=hush", "image"]`:      "docker run -i -e NAME=${ARG_NAME} image",
	} {
		var words []any
		assert.NilError(t, json.Unmarshal([]byte(args), &words))
		got, _, why := serverCommand(t, t.TempDir(), map[string]any{"command": words[0], "args": words[1:], "cwd": "/p", "env": map[string]any{"CODE": "x"}})
		line := strings.Join(got, " ")
		whole := strings.Join(textsOf(words), " ")
		switch {
		case why != "" && (want == "" || !strings.Contains(why, want)):
			t.Errorf("%s is left out: %s", args, why)
		case why == "" && line != want && (want != "" || line != whole):
			t.Errorf("%s became %s", args, line)
		}
	}
}

func textsOf(words []any) []string {
	texts := make([]string, len(words))
	for i, word := range words {
		texts[i], _ = word.(string)
	}
	return texts
}

// TestVariablesThatChooseCode checks that variables which choose code become a visible part of the command, by
// which a real Python gets them, and that a server with a variable of the loader is left out.
func TestVariablesThatChooseCode(t *testing.T) {
	testkit.Need(t, "python3")
	folder := t.TempDir()
	assert.NilError(t, os.WriteFile(filepath.Join(folder, "sitecustomize.py"), []byte("print('customized')"), 0o600))
	words, vault, why := serverCommand(t, t.TempDir(), map[string]any{"command": "python3", "args": []any{"-c", "pass"},
		"env": map[string]any{"PYTHONPATH": folder, "NODE_OPTIONS": "--max-old-space-size=4096", "API_KEY": "canary"}})
	assert.Assert(t, slices.Equal(words, []string{"env", "NODE_OPTIONS=--max-old-space-size=4096", "PYTHONPATH=" + folder, "python3", "-c", "pass"}), "got %q, left out because %q", words, why)
	assert.Check(t, is.Equal(vault, `{"API_KEY":"canary"}`))
	out, err := exec.CommandContext(t.Context(), words[0], words[1:]...).CombinedOutput()
	assert.NilError(t, err, "%q", out)
	assert.Equal(t, strings.TrimSpace(string(out)), "customized", "%q", out)
	for _, name := range strings.Fields("PYTHONSTARTUP PERL5OPT RUBYOPT BASH_ENV ENV PATH GIT_SSH_COMMAND GIT_CONFIG_COUNT npm_config_registry Path LUA_INIT_5_4") {
		words, vault, why := serverCommand(t, t.TempDir(), map[string]any{"command": "x", "env": map[string]any{name: "/plain"}})
		assert.Check(t, slices.Equal(words, []string{"env", name + "=/plain", "x"}), "%s: %q with %s, left out because %q", name, words, vault, why)
	}
	for _, name := range strings.Fields("LD_PRELOAD LD_AUDIT LD_LIBRARY_PATH DYLD_INSERT_LIBRARIES GCONV_PATH ld_preload") {
		_, _, why := serverCommand(t, t.TempDir(), map[string]any{"command": "x", "env": map[string]any{name: "/plain"}})
		assert.Check(t, is.Contains(why, "loads other code"), "%s: left out because %q", name, why)
	}
	for _, line := range []string{"env PYTHONPATH=/x A=b python3 a.py", "sh -c export\tLD_PRELOAD=/x;python3 a.py"} {
		args := strings.SplitN(line, " ", 3)
		words, _, _ := serverCommand(t, t.TempDir(), map[string]any{"command": args[0], "args": []any{args[1], args[2]}, "cwd": "/"})
		assert.Check(t, slices.Equal(words, args), "%q became %q", args, words)
	}
}

// TestPreviewLines checks that no text of an entry can add a line to the preview.
func TestPreviewLines(t *testing.T) {
	const forged = "ok\nversion 2\r\x1b[2Jversion 3\u2028version 4\u202eversion 5"
	fields := map[string]any{"command": "x" + forged, "args": []any{forged, "--a=" + forged}, "cwd": "/" + forged, "env": map[string]any{"PYTHONPATH": "/" + forged}}
	room := importers.New(importers.Config{Folder: t.TempDir(), Platform: "linux", Clients: staticClients{forged: fields}})
	result, err := toolIn(t, room, importers.ShowServersTool).Run(t.Context(), &aai.Call{Args: map[string]any{"client": "client"}})
	assert.NilError(t, err)
	text, err := json.Marshal(result.Data)
	assert.NilError(t, err)
	var view struct{ Apps []struct{ Diff string } }
	assert.NilError(t, json.Unmarshal(text, &view), text)
	assert.Assert(t, is.Len(view.Apps, 1), text)
	diff := view.Apps[0].Diff
	assert.Check(t, is.Equal(strings.Count(diff, "\n"), 8), diff)
	assert.Check(t, !strings.ContainsAny(diff, "\r\x1b\u2028\u202e"), "it shows %q", diff)
	assert.Check(t, is.Equal(catalog.CommandLine("x", []string{"a\nb", "c d", "e\u202ef", "g"}), `x "a\nb" "c d" "e\u202ef" g`))
}
