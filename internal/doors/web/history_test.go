package web_test

import (
	"context"
	"encoding/csv"
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/audit"
)

// makeCall makes a call, ignores its outcome, and returns its id.
func (w *world) makeCall(t *testing.T, id, parent string, caller aai.Caller, app, tool string, args map[string]any) {
	t.Helper()
	_, _ = w.gateway.Do(t.Context(), &aai.Call{ID: id, Parent: parent, Caller: caller, App: app, Tool: tool, Args: args})
}

func claude() aai.Caller {
	return aai.Caller{Door: aai.DoorMCP, Name: "claude", Identity: "/usr/bin/claude"}
}

// expectPage fails the test unless the page shows all of the texts, and none of those with a leading
// "!".
func expectPage(t *testing.T, got answer, texts ...string) {
	t.Helper()
	assert.Equal(t, got.status, http.StatusOK, "%s %s", got.at, got.body)
	expectTexts(t, got, texts...)
}

// expectTexts is expectPage for an answer of any status.
func expectTexts(t *testing.T, got answer, texts ...string) {
	t.Helper()
	for _, text := range texts {
		text, not := strings.CutPrefix(text, "!")
		assert.Check(t, strings.Contains(got.body, text) != not, "%s shows %q: %v\n%s", got.at, text, !not, got.body)
	}
}

// TestHistoryIsFiltered checks that a form filters the history without scripts, page by page, and that
// each call has its story.
func TestHistoryIsFiltered(t *testing.T) {
	w := newWorld(t)
	w.makeCall(t, "c1", "", claude(), aai.BuiltinApp, "guide", map[string]any{"app": "aai", "tool": "apps"})
	w.makeCall(t, "c2", "c1", claude(), aai.BuiltinApp, "history", nil)
	w.makeCall(t, "c3", "", aai.Caller{Door: aai.DoorMCP, Name: "other"}, "org.example.Nowhere", "x", nil)
	w.enter(t)
	for query, shows := range map[string][]string{
		"":                          {"/history/c1", "/history/c2", "/history/c3"},
		"tool=guide":                {"/history/c1", "!/history/c2", "!/history/c3"},
		"caller=other":              {"/history/c3", "!/history/c1"},
		"result=app_not_found":      {"/history/c3", "!/history/c1", `value="app_not_found"`},
		"text=guid+app":             {"/history/c1", "!/history/c3"},
		"text=nosuchword":           {"!/history/c1", "No such call is on record."},
		"since=2020-01-01T00:00":    {"/history/c1"},
		"until=2020-01-01T00:00":    {"No such call is on record."},
		"app=org.example.Nowhere":   {"/history/c3", "!/history/c2"},
		"before=c2&tool=guide":      {"/history/c1", "!/history/c2", `href="/history?tool=guide"`},
		"tool=%22%3E%3Cscript%3E":   {"!<script>", "&#34;&gt;&lt;script&gt;"},
		"app=aai&caller=claude&x=y": {"/history/c1", "/history/c2"},
	} {
		expectPage(t, w.get(t, "/history?"+query), shows...)
	}
	if got := w.get(t, "/history?since=yesterday"); got.status != http.StatusBadRequest || !strings.Contains(got.body, "since: expected a time") {
		t.Errorf("a time that is none: %d\n%s", got.status, got.body)
	}
	expectPage(t, w.get(t, "/history/c1"), "/usr/bin/claude", "claude", "It only reads", "Request", "&#34;apps&#34;", `href="/history/c2"`, "It ended", "Answers of this app are not stored")
	expectPage(t, w.get(t, "/history/c2"), "PERMISSION_DENIED", `href="/history/c1"`, "Made by")
	if got := w.get(t, "/history/nosuch"); got.status == http.StatusOK || !strings.Contains(got.body, "nosuch") {
		t.Errorf("a call that is none: %d\n%s", got.status, got.body)
	}
	for range 60 {
		w.makeCall(t, "", "", claude(), aai.BuiltinApp, "apps", nil)
	}
	got := w.get(t, "/history?tool=apps")
	expectPage(t, got, `rel="next"`)
	next := between(got.body, `<a href="/history?before=`, `"`)
	older := w.get(t, "/history?before="+strings.ReplaceAll(next, "&amp;", "&"))
	expectPage(t, older, "Newest calls", "!rel=\"next\"")
	n := strings.Count(older.body, `data-label="Tool"`)
	assert.Check(t, is.Equal(n, 10), "the second page has %d calls, expected 10", n)
	expectPage(t, w.get(t, "/history/charts?days=1"), "<svg", `class="bar"`, `class="line"`, "As a table", "One day")
	expectPage(t, w.get(t, "/history/charts?app=org.example.Nowhere"), "1 call, of which 1 failed", `class="bar-bad"`, `!class="bar"`)
	expectPage(t, w.get(t, "/history/charts?app=nothing"), "Nothing was called in this time.", "!<svg")
}

// TestTheRecordIsCheckedAndExported checks that buttons verify and export the journal, and that changed
// records are reported.
func TestTheRecordIsCheckedAndExported(t *testing.T) {
	w := newWorld(t)
	w.makeCall(t, "c1", "", claude(), aai.BuiltinApp, "apps", nil)
	w.makeCall(t, "c2", "", aai.Caller{Door: aai.DoorMCP, Name: "=cmd|' /C calc'!A0"}, "org.example.Nowhere", "x", nil)
	w.enter(t)
	form := w.form(t, "/history")
	expectPage(t, w.post(t, "/history/verify", form), "The record is as it was written.")
	form.Set("format", "jsonl")
	got := w.post(t, "/history/export?app=org.example.Nowhere", form)
	kind := got.header.Get("Content-Disposition")
	assert.Assert(t, strings.HasPrefix(kind, "attachment"), "%s %s", kind, got.body)
	assert.Assert(t, !strings.Contains(got.body, `"c1"`), "%s %s", kind, got.body)
	for line := range strings.Lines(got.body) {
		assert.Check(t, json.Valid([]byte(line)), "a line is %s", line)
	}
	form.Set("format", "csv")
	got = w.post(t, "/history/export", form)
	rows, err := csv.NewReader(strings.NewReader(got.body)).ReadAll()
	assert.NilError(t, err)
	assert.Assert(t, len(rows) >= 3)
	assert.Equal(t, rows[0][0], "time")
	assert.Assert(t, is.Contains(got.body, "'=cmd"))
	for _, path := range []string{"/history/export", "/history/verify", "/history/c1/forget"} {
		got := w.post(t, path, url.Values{"format": {"csv"}})
		assert.Check(t, is.Equal(got.status, http.StatusForbidden), "%s without the form's token: %d", path, got.status)
	}
	got = w.post(t, "/history/c1/forget", form)
	assert.Check(t, got.status != http.StatusOK, "an answer is forgotten, and nobody was asked: %d\n%s", got.status, got.body)
	b, err := os.ReadFile(w.journal)
	assert.NilError(t, err)
	assert.NilError(t, os.WriteFile(w.journal, []byte(strings.Replace(string(b), `"tool":"apps"`, `"tool":"appx"`, 1)), 0o600))
	expectPage(t, w.post(t, "/history/verify", form), "The record is not as it was written.", "!<code>")
}

// TestHistoryPages writes the pages for people to view, if AAI_PICTURES names a folder, and always
// checks that they are complete in both languages.
func TestHistoryPages(t *testing.T) {
	w := newWorld(t)
	for i := range 30 {
		w.makeCall(t, "", "", claude(), aai.BuiltinApp, []string{"apps", "guide", "nosuch"}[i%3], map[string]any{"app": "aai"})
	}
	w.makeCall(t, "c1", "", claude(), aai.BuiltinApp, "guide", map[string]any{"app": "aai", "tool": "history"})
	w.makeCall(t, "c2", "c1", claude(), "org.example.Nowhere", "delete_everything", nil)
	w.enter(t)
	for _, lang := range []string{"en", "zh"} {
		for name, path := range map[string]string{"history": "/history", "story": "/history/c1", "charts": "/history/charts?days=1"} {
			r := w.request(t, http.MethodGet, path, nil)
			r.Header.Set("Accept-Language", lang)
			got := w.do(t, r)
			expectPage(t, got, `<html lang="`+lang+`">`, "!%!", "!effect.", "!step.", "!delivery.")
			if folder := os.Getenv("AAI_PICTURES"); folder != "" {
				assert.NilError(t, os.WriteFile(filepath.Join(folder, name+"-"+lang+".html"), []byte(got.body), 0o600))
			}
		}
	}
}

// TestTheHistoryIsOfOthers checks that the page's own reads are listed on request, and that a cancelled
// read is shown as such.
func TestTheHistoryIsOfOthers(t *testing.T) {
	w := newWorld(t)
	w.makeCall(t, "c1", "", claude(), aai.BuiltinApp, "apps", nil)
	page := aai.Caller{Door: aai.DoorWeb, Name: "page", Identity: aai.IdentityPage}
	w.makeCall(t, "c2", "", page, aai.BuiltinApp, "apps", nil)
	left, leave := context.WithCancel(t.Context())
	leave()
	_, _ = w.gateway.Do(left, &aai.Call{ID: "c3", Caller: page, App: aai.BuiltinApp, Tool: "history"})
	w.makeCall(t, "c4", "", page, "org.example.Nowhere", "x", nil)
	w.enter(t)
	expectPage(t, w.get(t, "/history"), "/history/c1", "!/history/c2", "/history/c4")
	all := w.get(t, "/history?looks=1&app=aai")
	expectPage(t, all, "/history/c1", "/history/c2", "/history/c3", "the caller had disconnected", `name="looks" value="1" checked`, "looks=1")
	row := between(all.body, `/history/c3"`, "</tr>")
	assert.Assert(t, !strings.Contains(row, "bad"), "what was left is told as a failure:\n%s", row)
	assert.Assert(t, !strings.Contains(row, "AUTOMATION_FAILED"), "what was left is told as a failure:\n%s", row)
	expectPage(t, w.get(t, "/history/c3"), "the caller had disconnected")
	expectPage(t, w.get(t, "/history/charts"), "3 calls, of which 2 failed.", `href="/history?"`)
	expectPage(t, w.get(t, "/history/charts?app=aai"), "2 calls, of which 1 failed.")
	got := w.get(t, "/history/charts?looks=1")
	assert.Check(t, !strings.Contains(got.body, ">3 calls, of"), "with its looks:\n%s", got.body)
	for format, sign := range map[string]string{"jsonl": `"call":"%s"`, "csv": ",%s,"} {
		has := func(got, id string) bool { return strings.Contains(got, fmt.Sprintf(sign, id)) }
		form := w.form(t, "/history")
		form.Set("format", format)
		got := w.post(t, "/history/export", form).body
		assert.Assert(t, has(got, "c1"), "what is exported as %s:\n%s", format, got)
		assert.Assert(t, has(got, "c4"), "what is exported as %s:\n%s", format, got)
		assert.Assert(t, !has(got, "c2"), "what is exported as %s:\n%s", format, got)
		got = w.post(t, "/history/export?looks=1", form).body
		assert.Check(t, has(got, "c2"), "what is exported with looks as %s:\n%s", format, got)
	}
}

// TestChartsAreFiltered checks that the charts of a filtered list count its calls, and link back to it.
// The totals do not support words, and the page says so in both languages.
func TestChartsAreFiltered(t *testing.T) {
	w := newWorld(t)
	now := time.Now()
	past := audit.New(w.journal)
	for i, at := range []time.Time{now.Add(-time.Minute), now.AddDate(0, 0, -3), now.AddDate(0, 0, -40), now.AddDate(-2, 0, 0)} {
		for _, code := range []aai.Code{"", aai.Timeout} {
			assert.NilError(t, past.Record(t.Context(), &aai.Entry{
				Kind: aai.Outcome, Time: at, Call: fmt.Sprint("c", i, code), Caller: claude(), App: "org.test.Mail", Tool: "send", Admitted: true, Code: code,
			}))
		}
	}
	assert.NilError(t, past.Close())
	w.enter(t)
	day := func(days int) string { return now.AddDate(0, 0, days).Format("2006-01-02T15:04") }
	for _, c := range []struct {
		query  url.Values
		counts string
	}{
		{url.Values{}, "4 calls, of which 2 failed."},
		{url.Values{"days": {"1"}}, "2 calls, of which 1 failed."},
		{url.Values{"result": {"ok"}}, "2 calls, of which 0 failed."},
		{url.Values{"result": {string(aai.Timeout)}}, "2 calls, of which 2 failed."},
		{url.Values{"since": {day(-2)}}, "2 calls, of which 1 failed."},
		{url.Values{"since": {day(-50)}, "until": {day(-1)}}, "4 calls, of which 2 failed."},
		{url.Values{"since": {day(-50)}, "until": {day(-30)}}, "2 calls, of which 1 failed."},
		{url.Values{"until": {day(-2)}}, "2 calls, of which 1 failed."},
		{url.Values{"until": {day(-2)}, "days": {"7"}, "result": {"ok"}}, "1 call, of which 0 failed."},
		{url.Values{"since": {day(-1000)}}, "6 calls, of which 3 failed."},
	} {
		expectPage(t, w.get(t, "/history/charts?"+c.query.Encode()), c.counts)
	}
	expectPage(t, w.get(t, "/history/charts?since=2020-01-01T00:00"), "A year is shown at most: from ")
	said := w.get(t, "/history/charts?text=letters&result=ok")
	expectPage(t, said, "totals are stored without words", `letters</bdi>`, `name="text" value="letters"`, `name="result" value="ok"`, `href="/history?result=ok&amp;text=letters"`)
	expectPage(t, w.in(t, "zh", "/history/charts?text=letters"), "不按所查找的文字筛选", `letters</bdi>`)
	expectPage(t, w.get(t, "/history/charts"), "!without words", "!A year is shown")
	got := w.get(t, "/history/charts?since=soon")
	assert.Check(t, got.status != 200, "a time that is none is taken:\n%s", got.body)
}

// between returns the part of a text after one mark and before the next other.
func between(text, before, after string) string {
	_, part, _ := strings.Cut(text, before)
	part, _, _ = strings.Cut(part, after)
	return part
}
