package gui_test

import (
	"context"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

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
			assert.NilError(t, err)
			call.Target = target
			return w.app.Operator.ResolveTarget(w.Context(), call).AllText
		}
		got := words("Del")
		assert.Check(t, is.Equal(got, "Del"), "before anything was seen: %q", got)
		ref := w.ref("Office", "Delete everything")
		for query, want := range map[string]string{
			ref: "Delete everything", "Delete": "Delete everything Delete", "Save": "Save Save", "//button[1]": "Delete everything //button[1]",
			"nothing": "nothing", "e999": "", "": "", "role:button": "role:button", // several matches
		} {
			assert.Check(t, is.Equal(words(query), want), "%q", query)
		}
		bin.Rename("Restore")
		assert.Check(t, is.Equal(words(ref), "Delete everything"))
		w.fails(aai.StaleRef, "ax_click", `{"app": "Office", "query": "`+ref+`"}`)
		// A program that hangs delays the search only briefly.
		target, err := w.app.Operator.FindTarget(w.Context(), &aai.Call{Caller: w.caller}, "Office")
		assert.NilError(t, err)
		p.Hang()
		ctx, cancel := context.WithTimeout(w.Context(), time.Minute)
		defer cancel()
		took := elapsed(func() {
			call := &aai.Call{Caller: w.caller, Args: map[string]any{"app": "Office", "query": "Delete"}, Target: target}
			assert.Check(t, is.Contains(w.app.Operator.ResolveTarget(ctx, call).AllText, "Delete"))
		})
		assert.Check(t, took <= 2*time.Second, "took %s of the bubble's time", took)
		p.Resume()
	})
}
