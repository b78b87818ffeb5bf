package bench

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway/internal/devtools"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// debuggedPage is a page with a table of 200 rows, a button that counts its presses, and a tool.
func debuggedPage(b *testing.B) *webPage {
	b.Helper()
	var text strings.Builder
	text.WriteString(`<!doctype html><title>Table</title><button id=press>Press</button> <span id=times>0</span><script>
press.addEventListener("click", () => { times.textContent = 1 + Number(times.textContent); fetch("/pressed", {method: "POST"}); });
document.modelContext.registerTool({name: "add", description: "Adds.", execute: i => String(i.a + i.b), inputSchema: {type: "object", properties: {a: {type: "number"}, b: {type: "number"}}}});
</script><table>`)
	for i := range 200 {
		fmt.Fprintf(&text, "<tr><td>%d<td>Item %d<td>%d EUR<td><button>Buy</button></tr>", i+1, i+1, 10+i*7%90)
	}
	return newWebPage(b, text.String())
}

// A bareTool calls the tool of a page by DevTools alone.
type bareTool struct {
	session *devtools.Session
	frame   string
	answers chan struct{}
}

// newBareTool connects to the browser that listens, which allows it to the gateway with the home too.
func newBareTool(b *testing.B, home, address string) *bareTool {
	b.Helper()
	folder := filepath.Join(home, ".local", "share", "aai-gateway")
	assert.NilError(b, os.MkdirAll(folder, 0o700))
	browsers := devtools.New(devtools.Config{Find: func() []devtools.Endpoint { return devtools.Find(os.Getenv) }, AllowFile: filepath.Join(folder, "browsers.json")})
	b.Cleanup(func() { _ = browsers.Close() })
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(settlePause) {
		for _, e := range browsers.Listening() {
			if e.Asks || browsers.Connect(b.Context(), e) != nil {
				continue
			}
			for _, one := range browsers.Connected(b.Context()) {
				for _, tab := range one.Tabs() {
					if strings.HasPrefix(tab.URL, address) {
						return attachBareTool(b, one, tab)
					}
				}
			}
		}
	}
	b.Fatal("no browser shows the page")
	return nil
}

func attachBareTool(b *testing.B, one *devtools.Browser, tab devtools.Target) *bareTool {
	b.Helper()
	t := &bareTool{frame: tab.ID, answers: make(chan struct{}, 1)}
	var err error
	t.session, err = one.Attach(b.Context(), tab.ID, func(method string, _ json.RawMessage) {
		if method == "WebMCP.toolResponded" {
			select {
			case t.answers <- struct{}{}:
			default: // of the gateway's call
			}
		}
	})
	if err == nil {
		err = t.session.Request(b.Context(), "WebMCP.enable", map[string]any{}, nil)
	}
	assert.NilError(b, err)
	return t
}

// call returns the time of a call.
func (t *bareTool) call(b *testing.B) time.Duration {
	b.Helper()
	select {
	case <-t.answers:
	default:
	}
	begun := time.Now()
	input := map[string]any{"frameId": t.frame, "toolName": "add", "input": map[string]any{"a": 1, "b": 2}}
	assert.NilError(b, t.session.Request(b.Context(), "WebMCP.invokeTool", input, nil))
	<-t.answers
	return time.Since(begun)
}

// compareDevTools uses a page by DevTools, with the gateway, with DevTools alone and with playwright-mcp.
func (w *desktopBench) compareDevTools(b *testing.B) {
	rounds, page, h := roundLimit(b, 20), debuggedPage(b), newHome(b, 0)
	s := &scene{Session: linuxtest.StartAccessible(b)}
	h.configure(b, noLimits, "desktop", "desktop/chromium", "page:"+page.address)
	app := browse(b, s.Session, page.address, "--remote-debugging-port=0", "--enable-features=WebMCPTesting,DevToolsWebMCPSupport")
	pid := strconv.Itoa(app.PID) // playwright-mcp's browser has the same name
	bare := newBareTool(b, h.folder, page.address)
	s.gateway = startServer(b, append(s.Env, "HOME="+h.folder), w.program, "mcp", "serve", "--profile", "all", "--log-level", "error")
	b.Cleanup(func() { s.gateway.end(b) })
	assert.NilError(b, s.gateway.initializeSession())
	sdk := open(b, newHome(b, 0).env("unix:path=/nonexistent"), build(b, "github.com/gybob/aai-gateway/bench/peers/baresdk"), 1)
	button, err := s.press(b, pid)
	assert.NilError(b, err)
	add := toolCall(b, "aai_exec", map[string]any{"app": "page:" + page.address, "tool": "add", "args": map[string]any{"a": 1, "b": 2}})
	click := toolCall(b, "ax_click", map[string]any{"app": pid, "query": button})
	tree := toolCall(b, "ax_get_tree", map[string]any{"app": pid})
	peer, failed := openPage(b, s, page.address)
	flushed := newDisk(b)
	var floor, ours, clicks, trees, theirClicks, theirTrees samples
	for range rounds {
		floor.add(bare.call(b) + sdk.timed(b, echoCall) + flushed.flush(b))
		ours.add(s.gateway.timed(b, add))
		took, err := onPage(s.gateway, page, click)
		assert.NilError(b, err)
		clicks.add(took)
		trees.add(s.gateway.timed(b, tree))
		if failed != nil {
			continue
		}
		if took, failed = onPage(peer.session, page, toolCall(b, "browser_click", map[string]any{"element": "Press", "target": peer.ref})); failed != nil {
			continue
		}
		theirClicks.add(took)
		begun := time.Now()
		if _, failed = peer.try("tools/call", toolCall(b, "browser_snapshot", map[string]any{})); failed == nil {
			theirTrees.add(time.Since(begun))
		}
	}
	r := ratio(ours.median(), floor.median())
	w.table.judge("aai_exec of a page's tool", medianAndP95(ours), "bare DevTools + bare SDK + disk "+medianAndP95(floor), times(r), "≤ 1.3×", r <= 1.3)
	w.judgeBesidePlaywright("the tree of a table of 200 rows, by DevTools", trees, theirTrees, 1, 40*time.Millisecond, failed)
	w.judgeBesidePlaywright("click in a page to its observed effect, by DevTools", clicks, theirClicks, 0.1, time.Hour, failed)
}

// judgeBesidePlaywright adds a figure that has a longest time and a part of playwright-mcp's.
func (w *desktopBench) judgeBesidePlaywright(figure string, ours, theirs samples, part float64, most time.Duration, failed error) {
	if failed != nil {
		w.table.add(figure, medianAndP95(ours), "did not run: "+firstLine(failed), "")
		return
	}
	r := ratio(ours.median(), theirs.median())
	aim := fmt.Sprintf("≤ %s×", strconv.FormatFloat(part, 'g', -1, 64))
	if most < time.Hour {
		aim += ", ≤ " + millis(most)
	}
	w.table.judge(figure, medianAndP95(ours), "playwright-mcp "+medianAndP95(theirs), times(r), aim, r <= part && ours.median() <= most)
}

// press returns the ref of the button, once the page is read by DevTools.
func (s *scene) press(b *testing.B, app string) (string, error) {
	b.Helper()
	look := toolCall(b, "ax_get_tree", map[string]any{"app": app})
	for end := time.Now().Add(time.Minute); time.Now().Before(end); time.Sleep(settlePause) {
		a, err := s.gateway.try("tools/call", look)
		if err != nil {
			continue
		}
		if found := regexp.MustCompile(`Press\W+\[(e\d+)\]`).FindSubmatch(a.line); found != nil {
			return string(found[1]), nil
		}
	}
	return "", errors.New("the page has no button Press")
}

// snapshots runs the benchmark of internal/platform/linux/atspi, in its own process. Only that
// package can make the gateway forget a connected app, for a cold read. Cold reads everything of a
// connected app; warm repeats that at once, without changes; read reads one element with all its
// data, and its baseline is the necessary requests in one round trip.
func (w *desktopBench) snapshots(b *testing.B) {
	told := snapshotFigures(b)
	const warmAim, readAim = 3 * time.Millisecond, 1.5
	for _, app := range []struct {
		key, name string
		aim       time.Duration
	}{
		{"mousepad", "mousepad", 8 * time.Millisecond},
		{"chromium", "a page in Chromium", 40 * time.Millisecond},
		{"calculator", "gnome-calculator", 50 * time.Millisecond},
		{"designer", "Designer", 90 * time.Millisecond},
		{"calc", "LibreOffice Calc", 180 * time.Millisecond},
	} {
		cold, warm, read, floor := told[app.key+"/cold"], told[app.key+"/warm"], told[app.key+"/read"], told[app.key+"/floor"]
		beside, compared := "", ""
		if walks := w.walks[app.key]; len(walks) > 0 {
			beside, compared = "pyatspi "+millis(walks.median()), times(ratio(cold.median, walks.median()))
		}
		w.table.judge(fmt.Sprintf("snapshot of %s, %d elements, cold", app.name, cold.nodes), cold.String(), beside, compared,
			fmt.Sprintf("≤ %.0f ms", float64(app.aim)/1e6), cold.median <= app.aim)
		w.table.judge("the same, again at once", warm.String(), "", "", "≤ 3 ms", warm.median <= warmAim)
		r := ratio(read.median, floor.median)
		w.table.judge("one element of it, all that is known, read anew", read.String(), "all it must ask, at once "+floor.String(), times(r), "≤ 1.5×", r <= readAim)
	}
}

// snapshotFigure is one figure of the other benchmark.
type snapshotFigure struct {
	median, p95 time.Duration
	nodes       int
}

func (f snapshotFigure) String() string {
	return fmt.Sprintf("%s (p95 %s)", millis(f.median), millis(f.p95))
}

// snapshotFigures runs the other benchmark and reads its lines, such as
//
//	BenchmarkSnapshot/mousepad/cold-2  30  321.0 nodes  6.15 p50-ms  7.50 p95-ms
func snapshotFigures(b *testing.B) map[string]snapshotFigure {
	b.Helper()
	command := exec.CommandContext(b.Context(), "go", "test", "-run", "^$", "-bench", "^BenchmarkSnapshot$", "-benchtime", fmt.Sprintf("%dx", roundLimit(b, 30)),
		"github.com/gybob/aai-gateway/internal/platform/linux/atspi")
	out, err := command.CombinedOutput()
	assert.NilError(b, err, out)
	told := make(map[string]snapshotFigure)
	for lines := bufio.NewScanner(bytes.NewReader(out)); lines.Scan(); {
		name, ok := strings.CutPrefix(lines.Text(), "BenchmarkSnapshot/")
		if !ok {
			continue
		}
		fields := strings.Fields(name)
		key, _, _ := strings.Cut(fields[0], "-")
		var f snapshotFigure
		for i := 2; i+1 < len(fields); i += 2 {
			value, err := strconv.ParseFloat(fields[i], 64)
			if err != nil {
				b.Fatalf("%v in %q", err, lines.Text())
			}
			switch fields[i+1] {
			case "p50-ms":
				f.median = milliseconds(value)
			case "p95-ms":
				f.p95 = milliseconds(value)
			case "nodes":
				f.nodes = int(value)
			}
		}
		told[key] = f
	}
	assert.Assert(b, len(told) != 0, "no figures in:\n%s", out)
	return told
}
