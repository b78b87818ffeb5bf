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

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway/internal/testkit"
)

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
	b.ReportMetric(0, "ns/op")
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
