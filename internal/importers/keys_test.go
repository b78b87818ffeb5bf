package importers_test

import (
	"context"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/clients"
	"github.com/gybob/aai-gateway/internal/importers"
)

// staticClients is one client with servers.
type staticClients map[string]map[string]any

func (c staticClients) Servers(string) (map[string]map[string]any, clients.Client, error) {
	return c, clients.Client{Name: "Client", File: "/client.json"}, nil
}
func (c staticClients) ReplaceServers(string, []string, []string) (*clients.Plan, error) {
	return &clients.Plan{}, nil
}
func (c staticClients) Apply(context.Context, *clients.Plan) error { return nil }

// shown returns the preview of a server.
func shown(t *testing.T, server string) string {
	t.Helper()
	var fields map[string]any
	if err := json.Unmarshal([]byte(server), &fields); err != nil {
		t.Fatal(err)
	}
	room := importers.New(importers.Config{Folder: t.TempDir(), Platform: "linux", Clients: staticClients{"one": fields}})
	for _, tool := range room.Tools() {
		if tool.Name == importers.ShowServersTool {
			result, err := tool.Run(t.Context(), &aai.Call{Args: map[string]any{"client": "client"}})
			if err != nil {
				t.Fatal(err)
			}
			b, err := json.Marshal(result.Data)
			if err != nil {
				t.Fatal(err)
			}
			return string(b)
		}
	}
	t.Fatal("there is no tool that shows servers")
	return ""
}

// TestKeysInCommands checks that a key in a server's command goes into the vault, or the server
// is skipped, because agents can read its descriptor.
func TestKeysInCommands(t *testing.T) {
	for args, want := range map[string]string{
		`["--header=Authorization: Bearer hush1"]`:  "--header=Authorization:${HEADER_AUTHORIZATION}",
		`["--header", "X-Auth: hush2"]`:             "${X_AUTH}",
		`["--dsn=postgres://u:hush3@h/db"]`:         "--dsn=${DSN}",
		`["Server=h;Password=hush4;"]`:              "${CONNECTION}",
		`["--env=API_KEY=hush5"]`:                   "--env=API_KEY=${API_KEY}",
		`["--url=https://h/x?token=hush6"]`:         "--url=https://h/x?token=${HTTPS_H_X_TOKEN}",
		`["--password:hush7", "word"]`:              "--password:${PASSWORD} word",
		`["-c", "exec npx foo --token hush8"]`:      "a key among other words",
		`["-u", "me", "-p", "hush9"]`:               "-u me -p ${PASSWORD}",
		`["-p", "8080"]`:                            "-p 8080",
		`["-c", "export TOKEN=hush10; exec npx a"]`: "a key among other words",
		`["-c", "API_KEY=hush9 npx foo"]`:           "a key among other words",
		`["-c", "curl -H 'Authorization: hush10'"]`: "a key among other words",
		`["--name=plain", "a b", "--flag"]`:         "x --name=plain a b --flag",
	} {
		got := shown(t, fmt.Sprintf(`{"command": "x", "args": %s}`, args))
		if strings.Contains(got, "hush") || strings.Contains(got, "HUSH") || !strings.Contains(got, want) {
			t.Errorf("%s: expected %s, got %s", args, want, got)
		}
	}
	if got := shown(t, `{"command": "npx foo --token hush"}`); strings.Contains(got, "hush") {
		t.Errorf("got %s", got)
	}
	if got := shown(t, `{"url": "https://h.example/s/Zm9vYmFyYmF6cXV4MTIzNDU2Nzg5/mcp"}`); !strings.Contains(got, "looks like a key") {
		t.Errorf("got %s", got)
	}
}
