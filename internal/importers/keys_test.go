package importers_test

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"pgregory.net/rapid"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/bench/shop"
	"github.com/gybob/aai-gateway/internal/clients"
	"github.com/gybob/aai-gateway/internal/importers"
)

// staticClients is one client with servers.
type staticClients map[string]map[string]any

func (c staticClients) Scopes(string, string) ([]clients.Scope, clients.Client, error) {
	return []clients.Scope{{Place: "/client.json", Folder: "/p", Servers: c}}, clients.Client{Name: "Client", File: "/client.json"}, nil
}
func (c staticClients) ReplaceServers(string, []string, []string) (*clients.Plan, error) {
	return &clients.Plan{}, nil
}
func (c staticClients) Apply(context.Context, *clients.Plan) error { return nil }

// shown returns the preview of a server.
func shown(t *testing.T, server string) string {
	t.Helper()
	var fields map[string]any
	assert.NilError(t, json.Unmarshal([]byte(server), &fields))
	room := importers.New(importers.Config{Folder: t.TempDir(), Platform: "linux", Clients: staticClients{"one": fields}})
	result, err := toolIn(t, room, importers.ShowServersTool).Run(t.Context(), &aai.Call{Args: map[string]any{"client": "client"}})
	assert.NilError(t, err)
	b, err := json.Marshal(result.Data)
	assert.NilError(t, err)
	return string(b)
}

// TestKeysInCommands checks that a key in a server's command goes into the vault, or the server
// is skipped, because agents can read its descriptor.
func TestKeysInCommands(t *testing.T) {
	for args, want := range map[string]string{
		`["--header=Authorization: Bearer hush1"]`:        "--header=Authorization:${HEADER_AUTHORIZATION}",
		`["--header", "X-Auth: hush2"]`:                   "${X_AUTH}",
		`["--dsn=postgres://u:hush3@h/db"]`:               "--dsn=${DSN}",
		`["Server=h;Password=hush4;"]`:                    "${CONNECTION}",
		`["--env=API_KEY=hush5"]`:                         "--env=API_KEY=${API_KEY}",
		`["--url=https://h/x?token=hush6"]`:               "--url=${CONNECTION}",
		`["--password:hush7", "word"]`:                    "--password:${PASSWORD} word",
		`["-c", "exec npx foo --token hush8"]`:            "a key among other words",
		`["-u", "me", "-p", "hush9"]`:                     "-u me -p ${PASSWORD}",
		`["-p", "8080"]`:                                  "-p 8080",
		`["-c", "export TOKEN=hush10; exec npx a"]`:       "a key among other words",
		`["-c", "API_KEY=hush9 npx foo"]`:                 "a key among other words",
		`["-c", "curl -H 'Authorization: hush10'"]`:       "a key among other words",
		`["--name=plain", "a b", "--flag"]`:               `x --name=plain \"a b\" --flag`,
		`["--header", "X-Api: hush11"]`:                   "--header X-Api:${ARG_X_API}",
		`["-H", "Key: hush12"]`:                           "-H Key:${ARG_KEY}",
		`["-HKey: hush13"]`:                               "-HKey:${HKEY}",
		`["--header", "Accept: text/plain"]`:              `--header \"Accept: text/plain\"`,
		`["--k", "HUSHx1y2"]`:                             "--k ${ARG_K}",
		`["--path", "HUSHx1y2"]`:                          "--path ${ARG_PATH}",
		`["-kHUSHx1y2"]`:                                  "-k${ARG_K}",
		`["server", "HUSHHHx-hunter2"]`:                   "server ${SECRET}",
		`["--config", "eyJrZXkiOiJodXNoIn0="]`:            "--config ${ARG_CONFIG}",
		`["--config={\"a\": [{\"token\": \"hush14\"}]}"]`: "--config=${ARG_CONFIG}",
		`["--config", "{\"a\": [1, \"plain\"]}"]`:         `--config \"{\\\"a\\\": [1, \\\"plain\\\"]}\"`,
		`["https://hush9HUSH@h/x.git"]`:                   "${CONNECTION}",
		`["https://u:hush@h/x?a=b"]`:                      "${CONNECTION}",
		`["--url", "https://h/x?a=HUSHx1y2&b=c"]`:         "--url ${CONNECTION}",
		`["-e", "NAME=hush15", "image"]`:                  "-e NAME=${ARG_NAME} image",
		`["-c", "server --k HUSHx1y2 | tee log"]`:         "a key among other words",
		`["--id", "x${V}HUSHx1y2"]`:                       "which the client fills in",
	} {
		got := shown(t, fmt.Sprintf(`{"command": "x", "args": %s}`, args))
		assert.Assert(t, !strings.Contains(got, "hush"), "%s %s", args, got)
		assert.Assert(t, !strings.Contains(got, "HUSH"), "%s %s", args, got)
		assert.Assert(t, is.Contains(got, want), args)
	}
	got := shown(t, `{"command": "x", "args": ["--id", "x${V} HUSHx1y2"], "env": {"V": "v"}}`)
	assert.Assert(t, !strings.Contains(got, "HUSH"), got)
	assert.Assert(t, is.Contains(got, "a key beside a reference"))
	got = shown(t, `{"command": "npx foo --token hush"}`)
	assert.Check(t, !strings.Contains(got, "hush"), got)
	assert.Check(t, is.Contains(shown(t, `{"url": "https://h.example/s/Zm9vYmFyYmF6cXV4MTIzNDU2Nzg5/mcp"}`), "looks like a key"))
}

// TestNoKeyInASource checks that the source in a descriptor has no key of the document's address.
func TestNoKeyInASource(t *testing.T) {
	for source, want := range map[string]string{
		"https://h.example/x.json?token=hush&v=1": "openapi:https://h.example/x.json?v=1", "https://u:hush@h.example/x.json": "openapi:https://h.example/x.json",
		"https://h.example/x.json?v=1&a=HUSHx1y2&key_token=hush": "openapi:https://h.example/x.json?v=1", "spec.yaml": "openapi:spec.yaml",
		"https://h.example/x.json?b=1&a=2": "openapi:https://h.example/x.json?b=1&a=2",
	} {
		got := read(t, shop.OpenAPIDocument(), importers.OpenAPIOptions{Source: source, Server: "https://h.example", Driver: driver()})
		assert.Check(t, is.Equal(got.Document.Generated.From, want), source)
	}
}

// TestPlainArguments checks that an argument without a key stays in the descriptor, where a person can read it.
func TestPlainArguments(t *testing.T) {
	for _, word := range []string{
		"-y", "--port", "8080", "python3", "README", "readOnly", "us-east-1", "gpt-4o-mini", "pkg@1.2.3", "@scope/server-filesystem@2025.11.18",
		"/srv/a1b2c3d4e5f6/data", "./x9y8z7w6", "~/notes", "ghcr.io/github/github-mcp-server", "postgres://user@db.example/orders", "https://h.example/mcp/v1?limit=20",
		"ghcr.io/a/b@sha256:0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef", "git@github.com:owner/repo.git", "KEY_NAME=plain", "[1,2]", "a b",
	} {
		args, err := json.Marshal([]string{word})
		assert.NilError(t, err)
		_, saved, left := takenServer(t, &client{servers: map[string]map[string]any{"s": {"command": "x", "cwd": "/p", "args": []any{word}}}}, t.TempDir())
		assert.Assert(t, saved["s"] != nil, "%s %+v %v", args, saved["s"], left)
		assert.Assert(t, slices.Equal(saved["s"].Document.Sections[0].Args, []string{word}), "%s %+v %v", args, saved["s"], left)
	}
}

// TestNoKeyOfACommandIsShown checks that a random key at any place of a command is in no preview, descriptor
// or result, and that the values in the vault restore the command.
func TestNoKeyOfACommandIsShown(t *testing.T) {
	folder := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		key := rapid.OneOf(
			rapid.StringMatching(`ghp_[A-Za-z0-9]{36}`), rapid.StringMatching(`sk-[a-z]{3}-[A-Za-z0-9]{20}[0-9][A-Z]`), rapid.StringMatching(`[0-9a-f]{7}[a-f][0-9][a-f][0-9]{2}[0-9a-f]{20}`),
			rapid.StringMatching(`[0-9a-f]{8}-[0-9a-f]{4}-4[0-9a-f]{3}-[0-9a-f]{4}-[0-9]{6}[a-f]{6}`), rapid.StringMatching(`[A-Z]{3}[a-z]{3}[0-9]{2}`),
			rapid.Map(rapid.StringMatching(`\{"k":"[A-Za-z0-9]{12,20}"\}`), func(s string) string { return base64.StdEncoding.EncodeToString([]byte(s)) }),
		).Draw(t, "key")
		form := rapid.SampledFrom([][]string{
			{"KEY"}, {"--k", "KEY"}, {"--k=KEY"}, {"-kKEY"}, {"-H", "X: KEY"}, {"--header=X-Api: KEY"}, {"--header", "X-Api:KEY"}, {"X-Any: KEY"}, {"NAME=KEY"}, {"-e", "NAME=KEY"},
			{"https://KEY@h.example/x"}, {"https://u:KEY@h.example/x?a=b"}, {"https://h.example/x?a=b&c=KEY"}, {"https://h.example/KEY/x"}, {"--url=https://h.example/x?c=KEY"},
			{"KEY", "KEY", "-kKEY", "KEY"}, {`{"a": ["KEY"]}`}, {`--json={"a": {"b": "KEY"}}`}, {"say KEY now"}, {"-v", "--path", "KEY", "rest"}, {"Server=h;Password=KEY;"},
		}).Draw(t, "form")
		var want []string
		var args []any
		for _, word := range form {
			word = strings.ReplaceAll(word, "KEY", key)
			want, args = append(want, word), append(args, word)
		}
		c := &client{servers: map[string]map[string]any{"s": {"command": "x", "args": args}}}
		shown, saved, left := takenServer(t, c, filepath.Join(folder, rapid.StringMatching(`[a-z]{12}`).Draw(t, "folder")))
		assert.Assert(t, !strings.Contains(strings.ToLower(shown), strings.ToLower(key)), "of %q it shows\n%s", want, shown)
		assert.Assert(t, saved["s"] != nil, "%q is left out: %v", want, left)
		values := make(map[string]string)
		assert.NilError(t, json.Unmarshal([]byte(c.values["mcp-env/mcp.s"]), &values))
		got := slices.Clone(saved["s"].Document.Sections[0].Args)
		for i := range got {
			got[i] = os.Expand(got[i], func(name string) string { return values[name] })
		}
		assert.Assert(t, slices.Equal(got, want), "%q became %q with %q", want, got, values)
	})
}
