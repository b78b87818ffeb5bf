package bench

import (
	"bufio"
	"bytes"
	"context"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/audit"
	"github.com/gybob/aai-gateway/internal/testkit"
)

// pageBrowser is a minimal browser for the dashboard of a running gateway. It belongs to one
// goroutine.
type pageBrowser struct {
	client *http.Client
	origin string
	csrf   string // token in the forms of its pages
}

// BenchmarkPages measures the server's time for each page, with 100,000 calls of a month, and the
// delay from a journal line to a page's event. Both are over HTTP with the released program;
// another process writes the line.
func BenchmarkPages(b *testing.B) {
	calls, rounds := 100_000, roundLimit(b, 20)
	if os.Getenv(shortVariable) != "" {
		calls = 1000
	}
	h := newHome(b, 100)
	path := filepath.Join(h.folder, "share", "aai-gateway", "audit.jsonl")
	record := audit.New(path)
	b.Cleanup(func() { _ = record.Close() })
	fillMonth(b, record, calls)
	if _, err := record.History(b.Context(), audit.Filter{}); err != nil { // the index is complete
		b.Fatal(err)
	}
	browser := enterPage(b, h, build(b, "github.com/gybob/aai-gateway/cmd/aai-gateway"))
	browser.examine(b)
	var t table
	for _, page := range []struct{ name, path string }{
		{"now", "/now"},
		{"apps", "/apps"},
		{"an app", "/app?app=org.example.App3"},
		{"the app of the desktop", "/app?app=desktop"},
		{"the app of the gateway", "/app?app=aai"},
		{"a tool", "/tool?app=org.example.App3&tool=send_message"},
		{"a tool of the desktop", "/tool?app=desktop&tool=ax_click"},
		{"history", "/history"},
		{"history of an app", "/history?app=org.example.App3"},
		{"history of a caller and a result", "/history?caller=agent2&result=timeout"},
		{"history with a word, of an app", "/history?text=milk&app=org.example.App3"},
		{"history with a word that none has", "/history?text=nosuchword"},
		{"story", "/history/c777"},
		{"charts", "/history/charts"},
		{"charts of a week", "/history/charts?days=7"},
		{"charts of an app", "/history/charts?app=org.example.App3"},
		{"consent", "/consent"},
		{"logins", "/logins"},
		{"settings", "/settings"},
		{"what the doctor found", "/doctor"},
	} {
		took, size := browser.shown(b, page.path, rounds)
		t.judge("page: "+page.name+", p50", millis(took.median()), fmt.Sprintf("%.1f KB", float64(size)/1024), "", "≤ 30 ms", took.median() <= 30*time.Millisecond)
	}
	heard := browser.hears(b, record, rounds)
	t.judge("page: from a line of the record to the page's stream, p50", millis(heard.median()), "", "", "≤ 100 ms", heard.median() <= 100*time.Millisecond)
	t.add("page: from a line of the record to the page's stream, longest", millis(heard.quantile(1)), "", "")
	b.ReportMetric(0, "ns/op")
	fmt.Print(t.String())
}

// enterPage starts the program's dashboard and enters it. The program ends with the benchmark.
func enterPage(b *testing.B, h home, program string) *pageBrowser {
	b.Helper()
	process := exec.CommandContext(b.Context(), program, "web", "--port", "0")
	process.Env, process.Stderr = h.env("unix:path=/nonexistent"), os.Stderr
	page := testkit.StartProcess(b, process)
	b.Cleanup(page.Kill)
	link, err := url.Parse(page.ReadLine(b))
	assert.NilError(b, err)
	jar, err := cookiejar.New(nil)
	assert.NilError(b, err)
	dial := func(ctx context.Context, network, _ string) (net.Conn, error) { // as browsers resolve names below localhost
		return (&net.Dialer{}).DialContext(ctx, network, net.JoinHostPort("127.0.0.1", link.Port()))
	}
	p := &pageBrowser{client: &http.Client{Jar: jar, Transport: &http.Transport{DialContext: dial}}, origin: link.Scheme + "://" + link.Host}
	body := p.post(b, link.Path, nil)
	_, token, _ := strings.Cut(string(body), `name="csrf" value="`)
	p.csrf, _, _ = strings.Cut(token, `"`)
	assert.Assert(b, p.csrf != "", "the page has no form:\n%s", body)
	return p
}

// get loads a page.
func (p *pageBrowser) get(b *testing.B, path string) []byte {
	b.Helper()
	r, err := http.NewRequestWithContext(b.Context(), http.MethodGet, p.origin+path, nil)
	assert.NilError(b, err)
	return p.do(b, r)
}

// post sends a form.
func (p *pageBrowser) post(b *testing.B, path string, form url.Values) []byte {
	b.Helper()
	r, err := http.NewRequestWithContext(b.Context(), http.MethodPost, p.origin+path, strings.NewReader(form.Encode()))
	assert.NilError(b, err)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	r.Header.Set("Origin", p.origin)
	r.Header.Set("Sec-Fetch-Site", "same-origin")
	return p.do(b, r)
}

func (p *pageBrowser) do(b *testing.B, r *http.Request) []byte {
	b.Helper()
	response, err := p.client.Do(r)
	assert.NilError(b, err)
	defer response.Body.Close() //nolint:errcheck // it was read to its end
	body, err := io.ReadAll(response.Body)
	if err != nil || response.StatusCode != http.StatusOK {
		b.Fatalf("%s: %d, %v\n%s", r.URL.Path, response.StatusCode, err, body)
	}
	return body
}

// shown returns the time of a page that was shown before, and its bytes.
func (p *pageBrowser) shown(b *testing.B, path string, rounds int) (took samples, size int) {
	b.Helper()
	p.get(b, path)
	for range rounds {
		took.add(elapsed(func() { size = len(p.get(b, path)) }))
	}
	return took, size
}

// examine runs the doctor, and waits until the page shows the findings.
func (p *pageBrowser) examine(b *testing.B) {
	b.Helper()
	news := p.listen(b)
	body := p.post(b, "/doctor/run", url.Values{"csrf": {p.csrf}})
	for bytes.Contains(body, []byte("<progress")) || !bytes.Contains(body, []byte("<table")) {
		news.next(b, "running")
		body = p.get(b, "/doctor")
	}
}

// hears returns the times from the beginning of a journal append, by another process, to the
// page's event. Each round waits for a quiet stream, because an event combined with another one
// has already waited.
func (p *pageBrowser) hears(b *testing.B, record *audit.Journal, rounds int) (took samples) {
	b.Helper()
	news := p.listen(b)
	for i := range rounds {
		begun := time.Now()
		e := entry()
		e.Kind, e.Call = aai.Outcome, fmt.Sprint("heard", i)
		assert.NilError(b, record.Record(b.Context(), e))
		news.next(b, "journal")
		took.add(time.Since(begun))
		time.Sleep(100 * time.Millisecond)
		news.drop()
	}
	return took
}

// pageNews are the events of a page.
type pageNews struct{ kinds chan string }

// listen opens a page's stream, until the benchmark ends.
func (p *pageBrowser) listen(b *testing.B) pageNews {
	b.Helper()
	r, err := http.NewRequestWithContext(b.Context(), http.MethodGet, p.origin+"/live", nil)
	assert.NilError(b, err)
	response, err := p.client.Do(r)
	assert.NilError(b, err)
	b.Cleanup(func() { _ = response.Body.Close() })
	lines := bufio.NewScanner(response.Body)
	if !lines.Scan() { // the first line confirms the stream
		b.Fatal("the stream ends: ", lines.Err())
	}
	news := pageNews{make(chan string, 1000)}
	go func() {
		defer close(news.kinds)
		for lines.Scan() {
			if kind, is := strings.CutPrefix(lines.Text(), "event: "); is {
				news.kinds <- kind
			}
		}
	}()
	return news
}

// next waits for an event of the kind.
func (n pageNews) next(b *testing.B, kind string) {
	b.Helper()
	for got := range n.kinds {
		if got == kind {
			return
		}
	}
	b.Fatal("the stream has ended")
}

// drop discards pending events.
func (n pageNews) drop() {
	for {
		select {
		case <-n.kinds:
		default:
			return
		}
	}
}
