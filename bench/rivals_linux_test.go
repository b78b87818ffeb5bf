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
	"regexp"
	"runtime"
	"strconv"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
	"github.com/gybob/aai-gateway/internal/testkit/tokencount"
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

// comparePeers does the same things with the gateway and with peers, alternately. The table names
// peers that cannot run.
func (w *desktopBench) comparePeers(b *testing.B) {
	runOnce(b, "Native", w.compareNative)
	runOnce(b, "Web", w.compareWeb)
	runOnce(b, "DevTools", w.compareDevTools)
	runOnce(b, "Form", w.compareForm)
	runOnce(b, "Words", w.comparePageTokens)
}

// firstLine shortens an error for a table.
func firstLine(err error) string {
	line, _, _ := strings.Cut(err.Error(), "\n")
	if runes := []rune(line); len(runes) > 80 {
		line = string(runes[:80]) + "…"
	}
	return line
}

// compareNative clicks the same button of a window with the gateway, with cua-driver in its own
// process, and with xdotool.
func (w *desktopBench) compareNative(b *testing.B) {
	rounds := roundLimit(b, 10)
	s := w.newScene(b, "gtk3", "gtk4")
	for _, kind := range []linuxtest.Kind{linuxtest.GTK3, linuxtest.GTK4} {
		c := s.newClicker(b, kind)
		treeCall := toolCall(b, "ax_get_tree", map[string]any{"app": strconv.Itoa(c.fixture.PID)})
		var ours, tree, click, state, pointer samples
		size, landed := 0, 0
		cua, failed := newCua(b, s.Session)
		for range rounds {
			ours.add(c.click(b))
			// Before the others: then the gateway sees only its own changes, as for an agent that
			// is alone.
			tree.add(s.gateway.timed(b, treeCall))
			pointer.add(c.pointer(b))
			if failed != nil {
				continue
			}
			var told cuaAnswer
			if failed = cua.ask(map[string]any{"pid": c.fixture.PID, "press": "Press"}, &told); failed != nil {
				continue
			}
			if c.counted(b) {
				landed++
			}
			click.add(milliseconds(told.ClickMs))
			state.add(milliseconds(told.StateMs))
			size = tokencount.Count(b, told.Text)
		}
		w.table.add(fmt.Sprintf("click in %s, beside xdotool", kind), medianAndP95(ours), "xdotool, nothing verified "+medianAndP95(pointer), times(ratio(ours.median(), pointer.median())))
		if failed != nil {
			w.table.add(fmt.Sprintf("click in %s, beside cua-driver", kind), medianAndP95(ours), "did not run: "+firstLine(failed), "")
			continue
		}
		w.table.add(fmt.Sprintf("click in %s, beside cua-driver", kind), medianAndP95(ours),
			fmt.Sprintf("cua-driver %s, %d of %d landed", medianAndP95(click), landed, rounds), times(ratio(ours.median(), click.median())))
		w.table.add(fmt.Sprintf("tree of %s, beside cua-driver", kind), fmt.Sprintf("%s, %d tokens", medianAndP95(tree), tokencount.Count(b, s.gateway.ask(b, "tools/call", treeCall).text(b))),
			fmt.Sprintf("cua-driver %s, %d tokens", medianAndP95(state), size), times(ratio(tree.median(), state.median())))
	}
}

// counted reports whether one more press was counted within two seconds, and updates the count.
func (c *clicker) counted(b *testing.B) bool {
	b.Helper()
	for end := time.Now().Add(2 * time.Second); time.Now().Before(end); time.Sleep(settlePause) {
		if n, _ := c.fixture.State(b)["presses"].(float64); int(n) > c.presses {
			c.presses = int(n)
			time.Sleep(settlePause)
			return true
		}
	}
	return false
}

// webPeer is playwright-mcp on a page.
type webPeer struct {
	*session
	ref string
}

// openPage lets playwright-mcp open the page and find the button.
func openPage(b *testing.B, s *scene, address string) (*webPeer, error) {
	b.Helper()
	p, err := newPlaywright(b, s.Session)
	if err != nil {
		return nil, err
	}
	if _, err := p.try("tools/call", toolCall(b, "browser_navigate", map[string]any{"url": address})); err != nil {
		return nil, err
	}
	a, err := p.try("tools/call", toolCall(b, "browser_snapshot", map[string]any{}))
	if err != nil {
		return nil, err
	}
	found := regexp.MustCompile(`button "Press" \[ref=(\w+)\]`).FindStringSubmatch(a.text(b))
	if found == nil {
		return nil, errors.New("its snapshot has no button Press")
	}
	return &webPeer{p, found[1]}, nil
}

// compareWeb clicks and reads the same page with the gateway, in a Chromium with a window, and
// with playwright-mcp, in a headless one.
func (w *desktopBench) compareWeb(b *testing.B) {
	rounds := roundLimit(b, 15)
	s := w.newScene(b, "chromium")
	page := serveWebPage(b)
	pid := s.processOf(b, "chromium", browse(b, s.Session, page.address).PID)
	click := toolCall(b, "ax_click", map[string]any{"app": strconv.Itoa(pid), "query": s.await(b, pid, "role:button title:Press")})
	tree := toolCall(b, "ax_get_tree", map[string]any{"app": strconv.Itoa(pid)})
	peer, failed := openPage(b, s, page.address)

	var ourClick, ourTree, ourLater, theirClick, theirTree, theirLater samples
	size, theirSize := 0, 0
	for range rounds {
		took, err := onPage(s.gateway, page, click)
		assert.NilError(b, err)
		ourClick.add(took)
		begun := time.Now()
		a := s.gateway.ask(b, "tools/call", tree)
		ourTree.add(time.Since(begun))
		size = tokencount.Count(b, a.text(b))
		time.Sleep(agentPause)
		ourLater.add(s.gateway.timed(b, tree))
		if failed != nil {
			continue
		}
		if took, failed = onPage(peer.session, page, toolCall(b, "browser_click", map[string]any{"element": "Press", "target": peer.ref})); failed != nil {
			continue
		}
		theirClick.add(took)
		begun = time.Now()
		if a, failed = peer.try("tools/call", toolCall(b, "browser_snapshot", map[string]any{})); failed != nil {
			continue
		}
		theirTree.add(time.Since(begun))
		theirSize = tokencount.Count(b, a.text(b))
		time.Sleep(agentPause)
		begun = time.Now()
		if _, failed = peer.try("tools/call", toolCall(b, "browser_snapshot", map[string]any{})); failed == nil {
			theirLater.add(time.Since(begun))
		}
	}
	if failed != nil {
		w.table.add("click on a web page, beside playwright-mcp", medianAndP95(ourClick), "did not run: "+firstLine(failed), "")
		return
	}
	w.table.add("click on a web page, beside playwright-mcp", medianAndP95(ourClick), "playwright-mcp "+medianAndP95(theirClick),
		times(ratio(ourClick.median(), theirClick.median())))
	at, later := ratio(ourTree.median(), theirTree.median()), ratio(ourLater.median(), theirLater.median())
	w.table.judge(fmt.Sprintf("the page's tree, %v after the click", settlePause), fmt.Sprintf("%s, %d tokens", medianAndP95(ourTree), size),
		fmt.Sprintf("playwright-mcp %s, %d tokens", medianAndP95(theirTree), theirSize), times(at), "≤ 1×", at <= 1)
	w.table.judge(fmt.Sprintf("the same, %v later, as an agent asks", agentPause), medianAndP95(ourLater), "playwright-mcp "+medianAndP95(theirLater), times(later), "≤ 1×", later <= 1)
}

// onPage returns the time of a click on the page, which its server must have received.
func onPage(s *session, page *webPage, call string) (took time.Duration, err error) {
	before := page.presses.Load()
	begun := time.Now()
	if _, err := s.try("tools/call", call); err != nil {
		return 0, err
	}
	took = time.Since(begun)
	for end := time.Now().Add(5 * time.Second); page.presses.Load() == before; time.Sleep(settlePause) {
		if time.Now().After(end) {
			return 0, errors.New("the click did not land")
		}
	}
	time.Sleep(settlePause)
	return took, nil
}
