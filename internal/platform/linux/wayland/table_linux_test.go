package wayland_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// tableFile has the table of compositors, a row for each version.
const tableFile = "../../../../docs/wayland.md"

// TestWaylandTable: the row of the chosen compositor says what it offers. UPDATE_GOLDEN=1 writes the row.
func TestWaylandTable(t *testing.T) {
	s := newSession(t)
	if linuxtest.ChosenCompositor() == linuxtest.GNOMEShell {
		startPortal(t, s, "GNOME", "/usr/libexec/xdg-desktop-portal-gnome", "org.freedesktop.impl.portal.desktop.gnome")
		until(t, func() bool {
			o, err := s.Offer(t.Context())
			return err == nil && o.Pictures != ""
		})
	}
	offer, err := s.Offer(t.Context())
	assert.NilError(t, err)
	cells := []string{offer.Windows, offer.Pictures, offer.Input, offer.Clipboard}
	for i, cell := range cells {
		if cell == "" {
			cells[i] = "no"
		}
	}
	program := string(linuxtest.ChosenCompositor())
	name := program + " " + regexp.MustCompile(`\d+(\.\d+)+`).FindString(s.output(t, program, "--version"))
	row := "| " + name + " | " + strings.Join(cells, " | ") + " |"
	text, err := os.ReadFile(tableFile)
	assert.NilError(t, err)
	old := ""
	for line := range strings.Lines(string(text)) {
		if strings.HasPrefix(line, "| "+name+" |") {
			old = strings.TrimSuffix(line, "\n")
		}
	}
	if old == row {
		return
	}
	assert.Assert(t, os.Getenv("UPDATE_GOLDEN") != "", "the row is %q, the compositor offers %q", old, row)
	next := strings.Replace(string(text), old, row, 1)
	if old == "" {
		const head = "| --- | --- | --- | --- | --- |\n"
		next = strings.Replace(string(text), head, head+row+"\n", 1)
	}
	assert.NilError(t, os.WriteFile(tableFile, []byte(next), 0o644))
}
