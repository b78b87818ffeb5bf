package bench

import (
	"bufio"
	"bytes"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"os/exec"
	"strconv"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// changer is a program that reports changes, and what a gateway says of them.
type changer struct {
	*linuxtest.Changer
	scene *scene
	uri   string // of its events
}

func (w *desktopBench) newChanger(b *testing.B) *changer {
	b.Helper()
	s := w.newScene(b, "changes")
	c := &changer{Changer: s.Changer(b), scene: s}
	c.uri = "axterminator://app/" + strconv.Itoa(c.PID) + "/events"
	s.await(b, c.PID, "checkbox Change")
	return c
}

func uriParams(uri string) string { return fmt.Sprintf(`{"uri":%q}`, uri) }

// arrivals returns the times of the lines of a stream with the word.
func arrivals(stream io.Reader, word string) <-chan time.Time {
	times := make(chan time.Time, 10_000)
	go func() {
		defer close(times)
		lines := bufio.NewReaderSize(stream, 1<<20)
		for {
			line, err := lines.ReadBytes('\n')
			if err != nil {
				return
			}
			if bytes.Contains(line, []byte(word)) {
				times <- time.Now()
			}
		}
	}()
	return times
}

// notices measures the time from a bare monitor's line for a change to the gateway's notification.
func (w *desktopBench) notices(b *testing.B) {
	c := w.newChanger(b)
	c.scene.gateway.ask(b, "resources/subscribe", uriParams(c.uri))
	notified := arrivals(c.scene.gateway.out, "notifications/resources/updated")
	monitor := exec.CommandContext(b.Context(), "dbus-monitor", "--address", c.scene.A11yAddress(b), "member='StateChanged'")
	monitor.Env = c.scene.Env
	out, err := monitor.StdoutPipe()
	assert.NilError(b, err)
	assert.NilError(b, monitor.Start())
	killAtEnd(b, monitor)
	seen := arrivals(out, "member=StateChanged")
	time.Sleep(time.Second) // the monitor and the gateway have settled
	var took samples
	for n := range roundLimit(b, 200) {
		for len(seen) > 0 || len(notified) > 0 {
			select {
			case <-seen:
			case <-notified:
			}
		}
		c.Change(b, 1, 0)
		at := awaitArrival(b, seen, "the monitor")
		took.add(max(0, awaitArrival(b, notified, "the gateway").Sub(at)))
		time.Sleep(200*time.Millisecond + time.Duration(n%50)*time.Millisecond) // later changes of one are folded into one notice
	}
	p95 := took.quantile(0.95)
	w.table.judge("event to first notice over stdio, GTK 3", medianAndP95(took), "dbus-monitor's line", more(took.median()), "p95 ≤ 20 ms", p95 <= 20*time.Millisecond)
	b.ReportMetric(float64(p95)/1e6, "ms/p95")
}

func awaitArrival(b *testing.B, times <-chan time.Time, of string) time.Time {
	b.Helper()
	select {
	case at := <-times:
		return at
	case <-time.After(10 * time.Second):
		b.Fatalf("%s says nothing of a change within ten seconds", of)
		return time.Time{}
	}
}

// programEvents are the events that a gateway has recorded.
type programEvents struct {
	Events  []struct{ Type string }
	Last    int
	Missing int
}

// after reads the events after the one with the number.
func (c *changer) after(b *testing.B, number int) (e programEvents) {
	b.Helper()
	a := c.scene.gateway.ask(b, "resources/read", uriParams(fmt.Sprintf("%s/%d", c.uri, number)))
	var r struct {
		Result struct{ Contents []struct{ Text string } }
	}
	err := json.Unmarshal(a.line, &r)
	if err == nil {
		err = json.Unmarshal([]byte(r.Result.Contents[0].Text), &e)
	}
	assert.NilError(b, err, "%.300s", a.line)
	return e
}

// completeness counts the events of a thousand changes, sent as fast as the program can.
func (w *desktopBench) completeness(b *testing.B) {
	const changes = 1000
	c := w.newChanger(b)
	last, lost, worst := c.after(b, 0).Last, 0, changes
	for range roundLimit(b, 5) {
		c.Change(b, changes, 0)
		got := 0
		for end := time.Now().Add(10 * time.Second); got < changes && time.Now().Before(end); time.Sleep(50 * time.Millisecond) {
			e := c.after(b, last)
			last, lost = e.Last, lost+e.Missing
			for _, event := range e.Events {
				switch event.Type {
				case "state_changed":
					got++
				case "events_lost":
					lost++
				}
			}
		}
		worst = min(worst, got)
	}
	w.table.judge("events of 1,000 changes at once, fewest of five times", strconv.Itoa(worst), "", fmt.Sprintf("%d lost", lost), "1,000", worst == changes && lost == 0)
	b.ReportMetric(float64(worst), "events")
}

// idleListeners measures a gateway with a client that follows a program that does nothing.
func (w *desktopBench) idleListeners(b *testing.B) {
	c := w.newChanger(b)
	time.Sleep(3 * time.Second) // the first looks are over
	while := watchDuration(40*time.Second, time.Second)
	alone := shareOfCore(b, c.scene.gateway.pid(), while)
	for _, part := range []string{"events", "tree", "state"} {
		c.scene.gateway.ask(b, "resources/subscribe", uriParams(strings.TrimSuffix(c.uri, "events")+part))
	}
	for _, uri := range []string{"axterminator://apps", "axterminator://clipboard"} {
		c.scene.gateway.ask(b, "resources/subscribe", uriParams(uri))
	}
	time.Sleep(8 * time.Second)
	share := shareOfCore(b, c.scene.gateway.pid(), while)
	w.table.judge("processor while five resources are followed and nothing happens", percent(share), "none followed "+percent(alone), fmt.Sprintf("%+.2f %%", 100*(share-alone)),
		"≤ +0.1 %", share-alone <= 0.001)
	b.ReportMetric(100*share, "%core")
}

// shareOfCore returns the part of a core that a process uses for a while.
func shareOfCore(b *testing.B, pid int, while time.Duration) float64 {
	b.Helper()
	before, begun := processorTime(b, pid), time.Now()
	time.Sleep(while)
	return float64(processorTime(b, pid)-before) / float64(time.Since(begun))
}

func percent(share float64) string { return fmt.Sprintf("%.2f %%", 100*share) }

// manySubscribers measures a gateway with a hundred clients over HTTP that follow one program.
func (w *desktopBench) manySubscribers(b *testing.B) {
	const subscribers, rate = 100, 20
	c := w.newChanger(b)
	server := w.serveHTTP(b, c.scene, "changes")
	var notices atomic.Int64
	for range subscribers {
		server.follow(b, c.uri, &notices)
	}
	time.Sleep(time.Second)
	long := watchDuration(20*time.Second, time.Second)
	c.Change(b, rate*int(long/time.Second+1), rate)
	share := shareOfCore(b, server.process.Process.Pid, long)
	each := float64(notices.Load()) / subscribers / long.Seconds()
	w.table.judge("processor, 100 subscribers of 20 events a second over HTTP", percent(share), "", fmt.Sprintf("%.1f notices a second each", each),
		"≤ 5 %", share <= 0.05 && notices.Load() > 0)
	b.ReportMetric(100*share, "%core")
}

// httpGateway is a gateway that serves MCP over HTTP.
type httpGateway struct {
	process    *exec.Cmd
	url, token string
}

func (w *desktopBench) serveHTTP(b *testing.B, s *scene, id string) *httpGateway {
	b.Helper()
	h := newHome(b, 0)
	h.configure(b, noLimits, "desktop", "desktop/"+id)
	g := &httpGateway{token: strings.Repeat("benchmark", 5)}
	g.process = exec.CommandContext(b.Context(), w.program, "mcp", "serve", "--http", "--port", "0", "--profile", "desktop")
	g.process.Env = append(s.Env, "HOME="+h.folder, "AAI_HTTP_TOKEN="+g.token)
	said, err := g.process.StderrPipe()
	assert.NilError(b, err)
	assert.NilError(b, g.process.Start())
	killAtEnd(b, g.process)
	lines := bufio.NewScanner(said)
	for lines.Scan() {
		if _, rest, ok := strings.Cut(lines.Text(), "Serving MCP at "); ok {
			g.url, _, _ = strings.Cut(rest, ";")
			go func() { _, _ = io.Copy(io.Discard, said) }()
			return g
		}
	}
	b.Fatal("the gateway does not serve")
	return nil
}

// follow opens a session that subscribes to a resource, and counts its notifications.
func (g *httpGateway) follow(b *testing.B, uri string, notices *atomic.Int64) {
	b.Helper()
	s := &httpSession{process: g.process, address: g.url, token: g.token, client: &http.Client{Transport: &http.Transport{}}}
	if _, err := s.try("initialize", initialize); err != nil {
		b.Fatal(err)
	}
	if _, _, err := s.post("notifications/initialized", `{"jsonrpc":"2.0","method":"notifications/initialized"}`); err != nil {
		b.Fatal(err)
	}
	r, err := http.NewRequestWithContext(b.Context(), http.MethodGet, g.url, nil)
	assert.NilError(b, err)
	for name, value := range map[string]string{
		"Accept": "text/event-stream", "Authorization": "Bearer " + g.token, "Mcp-Session-Id": s.session, "Mcp-Protocol-Version": "2025-11-25",
	} {
		r.Header.Set(name, value)
	}
	stream, err := s.client.Do(r)
	assert.NilError(b, err)
	b.Cleanup(func() { _ = stream.Body.Close() })
	_, err = s.try("resources/subscribe", uriParams(uri))
	assert.NilError(b, err)
	go func() {
		for range arrivals(stream.Body, "notifications/resources/updated") {
			notices.Add(1)
		}
	}()
}
