package web_test

import (
	"bufio"
	"context"
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/doors/web"
)

// TestEventStream checks that a page gets events, and that a reload leaves one record, which does not
// cause another reload.
func TestEventStream(t *testing.T) {
	w := newWorld(t)
	w.enter(t)
	body := w.get(t, "/history").body
	assert.Assert(t, is.Contains(body, `hx-trigger="journal from:#live"`))
	assert.Assert(t, is.Contains(body, `hx-sse:connect="/live?after=`))
	response, err := w.client.Do(w.request(t, http.MethodGet, "/live", nil))
	assert.NilError(t, err)
	defer func() { _ = response.Body.Close() }()
	assert.Check(t, is.Equal(response.Header.Get("Content-Type"), "text/event-stream"))
	lines := bufio.NewScanner(response.Body)
	if !lines.Scan() || lines.Text() != ": here" {
		t.Fatalf("the stream begins with %q", lines.Text())
	}
	agent := aai.Caller{Door: aai.DoorMCP, Name: "claude", Identity: "/usr/bin/claude"}
	_, err = w.gateway.Do(t.Context(), &aai.Call{Caller: agent, App: aai.BuiltinApp, Tool: "apps"})
	assert.NilError(t, err)
	awaitEvent(t, lines, web.EventJournal)
	again := w.request(t, http.MethodGet, "/history", nil)
	again.Header.Set("HX-Request", "true")
	for range 3 {
		part := w.do(t, again.Clone(t.Context()))
		assert.Assert(t, !strings.Contains(part.body, "<html"), "what changes of the page:\n%s", part.body)
		assert.Assert(t, is.Contains(part.body, "claude"))
	}
	var past []struct {
		Door, Tool string
		Args       struct{ Limit int }
	}
	assert.NilError(t, w.history(t, &past))
	pages := 0
	for _, call := range past {
		if call.Door == aai.DoorWeb && call.Tool == "history" && call.Args.Limit == 50 { // the front page reads fewer
			pages++
		}
	}
	assert.Check(t, is.Equal(pages, 1), "the page, loaded once and again three times, is on record %d times; expected 1", pages)
	assert.Check(t, is.Equal(w.post(t, "/leave", w.form(t, "/history")).status, http.StatusForbidden))
}

// TestWhichPagesHaveEvents checks that each page with changing data subscribes to its events. A page
// with a search form reloads with the form's query.
func TestWhichPagesHaveEvents(t *testing.T) {
	w := newWorld(t)
	tells := make(chan func(string), 1)
	w.open(t, web.Config{Gateway: w.gateway, WatchEvents: func(_ context.Context, tell func(string)) { tells <- tell }})
	tell := <-tells
	w.enter(t)
	for path, c := range map[string]struct{ again, kind string }{
		"/apps?q=a":      {`hx-get="/apps" hx-include="#find" hx-trigger="apps from:#live"`, web.EventApps},
		"/consent?q=a":   {`hx-get="/consent" hx-include="#find" hx-trigger="consent from:#live"`, web.EventConsent},
		"/logins?app=a":  {`hx-get="/logins?app=a" hx-trigger="consent from:#live, apps from:#live"`, web.EventConsent},
		"/settings?q=a":  {`hx-get="/settings?q=a" hx-trigger="settings from:#live"`, web.EventSettings},
		"/history?app=a": {`hx-get="/history?app=a" hx-trigger="journal from:#live"`, web.EventJournal},
	} {
		page := w.get(t, path)
		expectPage(t, page, c.again)
		at := between(page.body, `hx-sse:connect="`, `"`)
		response, err := w.client.Do(w.request(t, http.MethodGet, at, nil))
		assert.NilError(t, err)
		tell(c.kind)
		lines := bufio.NewScanner(response.Body)
		awaitEvent(t, lines, c.kind)
		_ = response.Body.Close()
		search := regexp.MustCompile(`<form [^>]*method="get"[^>]*>`).FindString(page.body)
		assert.Assert(t, is.Contains(search, "hx-morph-skip"), path)
		assert.Assert(t, is.Contains(search, ` id="`), path)
	}
}

// TestEventsBeforeTheStream checks that events between the read of a page and its stream are sent when
// the stream begins, as at the end of the page's own act.
func TestEventsBeforeTheStream(t *testing.T) {
	w := newWorld(t)
	tells := make(chan func(string), 1)
	w.open(t, web.Config{Gateway: w.gateway, WatchEvents: func(_ context.Context, tell func(string)) { tells <- tell }})
	tell := <-tells
	w.enter(t)
	listens := func() string {
		t.Helper()
		_, at, found := strings.Cut(w.get(t, "/now").body, `hx-sse:connect="`)
		at, _, _ = strings.Cut(at, `"`)
		assert.Assert(t, found, "the page does not listen")
		return at
	}
	before := listens()
	tell(web.EventActiveCalls)
	tell(web.EventJournal)
	for at, expects := range map[string]string{before: web.EventActiveCalls, listens(): web.EventApps} {
		response, err := w.client.Do(w.request(t, http.MethodGet, at, nil))
		assert.NilError(t, err)
		lines, heard := bufio.NewScanner(response.Body), ""
		for lines.Scan() {
			if lines.Text() == ": here" && expects == web.EventApps {
				tell(web.EventApps)
			}
			if kind, is := strings.CutPrefix(lines.Text(), "event: "); is {
				if heard += kind + " "; kind == expects {
					break
				}
			}
		}
		_ = response.Body.Close()
		assert.Assert(t, is.Contains(heard, expects), at)
		assert.Assert(t, expects != web.EventApps || heard == web.EventApps+" ", "%s hears of %q, expected %q", at, heard, expects)
	}
}

// TestManyPages checks that a session has three streams, of its newest pages. Older ones end with an
// event, so that a browser has connections left for acts.
func TestManyPages(t *testing.T) {
	w := newWorld(t)
	w.enter(t)
	var streams []*bufio.Scanner
	for range 7 {
		response, err := w.client.Do(w.request(t, http.MethodGet, "/live", nil))
		assert.NilError(t, err)
		t.Cleanup(func() { _ = response.Body.Close() })
		lines := bufio.NewScanner(response.Body)
		if !lines.Scan() || lines.Text() != ": here" {
			t.Fatalf("the stream begins with %q", lines.Text())
		}
		streams = append(streams, lines)
	}
	for i, lines := range streams[:4] {
		said := ""
		for lines.Scan() {
			said += lines.Text() + " "
		}
		if lines.Err() != nil || !strings.HasSuffix(said, "event: elsewhere data: 1  ") {
			t.Errorf("stream %d said %q, %v; expected that others have begun, and its end", i, said, lines.Err())
		}
	}
	_, err := w.gateway.Do(t.Context(), &aai.Call{Caller: aai.Caller{Door: aai.DoorMCP, Name: "claude", Identity: "/usr/bin/claude"}, App: aai.BuiltinApp, Tool: "apps"})
	assert.NilError(t, err)
	for _, lines := range streams[4:] {
		awaitEvent(t, lines, web.EventJournal)
	}
}

// eventful is an app with events. ended gets a value when it is no longer watched.
func eventful(changed chan<- func(), ended chan<- struct{}) *aai.App {
	read := func(context.Context, *aai.Call) (*aai.Result, error) {
		return &aai.Result{Data: map[string]any{"events": []any{
			map[string]any{"number": 1, "type": "added", "fields": map[string]any{"title": "<script>alert(1)</script>"}, "timestamp": "2027-01-31T12:00:00Z"},
			map[string]any{"number": 2, "type": "program_ended", "timestamp": "2027-01-31T12:00:01Z"},
		}}}, nil
	}
	events := tool(aai.EventsTool, `{"type": "object", "properties": {"limit": {"type": "integer"}}}`, read)
	events.Effect = aai.Reads
	events.Implementation.Watch = func(_ map[string]any, tell func()) (func(), error) {
		changed <- tell
		return func() { ended <- struct{}{} }, nil
	}
	return mail(events)
}

// TestEventsOfApps checks that the events of a chosen app are shown, that a page is told of later ones, and that the app
// is watched only while a page of events is open.
func TestEventsOfApps(t *testing.T) {
	changed, ended := make(chan func(), 1), make(chan struct{}, 1)
	w := newWorld(t, eventful(changed, ended))
	w.enter(t)
	expectPage(t, w.get(t, "/events"), `value="org.test.Mail"`, "Choose a program", "!<table>")
	form := w.form(t, "/events")
	form.Set("app", "org.test.Mail")
	page := w.post(t, "/events/add", form)
	expectPage(t, page, "added", "program ended", "&lt;script&gt;", "!<script>alert")
	assert.Check(t, strings.Index(page.body, "program ended") <= strings.Index(page.body, "added"), "the newest event is not the first")
	assert.Check(t, len(changed) <= 0, "the app is watched without an open page")
	at := between(page.body, `hx-sse:connect="`, `"`)
	response, err := w.client.Do(w.request(t, http.MethodGet, strings.ReplaceAll(at, "&amp;", "&"), nil))
	assert.NilError(t, err)
	(<-changed)()
	lines := bufio.NewScanner(response.Body)
	awaitEvent(t, lines, web.EventPrograms)
	assert.NilError(t, response.Body.Close())
	<-ended
	expectPage(t, w.post(t, "/events/remove", form), "!program ended")
}

// TestEventsNeedConsent checks that a program is shown only after the person's consent, and that reloads ask nothing.
func TestEventsNeedConsent(t *testing.T) {
	w := newWorld(t)
	var asked atomic.Int32
	cfg := w.config
	cfg.Programs = &web.Programs{
		Names:      func(context.Context) []string { return []string{"editor"} },
		WatchNames: func(func()) func() { return func() {} },
		WatchEvents: func(context.Context, string, func()) (func(), error) {
			t.Error("a program is watched without consent")
			return func() {}, nil
		},
	}
	cfg.AskAtTerminal = func(context.Context, []aai.Question) (map[string]aai.Answer, error) { asked.Add(1); return nil, nil }
	w.open(t, cfg)
	w.enter(t)
	expectPage(t, w.get(t, "/events"), `value="editor"`)
	form := w.form(t, "/events")
	for name, value := range (url.Values{"app": {aai.DesktopApp}, "program": {"editor"}}) {
		form[name] = value
	}
	got := w.post(t, "/events/add", form)
	assert.Check(t, got.status != http.StatusOK, "without consent:\n%s", got.body)
	expectPage(t, w.get(t, "/events"), "Choose a program")
	assert.Check(t, asked.Load() <= 1, "the person was asked %d times", asked.Load())
}

// awaitEvent reads a stream until an event of the kind.
func awaitEvent(t *testing.T, lines *bufio.Scanner, kind string) {
	t.Helper()
	for lines.Scan() {
		if lines.Text() == "event: "+kind {
			return
		}
	}
	t.Errorf("the stream ended without %s: %v", kind, lines.Err())
}
