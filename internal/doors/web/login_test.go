package web_test

import (
	"context"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/google/go-cmp/cmp"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/doors/web"
	"github.com/gybob/aai-gateway/internal/gateway"
)

// TestLinksThatLetNobodyIn checks that a link of an earlier start, and a used one, show how to open the
// page; a browser with a session continues.
func TestLinksThatLetNobodyIn(t *testing.T) {
	w := newWorld(t)
	asks := func(host, accept, method string) answer {
		r := w.request(t, method, w.link, nil)
		r.Host = host + r.URL.Host[strings.LastIndex(r.URL.Host, ":"):]
		r.Header.Set("Accept", accept)
		return w.do(t, r)
	}
	const page = "text/html,*/*"
	got := asks("aai-anearlierstart.localhost", page, http.MethodGet)
	assert.Equal(t, got.status, http.StatusForbidden, got.header)
	expectTexts(t, got, "has restarted since", "aai-gateway web")
	assert.Assert(t, is.Contains(got.header.Get("Content-Security-Policy"), "default-src 'none'"), got.header)
	for _, ours := range []string{strings.TrimPrefix(w.origin(), "http://"), w.link[strings.LastIndex(w.link, "/")+1:], "/static/"} {
		assert.Check(t, !strings.Contains(got.body, ours), "it holds %q of this start:\n%s", ours, got.body)
	}
	for host, with := range map[string][2]string{"evil.example": {page, http.MethodGet}, "aai-x.localhost": {"*/*", http.MethodPost}, "aai-y.localhost": {"*/*", http.MethodGet}} {
		got := asks(host, with[0], with[1])
		assert.Check(t, is.Equal(got.status, http.StatusForbidden), "%s %s", host, got.body)
		assert.Check(t, !strings.Contains(got.body, "<html"), "%s %s", host, got.body)
	}
	w.enter(t)
	got = w.get(t, w.link)
	assert.Check(t, is.Equal(got.at, "/now"))
	assert.Check(t, is.Equal(got.status, http.StatusOK))
	w.visitor = w.newVisitor(t)
	got = w.post(t, w.link, nil)
	assert.Equal(t, got.status, http.StatusForbidden)
	expectTexts(t, got, "already used", `<a href="/">`)
	got = w.get(t, "/now")
	assert.Check(t, is.Equal(got.status, http.StatusForbidden), got.body)
	assert.Check(t, !strings.Contains(got.body, "already used"), "without a link: %d\n%s", got.status, got.body)
}

// TestButtonsOfAnEarlierStart checks that a button of a page from before a restart does nothing,
// reports that with the next step, and creates no session.
func TestButtonsOfAnEarlierStart(t *testing.T) {
	w := newWorld(t)
	w.enter(t)
	press := func(lang string, headers map[string]string) answer {
		r := w.request(t, http.MethodPost, "/now/stop", w.form(t, "/now"))
		r.Host = "aai-anearlierstart.localhost" + r.URL.Host[strings.LastIndex(r.URL.Host, ":"):]
		r.Header.Set("Origin", "http://"+r.Host)
		r.Header.Set("Accept-Language", lang)
		for name, value := range headers {
			r.Header.Set(name, value)
		}
		return w.do(t, r)
	}
	for lang, says := range map[string]string{"en": "Nothing was done.", "zh": "没有执行任何操作。"} {
		for _, headers := range []map[string]string{{"Accept": "text/html,*/*"}, {"HX-Request": "true"}} {
			got := press(lang, headers)
			for _, text := range []string{says, "<code>aai-gateway web</code>", "<code>aai-gateway stop</code>"} {
				assert.Check(t, is.Contains(got.body, text), "%s %v", lang, headers)
			}
			assert.Equal(t, got.status, http.StatusForbidden, "%s %v %v", lang, headers, got.header)
			assert.Assert(t, is.Len(got.header.Values("Set-Cookie"), 0), "%s %v %v", lang, headers, got.header)
			assert.Equal(t, got.header.Get("Content-Security-Policy"), w.get(t, "/now").header.Get("Content-Security-Policy"), "%s %v %v", lang, headers, got.header)
			assert.Check(t, is.Equal(strings.Contains(got.body, "<html"), (headers["Accept"] != "")), "%v %s", headers, got.body)
		}
	}
	got := press("en", nil)
	assert.Check(t, strings.HasPrefix(got.body, "{"), "a program gets:\n%s", got.body)
	assert.Check(t, !strings.Contains(w.get(t, "/now").body, "Everything is stopped"), "everything was stopped")
}

// TestPages checks that the page shows past calls, and that its own actions are calls, gated and
// recorded like any other.
func TestPages(t *testing.T) {
	w := newWorld(t)
	agent := aai.Caller{Door: aai.DoorMCP, Name: "claude", Identity: "/usr/bin/claude"}
	_, err := w.gateway.Do(t.Context(), &aai.Call{Caller: agent, App: aai.BuiltinApp, Tool: "apps"})
	assert.NilError(t, err)
	if got := w.get(t, "/history"); got.status != http.StatusForbidden || strings.Contains(got.body, "claude") {
		t.Errorf("somebody who has not entered sees: %d\n%s", got.status, got.body)
	}
	w.enter(t)
	if got := w.get(t, "/ui"); got.status != http.StatusOK || got.at != "/now" {
		t.Errorf("the front page is %s: %d", got.at, got.status)
	}
	got := w.get(t, "/history")
	assert.Check(t, is.Equal(got.status, http.StatusOK))
	assert.Check(t, is.Equal(got.at, "/history"))
	assert.Check(t, is.Contains(got.body, "claude"))
	again := w.get(t, "/history?looks=1")
	expectTexts(t, again, ">history<", ">page<")
	got = w.get(t, "/none")
	assert.Equal(t, got.status, http.StatusNotFound)
	assert.Assert(t, !strings.Contains(got.body, string(aai.ToolNotFound)), "a page that is none: %d", got.status)
	assert.Assert(t, is.Contains(got.body, "there is no page"))
}

// TestTheLinkLetsOneIn checks that a link works once, and that opening it does not use it up.
func TestTheLinkLetsOneIn(t *testing.T) {
	w := newWorld(t)
	for range 3 {
		got := w.get(t, w.link)
		assert.Equal(t, got.status, http.StatusOK, got.header)
		assert.Assert(t, is.Len(got.header.Values("Set-Cookie"), 0), got.header)
	}
	w.enter(t)
	got := w.newVisitor(t).post(t, w.link, nil)
	assert.Check(t, is.Equal(got.status, http.StatusForbidden), "the link lets a second one in: %d", got.status)
	got = w.get(t, "/history")
	assert.Check(t, is.Equal(got.status, http.StatusOK), "the first one is out again: %d", got.status)
}

// TestLanguages checks that a browser gets its language, until the person chooses one.
func TestLanguages(t *testing.T) {
	w := newWorld(t)
	w.enter(t)
	in := func(accepts string) string {
		r := w.request(t, http.MethodGet, "/history", nil)
		r.Header.Set("Accept-Language", accepts)
		return w.do(t, r).body
	}
	got := in("de, zh-TW;q=0.8, en;q=0.5")
	assert.Assert(t, is.Contains(got, `<html lang="zh">`))
	assert.Assert(t, is.Contains(got, "历史"))
	got = in("de")
	assert.Check(t, is.Contains(got, `<html lang="en">`), "who reads neither gets:\n%s", got)
	form := w.form(t, "/history")
	form.Set("language", "zh")
	form.Set("back", "/history?app=x")
	if got := w.post(t, "/language", form); got.at != "/history" || !strings.Contains(got.body, "历史") {
		t.Errorf("the choice of a language: %s\n%s", got.at, got.body)
	}
	got = in("en")
	assert.Check(t, is.Contains(got, `<html lang="zh">`), "the choice was forgotten:\n%s", got)
}

// TestTheExaminationEndsWithTheDoor checks that an examination continues without its browser, and ends
// with the door.
func TestTheExaminationEndsWithTheDoor(t *testing.T) {
	w := newWorld(t)
	began, ended := make(chan struct{}), make(chan struct{})
	app, err := w.gateway.Catalog.Find(t.Context(), aai.BuiltinApp)
	assert.NilError(t, err)
	app.Tool("doctor").Run = func(ctx context.Context, _ *aai.Call) (*aai.Result, error) {
		close(began)
		<-ctx.Done()
		close(ended)
		return nil, ctx.Err()
	}
	door, err := web.New(web.Config{Gateway: w.gateway})
	assert.NilError(t, err)
	l, err := door.Listen(t.Context(), 0)
	assert.NilError(t, err)
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	served := make(chan error, 1)
	go func() { served <- door.Serve(ctx, l) }()
	w.link, w.address = door.Link(), l.Addr().String()
	w.enter(t)
	expectPage(t, w.post(t, "/doctor/run", w.form(t, "/doctor")), "under way")
	<-began
	select {
	case <-ended:
		t.Fatal("it has ended with the request")
	default:
	}
	cancel()
	<-served
	select {
	case <-ended:
	default:
		t.Error("the door has ended, and what it began goes on")
	}
}

// TestNobodyElseListensAtThePagesName: a name below localhost is both addresses of this computer, and
// Chromium tries ::1 first. A server there with the page's port, such as one of another account, would
// receive the link, and the cookie of every request.
func TestNobodyElseListensAtThePagesName(t *testing.T) {
	w := newWorld(t)
	_, port, err := net.SplitHostPort(w.address)
	assert.NilError(t, err)
	six := net.JoinHostPort("::1", port)
	if l, err := net.Listen("tcp6", six); err == nil {
		_ = l.Close()
		t.Fatalf("another server could listen at %s, where browsers look for the page", six)
	}
	for _, address := range []string{w.address, six} {
		client := &http.Client{Transport: &http.Transport{DialContext: func(ctx context.Context, _, _ string) (net.Conn, error) {
			return (&net.Dialer{}).DialContext(ctx, "tcp", address)
		}}}
		r, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.origin()+"/", nil)
		assert.NilError(t, err)
		answer, err := client.Do(r)
		assert.NilError(t, err)
		_ = answer.Body.Close()
		client.CloseIdleConnections()
		assert.Check(t, answer.Header.Get("Content-Security-Policy") != "", "at %s somebody else answers: %v", address, answer.Header)
	}
}

// TestAPortThatIsHalfTaken checks that the page is not opened if one of its addresses is in use.
func TestAPortThatIsHalfTaken(t *testing.T) {
	taken, err := net.Listen("tcp6", "[::1]:0")
	assert.NilError(t, err)
	defer taken.Close() //nolint:errcheck // it ends with the test
	door, err := web.New(web.Config{Gateway: &gateway.Gateway{}})
	assert.NilError(t, err)
	at, _ := taken.Addr().(*net.TCPAddr)
	l, err := door.Listen(t.Context(), at.Port)
	if err == nil {
		_ = l.Close()
		t.Fatal("it is open at 127.0.0.1 while another server is at ::1")
	}
	e := aai.AsError(err)
	assert.Equal(t, e.Code, aai.InvalidParams, "%+v", e)
	assert.Assert(t, is.Contains(e.Message, "httpPort"), "%+v", e)
	assert.Assert(t, e.Hint != "", "%+v", e)
	free, err := net.Listen("tcp4", net.JoinHostPort("127.0.0.1", strings.TrimPrefix(taken.Addr().String(), "[::1]:")))
	assert.NilError(t, err, "what was opened is not closed: %v", err)
	_ = free.Close()
}

// TestDashboardHosts checks that a dashboard is listed while it is served, and not after its gateway has ended.
func TestDashboardHosts(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "pages")
	want := func(hosts ...string) {
		t.Helper()
		got, err := web.DashboardHosts(folder)
		if diff := cmp.Diff(hosts, got); err != nil || diff != "" {
			t.Errorf("%v (-want +got):\n%s", err, diff)
		}
	}
	want()
	end, err := web.AnnounceDashboard(folder, "aai-X.localhost:3000")
	assert.NilError(t, err)
	want("aai-x.localhost:3000")
	left := filepath.Join(folder, "left.page")
	assert.NilError(t, os.WriteFile(left, []byte("aai-old.localhost:3000"), 0o600))
	want("aai-x.localhost:3000")
	_, err = os.Stat(left)
	assert.Check(t, err != nil, "what a gateway left behind that ended is still there")
	end()
	want()
}

// TestAnnounceDuringDashboardHosts checks that a dashboard that starts during a lookup is listed. A new
// file without a lock looks like one of an ended gateway.
func TestAnnounceDuringDashboardHosts(t *testing.T) {
	folder := filepath.Join(t.TempDir(), "pages")
	over := make(chan struct{})
	var looking sync.WaitGroup
	for range 4 {
		looking.Go(func() {
			for {
				select {
				case <-over:
					return
				default:
					_, _ = web.DashboardHosts(folder) // only the lookup's effect matters
				}
			}
		})
	}
	for i := range 100 {
		end, err := web.AnnounceDashboard(folder, "aai-x.localhost:3000")
		if err != nil {
			t.Errorf("start %d: %v", i, err)
			break
		}
		hosts, err := web.DashboardHosts(folder)
		if err != nil || !slices.Contains(hosts, "aai-x.localhost:3000") {
			t.Errorf("start %d: the page is shown, and tools on windows do not know it: %v, %v", i, hosts, err)
			break
		}
		end()
	}
	close(over)
	looking.Wait()
}
