package bench

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"strings"
	"testing"
	"time"

	godbus "github.com/godbus/dbus/v5"
	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway/internal/testkit"
)

// The apps on the bus.
const (
	fastApp = "org.example.Fast"
	slowApp = "org.example.Slow"
)

// fixedTools is the number of tools that the gateway always lists: aai_exec, the desktop's entry
// and web_discover.
const fixedTools = 3

// world is the shared data of the benchmarks of the whole program.
type world struct {
	gateway, bare string // programs
	bus           *testkit.Bus
	table         table
}

// BenchmarkGateway measures the whole program and prints a table. Each of its benchmarks runs all
// of its rounds once, regardless of -benchtime.
func BenchmarkGateway(b *testing.B) {
	w := &world{
		gateway: build(b, "github.com/gybob/aai-gateway/cmd/aai-gateway"),
		bare:    build(b, "github.com/gybob/aai-gateway/bench/peers/baresdk"),
		bus:     testkit.StartBus(b),
	}
	w.serve(b, fastApp)
	w.serve(b, slowApp)
	runOnce(b, "Start", w.start)
	runOnce(b, "Search", w.search)
	runOnce(b, "Exec", w.exec)
	runOnce(b, "Script", w.script)
	runOnce(b, "Flow", w.workflowSteps)
	runOnce(b, "Web", w.web)
	runOnce(b, "Load", w.load)
	runOnce(b, "Isolation", w.isolation)
	runOnce(b, "Hung", w.hungService)
	runOnce(b, "WorstMix", w.underAttack)
	runOnce(b, "Size", w.size)
	fmt.Print(w.table.String())
}

// TestMain makes this binary also the apps, when the bus starts it as one.
func TestMain(m *testing.M) {
	testkit.ServeIfActivated()
	serveSiteIfStarted()
	attackIfStarted()
	burnIfStarted()
	os.Exit(m.Run())
}

// serve lets the bus start an app, in its own process as real ones are.
func (w *world) serve(b *testing.B, app string) {
	b.Helper()
	w.bus.AddService(b, app, "/usr/bin/env", testkit.ServiceEnv+"="+app, os.Args[0])
	busCall(b, w.bus.Connect(b).Object(app, testkit.ServicePath))
}

// start measures the time from the start of the process to its tool list.
func (w *world) start(b *testing.B) {
	rounds := roundLimit(b, 40)
	counts := []int{0, 100, 1000}
	homes := make([]home, len(counts))
	for i, n := range counts {
		homes[i] = newHome(b, n)
	}
	var bare samples
	ours := make([]samples, len(counts))
	for range rounds {
		bare.add(w.started(b, homes[0], w.bare, 1))
		for i, n := range counts {
			ours[i].add(w.started(b, homes[i], w.gateway, listed(n)))
		}
	}
	floor := bare.median()
	none, hundred, thousand := ours[0].median(), ours[1].median(), ours[2].median()
	beside := "bare SDK " + millis(floor)
	w.table.add("start to tools/list, no descriptors", millis(none), beside, more(none-floor))
	w.table.judge("start to tools/list, 100 descriptors", millis(hundred), beside, more(hundred-floor),
		"≤ +15 ms", hundred-floor <= 15*time.Millisecond)
	w.table.judge("start to tools/list, 1,000 descriptors", millis(thousand), "100 descriptors "+millis(hundred), more(thousand-hundred),
		"≤ +60 ms", thousand-hundred <= 60*time.Millisecond)
	b.ReportMetric(float64(hundred)/1e6, "ms/start100")
	b.ReportMetric(float64(thousand)/1e6, "ms/start1000")
}

func (w *world) started(b *testing.B, h home, program string, tools int) time.Duration {
	b.Helper()
	begun := time.Now()
	s := startServer(b, h.env(w.bus.Address), program)
	s.handshake(b, tools)
	took := time.Since(begun)
	s.end(b)
	return took
}

// callDescriptor returns the descriptor of an app on the bus with the tools' methods.
func callDescriptor(id string) string {
	return fmt.Sprintf(`{"schema_version": "1.0", "appId": %q, "name": "App", "description": "An app.",
  "platforms": {"linux": {"automation": "dbus", "service": %q, "object": %q, "interface": %q, "tools": [
    {"name": "read", "description": "Answers with its argument.", "effect": "reads", "method": "EchoString",
      "parameters": {"type": "object", "properties": {"v": {"type": "string", "maxLength": 1000}}, "required": ["v"]}},
    {"name": "change", "description": "Answers with its argument.", "effect": "changes", "method": "EchoString",
      "parameters": {"type": "object", "properties": {"v": {"type": "string", "maxLength": 1000}}, "required": ["v"]}},
    {"name": "sleep", "description": "Sleeps.", "effect": "reads", "method": "Sleep", "timeout": 300,
      "parameters": {"type": "object", "properties": {"ms": {"type": "integer"}}, "required": ["ms"]}}]}}}`,
		id, id, testkit.ServicePath, testkit.ServiceInterface)
}

// The calls, as params of tools/call.
const (
	echoCall   = `{"name":"echo","arguments":{"v":"hello"}}`
	readCall   = `{"name":"aai_exec","arguments":{"app":"` + fastApp + `","tool":"read","args":{"v":"hello"}}}`
	changeCall = `{"name":"aai_exec","arguments":{"app":"` + fastApp + `","tool":"change","args":{"v":"hello"}}}`
	sleepCall  = `{"name":"aai_exec","arguments":{"app":"` + slowApp + `","tool":"sleep","args":{"ms":30000}}}`
)

// openGateway starts a gateway with the two apps allowed.
func (w *world) openGateway(b *testing.B) *session {
	b.Helper()
	return w.openWith(b, fastApp, slowApp)
}

// openWith starts a gateway with the apps on the bus allowed.
func (w *world) openWith(b *testing.B, apps ...string) *session {
	b.Helper()
	h := newHome(b, 0)
	for _, app := range apps {
		h.install(b, app, callDescriptor(app))
	}
	h.allow(b, apps...)
	return open(b, h.env(w.bus.Address), w.gateway, listed(len(apps)))
}

// exec measures one call at a time, compared with the same method called without a gateway and a
// tool of a server that calls nothing. A call that changes something waits for the disk, so its
// baseline includes a bare flush.
func (w *world) exec(b *testing.B) {
	const calls = 25
	rounds := roundLimit(b, 200)
	gateway, bare := w.openGateway(b), open(b, newHome(b, 0).env(w.bus.Address), w.bare, 1)
	object := w.bus.Connect(b).Object(fastApp, testkit.ServicePath)
	disk := newDisk(b)

	var bus, echo, read, change, flush samples
	for range rounds {
		for range calls {
			bus.add(busCall(b, object))
		}
		for range calls {
			echo.add(bare.timed(b, echoCall))
		}
		for range calls {
			read.add(gateway.timed(b, readCall))
		}
		for range calls / 5 {
			change.add(gateway.timed(b, changeCall))
			flush.add(disk.flush(b))
		}
	}
	floor := bus.median() + echo.median()
	beside := fmt.Sprintf("bus %s + bare SDK %s", millis(bus.median()), millis(echo.median()))
	r := ratio(read.median(), floor)
	w.table.judge("aai_exec of a tool that reads, p50", millis(read.median()), beside, times(r), "≤ 1.4×", r <= 1.4)
	w.tail("aai_exec of a tool that reads, p99", read, bus, echo)
	c := ratio(change.median(), floor+flush.median())
	w.table.judge("aai_exec of a tool that changes, p50", millis(change.median()), fmt.Sprintf("the same + disk %s", millis(flush.median())),
		times(c), "≤ 1.4×", c <= 1.4)
	w.tail("aai_exec of a tool that changes, p99", change, bus, echo, flush)
	b.ReportMetric(float64(read.median())/1e3, "µs/read")
	b.ReportMetric(float64(change.median())/1e3, "µs/change")
}

// tail reports the slowest hundredth of the calls.
func (w *world) tail(figure string, ours samples, floor ...samples) {
	a, sum := ours.quantile(0.99), time.Duration(0)
	for _, f := range floor {
		sum += f.quantile(0.99)
	}
	w.table.add(figure, millis(a), "sum of the p99 "+millis(sum), times(ratio(a, sum)))
}

func busCall(b *testing.B, object godbus.BusObject) time.Duration {
	b.Helper()
	begun := time.Now()
	var out string
	err := object.Call(testkit.ServiceInterface+".EchoString", 0, "hello").Store(&out)
	assert.NilError(b, err)
	assert.Equal(b, out, "hello")
	return time.Since(begun)
}

// disk is a file on the journal's file system.
type disk struct{ file *os.File }

func newDisk(b *testing.B) disk {
	b.Helper()
	file, err := os.OpenFile(b.TempDir()+"/flushed", os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	assert.NilError(b, err)
	b.Cleanup(func() { _ = file.Close() })
	return disk{file}
}

// flush returns the time to flush one line to disk.
func (d disk) flush(b *testing.B) time.Duration {
	b.Helper()
	begun := time.Now()
	_, err := d.file.Write(make([]byte, 300))
	assert.NilError(b, err)
	assert.NilError(b, d.file.Sync())
	return time.Since(begun)
}

// load measures many concurrent calls, of an idle gateway and of one that waits for an app that
// does not answer.
func (w *world) load(b *testing.B) {
	const calls, width = 640, 64
	rounds := roundLimit(b, 40)
	quiet, busy := w.openGateway(b), w.openGateway(b)
	busy.send(b, "tools/call", sleepCall)
	var undisturbed, disturbed samples
	for range rounds {
		quiet.load(b, readCall, calls, width, &undisturbed)
		busy.load(b, readCall, calls, width, &disturbed)
	}
	for _, q := range []struct {
		name string
		q    float64
	}{{"p50", 0.5}, {"p99", 0.99}} {
		ours, beside := disturbed.quantile(q.q), undisturbed.quantile(q.q)
		figure := fmt.Sprintf("%d calls at once beside a hung app, %s", width, q.name)
		r := ratio(ours, beside)
		if q.name == "p50" {
			w.table.add(figure, millis(ours), "no hung app "+millis(beside), times(r))
			continue
		}
		w.table.judge(figure, millis(ours), "no hung app "+millis(beside), times(r), "≤ 2×", r <= 2)
	}
	b.ReportMetric(float64(disturbed.quantile(0.99))/1e3, "µs/p99")
}

// A web app and the calls of its tools.
const (
	webApp        = "org.example.web"
	webCall       = `{"name":"aai_exec","arguments":{"app":"` + webApp + `","tool":"read","args":{"id":"7","v":"hello"}}}`
	webChangeCall = `{"name":"aai_exec","arguments":{"app":"` + webApp + `","tool":"change","args":{"id":"7","v":"hello"}}}`
)

// webDescriptor returns the descriptor of a site with a tool that reads and one that acts.
func webDescriptor(base string) string {
	return fmt.Sprintf(`{"schema_version": "1.0", "version": "1.0.0", "platform": "web",
  "app": {"id": %q, "name": "Web", "description": "A web app."}, "execution": {"type": "http", "base_url": %q},
  "tools": [{"name": "read", "description": "Reads.", "method": "GET", "path": "/things/{id}",
    "parameters": {"type": "object", "properties": {"id": {"type": "string"}, "v": {"type": "string", "maxLength": 1000}}, "required": ["id"]}},
    {"name": "change", "description": "Changes.", "method": "POST", "path": "/things/{id}", "effect": "changes",
    "parameters": {"type": "object", "properties": {"id": {"type": "string"}, "v": {"type": "string", "maxLength": 1000}}, "required": ["id"]}}]}`, webApp, base)
}

// siteVariable makes this binary a web site, in its own process as real ones are.
const siteVariable = "AAI_BENCH_SITE"

const siteAnswer = `{"id": "7", "title": "A thing", "tags": ["a", "b", "c"], "size": 12345}`

// serveSiteIfStarted does not return in the process of a site. That prints its address and ends
// with its input.
func serveSiteIfStarted() {
	if os.Getenv(siteVariable) == "" {
		return
	}
	site := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		_, _ = io.WriteString(w, siteAnswer)
	}))
	fmt.Println(site.URL)
	_, _ = io.Copy(io.Discard, os.Stdin)
	os.Exit(0)
}

// startSite starts a site and returns its address.
func startSite(b *testing.B) string {
	b.Helper()
	process := exec.CommandContext(b.Context(), os.Args[0])
	process.Env = append(os.Environ(), siteVariable+"=1")
	site := testkit.StartProcess(b, process)
	b.Cleanup(func() { _ = site.Close() })
	return site.ReadLine(b)
}

// web measures one call at a time of a loopback site, compared with the same request by Go's own
// client and a tool of a server that calls nothing.
func (w *world) web(b *testing.B) {
	const calls = 25
	rounds := roundLimit(b, 200)
	site := startSite(b)
	h := newHome(b, 0)
	h.install(b, webApp, webDescriptor(site))
	h.allow(b, webApp)
	gateway := open(b, append(h.env(w.bus.Address), "AAI_WEB_RATE=10000", "AAI_DEV=true"), w.gateway, 1+fixedTools)
	bare := open(b, newHome(b, 0).env(w.bus.Address), w.bare, 1)
	client := &http.Client{Transport: &http.Transport{}}
	b.Cleanup(client.CloseIdleConnections)

	disk := newDisk(b)

	var request, echo, read, post, change, flush samples
	for range rounds {
		for range calls {
			request.add(webRequest(b, client, http.MethodGet, site+"/things/7?v=hello", ""))
		}
		for range calls {
			echo.add(bare.timed(b, echoCall))
		}
		for range calls {
			read.add(gateway.timed(b, webCall))
		}
		for range calls / 5 {
			post.add(webRequest(b, client, http.MethodPost, site+"/things/7", `{"v":"hello"}`))
			change.add(gateway.timed(b, webChangeCall))
			flush.add(disk.flush(b))
		}
	}
	floor := request.median() + echo.median()
	r := ratio(read.median(), floor)
	w.table.judge("aai_exec of a web tool that reads, p50", millis(read.median()),
		fmt.Sprintf("bare request %s + bare SDK %s", millis(request.median()), millis(echo.median())), times(r), "≤ 1.4×", r <= 1.4)
	w.tail("aai_exec of a web tool that reads, p99", read, request, echo)
	floor = post.median() + echo.median() + flush.median()
	c := ratio(change.median(), floor)
	w.table.judge("aai_exec of a web tool that acts, p50", millis(change.median()),
		fmt.Sprintf("bare request %s + bare SDK %s + disk %s", millis(post.median()), millis(echo.median()), millis(flush.median())), times(c), "≤ 1.4×", c <= 1.4)
	b.ReportMetric(float64(read.median())/1e3, "µs/web")
}

func webRequest(b *testing.B, client *http.Client, method, url, sent string) time.Duration {
	b.Helper()
	begun := time.Now()
	r, err := http.NewRequest(method, url, strings.NewReader(sent))
	assert.NilError(b, err)
	if sent != "" {
		r.Header.Set("Content-Type", "application/json")
	}
	resp, err := client.Do(r)
	assert.NilError(b, err)
	body, err := io.ReadAll(resp.Body)
	_ = resp.Body.Close()
	assert.NilError(b, err)
	assert.Equal(b, string(body), siteAnswer)
	return time.Since(begun)
}
