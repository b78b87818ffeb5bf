package web_test

import (
	"context"
	"fmt"
	"strings"
	"testing"

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
	if row, _, _ = strings.Cut(row, "</tr>"); strings.Contains(row, "bad") || strings.Contains(row, "AUTOMATION_FAILED") {
		t.Errorf("what was left is told as a failure:\n%s", row)
	}
	expectPage(t, w.get(t, "/history/c3"), "the caller had disconnected")
	expectPage(t, w.get(t, "/history/charts"), "3 calls, of which 2 failed.", `href="/history?"`)
	expectPage(t, w.get(t, "/history/charts?app=aai"), "2 calls, of which 1 failed.")
	if got := w.get(t, "/history/charts?looks=1"); strings.Contains(got.body, "3 calls, of") {
		t.Errorf("with its looks:\n%s", got.body)
	}
	for format, sign := range map[string]string{"jsonl": `"call":"%s"`, "csv": ",%s,"} {
		has := func(got, id string) bool { return strings.Contains(got, fmt.Sprintf(sign, id)) }
		form := w.form(t, "/history")
		form.Set("format", format)
		if got := w.post(t, "/history/export", form).body; !has(got, "c1") || !has(got, "c4") || has(got, "c2") {
			t.Errorf("what is exported as %s:\n%s", format, got)
		}
		if got := w.post(t, "/history/export?looks=1", form).body; !has(got, "c2") {
			t.Errorf("what is exported with looks as %s:\n%s", format, got)
		}
	}
}
