package clients_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/clients"
	"github.com/gybob/aai-gateway/internal/files/atomicfile"
)

const cursor = ".cursor/mcp.json"

// TestWhatWasChangedSince checks that only the entry is removed, and no text of others.
func TestWhatWasChangedSince(t *testing.T) {
	w := newWorld(t, "linux", nil)
	w.file(cursor, "{\n  \"mcpServers\": {\n    \"a\": {\"command\": \"x\"}\n  }\n}\n")
	w.do(clients.ActionAdd)(w.room.Install("cursor", serve()))
	w.file(cursor, strings.Replace(w.has(cursor), `"x"`, `"y"`, 1))
	w.do(clients.ActionRemove)(w.room.Uninstall("cursor"))
	w.is(cursor, "{\n  \"mcpServers\": {\n    \"a\": {\"command\": \"y\"}\n  }\n}\n")
}

// TestSteps checks that changes are reverted one by one, and that uninstall reverts all and
// leaves no steps.
func TestSteps(t *testing.T) {
	w := newWorld(t, "linux", nil)
	const first = "{\n  \"mcpServers\": {\"aai-gateway\": {\"command\": \"mine\", \"args\": [\"--api-key\", \"sk-old\"]}}\n}\n"
	w.file(cursor, first)
	p := w.plan(w.room.Install("cursor", serve()))
	if !p.NeedsConfirmation() || !strings.Contains(p.Diff, `"mine"`) || strings.Contains(p.Diff, "sk-old") {
		t.Errorf("%v\n%s", p.NeedsConfirmation(), p.Diff)
	}
	w.do(clients.ActionReplace)(p, nil)
	second := w.has(cursor)
	w.do(clients.ActionReplace)(w.room.Install("cursor", append(serve(), "--profile", "desktop")))
	third := w.has(cursor)
	assert.Assert(t, second != third, "nothing changed")
	w.do(clients.ActionRestore)(w.room.Rollback("cursor"))
	w.is(cursor, second)
	w.do(clients.ActionReplace)(w.room.Install("cursor", append(serve(), "--profile", "desktop")))
	w.is(cursor, third)
	w.do(clients.ActionRestore)(w.room.Uninstall("cursor"))
	w.is(cursor, first)
	if _, err := w.room.Rollback("cursor"); err == nil || w.room.LastClient() != "" {
		t.Errorf("there is something to take back: %v, %q", err, w.room.LastClient())
	}
	w.backups(0)
	w.do(clients.ActionReplace)(w.room.Install("cursor", serve()))
	w.do(clients.ActionReplace)(w.room.Install("cursor", append(serve(), "--profile", "desktop")))
	assert.Check(t, is.Equal(w.room.LastClient(), "cursor"), "the last one is %q", w.room.LastClient())
	// Another process wrote it since: there is a note, and it is restored anyway.
	w.file(cursor, "{\"other\": true}")
	p = w.plan(w.room.Rollback("cursor"))
	if !p.NeedsConfirmation() || len(p.Notes) != 1 || !strings.Contains(p.Notes[0], "those changes would be lost") {
		t.Errorf("%v %q", p.NeedsConfirmation(), p.Notes)
	}
	w.do(clients.ActionRestore)(p, nil)
	w.is(cursor, second)
	w.do(clients.ActionRestore)(w.room.Rollback("cursor"))
	w.is(cursor, first)
	if _, err := w.room.Rollback("cursor"); err == nil || w.room.LastClient() != "" {
		t.Errorf("there is more to take back: %v, %q", err, w.room.LastClient())
	}
}

// TestWhatStaysInBackups checks that backups with a client's keys are deleted once the file is
// restored, and are named if they stay.
func TestWhatStaysInBackups(t *testing.T) {
	w := newWorld(t, "linux", nil)
	const first = `{"mcpServers": {"a": {"env": {"KEY": "sk-1"}}}}`
	w.file(cursor, first)
	w.do(clients.ActionAdd)(w.room.Install("cursor", serve()))
	w.backups(1)
	p := w.plan(w.room.Uninstall("cursor"))
	assert.Check(t, is.Len(p.Notes, 0), "nothing stays: %q", p.Notes)
	w.do(clients.ActionRestore)(p, nil)
	w.backups(0)

	w.do(clients.ActionAdd)(w.room.Install("cursor", serve()))
	w.do(clients.ActionRestore)(w.room.Rollback("cursor"))
	w.is(cursor, first)
	w.backups(0)

	w.do(clients.ActionAdd)(w.room.Install("cursor", serve()))
	w.file(cursor, w.has(cursor)+"\n")
	p = w.plan(w.room.Uninstall("cursor"))
	assert.Assert(t, is.Len(p.Notes, 1))
	assert.Assert(t, is.Contains(p.Notes[0], filepath.Join(w.home, ".local/share/aai-gateway/clients/backups/cursor-*")))
	w.do(clients.ActionRemove)(p, nil)
	w.backups(2)
	// Backups of steps that are no longer reversible stay, with a note.
	w.do(clients.ActionAdd)(w.room.Install("cursor", serve()))
	w.backups(3)
	p = w.plan(w.room.Uninstall("cursor"))
	assert.Assert(t, is.Len(p.Notes, 1))
	assert.Assert(t, is.Contains(p.Notes[0], "stays in the backups"))
	w.do(clients.ActionRestore)(p, nil)
	w.backups(2)
}

// TestARollbackKeepsLaterWork checks that later changes of a client can be recovered from the
// backup in the note.
func TestARollbackKeepsLaterWork(t *testing.T) {
	const since = `{"oauthAccount": "ann"}`
	for _, first := range []string{"", "{}"} {
		w := newWorld(t, "linux", nil)
		if first != "" {
			w.file(cursor, first)
		}
		w.do(clients.ActionAdd)(w.room.Install("cursor", serve()))
		if p := w.plan(w.room.Rollback("cursor")); p.NeedsConfirmation() || len(p.Notes) != 0 {
			t.Errorf("nobody changed it: %v, %q", p.NeedsConfirmation(), p.Notes)
		}
		w.file(cursor, since)
		p := w.plan(w.room.Rollback("cursor"))
		if !p.NeedsConfirmation() || len(p.Notes) != 1 {
			t.Fatalf("%v, %q", p.NeedsConfirmation(), p.Notes)
		}
		assert.NilError(t, w.room.Apply(t.Context(), p))
		w.is(cursor, first)
		_, kept, _ := strings.Cut(p.Notes[0], "is kept in ")
		got, err := os.ReadFile(kept)
		if err != nil || string(got) != since {
			t.Errorf("%q keeps %q, %v", p.Notes[0], got, err)
		}
	}
}

// TestAClientThatMoved checks that the entry is removed from the previous file first, and then
// from the current one.
func TestAClientThatMoved(t *testing.T) {
	w := newWorld(t, "linux", nil)
	const before, now = ".codeium/windsurf/mcp_config.json", ".config/devin/mcp_config.json"
	w.file(before, "{}")
	w.do(clients.ActionAdd)(w.room.Install("windsurf", serve()))
	w.file(now, w.has(before))
	w.do(clients.ActionRestore)(w.room.Uninstall("windsurf"))
	w.is(before, "{}")
	w.do(clients.ActionRemove)(w.room.Uninstall("windsurf"))
	w.do(clients.ActionNone)(w.room.Uninstall("windsurf"))
	w.do(clients.ActionRestore)(w.room.Rollback("windsurf"))
	assert.Check(t, is.Contains(w.has(now), command))
}

// TestAnEntryOfAnotherProgram checks that it is replaced only after a person's confirmation, and
// never removed.
func TestAnEntryOfAnotherProgram(t *testing.T) {
	for _, theirs := range []string{
		`{"command": "mine", "args": ["x"], "env": {"A": "CANARY"}, "disabled": true}`,
		`{"url": "http://x.example", "env": {}, "disabled": true}`, `"CANARY"`, `{"command": "/usr/bin/aai-gateway-not"}`,
	} {
		w := newWorld(t, "linux", nil)
		text := `{"mcpServers": {"aai-gateway": ` + theirs + `}}`
		w.file(cursor, text)
		p := w.plan(w.room.Install("cursor", serve()))
		if p.Action != clients.ActionReplace || !p.NeedsConfirmation() || len(p.Notes) != 1 || !strings.Contains(p.Notes[0], "another program's, and would be lost: it") || strings.Contains(p.Notes[0], "CANARY") {
			t.Errorf("%s: %s, %v, %q", theirs, p.Action, p.NeedsConfirmation(), p.Notes)
		}
		if strings.Contains(theirs, "env") && !strings.Contains(p.Notes[0], "disabled, env") {
			t.Errorf("%q", p.Notes)
		}
		p = w.plan(w.room.Uninstall("cursor"))
		assert.Equal(t, p.Action, clients.ActionNone, theirs)
		assert.Assert(t, is.Len(p.Notes, 1), theirs)
		assert.Assert(t, is.Contains(p.Notes[0], "another program's, and stays"), theirs)
	}
}

// TestOurEntryOfAnotherPath checks that it is recognized by name or record, and keeps the
// person's additions, in every format.
func TestOurEntryOfAnotherPath(t *testing.T) {
	for _, c := range []struct{ client, path, from, to string }{
		{"cursor", cursor, `"args": ["mcp", "serve"]`, `"args": ["mcp", "serve", "--profile", "apps"], "disabled": true, "env": {"A B": "b", "N": [1, 2.5, null, {"x": "y"}]}`},
		{"codex", ".codex/config.toml", `args = ["mcp", "serve"]`, "args = [\"mcp\", \"serve\", \"--profile\", \"apps\"]\nstartup_timeout_sec = 7\n[mcp_servers.aai-gateway.env]\n\"A B\" = \"b\""},
		{"goose", ".config/goose/config.yaml", `args: ["mcp", "serve"]`, "args: [mcp, serve, --profile, apps]\n    disabled: yes\n    no: 1\n    half: 2.5\n    envs: {\"A B\": b}"},
	} {
		w := newWorld(t, "linux", nil)
		for i, program := range []string{"/opt/old/aai-gateway", "/opt/old/gateway-of-mine"} {
			w.room = w.with("linux", program)
			w.file(c.path, "")
			w.do(clients.ActionAdd)(w.room.Install(c.client, serve()))
			w.file(c.path, strings.Replace(w.has(c.path), c.from, c.to, 1))
			w.do(clients.ActionNone)(w.room.Install(c.client, serve()))
			w.room = w.with("linux", command)
			p := w.plan(w.room.Install(c.client, serve()))
			if p.NeedsConfirmation() || p.Action != clients.ActionReplace || len(p.Notes) == 0 || !strings.Contains(p.Notes[0], "arguments that were added") {
				t.Fatalf("%s: %v, %s, %q", program, p.NeedsConfirmation(), p.Action, p.Notes)
			}
			w.do(clients.ActionReplace)(p, nil)
			got := w.has(c.path)
			assert.Assert(t, is.Contains(got, command), "%d", i)
			assert.Assert(t, !strings.Contains(got, program), "%d %s", i, got)
			assert.Assert(t, is.Contains(got, "A B"), "%d", i)
			assert.Assert(t, c.client != "goose" || strings.Contains(got, "2.5"), "%d %s", i, got)
			assert.Assert(t, is.Contains(got, "--profile"), "%d", i)
			w.do(clients.ActionNone)(w.room.Install(c.client, serve()))
			w.do(clients.ActionReplace)(w.room.Install(c.client, append(serve(), "--profile", "all")))
			got = w.has(c.path)
			assert.Assert(t, is.Contains(got, "A B"))
			assert.Assert(t, !strings.Contains(got, "apps\""), got)
			w.file(c.path, w.has(c.path)+"\n")
			w.do(clients.ActionRemove)(w.room.Uninstall(c.client))
		}
	}
}

// TestWhatIsTheSame checks that additions of a client or a person do not make the entry
// different.
func TestWhatIsTheSame(t *testing.T) {
	w := newWorld(t, "linux", nil)
	w.file(cursor, `{"mcpServers": {"aai-gateway": {"args": ["mcp", "serve"], "command": "`+command+`", "env": {"A": "b"}, "disabled": true}}}`)
	w.do(clients.ActionNone)(w.room.Install("cursor", serve()))
}

// TestAFileThatChangesMeanwhile checks that text written after the plan is not overwritten, and
// nothing is recorded.
func TestAFileThatChangesMeanwhile(t *testing.T) {
	w := newWorld(t, "linux", nil)
	for _, was := range []string{"{}", ""} {
		if was != "" {
			w.file(cursor, was)
		}
		p := w.plan(w.room.Install("cursor", serve()))
		w.file(cursor, "{\"new\": 1}")
		err := w.room.Apply(t.Context(), p)
		assert.Check(t, is.ErrorContains(err, "changed by somebody else"))
		w.is(cursor, "{\"new\": 1}")
		assert.NilError(t, os.Remove(filepath.Join(w.home, cursor)))
	}
	assert.Check(t, is.Equal(w.room.LastClient(), ""), "on record: %q", w.room.LastClient())
}

// TestAnotherInstallRuns checks that there is an error, and nothing is written.
func TestAnotherInstallRuns(t *testing.T) {
	w := newWorld(t, "linux", nil)
	w.file(cursor, "{}")
	folder := filepath.Dir(w.file(".local/share/aai-gateway/clients/other", ""))
	unlock, err := atomicfile.Lock(t.Context(), filepath.Join(folder, "cursor.json"))
	assert.NilError(t, err)
	defer unlock()
	room := clients.New(clients.Config{
		Home: w.home, Getenv: func(name string) string { return w.env[name] }, System: "linux",
		Folder: folder, LaunchCommand: []string{command}, Now: time.Now, LockTimeout: time.Millisecond,
	})
	err = room.Apply(t.Context(), w.plan(room.Install("cursor", serve())))
	assert.Check(t, is.ErrorContains(err, "another install, uninstall or rollback for cursor runs; nothing was written"))
	w.is(cursor, "{}")
}

// TestAFileThatCannotBeWritten checks that it is unchanged, and nothing is recorded.
func TestAFileThatCannotBeWritten(t *testing.T) {
	w := newWorld(t, "linux", nil)
	w.file(".config", "no folder")
	_, err := w.room.Install("goose", serve())
	assert.Check(t, err != nil, "a file is a folder")
	assert.Check(t, is.Equal(w.room.LastClient(), ""), "on record: %q", w.room.LastClient())
}

// TestAReadOnlyFile checks that a read-only file is respected.
func TestAReadOnlyFile(t *testing.T) {
	w := newWorld(t, "linux", nil)
	path := w.file(cursor, "{}")
	assert.NilError(t, os.Chmod(path, 0o400))
	err := w.room.Apply(t.Context(), w.plan(w.room.Install("cursor", serve())))
	assert.Assert(t, is.ErrorContains(err, "read-only"))
	assert.Equal(t, w.room.LastClient(), "")
	w.is(cursor, "{}")
	w.backups(0)
}

// TestWhatIsNoFile checks the hint.
func TestWhatIsNoFile(t *testing.T) {
	w := newWorld(t, "linux", nil)
	assert.NilError(t, os.MkdirAll(filepath.Join(w.home, cursor), 0o700))
	_, err := w.room.Install("cursor", serve())
	e := aai.AsError(err)
	assert.Assert(t, e != nil, err)
	assert.Assert(t, is.Contains(e.Message, "expected a regular file"), err)
	assert.Assert(t, is.Contains(e.Hint, "Nothing was changed"), err)
}

// TestFoldersThatWereMade checks that they are removed with the file, unless not empty.
func TestFoldersThatWereMade(t *testing.T) {
	w := newWorld(t, "linux", nil)
	for _, other := range []string{"", ".config/Code/other"} {
		w.do(clients.ActionAdd)(w.room.Install("vscode", serve()))
		if other != "" {
			w.file(other, "x")
		}
		w.do(clients.ActionDelete)(w.room.Uninstall("vscode"))
		_, err := os.Stat(filepath.Join(w.home, ".config/Code/User"))
		assert.Check(t, err != nil, "the folder is still there")
		_, err = os.Stat(filepath.Join(w.home, ".config"))
		assert.Check(t, is.Equal((err == nil), (other != "")), "%q %v", other, err)
	}
	w.is(".config/Code/other", "x")
}

// TestAnotherNameForTheSame checks the note about an entry under another name.
func TestAnotherNameForTheSame(t *testing.T) {
	w := newWorld(t, "linux", nil)
	for text, said := range map[string]int{
		`{"mcpServers": {"mine": {"command": "` + command + `"}, "x": {"command": "npx"}}}`: 1,
		`{"mcpServers": {"mine": {"command": "aai-gateway", "args": ["mcp"]}}}`:             1,
		`{"mcpServers": {"x": {"command": "/usr/bin/aai"}, "y": {"url": "http://x"}}}`:      0,
	} {
		w.file(cursor, text)
		assert.Check(t, is.Len(w.plan(w.room.Install("cursor", serve())).Notes, said), text)
	}
	w.file(".continue/config.yaml", "mcpServers:\n  - name: mine\n    command: aai-gateway\n")
	p := w.plan(w.room.Install("continue", serve()))
	assert.Assert(t, is.Len(p.Notes, 1))
	assert.Assert(t, is.Contains(p.Notes[0], `"mine"`))
}

// TestAFileThatCannotBeRead checks that the error has line and column, and nothing is planned.
func TestAFileThatCannotBeRead(t *testing.T) {
	w := newWorld(t, "linux", nil)
	path := w.file(cursor, "{\n  \"mcpServers\": {\n    oops\n  }\n}\n")
	for name, plan := range map[string]func(string) (*clients.Plan, error){
		"install":   func(id string) (*clients.Plan, error) { return w.room.Install(id, serve()) },
		"uninstall": w.room.Uninstall,
	} {
		_, err := plan("cursor")
		e := aai.AsError(err)
		assert.Assert(t, e != nil, "%s %v", name, err)
		assert.Assert(t, is.Contains(e.Message, path+": line 3, column 5: "), "%s %v", name, err)
		assert.Assert(t, is.Contains(e.Message, "expected JSON"), "%s %v", name, err)
		assert.Assert(t, is.Contains(e.Hint, "not touched"), "%s %v", name, err)
	}
}

// TestABackupThatIsGone checks that a modified backup is not restored.
func TestABackupThatIsGone(t *testing.T) {
	w := newWorld(t, "linux", nil)
	w.file(cursor, "{\"a\": 1}")
	w.do(clients.ActionAdd)(w.room.Install("cursor", serve()))
	backups, err := filepath.Glob(filepath.Join(w.home, ".local/share/aai-gateway/clients/backups/*"))
	assert.NilError(t, err)
	assert.Assert(t, is.Len(backups, 1))
	assert.NilError(t, os.WriteFile(backups[0], []byte("{\"evil\": 1}"), 0o600))
	_, err = w.room.Rollback("cursor")
	assert.Check(t, is.ErrorContains(err, "was changed since"))
	w.do(clients.ActionRemove)(w.room.Uninstall("cursor")) // the entry only
	assert.Assert(t, !strings.Contains(w.has(cursor), "aai-gateway"), w.has(cursor))
	assert.Assert(t, !strings.Contains(w.has(cursor), "evil"), w.has(cursor))
}
