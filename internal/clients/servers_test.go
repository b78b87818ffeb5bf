package clients_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/clients"
)

// canary is in all places where a configuration may have a secret.
const canary = "sk-canary-7f3a"

// inJSON is a configuration with two servers under the key.
func inJSON(key string) string {
	return fmt.Sprintf(`{"apiKey": %[2]q, %[1]q: {
	"tickets": {"command": "npx", "args": ["-y", "tickets", "--token=%[2]s", %[2]q], "env": {"TICKETS_TOKEN": %[2]q, "TICKETS_URL": "https://u:%[2]s@example.com"}},
	"remote": {"url": "https://user:%[2]s@mcp.example.com/%[2]s?key=%[2]s", "headers": {"Authorization": "Bearer %[2]s"}},
	"odd": {"command": "/home/ann/%[2]s", "env": ["A_NAME", "B=%[2]s"]}, "aai-gateway": {"command": "aai-gateway"}}}`, key, canary)
}

// TestServers checks the servers of every client's configuration, with names and no values.
func TestServers(t *testing.T) {
	w := newWorld(t, "linux", nil)
	for _, c := range w.room.Clients() {
		key, text := "mcpServers", ""
		if c.File == "" {
			continue // it has no file
		}
		switch c.ID {
		case "vscode", "vscode-insiders":
			key = "servers"
		case "zed":
			key = "context_servers"
		case "codex":
			text = fmt.Sprintf("key = %[1]q\n[mcp_servers.tickets]\ncommand = \"npx\"\nargs = [%[1]q]\n[mcp_servers.tickets.env]\nTICKETS_TOKEN = %[1]q\nTICKETS_URL = %[1]q\n", canary)
		case "goose":
			text = fmt.Sprintf("GOOSE_KEY: %[1]s\nextensions:\n  tickets:\n    type: stdio\n    cmd: npx\n    args: [%[1]s]\n    envs: {TICKETS_TOKEN: %[1]s, TICKETS_URL: %[1]s}\n", canary)
		case "continue":
			w.file(".continue/config.yaml", fmt.Sprintf("mcpServers:\n  - name: tickets\n    command: npx\n    env: {TICKETS_TOKEN: %[1]s, TICKETS_URL: %[1]s}\n", canary))
			continue
		}
		if text == "" {
			text = inJSON(key)
		}
		w.file(strings.TrimPrefix(c.File, w.home+"/"), text)
	}
	found, unread := w.room.Servers()
	assert.Check(t, is.Len(unread, 0))
	assert.Check(t, !strings.Contains(fmt.Sprintf("%+v", found), canary), "a value came out: %+v", found)
	for _, c := range w.room.Clients() {
		if c.File == "" {
			continue
		}
		i := slices.IndexFunc(found, func(s clients.Server) bool { return s.Client == c.Name && s.Name == "tickets" })
		if i < 0 {
			t.Errorf("no server of %s", c.Name)
			continue
		}
		s := found[i]
		assert.Check(t, is.Equal(s.Transport, "npx"), "%s %+v", c.Name, s)
		assert.Check(t, slices.Equal(s.Variables, []string{"TICKETS_TOKEN", "TICKETS_URL"}), "%s %+v", c.Name, s)
	}
	for _, s := range found {
		switch {
		case s.Name == "aai-gateway":
			t.Errorf("our own: %+v", s)
		case s.Name == "remote" && (s.Transport != "mcp.example.com" || !slices.Equal(s.Variables, []string{"Authorization"})):
			t.Errorf("%+v", s)
		case s.Name == "odd" && (s.Transport != "a program" || !slices.Equal(s.Variables, []string{"A_NAME"})):
			t.Errorf("%+v", s)
		}
	}
}

// TestUnreadableServers checks that an invalid configuration is named and affects no other.
func TestUnreadableServers(t *testing.T) {
	w := newWorld(t, "linux", nil)
	w.file(".cursor/mcp.json", `{"mcpServers": {"tickets": {"command": "npx"}}}`)
	broken := w.file(".config/Claude/claude_desktop_config.json", `{"mcpServers": `+canary)
	w.file(".config/zed/settings.json", strings.Repeat("x", 17<<20))
	found, unread := w.room.Servers()
	assert.Assert(t, is.Len(found, 1))
	assert.Assert(t, is.Len(unread, 2))
	assert.Assert(t, is.Contains(unread, broken))
}

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

// TestByNPX checks that entries start the program through npx, and are recognized by the package
// alone, on every system.
func TestByNPX(t *testing.T) {
	for system, launch := range map[string][]string{"linux": {"npx", "-y", "aai-gateway"}, "windows": {"cmd", "/c", "npx", "-y", "aai-gateway"}} {
		w := newWorld(t, system, nil)
		const first = `{"mcpServers": {}}`
		w.file(cursor, first)
		w.do(clients.ActionAdd)(w.room.Install("cursor", serve())) // from a folder
		byPath := w.has(cursor)
		w.room = w.launching(system, launch...)
		w.do(clients.ActionReplace)(w.room.Install("cursor", append(serve(), "--profile", "desktop")))
		want := `{"command":"` + launch[0] + `","args":["` + strings.Join(append(launch[1:], "mcp", "serve", "--profile", "desktop"), `","`) + `"]}`
		assert.Check(t, is.Contains(w.has(cursor), want))
		w.do(clients.ActionNone)(w.room.Install("cursor", append(serve(), "--profile", "desktop")))
		w.room = w.with(system, command)
		w.do(clients.ActionReplace)(w.room.Install("cursor", serve()))
		w.is(cursor, byPath)
		w.do(clients.ActionRestore)(w.room.Uninstall("cursor"))
		w.is(cursor, first)
	}
}

// TestWhatElseNPXStarts checks that other packages are not ours, whatever the record has.
func TestWhatElseNPXStarts(t *testing.T) {
	w := newWorld(t, "linux", nil)
	w.room = w.launching("linux", "npx", "-y", "aai-gateway")
	w.do(clients.ActionAdd)(w.room.Install("cursor", serve()))
	for args, ours := range map[string]bool{
		`"-y", "aai-gateway@1.2.3", "--mcp"`: true, `"@some-one/aai-gateway@latest"`: true, `"aai-gateway"`: true,
		`"-y", "theirs", "aai-gateway"`: false, `"aai-gateway-of-others"`: false, `"-y"`: false, ``: false,
	} {
		w.file(cursor, `{"mcpServers": {"aai-gateway": {"command": "npx", "args": [`+args+`]}}}`)
		p := w.plan(w.room.Install("cursor", serve()))
		assert.Check(t, p.NeedsConfirmation() != ours, "%s: doubtful %v, %q", args, p.NeedsConfirmation(), p.Notes)
		w.file(cursor, `{"mcpServers": {"mine": {"command": "/usr/bin/npx", "args": [`+args+`]}}}`)
		p = w.plan(w.room.Install("cursor", serve()))
		assert.Check(t, is.Equal((len(p.Notes) == 1), ours), "%s %q", args, p.Notes)
	}
}

// TestEntriesThatAreNoServers checks that an entry without a name, or that is no object, is
// skipped with a reason by the import; discover lists entries of valid form.
func TestEntriesThatAreNoServers(t *testing.T) {
	for id, text := range map[string]string{
		"cursor":   `{"mcpServers": {"": {"command": "npx"}, "flat": "npx tickets", "tickets": {"command": "npx"}}}`,
		"continue": "mcpServers:\n  - command: npx\n  - name: tickets\n    command: npx\n",
	} {
		w := newWorld(t, "linux", nil)
		if id == "cursor" {
			w.file(".cursor/mcp.json", text)
		} else {
			w.file(".continue/config.yaml", text)
		}
		servers, _, err := w.room.ServersOf(id)
		assert.NilError(t, err, "%s %v", id, servers)
		assert.Assert(t, servers[""] != nil, "%s %v", id, servers)
		assert.Assert(t, servers["tickets"] != nil, "%s %v", id, servers)
		flat, there := servers["flat"]
		assert.Check(t, is.Equal(there, (id == "cursor")), "%s %v", id, servers)
		assert.Check(t, flat == nil, "%s %v", id, servers)
		found, _ := w.room.Servers()
		assert.Check(t, is.Len(found, 2), id)
	}
}

// TestRejectedFiles: a file that the client itself would not read, or a list by which it would not start the
// gateway, is an error with its place, and the file stays as it is. The forms are those that the clients' own
// "mcp list" rejects.
func TestRejectedFiles(t *testing.T) {
	const servers = `"mcpServers": {"demo": {"command": "true", "args": ["a,}", "//"]}}`
	for name, test := range map[string]struct{ client, file, text, want string }{
		"Claude Code, comma":      {"claude-code", ".claude.json", "{\n  " + servers + ",\n}\n", "line 2, column 69: a comma after the last value"},
		"Claude Code, comment":    {"claude-code", ".claude.json", "{\n  // x\n" + servers + "}", "line 2, column 3: a comment"},
		"Claude Code, mark":       {"claude-code", ".claude.json", "\ufeff{" + servers + "}", ""},
		"Gemini CLI, mark":        {"gemini", ".gemini/settings.json", "\ufeff{" + servers + "}", "line 1, column 1: a byte order mark"},
		"Gemini CLI, comma":       {"gemini", ".gemini/settings.json", "{" + servers + " /* x */ , }", "line 1, column 77: a comma after the last value"},
		"Gemini CLI, comment":     {"gemini", ".gemini/settings.json", "{ // x\n" + servers + "}", ""},
		"Gemini CLI, excluded":    {"gemini", ".gemini/settings.json", "{" + servers + `, "mcp": {"excluded": ["x", "aai-gateway"]}}`, "mcp.excluded: Gemini CLI would not start aai-gateway"},
		"Gemini CLI, not allowed": {"gemini", ".gemini/settings.json", "{" + servers + `, "mcp": {"allowed": ["x"]}}`, "mcp.allowed: Gemini CLI would not start aai-gateway"},
		"Gemini CLI, allowed":     {"gemini", ".gemini/settings.json", "{" + servers + `, "mcp": {"allowed": ["aai-gateway"], "excluded": []}}`, ""},
		"Jan, comment":            {"jan", ".local/share/Jan/data/mcp_config.json", "{" + servers + "} // x", "a comment"},
		"VS Code, comma":          {"vscode", ".config/Code/User/mcp.json", "{\"servers\": {},}", ""},
	} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t, "linux", nil)
			w.file(test.file, test.text)
			_, err := w.room.Install(test.client, serve())
			switch {
			case test.want == "" && err != nil:
				t.Error(err)
			case test.want != "" && (err == nil || !strings.Contains(err.Error(), test.want)):
				t.Errorf("got %v; want %s", err, test.want)
			}
			w.is(test.file, test.text)
		})
	}
}

// TestSwitchedOffEntry: an entry of the gateway that the client does not start is named, and stays.
func TestSwitchedOffEntry(t *testing.T) {
	for id, file := range map[string]struct{ path, text, want string }{
		"cline": {".cline/data/settings/cline_mcp_settings.json", `{"mcpServers": {"aai-gateway": {"command": "` + command + `", "args": ["mcp", "serve"], "disabled": true}}}`,
			"mcpServers.aai-gateway has disabled: true"},
		"codex": {".codex/config.toml", "[mcp_servers.aai-gateway]\ncommand = \"" + command + "\"\nargs = [\"mcp\", \"serve\"]\nenabled = false\n",
			"mcp_servers.aai-gateway has enabled: false"},
		"jan": {".local/share/Jan/data/mcp_config.json", `{"mcpServers": {"aai-gateway": {"command": "` + command + `", "args": ["mcp", "serve"], "active": false}}}`,
			"mcpServers.aai-gateway has active: false"},
	} {
		t.Run(id, func(t *testing.T) {
			w := newWorld(t, "linux", nil)
			w.file(file.path, file.text)
			plan := w.plan(w.room.Install(id, serve()))
			assert.Check(t, is.Contains(strings.Join(plan.Notes, "\n"), file.want))
			assert.Check(t, is.Equal(plan.Action, clients.ActionNone), "it would %s", plan.Action)
		})
	}
}

// TestMovedFolders: LM Studio and Jan name another folder in a file.
func TestMovedFolders(t *testing.T) {
	for id, test := range map[string]struct{ file, text, want string }{
		"lm-studio": {".lmstudio-home-pointer", "/srv/lm\n", "/srv/lm/mcp.json"},
		"jan":       {".local/share/Jan/settings.json", `{"data_folder": "/srv/jan"}`, "/srv/jan/mcp_config.json"},
	} {
		t.Run(id, func(t *testing.T) {
			w := newWorld(t, "linux", nil)
			w.file(test.file, test.text)
			for _, c := range w.room.Clients() {
				assert.Check(t, c.ID != id || c.File == test.want, "%s %s", c.File, test.want)
			}
		})
	}
}

// TestManualClients: where no file can be edited, the person gets the text and the link with the entry.
func TestManualClients(t *testing.T) {
	w := newWorld(t, "linux", nil)
	for id, read := range map[string]func(link string) string{
		"cherry-studio": func(link string) string {
			text, err := base64.RawURLEncoding.DecodeString(strings.TrimPrefix(link, "cherrystudio://mcp/install?servers="))
			assert.Check(t, err)
			return string(text)
		},
		"lobehub": func(link string) string {
			query, err := url.ParseQuery(strings.TrimPrefix(link, "lobehub://plugin/install?"))
			assert.Check(t, err)
			return query.Get("schema")
		},
		"librechat": func(string) string { return `"` + command + `"` },
	} {
		t.Run(id, func(t *testing.T) {
			plan := w.plan(w.room.Install(id, serve()))
			assert.Check(t, is.Equal(plan.Action, clients.ActionManual))
			assert.Check(t, is.Contains(plan.Diff, command))
			inLink := read(plan.Link)
			assert.Assert(t, is.Contains(inLink, command))
			assert.Assert(t, json.Valid([]byte(inLink)), "the link has %s", inLink)
		})
	}
}
