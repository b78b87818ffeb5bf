package bench

import (
	"bufio"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"runtime"
	"testing"
	"time"

	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// How long a peer may live: one that hangs ends then. The walker lives while many
// apps are started.
const (
	peerPatience   = time.Minute
	walkerPatience = 4 * time.Minute
)

// A peer is somebody else's program that answers a line of JSON with another.
type peer struct {
	in  io.WriteCloser
	out *bufio.Reader
}

// peerCommand is a program with nothing but the session's environment. It ends
// with the benchmark.
func peerCommand(b *testing.B, s *linuxtest.Session, patience time.Duration, program string, args ...string) *exec.Cmd {
	b.Helper()
	ctx, cancel := context.WithTimeout(b.Context(), patience)
	b.Cleanup(cancel)
	process := exec.CommandContext(ctx, program, args...)
	process.Env, process.Dir = s.Env, s.Home
	return process
}

// newPeer starts a peer.
func newPeer(b *testing.B, process *exec.Cmd) (*peer, error) {
	b.Helper()
	in, err := process.StdinPipe()
	if err != nil {
		return nil, err
	}
	out, err := process.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := process.Start(); err != nil {
		return nil, err
	}
	b.Cleanup(func() {
		_ = in.Close()
		_ = process.Wait() // how a peer ends is its own matter
	})
	return &peer{in, bufio.NewReader(out)}, nil
}

// ask puts a question and reads the answer. What the answer calls "error" is one.
func (p *peer) ask(question, into any) error {
	line, err := json.Marshal(question)
	if err != nil {
		return err
	}
	if _, err := p.in.Write(append(line, '\n')); err != nil {
		return err
	}
	told, err := p.out.ReadBytes('\n')
	if err != nil {
		return fmt.Errorf("it ended: %w", err)
	}
	var failed struct{ Error string }
	if err := json.Unmarshal(told, &failed); err != nil {
		return err
	}
	if failed.Error != "" {
		return errors.New(failed.Error)
	}
	return json.Unmarshal(told, into)
}

// installed is the path of something that scripts/need-peers has installed.
func installed(parts ...string) (string, error) {
	path, err := filepath.Abs(filepath.Join(append([]string{"..", ".cache", "peers", "node_modules"}, parts...)...))
	if err == nil {
		_, err = os.Stat(path)
	}
	if err != nil {
		return "", fmt.Errorf("not installed: scripts/need-peers (make bench does): %w", err)
	}
	return path, nil
}

// node is the Node.js of the peers.
func node() (string, error) {
	arch := map[string]string{"amd64": "x64"}[runtime.GOARCH]
	if arch == "" {
		arch = runtime.GOARCH
	}
	return installed("node-linux-"+arch, "bin", "node")
}

// A cuaAnswer is an answer of peers/cua/driver.mjs.
type cuaAnswer struct {
	StateMs, ClickMs float64
	Elements         int
	Text             string
}

// newCua starts cua-driver. Its script must stand where its library is.
func newCua(b *testing.B, s *linuxtest.Session) (*peer, error) {
	b.Helper()
	program, err := node()
	if err != nil {
		return nil, err
	}
	library, err := installed("@trycua", "cua-driver")
	if err != nil {
		return nil, err
	}
	source, err := os.ReadFile(filepath.Join("peers", "cua", "driver.mjs"))
	if err != nil {
		return nil, err
	}
	script := filepath.Join(filepath.Dir(filepath.Dir(filepath.Dir(library))), "driver.mjs")
	if err := os.WriteFile(script, source, 0o600); err != nil {
		return nil, err
	}
	return newPeer(b, peerCommand(b, s, peerPatience, program, script))
}

// A walkAnswer is an answer of peers/pyatspi/walk.py.
type walkAnswer struct {
	Ms    float64
	Nodes int
}

// newWalker starts pyatspi.
func newWalker(b *testing.B, s *linuxtest.Session) (*peer, error) {
	b.Helper()
	script, err := filepath.Abs(filepath.Join("peers", "pyatspi", "walk.py"))
	if err != nil {
		return nil, err
	}
	return newPeer(b, peerCommand(b, s, walkerPatience, "/usr/bin/python3", script))
}

// newPlaywright starts playwright-mcp with a browser of its own.
func newPlaywright(b *testing.B, s *linuxtest.Session) (*session, error) {
	b.Helper()
	program, err := node()
	if err != nil {
		return nil, err
	}
	script, err := installed("@playwright", "mcp", "cli.js")
	if err != nil {
		return nil, err
	}
	p, err := newSession(peerCommand(b, s, peerPatience, program, script,
		"--executable-path", "/usr/bin/chromium", "--headless", "--no-sandbox", "--isolated"))
	if err != nil {
		return nil, err
	}
	b.Cleanup(func() {
		_ = p.in.Close()
		_ = p.process.Wait()
	})
	return p, p.initializeSession()
}

// milliseconds is a time that a peer told.
func milliseconds(ms float64) time.Duration { return time.Duration(ms * float64(time.Millisecond)) }
