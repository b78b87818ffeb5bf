package gui_test

import (
	"fmt"
	"strconv"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway"
)

// TestAliasesOfOthers: an alias must not be the name of another program, so that the name reaches
// the program that has it.
func TestAliasesOfOthers(t *testing.T) {
	inWorld(t, func(w *world) {
		w.d.Program("Editor").Window("One").Button("Save", nil)
		other := w.d.Program("Mail")
		other.Window("Letters").Button("Send", nil)
		for _, alias := range []string{"Mail", "MAIL", "mail", "desktop/mail", "desktop/x", fmt.Sprint(other.PID()), "12"} {
			assert.Check(w, w.failure(aai.InvalidParams, "ax_connect", fmt.Sprintf(`{"app": "Editor", "alias": %q}`, alias)).Hint != "", "%s: no hint", alias)
		}
		w.ok("ax_connect", `{"app": "Editor", "alias": "mine"}`)
		w.want(w.ok("ax_list_windows", `{"app": "mine"}`), "One", "windows", 0, "title")
		w.want(w.ok("ax_list_windows", `{"app": "Mail"}`), "Letters", "windows", 0, "title")
	})
}

// TestAnAliasThatBecameAName: such a name is ambiguous, so neither program is touched.
func TestAnAliasThatBecameAName(t *testing.T) {
	inWorld(t, func(w *world) {
		editor := w.d.Program("Editor")
		editor.Window("One")
		w.ok("ax_connect", `{"app": "Editor", "alias": "mail"}`)
		w.want(w.ok("ax_list_windows", `{"app": "mail"}`), "One", "windows", 0, "title")
		w.d.Program("Mail").Window("Letters")
		w.fails(aai.AmbiguousTarget, "ax_list_windows", `{"app": "mail"}`)
		w.want(w.ok("ax_list_windows", fmt.Sprintf(`{"app": "%d"}`, editor.PID())), "One", "windows", 0, "title")
	})
}

// TestTheOldestConversationIsForgotten: the number of conversations is limited, and use makes a
// conversation the latest.
func TestTheOldestConversationIsForgotten(t *testing.T) {
	const most = 200
	inWorld(t, func(w *world) {
		w.d.Program("Editor").Window("One").Button("Save", func() {})
		idle, busy := w.as("idle"), w.as("busy")
		find := func(w *world, query string) *aai.Error {
			_, err := w.do("ax_find", `{"app": "Editor", "query": "`+query+`"}`)
			return err
		}
		ref := at(idle.ok("ax_find", `{"app": "Editor", "query": "Save"}`).data, "element_ref")
		is, ok := ref.(string)
		if again := at(busy.ok("ax_find", `{"app": "Editor", "query": "Save"}`).data, "element_ref"); !ok || again != ref {
			w.Fatalf("the references are %v and %v", ref, again)
		}
		for i := range most - 2 {
			if err := find(w.as(strconv.Itoa(i)), "Save"); err != nil {
				w.Fatal(err)
			}
		}
		if err := find(busy, is); err != nil {
			w.Errorf("one of %d: %v", most, err)
		}
		_ = find(w.as("one more"), "Save")
		if err := find(busy, is); err != nil {
			w.Errorf("not the oldest: %v", err)
		}
		if err := find(idle, is); err == nil {
			w.Error("the oldest is not forgotten")
		}
	})
}

// TestNothingCrosses: two callers with the same name and session share neither aliases nor refs.
func TestNothingCrosses(t *testing.T) {
	inWorld(t, func(w *world) {
		pressed := 0
		w.d.Program("Editor").Window("One").Button("Save", func() { pressed++ })
		mine, theirs, unknown := *w, *w, *w
		mine.caller.Identity, theirs.caller.Identity = "/usr/bin/good", "/home/u/evil"
		mine.ok("ax_connect", `{"app": "Editor", "alias": "mine"}`)
		mine.ok("ax_get_tree", `{"app": "Editor"}`)
		for _, other := range []*world{&theirs, &unknown} {
			other.fails(aai.AppNotFound, "ax_list_windows", `{"app": "mine"}`)
			_, err := other.do("ax_click", `{"app": "Editor", "query": "e1"}`)
			assert.Assert(w, err != nil, "%q has pressed by a reference of another: %v, %d", other.caller.Identity, err, pressed)
			assert.Equal(w, pressed, 0, "%q %v", other.caller.Identity, err)
		}
		renamed := mine
		renamed.caller.Name = "another word for the same"
		renamed.ok("ax_list_windows", `{"app": "mine"}`)
	})
}

// TestWhatRunsIsNotForgotten: a running program may be missing from the list for a moment. Then its
// refs are stale, and not unknown.
func TestWhatRunsIsNotForgotten(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.d.Program("Editor")
		window := p.Window("One")
		window.Button("Save", func() {})
		ref := at(w.ok("ax_find", `{"app": "Editor", "query": "Save"}`).data, "element_ref")
		window.Close()
		time.Sleep(time.Second)
		w.hasNot(w.ok("ax_list_apps", `{}`).Text, "Editor")
		p.Window("Two").Button("Quit", func() {})
		time.Sleep(time.Second)
		w.fails(aai.StaleRef, "ax_click", fmt.Sprintf(`{"app": "Editor", "query": %q}`, ref))
	})
}
