package bench

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
	"github.com/gybob/aai-gateway/internal/testkit/tokencount"
)

// comparePeers does the same things with the gateway and with peers, alternately. The table names
// peers that cannot run.
func (w *desktopBench) comparePeers(b *testing.B) {
	b.Run("Native", w.compareNative)
	b.Run("Web", w.compareWeb)
	b.Run("DevTools", w.compareDevTools)
	b.Run("Form", w.compareForm)
	b.Run("Words", w.comparePageTokens)
	b.ReportMetric(0, "ns/op")
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
	b.ReportMetric(0, "ns/op")
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
	b.ReportMetric(0, "ns/op")
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
