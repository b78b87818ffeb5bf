package importers_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"pgregory.net/rapid"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/catalog"
	"github.com/gybob/aai-gateway/internal/clients"
	"github.com/gybob/aai-gateway/internal/importers"
)

// A client is a client with these servers. It is the vault and the logins too.
type client struct {
	servers map[string]map[string]any
	values  map[string]string // in the vault, by app
	keys    map[string]string // of logins, by app
	given   map[string]map[string]string
}

func (c *client) Scopes(string, string) ([]clients.Scope, clients.Client, error) {
	return []clients.Scope{{Place: "/home/ann/.claude.json", Servers: c.servers}}, clients.Client{ID: "claude-code", Name: "Claude Code", File: "/home/ann/.claude.json"}, nil
}

func (c *client) ReplaceServers(string, []string, []string) (*clients.Plan, error) {
	panic("nobody wants it")
}
func (c *client) Apply(context.Context, *clients.Plan) error { panic("nobody wants it") }

func (c *client) Update(_ context.Context, id string, edit func([]byte) ([]byte, error)) error {
	text, err := edit([]byte(c.values[id]))
	c.values[id] = string(text)
	return err
}

func (c *client) ReplaceCredentials(_ context.Context, r *aai.Recipe, values map[string]string) (before map[string]string, err error) {
	if old, kept := c.given[r.App]; kept {
		before = old
	}
	if c.given == nil {
		c.given = make(map[string]map[string]string)
	}
	if c.given[r.App] = values; values == nil {
		delete(c.given, r.App)
		delete(c.keys, r.App)
		return before, nil
	}
	c.keys[r.App] = r.HTTP.BaseURL + " " + r.HTTP.Auth.In + " " + r.HTTP.Auth.Name + " " + r.HTTP.Auth.Prefix + values["key"]
	return before, nil
}

// A tester is a test or a property.
type tester interface {
	assert.TestingT
	Helper()
	Fatal(args ...any)
}

// toolIn returns the tool of an importer.
func toolIn(t tester, room *importers.Importer, name string) *aai.Tool {
	t.Helper()
	i := slices.IndexFunc(room.Tools(), func(tool *aai.Tool) bool { return tool.Name == name })
	assert.Assert(t, i >= 0, "there is no tool %s", name)
	return room.Tools()[i]
}

// takenServer returns the preview and the saved descriptors of a client's servers.
func takenServer(t tester, c *client, folder string) (shown string, saved map[string]*catalog.Descriptor, left map[string]string) {
	t.Helper()
	c.values, c.keys = make(map[string]string), make(map[string]string)
	room := importers.New(importers.Config{Folder: folder, Platform: "linux", Clients: c, Secrets: c, Logins: c})
	args := map[string]any{"client": "claude-code"}
	result, err := toolIn(t, room, importers.ShowServersTool).Run(context.Background(), &aai.Call{Args: args})
	assert.NilError(t, err)
	text, err := json.Marshal(result.Data)
	assert.NilError(t, err)
	var view struct {
		Seen string
		Apps []struct{ Path, Server string }
		Left []struct{ Server, Why string } `json:"left_out"`
	}
	assert.NilError(t, json.Unmarshal(text, &view))
	args["seen"] = view.Seen
	answer, err := toolIn(t, room, importers.SaveServersTool).Run(context.Background(), &aai.Call{Args: args})
	assert.NilError(t, err)
	more, err := json.Marshal(answer)
	assert.NilError(t, err)
	saved, left = make(map[string]*catalog.Descriptor), make(map[string]string)
	for _, app := range view.Apps {
		source, err := os.ReadFile(app.Path)
		assert.NilError(t, err)
		saved[app.Server], err = catalog.Parse(source, catalog.Options{})
		assert.NilError(t, err)
		more = append(more, source...)
	}
	for _, one := range view.Left {
		left[one.Server] = one.Why
	}
	return string(text) + string(more), saved, left
}

// TestServers checks that each client's form of a server becomes the same app, without a value.
func TestServers(t *testing.T) {
	c := &client{servers: map[string]map[string]any{
		"plain":   {"command": "npx", "args": []any{"-y", "pkg@1.2.3", "/srv/data", "--verbose", "--port", "8080"}, "env": map[string]any{"API_KEY": "canary", "DEBUG": true}},
		"goose":   {"type": "stdio", "enabled": true, "cmd": "uvx", "args": []any{"tool"}, "envs": map[string]any{"K": "canary"}, "timeout": 300},
		"zed":     {"command": map[string]any{"path": "/usr/bin/x", "args": []any{"-a"}, "env": map[string]any{"K": "canary"}}},
		"secrets": {"command": "x", "args": []any{"--token", "canary", "--api-key=canary", "--header", "Authorization: Bearer canary", "postgres://u:canary@db/x", "ghp_canary1234567890abcd", "X_SECRET=canary"}},
		"asks":    {"command": "x", "env": map[string]any{"A": "${input:a}", "B": "$B"}},
		"bearer":  {"type": "http", "url": "https://a.example/mcp", "headers": map[string]any{"authorization": "Bearer canary", "Accept": "x", "X-MCP-Toolsets": "repos"}},
		"key":     {"url": "https://a.example/mcp", "headers": map[string]any{"X-Api-Key": "canary"}},
		"query":   {"serverUrl": "https://a.example/mcp?api_key=canary&v=1"},
		"codex":   {"url": "https://a.example/mcp", "bearer_token_env_var": "TOKEN"},
		"two":     {"url": "https://a.example/mcp", "headers": map[string]any{"X-Api-Key": "canary", "X-Other": "canary", "Authorization": "Bearer canary2"}},
		"user":    {"url": "https://u:canary@a.example/mcp"},
		"plainly": {"url": "http://a.example/mcp"},
		"sse":     {"type": "sse", "url": "https://a.example/x"},
		"builtin": {"type": "builtin"},
		"none":    {"description": "x"},
		"filled":  {"command": "x", "args": []any{"${workspaceFolder}/canary"}},
		"nested":  {"command": "x", "env": map[string]any{"A": []any{"canary"}}},
		"ours":    {"command": "x", "env": map[string]any{"AAI_TOKEN": "canary"}},
		"odd":     {"command": "x", "env": map[string]any{"A-B": "canary"}},
		"off":     {"command": "x", "disabled": true},
		"":        {"command": "x"}, "\u200b": {"command": "x"}, "flat": nil,
	}}
	shown, saved, left := takenServer(t, c, t.TempDir())
	assert.Check(t, !strings.Contains(shown, "canary"), "a value is shown or saved:\n%s", shown)
	got := make(map[string]catalog.AppAddress)
	for name, d := range saved {
		got[name] = d.Document.Sections[0].AppAddress
	}
	want := map[string]catalog.AppAddress{
		"plain": {Command: "npx", Args: []string{"-y", "pkg@1.2.3", "/srv/data", "--verbose", "--port", "8080"}, Env: []string{"API_KEY", "DEBUG"}},
		"goose": {Command: "uvx", Args: []string{"tool"}, Env: []string{"K"}},
		"two": {URL: "https://a.example/mcp", Env: []string{"X_API_KEY", "X_OTHER"},
			Headers: map[string]string{"X-Api-Key": "${X_API_KEY}", "X-Other": "${X_OTHER}"}},
		"zed":     {Command: "/usr/bin/x", Args: []string{"-a"}, Env: []string{"K"}},
		"secrets": {Command: "x", Args: []string{"--token", "${TOKEN}", "--api-key=${API_KEY}", "--header", "Authorization:${AUTHORIZATION}", "${CONNECTION}", "${SECRET}", "X_SECRET=${X_SECRET}"}, Env: []string{"API_KEY", "AUTHORIZATION", "CONNECTION", "SECRET", "TOKEN", "X_SECRET"}},
		"asks":    {Command: "x", Env: []string{"A", "B"}},
		"bearer":  {URL: "https://a.example/mcp", Headers: map[string]string{"X-MCP-Toolsets": "repos"}},
		"key":     {URL: "https://a.example/mcp"},
		"query":   {URL: "https://a.example/mcp?v=1"},
		"codex":   {URL: "https://a.example/mcp"},
	}
	assert.Check(t, is.DeepEqual(want, got))
	assert.Check(t, is.DeepEqual(map[string]string{
		"mcp-env/mcp.plain": `{"API_KEY":"canary","DEBUG":"true"}`, "mcp-env/mcp.goose": `{"K":"canary"}`, "mcp-env/mcp.zed": `{"K":"canary"}`,
		"mcp-env/mcp.two":     `{"X_API_KEY":"canary","X_OTHER":"canary"}`,
		"mcp-env/mcp.secrets": `{"API_KEY":"canary","AUTHORIZATION":" Bearer canary","CONNECTION":"postgres://u:canary@db/x","SECRET":"ghp_canary1234567890abcd","TOKEN":"canary","X_SECRET":"canary"}`,
	}, c.values))
	assert.Check(t, is.DeepEqual(map[string]string{
		"mcp.bearer": "https://a.example/mcp header Authorization Bearer canary", "mcp.key": "https://a.example/mcp header X-Api-Key canary",
		"mcp.two":   "https://a.example/mcp header Authorization Bearer canary2",
		"mcp.query": "https://a.example/mcp?v=1 query api_key canary",
	}, c.keys))
	for name, why := range map[string]string{
		"user": "a name and a password", "plainly": "no descriptor can be made of it", "sse": "SSE", "builtin": "a part of the client",
		"none": "neither a command nor an address", "filled": "${workspaceFolder}", "nested": "no text", "ours": "gateway's own", "odd": "an invalid name", "off": "switched off", `""`: "has no name that can be shown", "flat": "no object",
	} {
		assert.Check(t, is.Contains(left[name], why), "%s is left out because %q, want %q", name, left[name], why)
	}
	assert.Check(t, is.Len(left, 12), "left out: %v", left)
	a := saved["codex"].App.Site.Auth
	assert.Assert(t, a != nil, "the login of codex is %+v", a)
	assert.Equal(t, a.EnvVar, "TOKEN", "%+v", a)
}

// TestWrongTypes checks that a member of the wrong type is named with the expected type, without
// its value.
func TestWrongTypes(t *testing.T) {
	for _, one := range []struct {
		fields map[string]any
		want   string
	}{
		{map[string]any{"command": "x", "args": "canary"}, "args is a text, and was not taken; expected a list"},
		{map[string]any{"command": "x", "env": "A=canary"}, "env is a text, and was not taken; expected an object"},
		{map[string]any{"command": "x", "envs": []any{"A=canary"}}, "envs is a list, and was not taken; expected an object"},
		{map[string]any{"command": "x", "cwd": 5.0}, "cwd is a number, and was not taken; expected a text"},
		{map[string]any{"command": "x", "disabled": "canary"}, "disabled is a text, and was not taken; expected true or false"},
		{map[string]any{"command": "x", "type": map[string]any{}}, "type is an object, and was not taken; expected a text"},
	} {
		shown, _, left := takenServer(t, &client{servers: map[string]map[string]any{"s": one.fields}}, t.TempDir())
		assert.Assert(t, is.Contains(shown, `"`+one.want+`"`), "%v %q", one.fields, one.want)
		assert.Assert(t, !strings.Contains(shown, "canary"), "of %v it shows\n%s\nleft out %v, want %q", one.fields, shown, left, one.want)
		assert.Assert(t, is.Len(left, 0), "%v %q", one.fields, one.want)
	}
}

// TestKeysInALine checks that a shell line with a key is skipped without showing the key, with a
// hint.
func TestKeysInALine(t *testing.T) {
	for _, fields := range []map[string]any{
		{"command": "sh", "args": []any{"-c", "export TOKEN=canary; server | tee log"}},
		{"command": "sh", "args": []any{"-c", "TOKEN=canary; server"}},
		{"command": "sh", "args": []any{"-c", "export TOKEN=canary$(id); server"}},
		{"command": "sh", "args": []any{"-c", "TOKEN=canary . server"}},
		{"command": "sh", "args": []any{"-ec", "TOKEN=canary server"}},
		{"command": "export TOKEN=canary; a; server"},
	} {
		shown, _, left := takenServer(t, &client{servers: map[string]map[string]any{"s": fields}}, t.TempDir())
		assert.Assert(t, is.Contains(left["s"], `has a key among other words`), "%v %s", left, shown)
		assert.Assert(t, is.Contains(left["s"], `give it as a variable in the client's "env"`), "%v %s", left, shown)
		assert.Assert(t, !strings.Contains(shown, "canary"), "left out: %v\n%s", left, shown)
	}
}

// TestLines checks that of a line that only sets variables the program is extracted, and the
// values go into the vault. A line with special characters stays for the shell.
func TestLines(t *testing.T) {
	server, with := []string{"server", "-v", "a b"}, func(words ...string) catalog.AppAddress {
		return catalog.AppAddress{Command: words[0], Args: words[1:], Env: []string{"TOKEN"}}
	}
	for _, one := range []struct {
		words  []string
		want   catalog.AppAddress
		values string
	}{
		{[]string{"env", "TOKEN=canary", "server", "-v", "a b"}, with(server...), `{"TOKEN":"canary"}`},
		{[]string{"/usr/bin/env", "A=canary", "B=canary=2", "server"}, catalog.AppAddress{Command: "server", Env: []string{"A", "B"}}, `{"A":"canary","B":"canary=2"}`},
		{[]string{"sh", "-c", "export TOKEN=canary; server -v 'a b'"}, with(server...), `{"TOKEN":"canary"}`},
		{[]string{"/bin/bash", "-c", `export TOKEN="canary  x" && exec server -v "a b"`}, with(server...), `{"TOKEN":"canary  x"}`},
		{[]string{"sh", "-c", "TOKEN=canary server -v 'a b'"}, with(server...), `{"TOKEN":"canary"}`},
		{[]string{"sh", "-c", "export A=canary B='cana''ry'; export C=canary; server --x='1;2' '--y=3'"}, catalog.AppAddress{Command: "server", Args: []string{"--x=1;2", "--y=3"}, Env: []string{"A", "B", "C"}}, `{"A":"canary","B":"canary","C":"canary"}`},
		{[]string{"env", "A=canary", "sh", "-c", "TOKEN=canary server --token canary2"}, catalog.AppAddress{Command: "server", Args: []string{"--token", "${TOKEN_2}"}, Env: []string{"A", "TOKEN", "TOKEN_2"}}, `{"A":"canary","TOKEN":"canary","TOKEN_2":"canary2"}`},
		{[]string{"export TOKEN=canary; server -v 'a b'"}, with(server...), `{"TOKEN":"canary"}`},
		// Neither without a shell nor without env:
		{[]string{"sh", "-c", "server $HOME"}, catalog.AppAddress{Command: "sh", Args: []string{"-c", "server $HOME"}}, ""},
		{[]string{"sh", "-c", "A=b server *.txt"}, catalog.AppAddress{Command: "sh", Args: []string{"-c", "A=b server *.txt"}}, ""},
		{[]string{"sh", "-c", "'A=b' server"}, catalog.AppAddress{Command: "sh", Args: []string{"-c", "'A=b' server"}}, ""},
		{[]string{"sh", "-c", "PATH=/opt server"}, catalog.AppAddress{Command: "sh", Args: []string{"-c", "PATH=/opt server"}}, ""},
		{[]string{"sh", "-c", "A=b cd /srv"}, catalog.AppAddress{Command: "sh", Args: []string{"-c", "A=b cd /srv"}}, ""},
		{[]string{"sh", "-c", "A= server"}, catalog.AppAddress{Command: "sh", Args: []string{"-c", "A= server"}}, ""},
		{[]string{"env", "-i", "A=b", "server"}, catalog.AppAddress{Command: "env", Args: []string{"-i", "A=b", "server"}}, ""},
	} {
		fields := map[string]any{"command": one.words[0]}
		var args []any
		for _, word := range one.words[1:] {
			args = append(args, word)
		}
		if args != nil {
			fields["args"] = args
		}
		c := &client{servers: map[string]map[string]any{"s": fields}}
		shown, saved, left := takenServer(t, c, t.TempDir())
		if saved["s"] == nil {
			t.Errorf("%q is left out: %v", one.words, left)
			continue
		}
		if diff := cmp.Diff(one.want, saved["s"].Document.Sections[0].AppAddress); diff != "" || c.values["mcp-env/mcp.s"] != one.values || strings.Contains(shown, "canary") {
			t.Errorf("%q (-want +got):\n%s\nthe vault: %s\n%s", one.words, diff, c.values["mcp-env/mcp.s"], shown)
		}
	}
}

// TestNoValueIsShown checks that values of variables and headers are in no preview, descriptor or
// result.
func TestNoValueIsShown(t *testing.T) {
	folder := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		const canary = "cAnArY"
		value := rapid.Custom(func(t *rapid.T) any {
			return rapid.SampledFrom([]string{"", "Bearer ", "Basic ", "a:", "${x} ", "https://u:", "--k=", "\n", "\""}).Draw(t, "before") + canary +
				rapid.SampledFrom([]string{"", "}", "@a.example", "\x1b[0m", "=", "&b=c"}).Draw(t, "after")
		})
		name := rapid.SampledFrom([]string{"KEY", "A", "LD_PRELOAD", "Authorization", "X-Api-Key", "X-Mcp-Key", "Cookie", "Accept", "token", "A B", "AAI_X"})
		fields := map[string]any{
			rapid.SampledFrom([]string{"command", "url", "serverUrl", "httpUrl"}).Draw(t, "way"): rapid.SampledFrom([]string{"npx", "https://a.example/mcp"}).Draw(t, "what"),
		}
		for _, table := range []string{"env", "envs", "headers", "http_headers"} {
			fields[table] = map[string]any{name.Draw(t, "name"): value.Draw(t, "value")}
		}
		c := &client{servers: map[string]map[string]any{"s": fields}}
		shown, _, _ := takenServer(t, c, filepath.Join(folder, rapid.StringMatching(`[a-z]{12}`).Draw(t, "folder")))
		assert.Assert(t, !strings.Contains(shown, canary), "of %v it shows\n%s", fields, shown)
	})
}
