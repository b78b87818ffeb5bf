package gui_test

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gui/risk"
	"github.com/gybob/aai-gateway/internal/platform/linux/session"
	"github.com/gybob/aai-gateway/internal/policy"
)

// TestStartsThroughTheGates: a permission to start two programs does not allow another command,
// whatever their desktop entries contain.
func TestStartsThroughTheGates(t *testing.T) {
	dir := t.TempDir()
	ran := filepath.Join(dir, "ran")
	write := func(file, text string) {
		assert.NilError(t, os.WriteFile(filepath.Join(dir, file), []byte(text), 0o700))
	}
	assert.NilError(t, os.Mkdir(filepath.Join(dir, "applications"), 0o700))
	entry := func(id, exec string) {
		write("applications/"+id+".desktop", "[Desktop Entry]\nType=Application\nName="+id+"\nExec="+exec+"\n")
	}
	write("prog", "#!/bin/sh\ntouch "+ran+"\n")
	programs := session.NewLauncher(session.LauncherConfig{
		Getenv: func(string) string { return "/usr/bin:/bin:" + dir }, Environ: os.Environ, DataDirs: []string{dir},
	})
	may := func(app, permission string) policy.Grant {
		return policy.Grant{Caller: policy.Wildcard, App: app, Tool: permission, Decision: policy.Allow}
	}
	inWorldWithout(t, func(b *desktop.Backend) { b.Programs = programs }, func(w *world) {
		w.gateway.Gates = []aai.Gate{risk.ShellMarker{}, policy.NewConsent(policy.ConsentConfig{Store: policy.NewFileStore(filepath.Join(dir, "grants")), Preapproved: []policy.Grant{
			may("desktop/env", "start"), may("desktop/sh", "start"), may("desktop/dash", "start"), may("desktop/prog", "start"), may("desktop/prog", "*"),
		}})}
		const given, runs = "with other arguments than its own?", "which runs commands?"
		for _, c := range []struct{ exec, args, of, asks string }{
			{"env A=1 prog %F", `["-x"]`, "desktop/prog,", given},
			{"env A=1 prog %F", `["sh", "-c", "id"]`, "desktop/prog,", given},
			{"prog", `["/etc/passwd"]`, "desktop/prog,", given},
			{"env A=1 %F", `["/bin/sh"]`, "desktop/env,", runs},
			{`sh -c "$0" %f`, `["` + dir + `/prog"]`, "desktop/sh,", runs},
			{"env sh %F", `["` + dir + `/prog"]`, "desktop/sh,", runs},
		} {
			entry("one", c.exec)
			for _, args := range []string{c.args, `["one", "--"]`} {
				e := w.failure(aai.ConsentRequired, "ax_connect", `{"app": "one", "launch": true, "arguments": `+args+`}`)
				assert.Assert(w, is.Len(e.Questions, 1), "%s %s %+v", c.exec, args, e)
				q := e.Questions[0]
				assert.Assert(w, strings.HasSuffix(q.Title, c.asks), "%s with %s asks %s\n%s\nwant %s %s", c.exec, args, q.Title, q.Text, c.of, c.asks)
				assert.Assert(w, is.Contains(q.Text, "\nIn: "+c.of), "%s %s %s %s %s", c.exec, args, q.Title, c.of, c.asks)
			}
		}
		_, err := os.Stat(ran)
		assert.Check(w, err != nil, "a command was run")
	})
}
