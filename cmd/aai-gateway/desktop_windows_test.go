package main

import (
	"os/exec"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// TestWindowsPrograms lists the installed programs, and the servers that a program of the tests in place of odr.exe lists.
func TestWindowsPrograms(t *testing.T) {
	run := windowsHome(t, filesApp, `{}`)
	out, err := run("discover")
	for until := time.Now().Add(time.Minute); !strings.Contains(out, "pkg_1") && time.Now().Before(until); {
		out, err = run("discover") // the first start of a program may take longer than a scan
	}
	assert.NilError(t, err, out)
	assert.Check(t, is.Contains(out, "odr.exe mcp run --proxy pkg_1"))
	assert.Check(t, is.Contains(strings.Join(strings.Fields(out), " "), "iexplore program installed"))
}

// TestWindowsDesktop starts Notepad, types into it, reads it and takes a picture, all by the program.
func TestWindowsDesktop(t *testing.T) {
	run := windowsHome(t, filesApp, `{"profile": "desktop", "consent": {"preapproved": `+grants("desktop", "desktop/notepad")+`}}`)
	do := func(tool, args string) string {
		t.Helper()
		out, err := run("exec", "desktop", tool, args)
		assert.Check(t, err, "%s %s: %s", tool, args, out)
		t.Logf("%s %s: %.400s", tool, args, out)
		return out
	}
	do("ax_connect", `{"app": "notepad", "launch": true}`)
	defer exec.CommandContext(t.Context(), "taskkill", "/f", "/im", "notepad.exe").Run() //nolint:errcheck // it may have ended
	assert.Check(t, is.Contains(do("ax_list_apps", `{}`), "notepad"))
	do("ax_type", `{"app": "notepad", "text": "Grüße 日本", "mode": "focus"}`)
	assert.Check(t, is.Contains(do("ax_get_tree", `{"app": "notepad"}`), "Grüße 日本"))
	do("ax_screenshot", `{"app": "notepad"}`)
	do("ax_clipboard", `{"action": "write", "text": "kept"}`)
	assert.Check(t, is.Contains(do("ax_clipboard", `{"action": "read"}`), "kept"))
}
