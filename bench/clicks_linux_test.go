package bench

import (
	"encoding/json"
	"fmt"
	"os/exec"
	"strconv"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
	"github.com/gybob/aai-gateway/internal/testkit/tokencount"
)

// settlePause is the pause after an action, in which a program redraws.
const settlePause = 30 * time.Millisecond

// clickTarget is the limit for a verified click. If the toolkit shows the press for a while before
// it acts, it is the limit for the time after the program's event.
const clickTarget = 10 * time.Millisecond

// clicker clicks a fixture's button Press in all ways, and checks after each click that the
// fixture counted it.
type clicker struct {
	scene   *scene
	fixture *linuxtest.Fixture
	bare    *bareButton
	call    string // of ax_click
	look    string // of ax_find
	presses int    // so far
}

func (s *scene) newClicker(b *testing.B, kind linuxtest.Kind) *clicker {
	b.Helper()
	f := s.Fixture(b, kind)
	ref := s.await(b, f.PID, "button Press")
	return &clicker{
		scene: s, fixture: f, bare: findButton(b, s.Session, f.PID),
		call: toolCall(b, "ax_click", map[string]any{"app": strconv.Itoa(f.PID), "query": ref}),
		look: toolCall(b, "ax_find", map[string]any{"app": strconv.Itoa(f.PID), "query": ref}),
	}
}

// expectPressed checks that one more press was counted: a click without effect must not count as
// fast.
func (c *clicker) expectPressed(b *testing.B) {
	b.Helper()
	c.presses++
	c.fixture.WaitState(b, "presses", c.presses)
	time.Sleep(settlePause)
}

// click calls ax_click, up to its result, which must have seen the effect.
func (c *clicker) click(b *testing.B) time.Duration {
	b.Helper()
	c.scene.gateway.ask(b, "tools/call", c.look) // an agent looks before it clicks
	time.Sleep(agentPause)
	begun := time.Now()
	a := c.scene.gateway.ask(b, "tools/call", c.call)
	took := time.Since(begun)
	assert.Assert(b, a.isVerified(b), "the click was not verified: %s", a.line)
	c.expectPressed(b)
	return took
}

// bareClick measures the program's part only.
func (c *clicker) bareClick(b *testing.B) time.Duration {
	b.Helper()
	took := c.bare.press(b)
	c.expectPressed(b)
	return took
}

// pointer clicks with xdotool, up to the program's event. Its window is already in front.
func (c *clicker) pointer(b *testing.B) time.Duration {
	b.Helper()
	x, y := c.fixture.ControlRect(b, "Press").Centre()
	for len(c.bare.signals) > 0 {
		<-c.bare.signals
	}
	command := exec.CommandContext(b.Context(), "xdotool", "mousemove", strconv.Itoa(x), strconv.Itoa(y), "click", "1")
	command.Env = c.scene.Env
	begun := time.Now()
	out, err := command.CombinedOutput()
	assert.NilError(b, err, out)
	took := max(c.bare.awaitLabelChange(b, begun), time.Since(begun))
	c.expectPressed(b)
	return took
}

// clicks measures verified clicks on a button, in each toolkit, alternating with the bare action
// of the same button.
func (w *desktopBench) clicks(b *testing.B) {
	s := w.newScene(b, "gtk3", "gtk4", "qt6", "chromium")
	for _, toolkit := range []struct {
		kind   linuxtest.Kind
		name   string
		rounds int
		shows  bool // it shows the press for a while before it acts
	}{
		{linuxtest.GTK3, "GTK 3", 40, false},
		{linuxtest.Chromium, "Chromium", 40, false},
		{linuxtest.GTK4, "GTK 4", 20, true},
		{linuxtest.Qt6, "Qt 6", 20, true},
	} {
		c := s.newClicker(b, toolkit.kind)
		var ours, bare samples
		for range roundLimit(b, toolkit.rounds) {
			ours.add(c.click(b))
			bare.add(c.bareClick(b))
		}
		over := ours.median() - bare.median()
		figure, beside := "verified click over stdio, "+toolkit.name+", p50", "its own event "+millis(bare.median())
		if toolkit.shows {
			w.table.judge(figure, millis(ours.median()), beside, more(over), "≤ +10 ms", over <= clickTarget)
		} else {
			w.table.judge(figure, millis(ours.median()), beside, more(over), "≤ 10 ms", ours.median() <= clickTarget)
		}
		w.table.add("verified click over stdio, "+toolkit.name+", p95", millis(ours.quantile(0.95)), "its own event "+millis(bare.quantile(0.95)),
			more(ours.quantile(0.95)-bare.quantile(0.95)))
		b.ReportMetric(float64(ours.median())/1e6, fmt.Sprintf("ms/%s", toolkit.kind))
	}
}

// clicksWithoutEffect measures clicks without any effect, up to the answer that nothing was seen: on a
// button that does nothing, and on the current sheet. TestRealLater tests that an effect 300 ms after a
// click is reported.
func (w *desktopBench) clicksWithoutEffect(b *testing.B) {
	const rounds = 20
	s := w.newScene(b, "gtk3", "gtk4", "qt6", "chromium", "soffice")
	for _, what := range []struct {
		name  string
		aim   time.Duration
		query string
		start func() int
	}{
		{"GTK 3", 200 * time.Millisecond, "button Dead", func() int { return s.Fixture(b, linuxtest.GTK3).PID }},
		{"Chromium", 200 * time.Millisecond, "button Dead", func() int { return s.Fixture(b, linuxtest.Chromium).PID }},
		{"GTK 4", 400 * time.Millisecond, "button Dead", func() int { return s.Fixture(b, linuxtest.GTK4).PID }},
		{"Qt 6", 200 * time.Millisecond, "button Dead", func() int { return s.Fixture(b, linuxtest.Qt6).PID }},
		{"LibreOffice", 200 * time.Millisecond, "Sheet1", func() int { return s.processOf(b, "soffice", s.Calc(b).PID) }},
	} {
		pid := what.start()
		ref := s.await(b, pid, what.query)
		click := toolCall(b, "ax_click", map[string]any{"app": strconv.Itoa(pid), "query": ref})
		s.gateway.ask(b, "tools/call", click) // the keyboard focus may move there, once
		var took samples
		for range roundLimit(b, rounds) {
			time.Sleep(effectWait) // effects of the previous click would have been seen by then
			begun := time.Now()
			a := s.gateway.ask(b, "tools/call", click)
			took.add(time.Since(begun))
			assert.Assert(b, !a.isVerified(b), "%s: a click without effect is verified: %s", what.name, a.line)
		}
		w.table.judge(fmt.Sprintf("click without any effect over stdio, %s", what.name), medianAndP95(took), "", "",
			"≤ "+millis(what.aim), took.median() <= what.aim)
	}
}

// effectWait is longer than the wait for a click's effect.
const effectWait = 1500 * time.Millisecond

// workflowSteps measures the time of a step besides its call: the time of many steps minus that of
// one, so that the workflow itself does not count. The record of an acting step must be on disk,
// like that of its call.
func (w *world) workflowSteps(b *testing.B) {
	const steps = 20
	gateway, disk := w.openGateway(b), newDisk(b)
	of := func(tool string, n int) string {
		one := fmt.Sprintf(`{"app":%q,"tool":%q,"args":{"v":"hello"}}`, fastApp, tool)
		return `{"name":"aai_exec","arguments":{"app":"aai","tool":"workflow","args":{"steps":[` + strings.TrimSuffix(strings.Repeat(one+",", n), ",") + `]}}}`
	}
	assert.Assert(b, is.Contains(gateway.ask(b, "tools/call", of("change", 2)).text(b), "2 of 2 steps done"))
	var read, change, readStep, changeStep, flush samples
	for range roundLimit(b, 60) {
		for range steps {
			read.add(gateway.timed(b, readCall))
		}
		readStep.add((gateway.timed(b, of("read", steps+1)) - gateway.timed(b, of("read", 1))) / steps)
		for range steps / 4 {
			change.add(gateway.timed(b, changeCall))
			flush.add(disk.flush(b))
		}
		changeStep.add((gateway.timed(b, of("change", steps+1)) - gateway.timed(b, of("change", 1))) / steps)
	}
	r := ratio(readStep.median(), read.median())
	w.table.judge("a step of a workflow that reads, p50", millis(readStep.median()), "the call alone "+millis(read.median()), times(r), "≤ 1.3×", r <= 1.3)
	most := change.median() + flush.median()
	w.table.judge("a step of a workflow that acts, p50", millis(changeStep.median()), fmt.Sprintf("the call alone %s + disk %s", millis(change.median()), millis(flush.median())),
		times(ratio(changeStep.median(), most)), "≤ 1.0×", changeStep.median() <= most)
}

// flows measures the text that a model writes and reads for ten acts on a window: ten calls, and
// one workflow of ten steps.
func (w *desktopBench) flows(b *testing.B) {
	s := w.newScene(b, "gtk3")
	f := s.Fixture(b, linuxtest.GTK3)
	app := strconv.Itoa(f.PID)
	s.await(b, f.PID, "button Press")
	var steps []any
	calls, presses := 0, 0
	for i := range 10 {
		tool, args := "ax_click", map[string]any{"app": app, "query": "button Press"}
		if i%2 == 1 {
			tool, args = "ax_set_value", map[string]any{"app": app, "query": "slider Volume", "value": strconv.Itoa(10 + i)}
		} else {
			presses++
		}
		call := toolCall(b, tool, args)
		calls += tokencount.Count(b, call) + tokencount.Count(b, s.gateway.ask(b, "tools/call", call).text(b))
		delete(args, "app")
		steps = append(steps, map[string]any{"tool": tool, "args": args})
		time.Sleep(settlePause)
	}
	call := toolCall(b, "ax_workflow", map[string]any{"app": app, "steps": steps})
	answer := s.gateway.ask(b, "tools/call", call).text(b)
	f.WaitState(b, "presses", 2*presses)
	assert.Assert(b, json.Valid([]byte(call)))
	assert.Assert(b, is.Contains(answer, "10 of 10 steps done"))
	ours := tokencount.Count(b, call) + tokencount.Count(b, answer)
	share := float64(ours) / float64(calls)
	w.table.judge("tokens of a workflow of 10 acts on a window", fmt.Sprint(ours), fmt.Sprintf("10 calls %d", calls), times(share), "≤ 0.35×", share <= 0.35)
}
