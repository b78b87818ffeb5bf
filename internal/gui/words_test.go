package gui_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/gybob/aai-gateway"
)

// TestWords: the target contains the texts that people read there, however the caller names it. For
// a program that the caller has not seen, it contains only the caller's words.
func TestWords(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.d.Program("Office")
		window := p.Window("Office")
		bin := window.Button("Delete everything", func() {})
		window.Button("Save", func() {})
		words := func(query string) string {
			call := &aai.Call{Caller: w.caller, App: aai.DesktopApp, Tool: "ax_click", Args: map[string]any{"app": "Office", "query": query}}
			target, err := w.app.Operator.FindTarget(w.Context(), call, "Office")
			if err != nil {
				t.Fatal(err)
			}
			call.Target = target
			return w.app.Operator.ResolveTarget(w.Context(), call).AllText
		}
		if got := words("Del"); got != "Del" {
			t.Errorf("before anything was seen: %q", got)
		}
		ref := w.ref("Office", "Delete everything")
		for query, want := range map[string]string{
			ref: "Delete everything", "Delete": "Delete everything Delete", "Save": "Save Save", "//button[1]": "Delete everything //button[1]",
			"nothing": "nothing", "e999": "", "": "", "role:button": "role:button", // several matches
		} {
			if got := words(query); got != want {
				t.Errorf("%q is about %q, want %q", query, got, want)
			}
		}
		bin.Rename("Restore")
		if got := words(ref); got != "Delete everything" {
			t.Errorf("renamed: %q", got)
		}
		w.fails(aai.StaleRef, "ax_click", `{"app": "Office", "query": "`+ref+`"}`)
		// A program that hangs delays the search only briefly.
		target, err := w.app.Operator.FindTarget(w.Context(), &aai.Call{Caller: w.caller}, "Office")
		if err != nil {
			t.Fatal(err)
		}
		p.Hang()
		ctx, cancel := context.WithTimeout(w.Context(), time.Minute)
		defer cancel()
		took := elapsed(func() {
			call := &aai.Call{Caller: w.caller, Args: map[string]any{"app": "Office", "query": "Delete"}, Target: target}
			if got := w.app.Operator.ResolveTarget(ctx, call).AllText; !strings.Contains(got, "Delete") {
				t.Errorf("hung: %q", got)
			}
		})
		if took > 2*time.Second {
			t.Errorf("took %s of the bubble's time", took)
		}
		p.Resume()
	})
}
