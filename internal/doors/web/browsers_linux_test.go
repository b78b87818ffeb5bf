package web_test

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway"
	answers "github.com/gybob/aai-gateway/internal/answer"
	"github.com/gybob/aai-gateway/internal/doors/web"
	"github.com/gybob/aai-gateway/internal/policy"
	"github.com/gybob/aai-gateway/internal/testkit"
)

// TestInBrowsers uses every page in two real browsers, in both themes and languages, on a wide screen,
// at 200 % and at 320 px, with and without scripts, with data for each page. axe finds no barrier, no
// foreign code runs, changes are shown, and the buttons work. AAI_PICTURES=<folder> stores screenshots.
func TestInBrowsers(t *testing.T) {
	f := newFilledWorld(t)
	for _, c := range []struct{ browser, program, theme string }{
		{"chrome", "chromium", "light"}, {"chrome", "chromium", "dark"}, {"firefox", "firefox-esr", "light"}, {"firefox", "firefox-esr", "dark"},
	} {
		t.Run(c.browser+" "+c.theme, func(t *testing.T) {
			b := &world{gateway: f.gateway}
			b.open(t, f.config)
			file, gone, err := web.WriteRedirectFile(t.TempDir(), b.link)
			assert.NilError(t, err)
			defer gone()
			agent := "live-" + c.browser + "-" + c.theme
			runBrowserScript(t, "browsers/drive.mjs", c.program, nil, map[string]any{
				"browser": c.browser, "theme": c.theme, "link": b.link, "file": file, "downloads": t.TempDir(),
				"front": "/now", "pictures": os.Getenv("AAI_PICTURES"), "app": "org.test.Mail", "agent": agent,
				"more": []string{
					"/app?app=org.test.Mail", "/tool?app=org.test.Mail&tool=send", "/app?app=aai", "/found", "/scan", "/history/s1",
					"/history/charts", "/settings/logLevel", "/settings/security.denied_apps", "/lint?app=org.test.Linted", "/logins?app=shop.example", "/recordings", "/recordings/" + endedRecording, "/recordings/" + runningRecording, "/recordings/letter", "/none",
				},
			}, func(said string) {
				switch said {
				case "live":
					f.calls(t, agent)
				case "allowed":
					g := policy.Grant{Caller: "mcp:agent", Identity: "/usr/bin/agent1/" + agent, App: "org.test.Mail", Tool: "send", Decision: policy.Allow, GrantedAt: time.Now(), Channel: aai.DesktopDialog}
					assert.Check(t, f.store.Add(g))
				case "again":
					f.restart(t)
				default:
					t.Error(said)
				}
			})
		})
	}
	assert.NilError(t, f.stop(t).Add(t.Context(), answers.Stop{}))
	f.awaitEnd()
}

// runBrowserScript runs a script that drives a browser for a job, with environment or a default one,
// and passes on its output until it ends.
func runBrowserScript(t *testing.T, script, program string, env []string, job map[string]any, says func(string)) {
	t.Helper()
	modules, err := filepath.Abs("../../../.cache/browsers/node_modules")
	assert.NilError(t, err)
	node := filepath.Join(modules, "node-linux-"+map[string]string{"amd64": "x64", "arm64": "arm64"}[arch], "bin", "node")
	if _, err := os.Stat(node); err != nil {
		t.Fatalf("%v; scripts/need-browsers installs it", err)
	}
	job["executable"], err = exec.LookPath(program)
	assert.NilError(t, err)
	job["modules"] = modules
	text, err := json.Marshal(job)
	assert.NilError(t, err)
	if env == nil {
		home := t.TempDir()
		env = append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME="+home, "XDG_CACHE_HOME="+home, "TMPDIR="+home)
	}
	cmd := exec.CommandContext(t.Context(), node, "testdata/"+script, string(text))
	cmd.Env, cmd.Stderr = env, os.Stderr
	driver, last := testkit.StartProcess(t, cmd), ""
	for lines := bufio.NewScanner(driver.Out); lines.Scan(); {
		if last = lines.Text(); last != "done" {
			says(last)
		}
	}
	err = driver.Wait()
	assert.NilError(t, err)
	assert.Equal(t, last, "done")
}
