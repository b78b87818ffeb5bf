package web_test

import (
	"net/http"
	"strings"
	"testing"

	"github.com/gybob/aai-gateway"
)

// TestPages checks that the page shows past calls, and that its own actions are calls, gated and
// recorded like any other.
func TestPages(t *testing.T) {
	w := newWorld(t)
	agent := aai.Caller{Door: aai.DoorMCP, Name: "claude", Identity: "/usr/bin/claude"}
	if _, err := w.gateway.Do(t.Context(), &aai.Call{Caller: agent, App: aai.BuiltinApp, Tool: "apps"}); err != nil {
		t.Fatal(err)
	}
	if got := w.get(t, "/history"); got.status != http.StatusForbidden || strings.Contains(got.body, "claude") {
		t.Errorf("somebody who has not entered sees: %d\n%s", got.status, got.body)
	}
	w.enter(t)
	if got := w.get(t, "/ui"); got.status != http.StatusOK || got.at != "/now" {
		t.Errorf("the front page is %s: %d", got.at, got.status)
	}
	got := w.get(t, "/history")
	if got.status != http.StatusOK || got.at != "/history" || !strings.Contains(got.body, "claude") {
		t.Errorf("the history is not shown at %s: %d\n%s", got.at, got.status, got.body)
	}
	if again := w.get(t, "/history?looks=1"); !strings.Contains(again.body, ">history<") || !strings.Contains(again.body, ">page<") {
		t.Errorf("what the page reads is not on record:\n%s", again.body)
	}
	if got := w.get(t, "/none"); got.status != http.StatusNotFound || strings.Contains(got.body, string(aai.ToolNotFound)) || !strings.Contains(got.body, "there is no page") {
		t.Errorf("a page that is none: %d", got.status)
	}
}

// TestTheLinkLetsOneIn checks that a link works once, and that opening it does not use it up.
func TestTheLinkLetsOneIn(t *testing.T) {
	w := newWorld(t)
	for range 3 {
		if got := w.get(t, w.link); got.status != http.StatusOK || len(got.header.Values("Set-Cookie")) > 0 {
			t.Fatalf("the link's page: %d %v", got.status, got.header)
		}
	}
	w.enter(t)
	if got := w.newVisitor(t).post(t, w.link, nil); got.status != http.StatusForbidden {
		t.Errorf("the link lets a second one in: %d", got.status)
	}
	if got := w.get(t, "/history"); got.status != http.StatusOK {
		t.Errorf("the first one is out again: %d", got.status)
	}
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
	if got := in("de, zh-TW;q=0.8, en;q=0.5"); !strings.Contains(got, `<html lang="zh">`) || !strings.Contains(got, "历史") {
		t.Errorf("who reads Chinese gets:\n%s", got)
	}
	if got := in("de"); !strings.Contains(got, `<html lang="en">`) {
		t.Errorf("who reads neither gets:\n%s", got)
	}
	form := w.form(t, "/history")
	form.Set("language", "zh")
	form.Set("back", "/history?app=x")
	if got := w.post(t, "/language", form); got.at != "/history" || !strings.Contains(got.body, "历史") {
		t.Errorf("the choice of a language: %s\n%s", got.at, got.body)
	}
	if got := in("en"); !strings.Contains(got, `<html lang="zh">`) {
		t.Errorf("the choice was forgotten:\n%s", got)
	}
}
