package ax_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"aai"
)

// TestRealLaunch: a program is connected to however it starts: one that gives a second
// document to the one that runs, itself or through scripts, and one without a tree.
func TestRealLaunch(t *testing.T) {
	const sheet = "ID;PWXL;N;E\nC;Y1;X1;K1\nE\n" // in SYLK, which opens without a question
	for name, args := range map[string][]any{
		"mousepad": {},
		"soffice":  {"--norestore", "--nologo", "-env:UserInstallation=file://" + filepath.Join(t.TempDir(), "office")},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			w := newRealWorld(t)
			ahead := w.target(name, true)
			open := func(file string) answer {
				path := filepath.Join(w.Home, file)
				if err := os.WriteFile(path, []byte(sheet), 0o600); err != nil {
					t.Fatal(err)
				}
				return w.ok("ax_connect", params{"app": name, "launch": true, "arguments": append(args[:len(args):len(args)], path)})
			}
			first := open("first.slk")
			if now := w.target(name, false); name == "mousepad" && now.Digest != ahead.Digest {
				t.Errorf("as it is installed it is %+v, as it runs %+v", ahead, now)
			}
			second := open("second.slk")
			w.says(second.Text, "It ran already")
			if second.data["pid"] != first.data["pid"] || strings.Contains(first.Text, "It ran already") {
				t.Errorf("%s\n%s", first.Text, second.Text)
			}
		})
	}
	t.Run("xterm", func(t *testing.T) {
		t.Parallel()
		w := newRealWorld(t)
		a := w.ok("ax_connect", params{"app": "xterm", "launch": true})
		w.says(a.Warning, "shows no tree")
	})
}

// target is the program as gates see it: the installed one, or the one that runs.
func (w *realWorld) target(name string, installed bool) *aai.App {
	w.Helper()
	args := map[string]any{}
	if installed {
		args = map[string]any{"launch": true, "arguments": []any{}}
	}
	app, err := w.tools.Targets(w.Context(), &aai.Call{Caller: w.caller, Tool: "ax_connect", Args: args}, name)
	if err != nil {
		w.Fatal(err)
	}
	return app
}
