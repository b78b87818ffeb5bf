package bench

import (
	"fmt"
	"testing"
)

// The apps of this benchmark are the same MCP server: for one, the descriptor declares a reading
// tool, for the other nothing is declared.
const (
	readingServer = "org.example.Reading"
	actingServer  = "org.example.Acting"
)

// BenchmarkServers measures a call to an MCP server behind the gateway, compared with the same
// call through a proxy with only the SDK, alternately. It prints a table.
func BenchmarkServers(b *testing.B) {
	const calls = 25
	rounds, warm := roundLimit(b, 200), roundLimit(b, 20)
	gateway, proxy, bare := build(b, "github.com/gybob/aai-gateway/cmd/aai-gateway"), build(b, "github.com/gybob/aai-gateway/bench/peers/bareproxy"), build(b, "github.com/gybob/aai-gateway/bench/peers/baresdk")
	h := newHome(b, 0)
	descriptor := func(id, tools string) string {
		return fmt.Sprintf(`{"schema_version": "1.0", "platform": "linux", "app": {"id": %q, "name": "Server", "description": "A server."},
			"execution": {"type": "mcp", "command": %q}%s}`, id, bare, tools)
	}
	h.install(b, readingServer, descriptor(readingServer, `, "tools": [{"name": "echo", "description": "Answers with its arguments.", "effect": "reads",
		"parameters": {"type": "object", "properties": {"v": {"type": "string"}}}}]`))
	h.install(b, actingServer, descriptor(actingServer, ""))
	h.allow(b, readingServer, actingServer)
	ours := open(b, h.env(""), gateway, 2+fixedTools)
	floor := open(b, h.env(""), proxy, 1, bare)
	exec := func(app, tool string) string {
		return fmt.Sprintf(`{"name":"aai_exec","arguments":{"app":%q,"tool":%q,"args":{%s}}}`, app, tool, map[bool]string{true: `"v":"hello"`}[tool == "echo"])
	}
	ours.ask(b, "tools/call", exec(actingServer, "mcp_start"))
	disk := newDisk(b)

	var through, read, act, flush samples
	for round := range rounds + warm {
		for range calls {
			d, e := floor.timed(b, echoCall), ours.timed(b, exec(readingServer, "echo"))
			if round >= warm {
				through.add(d)
				read.add(e)
			}
		}
		for range calls / 5 {
			d, e := ours.timed(b, exec(actingServer, "echo")), disk.flush(b)
			if round >= warm {
				act.add(d)
				flush.add(e)
			}
		}
	}
	var t table
	r, a := ratio(read.median(), through.median()), ratio(act.median(), through.median()+flush.median())
	t.judge("a tool of an MCP server that reads, p50", millis(read.median()), "bare proxy "+millis(through.median()), times(r), "≤ 1.3×", r <= 1.3)
	t.add("a tool of an MCP server that reads, p99", millis(read.quantile(0.99)), "bare proxy "+millis(through.quantile(0.99)), times(ratio(read.quantile(0.99), through.quantile(0.99))))
	t.judge("a tool of an MCP server that acts, p50", millis(act.median()), "the same + disk "+millis(flush.median()), times(a), "≤ 1.3×", a <= 1.3)
	fmt.Print(t.String())
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(read.median())/1e3, "µs/read")
	b.ReportMetric(float64(act.median())/1e3, "µs/act")
}
