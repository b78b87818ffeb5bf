package web_test

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"
	"net/url"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	answers "github.com/gybob/aai-gateway/internal/answer"
	"github.com/gybob/aai-gateway/internal/audit"
	"github.com/gybob/aai-gateway/internal/gateway"
	"github.com/gybob/aai-gateway/internal/gateway/active"
)

// publishing makes a gateway publish its active calls, and end those that the person stops.
func publishing(t *testing.T, state string, g *gateway.Gateway) *active.StopList {
	t.Helper()
	halts := active.NewStopList(active.StopConfig{
		Path: filepath.Join(state, "halt", "stopped"), OnChange: g.CancelStopped,
		Exempt: func(who gateway.CallScope) bool { return who.App == aai.BuiltinApp && who.Caller.Door == aai.DoorWeb },
	})
	teller := active.NewPublisher(filepath.Join(state, "running"), g.Active, slog.New(slog.DiscardHandler))
	t.Cleanup(func() { _, _ = halts.Close(), teller.Close() })
	g.Stops, g.OnActiveChange = halts, teller.StageChanged
	return halts
}

// otherGateway is another gateway of the person, with an app whose tool runs until it is ended.
type otherGateway struct{ app *aai.App }

func (h otherGateway) Apps() []*aai.App                               { return []*aai.App{h.app} }
func (h otherGateway) Find(context.Context, string) (*aai.App, error) { return h.app, nil }
func (otherGateway) OnChange(func()) (stop func())                    { return func() {} }
func (otherGateway) Check(context.Context, *aai.Request) ([]aai.Question, error) {
	return nil, nil
}

func (w *world) newOtherGateway(t *testing.T) *gateway.Gateway {
	t.Helper()
	h := otherGateway{&aai.App{ID: "org.example.App", Tools: []*aai.Tool{{
		Name: "hold", Effect: aai.Changes, Limits: aai.Limits{Timeout: time.Hour},
		Run: func(ctx context.Context, _ *aai.Call) (*aai.Result, error) {
			gateway.Progress(ctx, 2, 5, "Step <2>/5")
			<-ctx.Done()
			return nil, ctx.Err()
		},
	}}}}
	j := audit.New(w.journal)
	t.Cleanup(func() { _ = j.Close() })
	g := &gateway.Gateway{Catalog: h, Journal: j, Gates: []aai.Gate{h}}
	publishing(t, w.state, g)
	return g
}

// shows loads the page until it has all the texts.
func (w *world) shows(t *testing.T, texts ...string) string {
	t.Helper()
	for late := time.Now().Add(30 * time.Second); ; time.Sleep(5 * time.Millisecond) {
		body, all := w.get(t, "/now").body, true
		for _, text := range texts {
			all = all && strings.Contains(body, text)
		}
		if all {
			return body
		}
		assert.Assert(t, !time.Now().After(late), "the page has not all of %q:\n%s", texts, body)
	}
}

// TestActiveCalls checks that the page shows calls of other gateways, and that its buttons stop a call,
// a caller and everything; a restart is asked about in a window.
func TestActiveCalls(t *testing.T) {
	w := newWorld(t)
	w.enter(t)
	w.shows(t, "Nothing runs.")
	g := w.newOtherGateway(t)
	begin := func(id, who string) chan error {
		ended := make(chan error, 1)
		go func() {
			_, err := g.Do(context.Background(), &aai.Call{ID: id, Caller: aai.Caller{Door: aai.DoorMCP, Name: "<b>cl", Identity: who}, App: "org.example.App", Tool: "hold"})
			ended <- err
		}()
		return ended
	}
	one, other := begin("c1", "/usr/bin/claude"), begin("c2", "/usr/bin/other")
	body := w.shows(t, "/usr/bin/claude", "/usr/bin/other", "&lt;b&gt;cl", "running", "Step &lt;2&gt;/5", `max="5" value="2"`, `accesskey="x"`)
	assert.Assert(t, is.Contains(body, `aria-label="All its calls: stop /usr/bin/claude in every process">All its calls<`))
	assert.Assert(t, is.Contains(body, "stops a program in all its processes"))
	assert.Assert(t, !strings.Contains(body, "<b>cl"), "what others wrote is no text:\n%s", body)
	assert.Assert(t, !strings.Contains(body, "<2>"), "what others wrote is no text:\n%s", body)
	press := func(act string, fields ...string) answer {
		form := w.form(t, "/now")
		for i := 0; i < len(fields); i += 2 {
			form.Set(fields[i], fields[i+1])
		}
		return w.post(t, "/now/"+act, form)
	}
	wants := func(ended chan error) {
		t.Helper()
		if e := aai.AsError(<-ended); e == nil || e.Code != aai.PermissionDenied || !strings.Contains(e.Message, "stopped") {
			t.Errorf("it ended with %v", e)
		}
	}
	got := press("stop", "call", "c1")
	assert.Check(t, is.Equal(got.at, "/now"))
	assert.Check(t, is.Contains(got.body, "The call is stopped."))
	wants(one)
	assert.Check(t, is.Equal(len(other), 0), "another call was stopped too")
	assert.Check(t, is.Contains(press("stop", "caller", "/usr/bin/other").body, "All its calls are stopped, in every process, until you start it again."))
	wants(other)
	third, nameless := begin("c3", "/usr/bin/claude"), begin("c5", "")
	w.shows(t, "call-c3", `name="caller" value="mcp:"><button class="small">All unknown callers`)
	got = w.post(t, "/now/stop", w.form(t, "/history"))
	assert.Check(t, is.Equal(got.at, "/now"))
	assert.Check(t, is.Contains(got.body, "Everything is stopped"))
	wants(third)
	wants(nameless)
	w.shows(t, "nothing will until you start it again")
	got = press("start")
	assert.Check(t, is.Equal(got.status, http.StatusForbidden))
	assert.Check(t, is.Contains(got.body, "neither a screen nor a passphrase"))
	wants(begin("c4", "/usr/bin/claude"))
	unknown := press("stop", "caller", "mcp:")
	assert.Check(t, is.Contains(unknown.body, "agents without a verified identity are stopped"))
	w.shows(t, "All calls of agents without a verified identity <")
	got = w.post(t, "/now/stop", url.Values{})
	assert.Check(t, is.Equal(got.status, http.StatusForbidden), "without a token: %d", got.status)
}

// TestActiveCallsPageShowsTheLastCalls checks that without active calls the page shows the last calls,
// without its own reads, and that new calls are events for it.
func TestActiveCallsPageShowsTheLastCalls(t *testing.T) {
	w := newWorld(t)
	for i := range 12 {
		w.makeCall(t, fmt.Sprint("c", i), "", claude(), aai.BuiltinApp, "apps", nil)
	}
	w.enter(t)
	got := answer{status: http.StatusOK, at: "/now", body: w.shows(t, "Nothing runs.", "The last calls")} // the call has ended
	expectPage(t, got, "Nothing runs.", "The last calls", `href="/history/c11"`, `href="/history/c4"`, `!href="/history/c3"`, "/usr/bin/claude",
		`href="/history">All calls`, `hx-trigger="running from:#live, journal from:#live, desktops from:#live"`)
	body := w.shows(t, `href="/history/c4"`)
	assert.Check(t, !strings.Contains(body, `<bdi class="theirs">running</bdi>`), "the page's own looks are listed:\n%s", body)
	g, ended := w.newOtherGateway(t), make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = g.Do(context.Background(), &aai.Call{ID: "r1", Caller: claude(), App: "org.example.App", Tool: "hold"})
	}()
	body = w.shows(t, "call-r1")
	assert.Check(t, !strings.Contains(body, "The last calls"), "what is over stands beside what runs:\n%s", body)
	w.post(t, "/now/stop", w.form(t, "/now"))
	<-ended
	w.shows(t, "nothing will until you start it again", `href="/history/r1"`)
}

// TestEveryPageSaysThatAllIsStopped checks that each page reports a stop of everything, with a restart
// button, and that a reload after the restart removes the line.
func TestEveryPageSaysThatAllIsStopped(t *testing.T) {
	w := newWorld(t, mail(tool("send", kinds, nil)))
	w.makeCall(t, "c1", "", claude(), aai.BuiltinApp, "guide", map[string]any{"app": "aai"})
	w.enter(t)
	pages := []string{
		"/now", "/apps", "/app?app=org.test.Mail", "/tool?app=org.test.Mail&tool=send", "/lint?app=aai", "/found", "/scan", "/history", "/history/c1",
		"/history/charts", "/consent", "/logins", "/settings", "/settings/logLevel", "/doctor", "/none",
	}
	says := map[string]string{"en": "<strong>Everything is stopped</strong>", "zh": "<strong>一切已停止</strong>"}
	line := func(lang string, wanted int) {
		t.Helper()
		for _, path := range pages {
			body := w.in(t, lang, path).body
			n := strings.Count(body, says[lang])
			assert.Check(t, is.Equal(n, wanted), "%s %s %s", path, lang, body)
			assert.Check(t, is.Equal(strings.Count(body, `action="/now/start"`), wanted), "%s %s %s", path, lang, body)
		}
	}
	line("en", 0)
	halts, isHalt := w.gateway.Stops.(*active.StopList)
	if !isHalt {
		t.Fatalf("%T", w.gateway.Stops)
	}
	assert.NilError(t, halts.Add(t.Context(), answers.Stop{Caller: "/usr/bin/claude"}))
	body := w.get(t, "/history").body
	assert.Check(t, !strings.Contains(body, says["en"]), "a caller is stopped, and it says of everything:\n%s", body)
	_, err := halts.Remove(t.Context(), func(answers.Stop) bool { return true })
	assert.NilError(t, err)
	got := w.post(t, "/now/stop", w.form(t, "/history"))
	assert.Equal(t, got.status, http.StatusOK, got.body)
	line("en", 1)
	line("zh", 1)
	renewed := w.request(t, http.MethodGet, "/history", nil)
	renewed.Header.Set("HX-Request", "true")
	expectPage(t, w.do(t, renewed), says["en"], "!<html")
	_, err = halts.Remove(t.Context(), answers.Stop.IsEverything)
	assert.NilError(t, err)
	line("en", 0)
}

// disconnectingGate is a gate at which the browser of a stop disconnects before the stop.
type disconnectingGate struct {
	leave     func()
	callError chan error // the call's outcome after that
}

func (l disconnectingGate) Check(ctx context.Context, r *aai.Request) ([]aai.Question, error) {
	if r.Tool.Name == "stop" {
		l.leave()
		select {
		case <-ctx.Done():
		case <-time.After(300 * time.Millisecond): // the server's reaction cannot be observed
		}
		l.callError <- ctx.Err()
	}
	return nil, nil
}

// TestStopOutlastsItsPage checks that a stop is effective though its page was closed at once.
func TestStopOutlastsItsPage(t *testing.T) {
	w := newWorld(t)
	w.enter(t)
	r := w.request(t, http.MethodPost, "/now/stop", w.form(t, "/now"))
	r.Header.Set("Origin", w.origin())
	ctx, leave := context.WithCancel(t.Context())
	l := disconnectingGate{leave, make(chan error, 1)}
	w.gateway.Gates = append([]aai.Gate{l}, w.gateway.Gates...)
	if response, err := w.client.Do(r.WithContext(ctx)); err == nil {
		_ = response.Body.Close()
		t.Error("the browser stayed")
	}
	err := <-l.callError
	assert.Check(t, err, "the call of the stop is over: %v", err)
	w.shows(t, "nothing will until you start it again")
}
