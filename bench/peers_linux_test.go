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

// Time limits of a peer, after which a hanging one ends. The walker lives while many apps are
// started.
const (
	peerPatience = time.Minute
	longPatience = 4 * time.Minute
)

// peer is a third-party program that answers a line of JSON with another.
type peer struct {
	in  io.WriteCloser
	out *bufio.Reader
}

// peerCommand returns a program with only the session's environment. It ends with the benchmark.
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
		_ = process.Wait() // its exit code does not matter
	})
	return &peer{in, bufio.NewReader(out)}, nil
}

// ask sends a question and reads the answer. A member "error" in it is an error.
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

// installed returns the path of a file that scripts/need-peers installed.
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

// node returns the Node.js of the peers.
func node() (string, error) { return installed("node-linux-"+nodeArch(), "bin", "node") }

// nodeArch returns the name of this processor in npm packages.
func nodeArch() string {
	if runtime.GOARCH == "amd64" {
		return "x64"
	}
	return runtime.GOARCH
}

// cuaAnswer is an answer of peers/cua/driver.mjs.
type cuaAnswer struct {
	StateMs, ClickMs float64
	Elements         int
	Text             string
}

// newCua starts cua-driver. Its script must be beside its library.
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

// walkAnswer is an answer of peers/pyatspi/walk.py.
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
	return newPeer(b, peerCommand(b, s, longPatience, "/usr/bin/python3", script))
}

// newPlaywright starts playwright-mcp with its own browser.
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
	p, err := newSession(peerCommand(b, s, longPatience, program, script,
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

// milliseconds converts a peer's time.
func milliseconds(ms float64) time.Duration { return time.Duration(ms * float64(time.Millisecond)) }
