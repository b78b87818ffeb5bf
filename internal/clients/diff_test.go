package clients_test

import (
	"regexp"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/clients"
)

// TestSecretsStayRedacted checks that no diff shows values of others, wherever they are.
func TestSecretsStayRedacted(t *testing.T) {
	const secret = "CANARY"
	for _, c := range []struct{ client, path, text string }{
		{"cursor", cursor, "{\n  \"mcpServers\": {\n    \"a\": {\n      \"args\": [\"--token\", \"CANARY\"], // CANARY\n      \"env\": {\"PLAIN\": \"CANARY\", \"PIN\": \"CANARY\"}\n    }\n  }\n}\n"},
		{"cursor", cursor, "{\"mcpServers\":{\"a\":{\"headers\":{\"Authorization\":\"Bearer CANARY\"},\"url\":\"https://u:CANARY@x.example/?k=CANARY\"}},\"apiKey\":\"CANARY\"}"},
		{"cursor", cursor, "{\n  \"mcpServers\": {\n    \"a\": {\"env\": {\"A\": \"x \\\" CANARY\"}}\n    /* CANARY\n    CANARY */\n  }\n}\n"},
		{"cursor", cursor, "{\n  \"mcpServers\": {\n    \"aai-gateway\": {\"command\": \"old\", \"args\": [\"--password\", \"CANARY\", \"-k\", \"CANARY\"], \"env\": {\"A\": \"CANARY\"}}\n  }\n}\n"},
		{"codex", ".codex/config.toml", "[mcp_servers.a]\nenv = { A = \"CANARY\", B = 'CANARY' } # CANARY\nkey = \"\"\"\nCANARY\nCANARY = CANARY \"\"\"\n"},
		{"codex", ".codex/config.toml", "[mcp_servers.a]\nkeys = [\n  \"CANARY\",\n  'CANARY',\n]\n# key = CANARY"},
		{"goose", ".config/goose/config.yaml", "extensions:\n  a:\n    envs:\n      TOKEN: CANARY\n      OTHER: \"CANARY\"\n      MORE: 'CANARY x'\n"},
		{"goose", ".config/goose/config.yaml", "extensions:\n  a:\n    args: [--key, CANARY, \"CANARY\"]\n    # CANARY\n    text: |\n      CANARY\n      a CANARY: CANARY\n"},
		{"goose", ".config/goose/config.yaml", "extensions: {a: {envs: {T: CANARY}}, b: {cmd: \"CANARY\"}}\nlast: https://u:CANARY@x.example\n"},
		{"continue", ".continue/config.yaml", "name: a\nmcpServers:\n  - name: CANARY\n    env:\n      T: CANARY\n    args:\n      - CANARY\n      - --key=CANARY\n"},
	} {
		for _, name := range []string{"install", "uninstall", "rollback"} {
			w := newWorld(t, "linux", nil)
			w.file(c.path, c.text)
			plan := func(id string) (*clients.Plan, error) { return w.room.Install(id, serve()) }
			if name != "install" {
				assert.NilError(t, w.room.Apply(t.Context(), w.plan(plan(c.client))))
				plan = w.room.Uninstall
			}
			if name == "rollback" {
				w.file(c.path, w.has(c.path)+"\n")
				plan = w.room.Rollback
			}
			p := w.plan(plan(c.client))
			assert.Check(t, !strings.Contains(p.Diff, secret), "%s shows it:\n%s\nof\n%s", name, p.Diff, c.text)
			assert.Check(t, is.Contains(p.Diff, "aai-gateway"), "%s does not show ours:\n%s", name, p.Diff)
		}
	}
}

// TestOursIsSeen checks that our entry is visible whatever precedes it on the line, and others'
// values are not.
func TestOursIsSeen(t *testing.T) {
	long := strings.Repeat(`{"x":"CANARY"},`, 200)
	for _, text := range []string{
		`{"a": 1, /* CANARY */ "mcpServers": {"x": {"command": "CANARY"}}}`,
		`{"mcpServers": {"x": {"command": "CANARY"} /* CANARY's */ }}`,
		`{"h": [` + long + `{}], /* CANARY */ "mcpServers": {}, "z": [` + long + `{}]}`,
		"{\"mcpServers\": {\"x\": {} /* CANARY\n it's \"CANARY\n don't \"CANARY */ }}",
		"{/* CANARY\n// CANARY's \" */ \"mcpServers\": {\"x\": {\"y\": \"CANARY\"}}}",
		"{/**/ \"mcpServers\": {\"x\": {\"y\": \"/*CANARY\"}}}",
		"{/*/ CANARY's */ \"mcpServers\": {}}",
	} {
		w := newWorld(t, "linux", nil)
		w.file(cursor, text)
		p := w.plan(w.room.Install("cursor", serve()))
		ours := regexp.MustCompile(`(?m)^\+.*"aai-gateway": ?\{"command": ?"/opt/aai/aai-gateway", ?"args": ?\["mcp", ?"serve"\]`)
		if flat := strings.ReplaceAll(p.Diff, "\n+", " "); !ours.MatchString(p.Diff) && !regexp.MustCompile(`"aai-gateway": \{\s+"command": "/opt/aai/aai-gateway"`).MatchString(flat) || strings.Contains(p.Diff, "CANARY") {
			t.Errorf("of\n%.300s\n%s", text, p.Diff)
		}
	}
}

// TestALongLine checks that a minified file shows only the part around our entry.
func TestALongLine(t *testing.T) {
	w := newWorld(t, "linux", nil)
	w.file(cursor, `{"history":[`+strings.Repeat(`{"x":"y"},`, 5000)+`{}],"mcpServers":{},"z":[`+strings.Repeat(`{"x":"y"},`, 5000)+`{}]}`)
	p := w.plan(w.room.Install("cursor", serve()))
	assert.Assert(t, len(p.Diff) <= 1500, "%d bytes:\n%.2000s", len(p.Diff), p.Diff)
	assert.Assert(t, is.Contains(p.Diff, `"args":["mcp","serve"]`), "%d", len(p.Diff))
}
