package clients_test

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/clients"
)

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
