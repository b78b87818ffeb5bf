package gui_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"syscall"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
)

// TestRealLaunch: a program is connected however it starts: one that hands a second document to the
// running one, itself or through scripts, and one without a tree.
func TestRealLaunch(t *testing.T) {
	const sheet = "ID;PWXL;N;E\nC;Y1;X1;K1\nE\n" // in SYLK, which opens without a question
	for name, args := range map[string][]any{
		"mousepad": {},
		"kate":     {}, // started with an option to wait until the file is closed
		"soffice":  {"--norestore", "--nologo", "-env:UserInstallation=file://" + filepath.Join(t.TempDir(), "office")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := ownWorld(t)
			ahead := w.target(name, true)
			open := func(file string) answer {
				path := filepath.Join(w.Home, file)
				assert.NilError(t, os.WriteFile(path, []byte(sheet), 0o600))
				return w.ok("ax_connect", params{"app": name, "launch": true, "arguments": append(args[:len(args):len(args)], path)})
			}
			first := open("first.slk")
			now := w.target(name, false)
			assert.Check(t, name != "mousepad" || now.Digest == ahead.Digest, "as it is installed it is %+v, as it runs %+v", ahead, now)
			second := open("second.slk")
			w.says(second.Text, "It ran already")
			if second.data["pid"] != first.data["pid"] || strings.Contains(first.Text, "It ran already") {
				t.Errorf("%s\n%s", first.Text, second.Text)
			}
		})
	}
	t.Run("chromium", func(t *testing.T) { // a script starts it, and a second page is a tab
		t.Parallel()
		w := ownWorld(t)
		profile := w.Path("tmp", "second")
		t.Cleanup(func() { endThose(t, profile) })
		open := func(page string) answer {
			return w.ok("ax_connect", params{"app": "chromium", "launch": true, "arguments": []any{"--no-sandbox", "--no-first-run", "--password-store=basic", "--force-renderer-accessibility", "--disable-gpu",
				"--disable-background-networking", "--user-data-dir=" + profile, "data:text/html,<title>" + page + "</title>"}})
		}
		first := open("one")
		second := open("two")
		w.says(second.Text, "It ran already")
		assert.Check(t, is.Equal(first.data["pid"], second.data["pid"]), "%s %s", first.Text, second.Text)
		for _, tab := range []string{"one", "two"} {
			w.eventually("there is a tab "+tab, func() bool {
				_, err := w.do(w.Context(), "ax_find", params{"app": fmt.Sprint(first.data["pid"]), "query": "role:tab title:" + tab})
				return err == nil
			})
		}
	})
	t.Run("xterm", func(t *testing.T) {
		t.Parallel()
		w := ownWorld(t)
		a := w.ok("ax_connect", params{"app": "xterm", "launch": true})
		w.says(a.Warning, "shows no tree")
	})
}

// target returns the program as gates see it: the installed one, or the running one.
func (w *realWorld) target(name string, installed bool) *aai.App {
	w.Helper()
	args := map[string]any{}
	if installed {
		args = map[string]any{"launch": true, "arguments": []any{}}
	}
	app, err := w.tools.Operator.FindTarget(w.Context(), &aai.Call{Caller: w.caller, Tool: "ax_connect", Args: args}, name)
	assert.NilError(w, err)
	return app
}

// endThose ends the processes with the text in their arguments: a browser's may outlive the screen.
func endThose(t *testing.T, argument string) {
	t.Helper()
	lines, err := filepath.Glob("/proc/[0-9]*/cmdline")
	assert.NilError(t, err)
	for _, line := range lines {
		text, err := os.ReadFile(line)
		pid, _ := strconv.Atoi(filepath.Base(filepath.Dir(line)))
		if err == nil && pid > 1 && strings.Contains(string(text), argument) {
			_ = syscall.Kill(pid, syscall.SIGKILL)
		}
	}
}
