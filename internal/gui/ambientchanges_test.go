package gui_test

import (
	"fmt"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// TestClockIsNoEvidence: an ambient change does not prove an effect of a click, and the effect is
// visible beside it.
func TestClockIsNoEvidence(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.d.Program("Office")
		window := p.Window("Office")
		pressed := 0
		status := window.Text("idle")
		window.Button("Dead", func() {})
		window.Button("Work", func() { pressed++; status.Rename(fmt.Sprintf("%s done", []string{"one", "two", "three"}[pressed-1])) })
		clock := window.Text("12:00:00")
		log := window.List("Messages", 5, "first")
		seconds := 0
		var tick func()
		tick = func() {
			seconds++
			clock.Rename(fmt.Sprintf("12:00:%02d", seconds))
			log.Text(fmt.Sprintf("message %d", seconds))
			p.After(100*time.Millisecond, tick)
		}
		p.After(100*time.Millisecond, tick)
		defer func() { tick = func() {} }()

		w.ok("ax_get_tree", `{"app": "Office"}`)
		for range 3 {
			time.Sleep(2 * time.Second)
			a := w.ok("ax_click", `{"app": "Office", "query": "Dead"}`)
			w.want(a, false, "verified")
			w.has(a.Warning, "nothing was seen to change", "what changes by itself")
			a = w.ok("ax_click", `{"app": "Office", "query": "Work"}`)
			w.want(a, true, "verified")
			w.has(a.Text, "done")
		}
	})
}

// TestLateEffectIsNotAmbient: a late effect of an action changes once, and is evidence the next
// time.
func TestLateEffectIsNotAmbient(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.d.Program("Office")
		window := p.Window("Office")
		status := window.Text("idle")
		n := 0
		window.Button("Load", func() {
			n++
			status.Rename(fmt.Sprintf("%s loading", []string{"one", "two"}[n-1]))
			p.After(3*time.Second, func() { status.Rename(fmt.Sprintf("%s loaded", []string{"one", "two"}[n-1])) })
		})
		w.ok("ax_get_tree", `{"app": "Office"}`)
		for range 2 {
			w.want(w.ok("ax_click", `{"app": "Office", "query": "Load"}`), true, "verified")
			time.Sleep(6 * time.Second)
		}
	})
}

// TestWhatGoesIsWaitedFor: an element that loses its name, as in Chromium, is about to vanish, and
// the reply reports that. An element that is only emptied is reported soon.
func TestWhatGoesIsWaitedFor(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.d.Program("Office")
		window := p.Window("Office")
		question := p.Dialog("Really?")
		words := question.Text("It cannot be undone.")
		question.Button("Yes", func() {
			words.Rename("")
			p.After(60*time.Millisecond, question.Close)
		})
		status := window.Text("busy")
		window.Button("Clear", func() { status.Rename("") })
		w.has(w.ok("ax_click", `{"app": "Office", "query": "Yes"}`).Text, `- dialog "Really?"`)
		took := elapsed(func() { w.want(w.ok("ax_click", `{"app": "Office", "query": "Clear"}`), true, "verified") })
		assert.Check(t, took <= 300*time.Millisecond, "took %s", took)
	})
}

// TestADialogIsNoPageToCome: a dialog in front of a page, which vanishes, is reported at once.
func TestADialogIsNoPageToCome(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.d.Program("Browser")
		frame := p.Window("Shop")
		page := frame.Add(desktop.Element{Role: desktop.Document, Name: "Shop", States: desktop.Enabled | desktop.Showing})
		page.Button("Ask", func() {
			page.Remove()
			p.Dialog("Sure?").Button("OK", func() {})
		})
		took := elapsed(func() { w.has(w.ok("ax_click", `{"app": "Browser", "query": "Ask"}`).Text, "Sure?") })
		assert.Check(t, took <= time.Second, "took %s", took)
	})
}

// TestAPagesStatusIsAnEffect: a number in a status bar may lag behind the previous action, but in a
// page it is an effect of this one.
func TestAPagesStatusIsAnEffect(t *testing.T) {
	for _, browser := range []bool{false, true} {
		inWorld(t, func(w *world) {
			p := w.d.Program("Shop")
			if browser {
				p.SetBrowser()
			}
			window := p.Window("Shop")
			words := window.Add(desktop.Element{Role: desktop.Status}).Text("0 in the cart")
			bought := 0
			window.Button("Buy", func() { bought++; words.Rename(fmt.Sprintf("%d in the cart", bought)) })
			w.ok("ax_click", `{"app": "Shop", "query": "Buy"}`)
			w.want(w.ok("ax_click", `{"app": "Shop", "query": "Buy"}`), browser, "verified")
		})
	}
}
