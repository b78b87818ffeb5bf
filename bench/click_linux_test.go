package bench

import (
	"fmt"
	"os/exec"
	"strconv"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
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
	b.ReportMetric(0, "ns/op")
}
