package bench

import (
	"encoding/json"
	"fmt"
	"strconv"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
	"github.com/gybob/aai-gateway/internal/testkit/tokencount"
)

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
	b.ReportMetric(0, "ns/op")
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
	b.ReportMetric(0, "ns/op")
}
