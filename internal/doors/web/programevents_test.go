package web_test

import (
	"bufio"
	"context"
	"net/http"
	"net/url"
	"strings"
	"sync/atomic"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/doors/web"
)

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
	_, at, _ := strings.Cut(page.body, `hx-sse:connect="`)
	at, _, _ = strings.Cut(at, `"`)
	response, err := w.client.Do(w.request(t, http.MethodGet, strings.ReplaceAll(at, "&amp;", "&"), nil))
	assert.NilError(t, err)
	(<-changed)()
	lines := bufio.NewScanner(response.Body)
	for lines.Scan() && lines.Text() != "event: "+web.EventPrograms { // wait for it
	}
	if lines.Text() != "event: "+web.EventPrograms {
		t.Errorf("the page hears of nothing: %v", lines.Err())
	}
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
