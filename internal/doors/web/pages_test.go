package web_test

import (
	"net/http"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
)

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
	assert.Assert(t, is.Contains(again.body, ">history<"))
	assert.Assert(t, is.Contains(again.body, ">page<"))
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
