package webapi

import (
	"context"
	"encoding/json"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"pgregory.net/rapid"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/gateway"
)

// oracle is a server, and a tool that puts one value into its path and one into its query.
type oracle struct {
	*server
	action aai.Action
}

func newOracle(t testing.TB) *oracle {
	o := &oracle{server: serve(t, answers(http.StatusNoContent, "", ""))}
	o.action = compile(t, newDriver(t), recipe(o.URL+"/v1", http.MethodGet, "/items/{id}/parts", "id", "q"))
	return o
}

// check calls the tool with the values. Either nothing is sent, or the server gets them only in
// their places.
func (o *oracle) check(t testing.TB, id, q string) {
	before := len(o.requests())
	_, err := o.action(soon(t), &aai.Call{Args: map[string]any{"id": id, "q": q}})
	if err != nil {
		e := aai.AsError(err)
		if e.Code != aai.InvalidParams || !strings.HasPrefix(e.Message, "id: ") || e.Delivery != aai.NotDelivered || len(o.requests()) != before {
			t.Fatalf("%q: %v, and %d requests", id, err, len(o.requests())-before)
		}
		assert.Assert(t, id == "" || strings.Contains(id, "\x00") || id == "." || strings.Contains(id, ".."), "%q is refused: %v", id, err)
		return
	}
	got := o.last(t)
	assert.Equal(t, got.Host, strings.TrimPrefix(o.URL, "http://"), "%q: the host became %q", id, got.Host)
	path, query, _ := strings.Cut(got.RequestURI, "?")
	segments := strings.Split(path, "/")
	assert.Assert(t, is.Len(segments, 5), "%q %q", id, path)
	assert.Equal(t, segments[1], "v1", "%q %q", id, path)
	assert.Equal(t, segments[2], "items", "%q %q", id, path)
	assert.Equal(t, segments[4], "parts", "%q %q", id, path)
	if value, err := url.PathUnescape(segments[3]); err != nil || value != id {
		t.Fatalf("%q: arrived as %q", id, segments[3])
	}
	values, err := url.ParseQuery(query)
	assert.NilError(t, err, "%q", query)
	assert.Assert(t, is.Len(values, 1), "%q", query)
	assert.Assert(t, is.Len(values["q"], 1), "%q", query)
	assert.Equal(t, values["q"][0], q, "%q", query)
	assert.Equal(t, got.Method, http.MethodGet, "%q %v", id, got.Header)
	assert.Equal(t, got.body, "", "%q %v", id, got.Header)
	assert.Assert(t, len(got.Header) <= 4, "%q: the request became %s %v %q", id, got.Method, got.Header, got.body)
}

// hostileValues returns known attacks on paths and queries.
func hostileValues() []string {
	return []string{
		"", ".", "..", "../..", "..%2f..", "%2e%2e", "%2e%2e%2f", "..\\..", "..;/admin", "a/../../b", "...", "a..b",
		"a/b", "/", "//evil.example.com", "\\evil", "@evil.example.com", ":8080", "?admin=1", "&admin=1", "a&b=c", "#x", "a#b", "a?b",
		"a b", "a+b", "100%", "%", "%zz", "%00", "a\x00b", "\r\nHost: evil", "x HTTP/1.1\r\nX: y", "\n", "\t", "ä", "日本", "\u202e", "👩‍🚀",
		"{id}", "${id}", "{{q}}", ";jsessionid=1", "'; DROP TABLE items; --", "\"", "<script>", "[", "]", "|", "^", "`", strings.Repeat("a", 5000),
	}
}

func TestRow17PathInjection(t *testing.T) {
	o := newOracle(t)
	for _, value := range hostileValues() {
		o.check(t, value, "x")
		o.check(t, "x", value)
	}
}

func TestAttackPathInjectionProperty(t *testing.T) {
	o := newOracle(t)
	characters := rapid.OneOf(rapid.RuneFrom([]rune("./\\%?#&=;:@+ \x00\r\n2eEfF{}")), rapid.Rune())
	value := rapid.OneOf(rapid.StringOf(characters), rapid.SampledFrom(hostileValues()))
	rapid.Check(t, func(rt *rapid.T) {
		o.check(t, value.Draw(rt, "id"), value.Draw(rt, "q"))
	})
}

func FuzzPathInjection(f *testing.F) {
	o := newOracle(f)
	for _, value := range hostileValues() {
		f.Add(value, value)
	}
	f.Fuzz(func(t *testing.T, id, q string) { o.check(t, id, q) })
}

// Two parameters in one segment cannot combine to a forbidden text.
func TestPathOfTwoParameters(t *testing.T) {
	s := serve(t, answers(http.StatusNoContent, "", ""))
	action := compile(t, newDriver(t), recipe(s.URL, http.MethodGet, "/x/{a}{b}/y", "a", "b"))
	for _, c := range [][2]string{{".", "."}, {"a/.", "./b"}, {"a/.", "."}} {
		e := fail(t, action, map[string]any{"a": c[0], "b": c[1]}, aai.InvalidParams, aai.NotDelivered)
		assert.Assert(t, is.Len(s.requests(), 0), "%q %s", c, e.Message)
	}
	run(t, action, map[string]any{"a": "1.", "b": ".2"})
	assert.Check(t, is.Equal(s.last(t).RequestURI, "/x/1..2/y"))
}

// Some servers treat a backslash as a slash.
func TestPathTakesNoBackslashUp(t *testing.T) {
	s := serve(t, answers(http.StatusNoContent, "", ""))
	action := compile(t, newDriver(t), recipe(s.URL, http.MethodGet, "/x/{id}/y", "id"))
	for _, value := range []string{`..\..`, `a\..`, `..\x`, `a\../b`} {
		fail(t, action, map[string]any{"id": value}, aai.InvalidParams, aai.NotDelivered)
	}
	sent := s.requests()
	assert.Check(t, is.Len(sent, 0), "%d were sent", len(sent))
}

func TestPathTakesScalarsOnly(t *testing.T) {
	s := serve(t, answers(http.StatusNoContent, "", ""))
	action := compile(t, newDriver(t), recipe(s.URL+"/api/", http.MethodGet, "/{id}.json", "id"))
	for _, c := range []struct {
		value any
		want  string
	}{
		{json.Number("12345678901234567890123"), "/api/12345678901234567890123.json"},
		{json.Number("1.50"), "/api/1.50.json"},
		{float64(7), "/api/7.json"},
		{int64(-3), "/api/-3.json"},
		{true, "/api/true.json"},
		{"a/b c", "/api/a%2Fb%20c.json"},
	} {
		run(t, action, map[string]any{"id": c.value})
		assert.Check(t, is.Equal(s.last(t).RequestURI, c.want), c.value)
	}
	n := len(s.requests())
	for _, value := range []any{nil, []any{"a"}, map[string]any{"a": "b"}, []any{}} {
		e := fail(t, action, map[string]any{"id": value}, aai.InvalidParams, aai.NotDelivered)
		assert.Check(t, strings.HasPrefix(e.Message, "id: "), "%v %s", value, e.Message)
	}
	fail(t, action, nil, aai.InvalidParams, aai.NotDelivered)
	assert.Check(t, is.Len(s.requests(), n), "a refused call was sent")
}

// The literal text of a path is sent as the descriptor defines it.
func TestPathOfText(t *testing.T) {
	s := serve(t, answers(http.StatusNoContent, "", ""))
	for path, want := range map[string]string{
		"/":             "/",
		"/a/":           "/a/",
		"/a%20b":        "/a%20b",
		"/a b":          "/a%20b",
		"/a%2Fb":        "/a%2Fb",
		"/ä":            "/%C3%A4",
		"/v1/x:cancel":  "/v1/x:cancel",
		"/a,b;c=d@e!f*": "/a,b;c=d@e!f*",
		"/\"<>|^`":      "/%22%3C%3E%7C%5E%60",
	} {
		run(t, compile(t, newDriver(t), recipe(s.URL, http.MethodGet, path)), nil)
		got := s.last(t)
		assert.Check(t, is.Equal(got.RequestURI, want), path)
	}
}

// The limit applies to an origin, over all tools.
func TestLimitOfAnOrigin(t *testing.T) {
	one, other := serve(t, answers(http.StatusNoContent, "", "")), serve(t, answers(http.StatusNoContent, "", ""))
	d := New(Config{Client: plainClient(t), Rate: 0.001, Burst: 2})
	get := compile(t, d, recipe(one.URL, http.MethodGet, "/a"))
	post := compile(t, d, recipe(one.URL+"/v1", http.MethodPost, "/b"))
	run(t, get, nil)
	run(t, post, nil)
	e := fail(t, post, nil, aai.RateLimited, aai.NotDelivered)
	assert.Check(t, e.RetryAfter >= 15*time.Minute, "the next turn is said to be in %s", e.RetryAfter)
	assert.Check(t, e.RetryAfter <= 1000*time.Second, "the next turn is said to be in %s", e.RetryAfter)
	again := fail(t, get, nil, aai.RateLimited, aai.NotDelivered)
	assert.Check(t, again.RetryAfter <= e.RetryAfter, "a refused call took a turn: %s, then %s", e.RetryAfter, again.RetryAfter)
	run(t, compile(t, d, recipe(other.URL, http.MethodGet, "/")), nil)
	a, b := len(one.requests()), len(other.requests())
	assert.Check(t, is.Equal(a, 2))
	assert.Check(t, is.Equal(b, 1))
}

// Calls get their slots in order of arrival, each without unnecessary delay.
func TestTurnsAreInOrder(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimits(10, 1).of("https://example.com")
		begun := time.Now()
		var mu sync.Mutex
		var order []int
		var all sync.WaitGroup
		for i := range 20 {
			all.Go(func() {
				time.Sleep(time.Duration(i) * time.Millisecond)
				err := l.wait(t.Context())
				assert.Check(t, err == nil, err)
				mu.Lock()
				defer mu.Unlock()
				order = append(order, i)
			})
		}
		all.Wait()
		for i, got := range order {
			assert.Equal(t, got, i, "the turns were %v", order)
		}
		took := time.Since(begun).Round(100 * time.Millisecond)
		assert.Check(t, took == 1900*time.Millisecond, "20 turns of 10 a second took %s", took)
	})
}

// A cancelled wait frees its slot.
func TestATurnGivenUp(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		l := newLimits(1, 1).of("https://example.com")
		err := l.wait(t.Context())
		assert.Assert(t, err == nil, err)
		ctx, cancel := context.WithCancel(t.Context())
		time.AfterFunc(100*time.Millisecond, cancel)
		err = l.wait(ctx)
		assert.Assert(t, err != nil, err)
		assert.Equal(t, err.Code, aai.AutomationFailed, err)
		assert.Equal(t, err.Delivery, aai.NotDelivered, err)
		begun := time.Now()
		err = l.wait(t.Context())
		assert.Assert(t, err == nil, err)
		took := time.Since(begun)
		assert.Check(t, took <= time.Second, "the turn came after %s", took)
	})
}

// A retry takes a slot like any other request.
func TestRetriesTakeTurns(t *testing.T) {
	s := serve(t, failing(9, http.StatusBadGateway, nil))
	d := New(Config{Client: plainClient(t), Rate: 0.001, Burst: 2})
	fail(t, compile(t, d, recipe(s.URL, http.MethodGet, "/")), nil, aai.RateLimited, aai.Delivered)
	assert.Check(t, is.Equal(len(s.requests()), 2))
}

// progress is one progress message.
type progress struct {
	mu    sync.Mutex
	done  []float64
	total float64
	words string
}

func (p *progress) hear(done, total float64, message string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.done, p.total, p.words = append(p.done, done), total, message
}

func TestProgressOfALongDownload(t *testing.T) {
	const size = 3 << 20
	for _, known := range []bool{true, false} {
		s := serve(t, func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("Content-Type", "application/zip")
			if known {
				w.Header().Set("Content-Length", strconv.Itoa(size))
			}
			_, _ = w.Write(make([]byte, size))
		})
		var p progress
		action := compile(t, newDriver(t), recipe(s.URL, http.MethodGet, "/"))
		_, err := action(gateway.WithProgress(soon(t), p.hear), &aai.Call{})
		assert.NilError(t, err)
		assert.Assert(t, len(p.done) >= 5, "%d reports of %v: %q", len(p.done), p.total, p.words)
		assert.Equal(t, p.words, "Downloading from "+s.URL, "%d %v", len(p.done), p.total)
		assert.Equal(t, (p.total == size), known, "%d %v", len(p.done), p.total)
		assert.Assert(t, known || p.total == 0, "%d reports of %v: %q", len(p.done), p.total, p.words)
		for i, done := range p.done {
			if done > size || i > 0 && done <= p.done[i-1] {
				t.Errorf("the reports are %v", p.done)
				break
			}
		}
	}
}

// A short download leaves progress to the gateway's heartbeat.
func TestNoProgressOfAShortDownload(t *testing.T) {
	s := serve(t, answers(http.StatusOK, "text/plain", strings.Repeat("x", 1000)))
	var p progress
	action := compile(t, newDriver(t), recipe(s.URL, http.MethodGet, "/"))
	_, err := action(gateway.WithProgress(soon(t), p.hear), &aai.Call{})
	assert.NilError(t, err)
	assert.Assert(t, is.Len(p.done, 0))
}

func TestSizeText(t *testing.T) {
	for n, want := range map[int64]string{0: "0 bytes", 1: "1 byte", 1023: "1023 bytes", 4 << 20: "4 MiB", 5<<20 + 600<<10: "5.6 MiB"} {
		assert.Check(t, is.Equal(sizeText(n), want), "%d", n)
	}
}
