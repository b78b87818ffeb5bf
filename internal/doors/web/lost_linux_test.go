package web_test

import (
	"bufio"
	"context"
	"encoding/json"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"testing"

	"aai/internal/doors/web"
)

// TestTheProgramEnds: a page whose program has ended says so by itself, and no more when it is
// there again.
func TestTheProgramEnds(t *testing.T) {
	modules, err := filepath.Abs("../../../.cache/browsers/node_modules")
	if err != nil {
		t.Fatal(err)
	}
	program, err := exec.LookPath("chromium")
	if err != nil {
		t.Fatal(err)
	}
	w := newWorld(t)
	door, err := web.New(web.Config{Gateway: w.gateway})
	if err != nil {
		t.Fatal(err)
	}
	port := 0
	start := func() (end func()) {
		l, err := door.Listen(t.Context(), port)
		if err != nil {
			t.Fatal(err)
		}
		_, text, _ := net.SplitHostPort(l.Addr().String())
		if port, err = strconv.Atoi(text); err != nil {
			t.Fatal(err)
		}
		ctx, cancel := context.WithCancel(t.Context())
		ended := make(chan error, 1)
		go func() { ended <- door.Serve(ctx, l) }()
		return func() { cancel(); <-ended }
	}
	end := start()
	defer func() { end() }()
	job, err := json.Marshal(map[string]string{"executable": program, "link": door.Link(), "modules": modules})
	if err != nil {
		t.Fatal(err)
	}
	node := filepath.Join(modules, "node-linux-"+map[string]string{"amd64": "x64", "arm64": "arm64"}[arch], "bin", "node")
	driver, home := exec.CommandContext(t.Context(), node, "testdata/lost.mjs", string(job)), t.TempDir()
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
		case "end it":
			end()
		case "start it":
			end = start()
		case "done":
		default:
			t.Error(last)
		}
	}
	if err := driver.Wait(); err != nil || last != "done" {
		t.Errorf("the driver ended at %q: %v", last, err)
	}
}
