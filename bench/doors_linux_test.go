package bench

import (
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"gotest.tools/v3/assert"
)

// server is a running tool server with a client.
type server interface {
	timed(b *testing.B, call string) time.Duration
	pid() int
}

func (s *session) pid() int { return s.process.Process.Pid }

// rival is a program with a tool that returns its argument.
type rival struct {
	name    string
	program string
	args    []string
	call    string // params of tools/call
	token   string
}

// The door benchmark identifies the first two by index.
const (
	gatewayRival = iota
	bareRival
)

// rivals builds them. The one with a TypeScript SDK is included if it is installed.
func rivals(b *testing.B, t *table) []rival {
	b.Helper()
	folder := newHome(b, 0)
	folder.write(b, filepath.Join(fastApp, "aai.json"), callDescriptor(fastApp))
	all := []rival{
		gatewayRival: {name: "gateway", program: build(b, "github.com/gybob/aai-gateway/bench/echo"), args: []string{folder.folder}, call: readCall, token: "a token of the benchmark"},
		bareRival:    {name: "bare go-sdk", program: build(b, "github.com/gybob/aai-gateway/bench/peers/baresdk"), call: echoCall},
		{name: "mcp-go", program: build(b, "github.com/gybob/aai-gateway/bench/peers/mcpgo"), call: echoCall},
	}
	typescript, err := newTypeScript()
	if err != nil {
		t.add("TypeScript SDK", "", "did not run: "+firstLine(err), "")
		return all
	}
	return append(all, typescript)
}

func newTypeScript() (rival, error) {
	program, err := node()
	if err != nil {
		return rival{}, err
	}
	modules, err := installed("@modelcontextprotocol", "server")
	if err != nil {
		return rival{}, err
	}
	script := filepath.Join("peers", "typescript", "server.mjs")
	return rival{name: "TypeScript SDK", program: program, args: []string{script, modules}, call: echoCall}, nil
}

// env returns the environment of a rival's process.
func (r rival) env() []string {
	return []string{"HOME=" + os.TempDir(), "PATH=" + os.Getenv("PATH"), "AAI_HTTP_TOKEN=" + r.token}
}

// open starts the rival with a client of one protocol version.
func (r rival) open(b *testing.B, overHTTP, isModern bool) server {
	b.Helper()
	if overHTTP {
		s, err := openHTTP(b, isModern, r.token, r.env(), r.program, append(r.args, "http")...)
		assert.NilError(b, err)
		return s
	}
	s := startServer(b, r.env(), r.program, r.args...)
	b.Cleanup(func() { s.end(b) })
	if !isModern {
		assert.NilError(b, s.initializeSession())
	}
	return s
}

// BenchmarkDoors measures a trivial call through the entire gateway (door, validation, policy,
// journal), compared with servers that only answer. It prints a table.
func BenchmarkDoors(b *testing.B) {
	t := &table{}
	all := rivals(b, t)
	for _, over := range []string{"stdio", "HTTP"} {
		for _, era := range []string{"2025-11-25", "2026-07-28"} {
			b.Run(over+"/"+era, func(b *testing.B) { raceCalls(b, t, all, over, era) })
		}
	}
	b.Run("Start", func(b *testing.B) { raceStarts(b, t, all) })
	fmt.Print(t.String())
}

// maxRatio is the limit of a call's time relative to the bare SDK's.
func maxRatio(over string) float64 {
	if over == "stdio" {
		return 1.5
	}
	return 1.3
}

// raceCalls alternates the rivals, in another order each time.
func raceCalls(b *testing.B, t *table, all []rival, over, era string) {
	const calls = 25
	rounds, warm := roundLimit(b, 240), roundLimit(b, 20)
	isModern := era == "2026-07-28"
	servers := make([]server, len(all))
	took := make([]samples, len(all))
	for i, r := range all {
		servers[i] = r.open(b, over == "HTTP", isModern)
	}
	for round := range rounds + warm {
		for n := range all {
			i := (n + round) % len(all)
			call := all[i].call
			if isModern {
				call = modern(call)
			}
			for range calls {
				if d := servers[i].timed(b, call); round >= warm {
					took[i].add(d)
				}
			}
		}
	}
	ours, bare := took[gatewayRival], took[bareRival]
	for i, r := range all[bareRival:] {
		theirs := took[i+bareRival]
		figure := fmt.Sprintf("call over %s of %s, beside %s", over, era, r.name)
		compared := ratio(ours.median(), theirs.median())
		if i == 0 {
			t.judge(figure, shortTimings(ours), r.name+" "+shortTimings(theirs), times(compared), fmt.Sprintf("≤ %.1f×", maxRatio(over)), compared <= maxRatio(over))
			continue
		}
		t.add(figure, shortTimings(ours), r.name+" "+shortTimings(theirs), times(compared))
	}
	for i, r := range all {
		t.add(fmt.Sprintf("memory (VmRSS) after %d of these calls, %s", (rounds+warm)*calls, r.name), megabytes(vmRSS(b, servers[i].pid())), "", "")
	}
	b.ReportMetric(0, "ns/op")
	b.ReportMetric(float64(ours.median())/1e3, "µs/call")
	b.ReportMetric(ratio(ours.median(), bare.median()), "×bare")
}

// shortTimings formats short times.
func shortTimings(s samples) string {
	return fmt.Sprintf("p50 %d µs, p99 %d µs", s.median().Microseconds(), s.quantile(0.99).Microseconds())
}

// raceStarts measures the time from the start of a process to its tool list, with the program
// itself, without apps, as the gateway.
func raceStarts(b *testing.B, t *table, all []rival) {
	rounds := roundLimit(b, 20)
	all = append([]rival(nil), all...)
	all[gatewayRival] = rival{name: "gateway", program: build(b, "github.com/gybob/aai-gateway/cmd/aai-gateway")}
	took, memory := make([]samples, len(all)), make([]samples, len(all))
	for range rounds {
		for i, r := range all {
			home := newHome(b, 0)
			begun := time.Now()
			s := startServer(b, append(r.env(), home.env("")...), r.program, r.args...)
			tools := 1
			if i == gatewayRival {
				tools = fixedTools
			}
			s.handshake(b, tools)
			took[i].add(time.Since(begun))
			memory[i].add(time.Duration(vmRSS(b, s.pid())))
			s.end(b)
		}
	}
	for i, r := range all[bareRival:] {
		t.add("start to tools/list, beside "+r.name, millis(took[gatewayRival].median()), millis(took[i+bareRival].median()),
			times(ratio(took[gatewayRival].median(), took[i+bareRival].median())))
		t.add("memory (VmRSS) then, beside "+r.name, megabytes(int64(memory[gatewayRival].median())), megabytes(int64(memory[i+bareRival].median())),
			times(ratio(memory[gatewayRival].median(), memory[i+bareRival].median())))
	}
	b.ReportMetric(0, "ns/op")
}
