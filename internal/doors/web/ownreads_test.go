package web_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway"
)

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
	_, row, _ := strings.Cut(all.body, `/history/c3"`)
	row, _, _ = strings.Cut(row, "</tr>")
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
