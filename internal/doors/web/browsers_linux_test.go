package web_test

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
)

// TestInBrowsers: a person gets through every page of the navigation in two real browsers, in
// both themes and languages, on a wide screen, at 200 % and at 320 px, with and without
// scripts; axe finds nothing that keeps people out, nothing of strangers runs, and what
// happens meanwhile is shown. AAI_PICTURES=<folder> keeps pictures.
func TestInBrowsers(t *testing.T) {
	modules, err := filepath.Abs("../../../.cache/browsers/node_modules")
	if err != nil {
		t.Fatal(err)
	}
	node := filepath.Join(modules, "node-linux-"+map[string]string{"amd64": "x64", "arm64": "arm64"}[arch], "bin", "node")
	if _, err := os.Stat(node); err != nil {
		t.Fatalf("%v; scripts/need-browsers installs it", err)
	}
	for _, c := range []struct{ browser, program, theme string }{
		{"chrome", "chromium", "light"}, {"chrome", "chromium", "dark"}, {"firefox", "firefox-esr", "light"}, {"firefox", "firefox-esr", "dark"},
	} {
		t.Run(c.browser+" "+c.theme, func(t *testing.T) {
			program, err := exec.LookPath(c.program)
			if err != nil {
				t.Fatal(err)
			}
			w := newWorld(t, mail(tool("send", kinds, nil), tool("ask", `{"type": "object", "properties": {}}`, nil)))
			w.strangers(t)
			job, err := json.Marshal(map[string]any{
				"browser": c.browser, "executable": program, "theme": c.theme, "link": w.link, "modules": modules,
				"front": "/now", "pictures": os.Getenv("AAI_PICTURES"), "app": "org.test.Mail",
				"more": []string{
					"/app?app=org.test.Mail", "/tool?app=org.test.Mail&tool=send", "/app?app=aai", "/found",
					"/history/charts", "/settings/logLevel", "/settings/security.denied_apps",
				},
			})
			if err != nil {
				t.Fatal(err)
			}
			w.drive(t, exec.CommandContext(t.Context(), node, "testdata/browsers/drive.mjs", string(job)))
		})
	}
}

// drive runs the driver and tells what it found.
func (w *world) drive(t *testing.T, driver *exec.Cmd) {
	t.Helper()
	home := t.TempDir()
	driver.Env = append(os.Environ(), "HOME="+home, "XDG_CONFIG_HOME="+home, "XDG_CACHE_HOME="+home, "TMPDIR="+home)
	driver.Stderr = os.Stderr
	out, err := driver.StdoutPipe()
	if err != nil {
		t.Fatal(err)
	}
	if err := driver.Start(); err != nil {
		t.Fatal(err)
	}
	last := ""
	for lines := bufio.NewScanner(out); lines.Scan(); {
		switch last = lines.Text(); last {
		case "live":
			w.calls(t, "live-agent")
		case "done":
		default:
			t.Error(last)
		}
	}
	if err := driver.Wait(); err != nil || last != "done" {
		t.Errorf("the driver ended at %q: %v", last, err)
	}
}
