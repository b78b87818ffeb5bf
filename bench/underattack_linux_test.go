package bench

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
)

// mostMemory limits the address space of a gateway under attack, in KiB: memory exhaustion must
// end there, and be detected.
const mostMemory = 6 << 20

// underAttack runs one attacking agent beside another that makes a call now and then. Between the
// attacks a bare process uses as much processor time as they did, while the other makes the same
// calls of a gateway without attack. Each has its own token, of one authorization server. Before
// the first attack the other acts once, and that must be in the journal after the last.
func (w *world) underAttack(b *testing.B) {
	turns, long := 6, 10*time.Second
	if os.Getenv(shortVariable) != "" {
		turns, long = 1, 2*time.Second
	}
	issuer := serveIssuer(b)
	attacked, quiet := w.openUnderAttack(b, issuer), w.openUnderAttack(b, issuer)
	_, err := attacked.victim.try("tools/call", modern(changeCall))
	assert.NilError(b, err)
	var calm, beside, burned samples
	done := make(map[string]int64)
	processors := 0.0
	for range turns {
		own := attacked.used(b)
		attacked.calls(b, long, &calm)
		own = attacked.used(b) - own
		before := attacked.used(b)
		attack := startChild(b, attackVariable+"="+attacked.target(b))
		attacked.calls(b, long, &beside)
		took := attacked.used(b) - before - own + processorTime(b, attack.process.Process.Pid)
		attack.end(b, &done)
		share := max(took.Seconds()/long.Seconds(), 0)
		processors += share / float64(turns)
		burner := startChild(b, fmt.Sprintf("%s=%f", burnVariable, share))
		quiet.calls(b, long, &burned)
		burner.end(b, nil)
	}
	attacked.mutationIsOnRecord(b, w.gateway)
	for _, tool := range attackTools {
		assert.Check(b, done[tool.name] != 0, "the attacker never tried: %s", tool.name)
	}
	assert.Check(b, done["answers"] != 0, "nothing that the attacker did was answered")
	figure := fmt.Sprintf("another's calls for %s beside the worst mix", time.Duration(turns)*long)
	r := ratio(beside.quantile(0.99), burned.quantile(0.99))
	burn := fmt.Sprintf("a process that burns %.1f processors ", processors)
	w.table.add(figure+", p50", millis(beside.median()), burn+millis(burned.median()), times(ratio(beside.median(), burned.median())))
	w.table.judge(figure+", p99", millis(beside.quantile(0.99)), burn+millis(burned.quantile(0.99)), times(r), "≤ 2×", r <= 2)
	w.table.add("the same with nothing beside, p99", millis(calm.quantile(0.99)), "", "")
	w.table.add("what the worst mix came to", fmt.Sprint(done), "", "")
	w.table.add("memory (VmRSS) after the attacks", megabytes(vmRSS(b, attacked.pid)), "nobody attacks "+megabytes(vmRSS(b, quiet.pid)), "")
	b.ReportMetric(r, "×burning")
}

// attackedGateway serves HTTP to two agents, of which one is the victim.
type attackedGateway struct {
	home    home
	env     []string
	pid     int
	address string
	victim  *httpSession
	died    atomic.Pointer[string] // its last output
}

// openUnderAttack starts the program as a server for the issuer's tokens.
func (w *world) openUnderAttack(b *testing.B, issuer string) *attackedGateway {
	b.Helper()
	g := &attackedGateway{home: newHome(b, 0)}
	for _, app := range []string{fastApp, slowApp} {
		g.home.install(b, app, callDescriptor(app))
	}
	g.home.configure(b, noLimits+fmt.Sprintf(`, "http": {"auth": "oauth", "issuer": %q, "audience": ["bench"], "clientId": "gateway"}`, issuer), fastApp, slowApp)
	g.env = append(g.home.env(w.bus.Address), "AAI_DEV=true", "AAI_WEB_RATE=10000")
	process := exec.CommandContext(b.Context(), "/bin/sh", "-c", fmt.Sprintf(`ulimit -v %d; exec "$0" mcp serve --http 0`, mostMemory), w.gateway)
	process.Env = g.env
	said, err := process.StderrPipe()
	assert.NilError(b, err)
	assert.NilError(b, process.Start())
	killAtEnd(b, process)
	lines := bufio.NewReader(said)
	for {
		line, err := lines.ReadString('\n')
		assert.NilError(b, err, "the gateway ended: %v", err)
		if _, rest, serving := strings.Cut(line, "Serving MCP at "); serving {
			g.address, _, _ = strings.Cut(rest, ";")
			break
		}
	}
	go func() {
		for lines := bufio.NewScanner(lines); lines.Scan(); {
			if line := lines.Text(); strings.HasPrefix(line, "fatal error: ") || strings.HasPrefix(line, "panic: ") {
				g.died.CompareAndSwap(nil, &line)
			}
		}
	}()
	g.pid = process.Process.Pid
	g.victim = &httpSession{
		process: process, address: g.address, token: "victim", modern: true,
		client: &http.Client{Timeout: time.Minute, Transport: &http.Transport{MaxConnsPerHost: 1, DisableCompression: true}},
	}
	b.Cleanup(g.victim.client.CloseIdleConnections)
	return g
}

// calls makes the victim's calls. A failed one ends the benchmark.
func (g *attackedGateway) calls(b *testing.B, long time.Duration, took *samples) {
	b.Helper()
	for end := time.Now().Add(long); time.Now().Before(end); time.Sleep(5 * time.Millisecond) {
		begun := time.Now()
		if _, err := g.victim.try("tools/call", modern(readCall)); err != nil {
			time.Sleep(time.Second) // until its last output
			if died := g.died.Load(); died != nil {
				b.Fatal("the gateway has died: ", *died)
			}
			b.Fatal("what one agent does is no reason to refuse another: ", err)
		}
		took.add(time.Since(begun))
	}
}

// used returns the gateway's processor time.
func (g *attackedGateway) used(b *testing.B) time.Duration { return processorTime(b, g.pid) }

// target returns an attacker's parameters.
func (g *attackedGateway) target(b *testing.B) string {
	b.Helper()
	told, err := json.Marshal(attacker{Address: g.address, Token: "attacker"})
	assert.NilError(b, err)
	return string(told)
}

// mutationIsOnRecord checks the program's journal for the one acting call.
func (g *attackedGateway) mutationIsOnRecord(b *testing.B, program string) {
	b.Helper()
	history := exec.CommandContext(b.Context(), program, "history", "--app", fastApp, "--tool", "change", "--format", "json")
	history.Env = g.env
	out, err := history.Output()
	assert.NilError(b, err, out)
	assert.Check(b, is.Contains(string(out), `"change"`), "what was done before the attack is on record no more: %s", out)
}

// serveIssuer is an authorization server with two tokens and their owners.
func serveIssuer(b *testing.B) string {
	b.Helper()
	var server *httptest.Server
	mux := http.NewServeMux()
	mux.HandleFunc("/.well-known/oauth-authorization-server", func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = fmt.Fprintf(w, `{"issuer": %q, "jwks_uri": %q, "introspection_endpoint": %q}`, server.URL, server.URL+"/keys", server.URL+"/introspect")
	})
	mux.HandleFunc("POST /introspect", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		token := r.PostFormValue("token")
		_, _ = fmt.Fprintf(w, `{"active": %t, "sub": %q, "aud": "bench", "iss": %q}`, token == "victim" || token == "attacker", token, server.URL)
	})
	server = httptest.NewServer(mux)
	b.Cleanup(server.Close)
	return server.URL
}

// child is this binary as another program.
type child struct {
	process *exec.Cmd
	in      io.Closer
	out     strings.Builder
}

func startChild(b *testing.B, variable string) *child {
	b.Helper()
	c := &child{process: exec.CommandContext(b.Context(), os.Args[0])}
	c.process.Env = append(os.Environ(), variable)
	c.process.Stdout, c.process.Stderr = &c.out, os.Stderr
	in, err := c.process.StdinPipe()
	assert.NilError(b, err)
	assert.NilError(b, c.process.Start())
	c.in = in
	b.Cleanup(func() { _ = c.process.Process.Kill() })
	return c
}

// end ends the child, and adds its counts.
func (c *child) end(b *testing.B, done *map[string]int64) {
	b.Helper()
	_ = c.in.Close()
	assert.NilError(b, c.process.Wait())
	if done == nil {
		return
	}
	var told map[string]int64
	assert.NilError(b, json.Unmarshal([]byte(c.out.String()), &told))
	for name, n := range told {
		(*done)[name] += n
	}
}

// These variables make this binary an attacking agent, with an address and a token, or a program
// that uses a share of processor time.
const (
	attackVariable = "AAI_BENCH_ATTACK"
	burnVariable   = "AAI_BENCH_BURN"
)

// attackTools lists the attacks with their maximum of concurrent calls.
var attackTools = []struct {
	name  string
	width int
	do    func(a *attacker)
}{
	{"secrets", 1, (*attacker).secrets},
	{"unknown apps", 200, (*attacker).unknown},
	{"a hung app", 70, (*attacker).hung},
	{"wrong frames", 4, (*attacker).wrong},
	{"failing lookups", 8, (*attacker).lookup},
}

// attackIfStarted does not return in the process of an attacker. That ends with its input, and
// then prints how often it began each attack.
func attackIfStarted() {
	var a attacker
	given := os.Getenv(attackVariable)
	if given == "" {
		return
	}
	if err := json.Unmarshal([]byte(given), &a); err != nil {
		fmt.Fprintln(os.Stderr, err)
		os.Exit(1)
	}
	a.client = &http.Client{Timeout: 30 * time.Second, Transport: &http.Transport{MaxIdleConnsPerHost: 300}}
	begun := make([]atomic.Int64, len(attackTools))
	for i, tool := range attackTools {
		for range tool.width {
			go func() {
				for {
					begun[i].Add(1)
					tool.do(&a)
				}
			}()
		}
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
	told := make(map[string]int64)
	for i, tool := range attackTools {
		told[tool.name] = begun[i].Load()
	}
	told["answers"] = a.answers.Load()
	_ = json.NewEncoder(os.Stdout).Encode(told)
	os.Exit(0)
}

// attacker is one agent on many connections.
type attacker struct {
	Address, Token string

	client  *http.Client
	answers atomic.Int64 // of any kind
}

// call makes a tool call of 2026-07-28, and ignores the result.
func (a *attacker) call(tool, args string) {
	a.post("tools/call", tool, `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":`+modern(`{"name":"`+tool+`","arguments":`+args+`}`)+`}`)
}

func (a *attacker) post(method, name, body string) {
	r, err := http.NewRequest(http.MethodPost, a.Address, strings.NewReader(body))
	if err != nil {
		return
	}
	r.Header.Set("Content-Type", "application/json")
	r.Header.Set("Accept", "application/json, text/event-stream")
	r.Header.Set("Authorization", "Bearer "+a.Token)
	r.Header.Set("Mcp-Protocol-Version", "2026-07-28")
	r.Header.Set("Mcp-Method", method)
	r.Header.Set("Mcp-Name", name)
	response, err := a.client.Do(r)
	if err != nil {
		time.Sleep(time.Millisecond) // a refused connection must not cause a busy loop
		return
	}
	if _, err := io.Copy(io.Discard, response.Body); err == nil {
		a.answers.Add(1)
	}
	_ = response.Body.Close()
}

// secrets makes a refused call with a secret argument of one megabyte, which needs escaping.
func (a *attacker) secrets() {
	const mix = "<\\\"\u00e9\u2028 &\t"
	secret, _ := json.Marshal(strings.Repeat(mix, 1_000_000/len(mix)))
	a.call("aai_exec", `{"app":"no.such.app","tool":"x","args":{"password":`+string(secret)+`}}`)
}

// unknown calls an unknown app, with names of 5,000 bytes.
func (a *attacker) unknown() {
	name := strings.Repeat("a", 5000-8) + strconv.Itoa(10_000_000+rand.IntN(1_000_000))
	a.call("aai_exec", `{"app":"`+name+`","tool":"`+name+`","args":{}}`)
}

func (a *attacker) hung() {
	a.call("aai_exec", `{"app":"`+slowApp+`","tool":"sleep","args":{"ms":25000}}`)
}

// wrong sends an invalid request, in one of several ways.
func (a *attacker) wrong() {
	switch rand.IntN(4) {
	case 0:
		a.post("tools/call", "aai_exec", `{"jsonrpc":"2.0","id":1,"method":"tools/call","params":{"name":`)
	case 1:
		a.post("tools/call", "aai_exec", strings.Repeat("[", 100_000))
	case 2:
		a.post("no/such", "x", `{"jsonrpc":"2.0","id":{"x":[1,2]},"method":"no/such","params":[]}`)
	case 3: // a body that never arrives
		address, err := url.Parse(a.Address)
		if err != nil {
			return
		}
		conn, err := net.Dial("tcp", address.Host)
		if err != nil {
			time.Sleep(time.Millisecond)
			return
		}
		_, _ = fmt.Fprintf(conn, "POST /mcp HTTP/1.1\r\nHost: %s\r\nAuthorization: Bearer %s\r\nContent-Type: application/json\r\nContent-Length: 900000\r\n\r\n{\"jsonrpc\"", address.Host, a.Token)
		time.Sleep(50 * time.Millisecond)
		_ = conn.Close()
	}
}

// lookup requests a local site without a server.
func (a *attacker) lookup() {
	a.call("web_discover", fmt.Sprintf(`{"url":"http://127.0.0.1:1/%d"}`, rand.Int()))
}

// burnIfStarted does not return in a process that only uses processor time: the share in the
// variable, where 1 is a whole processor, until its input ends.
func burnIfStarted() {
	share, err := strconv.ParseFloat(os.Getenv(burnVariable), 64)
	if err != nil {
		return
	}
	var burners sync.WaitGroup
	var ended atomic.Bool
	const slice = 20 * time.Millisecond
	for ; share > 0; share-- {
		busy := time.Duration(min(share, 1) * float64(slice))
		burners.Go(func() {
			for !ended.Load() {
				for begun := time.Now(); time.Since(begun) < busy; {
				}
				time.Sleep(slice - busy)
			}
		})
	}
	_, _ = io.Copy(io.Discard, os.Stdin)
	ended.Store(true)
	burners.Wait()
	os.Exit(0)
}
