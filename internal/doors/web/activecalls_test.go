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
		if time.Now().After(late) {
			t.Fatalf("the page has not all of %q:\n%s", texts, body)
		}
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
	if !strings.Contains(body, `aria-label="All its calls: stop /usr/bin/claude in every process">All its calls<`) || !strings.Contains(body, "stops a program in all its processes") {
		t.Errorf("nobody says that it is all of a program that is stopped:\n%s", body)
	}
	if strings.Contains(body, "<b>cl") || strings.Contains(body, "<2>") {
		t.Errorf("what others wrote is no text:\n%s", body)
	}
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
	if got := press("stop", "call", "c1"); got.at != "/now" || !strings.Contains(got.body, "The call is stopped.") {
		t.Errorf("%s: %s", got.at, got.body)
	}
	wants(one)
	if len(other) != 0 {
		t.Error("another call was stopped too")
	}
	if got := press("stop", "caller", "/usr/bin/other"); !strings.Contains(got.body, "All its calls are stopped, in every process, until you start it again.") {
		t.Error(got.body)
	}
	wants(other)
	third, nameless := begin("c3", "/usr/bin/claude"), begin("c5", "")
	w.shows(t, "call-c3", `name="caller" value="mcp:"><button class="small">All unknown callers`)
	if got := w.post(t, "/now/stop", w.form(t, "/history")); got.at != "/now" || !strings.Contains(got.body, "Everything is stopped") {
		t.Errorf("%s: %s", got.at, got.body)
	}
	wants(third)
	wants(nameless)
	w.shows(t, "nothing will until you start it again")
	if got := press("start"); got.status != http.StatusForbidden || !strings.Contains(got.body, "neither a screen nor a passphrase") {
		t.Errorf("it was started again by the page alone: %d\n%s", got.status, got.body)
	}
	wants(begin("c4", "/usr/bin/claude"))
	unknown := press("stop", "caller", "mcp:")
	if !strings.Contains(unknown.body, "agents without a verified identity are stopped") {
		t.Error(unknown.body)
	}
	w.shows(t, "All calls of agents without a verified identity <")
	if got := w.post(t, "/now/stop", url.Values{}); got.status != http.StatusForbidden {
		t.Errorf("without a token: %d", got.status)
	}
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
		`href="/history">All calls`, `hx-trigger="running from:#live, journal from:#live"`)
	if body := w.shows(t, `href="/history/c4"`); strings.Contains(body, `<bdi class="theirs">running</bdi>`) {
		t.Errorf("the page's own looks are listed:\n%s", body)
	}
	g, ended := w.newOtherGateway(t), make(chan struct{})
	go func() {
		defer close(ended)
		_, _ = g.Do(context.Background(), &aai.Call{ID: "r1", Caller: claude(), App: "org.example.App", Tool: "hold"})
	}()
	if body := w.shows(t, "call-r1"); strings.Contains(body, "The last calls") {
		t.Errorf("what is over stands beside what runs:\n%s", body)
	}
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
			if n := strings.Count(body, says[lang]); n != wanted || strings.Count(body, `action="/now/start"`) != wanted {
				t.Errorf("%s in %s says %d times that everything is stopped, want %d:\n%s", path, lang, n, wanted, body)
			}
		}
	}
	line("en", 0)
	halts, isHalt := w.gateway.Stops.(*active.StopList)
	if !isHalt {
		t.Fatalf("%T", w.gateway.Stops)
	}
	if err := halts.Add(t.Context(), answers.Stop{Caller: "/usr/bin/claude"}); err != nil {
		t.Fatal(err)
	}
	if body := w.get(t, "/history").body; strings.Contains(body, says["en"]) {
		t.Errorf("a caller is stopped, and it says of everything:\n%s", body)
	}
	if _, err := halts.Remove(t.Context(), func(answers.Stop) bool { return true }); err != nil {
		t.Fatal(err)
	}
	if got := w.post(t, "/now/stop", w.form(t, "/history")); got.status != http.StatusOK {
		t.Fatalf("%d %s", got.status, got.body)
	}
	line("en", 1)
	line("zh", 1)
	renewed := w.request(t, http.MethodGet, "/history", nil)
	renewed.Header.Set("HX-Request", "true")
	expectPage(t, w.do(t, renewed), says["en"], "!<html")
	if _, err := halts.Remove(t.Context(), answers.Stop.IsEverything); err != nil {
		t.Fatal(err)
	}
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
	if err := <-l.callError; err != nil {
		t.Errorf("the call of the stop is over: %v", err)
	}
	w.shows(t, "nothing will until you start it again")
}
