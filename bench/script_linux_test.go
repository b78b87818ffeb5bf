package bench

import (
	"fmt"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/testkit/tokencount"
)

// script measures the cost of a script besides its calls: fifty cells read by fifty calls, and by
// one script with its text and result for a model; and the start of an empty script.
func (w *world) script(b *testing.B) {
	const cells = 50
	gateway := w.openGateway(b)
	run := func(script, args string) string {
		return fmt.Sprintf(`{"name":"aai_exec","arguments":{"app":"aai","tool":"script","args":{"script":%q,"args":%s}}}`, script, args)
	}
	const reads = `let n = 0; for (let i = 0; i < args.cells; i++) n += call(args.app, "read", {v: "cell " + i}).length; n`
	by := run(reads, fmt.Sprintf(`{"app":%q,"cells":%d}`, fastApp, cells))
	answer := gateway.ask(b, "tools/call", by).text(b)
	assert.Assert(b, is.Contains(answer, `"result":340`))
	assert.Assert(b, is.Contains(answer, `"calls":50`))
	ours, each := tokencount.Count(b, by)+tokencount.Count(b, answer), 0
	for i := range cells {
		call := fmt.Sprintf(`{"name":"aai_exec","arguments":{"app":%q,"tool":"read","args":{"v":"cell %d"}}}`, fastApp, i)
		each += tokencount.Count(b, call) + tokencount.Count(b, gateway.ask(b, "tools/call", call).text(b))
	}
	share := float64(ours) / float64(each)
	w.table.judge("tokens of a script that reads 50 cells", fmt.Sprint(ours), fmt.Sprintf("50 calls %d", each), times(share), "≤ 0.10×", share <= 0.1)

	var start, whole samples
	for range roundLimit(b, 40) {
		start.add(gateway.timed(b, run("1", "{}")))
		whole.add(gateway.timed(b, by))
	}
	w.table.judge("a script that does nothing, p50", millis(start.median()), "–", "–", "≤ 60 ms", start.median() <= 60*time.Millisecond)
	w.table.add("a script that reads 50 cells, p50", millis(whole.median()), "–", "–")
	b.ReportMetric(0, "ns/op")
}
