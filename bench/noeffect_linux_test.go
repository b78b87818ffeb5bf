package bench

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

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
	b.ReportMetric(0, "ns/op")
}

// effectWait is longer than the wait for a click's effect.
const effectWait = 1500 * time.Millisecond
