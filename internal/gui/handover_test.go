package gui_test

import (
	"testing"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/testkit/fakedesktop"
)

// TestLaunchHandsOver: if a started program hands its work to a running one and ends, the running
// one is connected.
func TestLaunchHandsOver(t *testing.T) {
	inWorld(t, func(w *world) {
		running := w.d.Program("calc").SetExecutable("/usr/bin/calc")
		running.Window("Untitled")
		w.d.Install("calc", func() *fakedesktop.Program {
			second := w.d.Program("calc")
			time.AfterFunc(time.Second, func() {
				running.Window("file.ods")
				second.Quit()
			})
			return second
		})
		a := w.ok("ax_connect", `{"app": "calc", "launch": true, "arguments": ["file.ods"]}`)
		w.want(a, float64(running.PID()), "pid")
		w.want(a, 2, "windows")
		w.has(a.Text, "It ran already")
	})
}

// TestLaunchHandsOverUnseen: without a new window, the reply does not claim that there is one.
func TestLaunchHandsOverUnseen(t *testing.T) {
	inWorld(t, func(w *world) {
		running := w.d.Program("calc").SetExecutable("/usr/bin/calc")
		running.Window("Untitled")
		w.d.Install("calc", func() *fakedesktop.Program {
			second := w.d.Program("calc")
			second.Quit()
			return second
		})
		a := w.ok("ax_connect", `{"app": "calc", "launch": true, "arguments": ["--no-such-option"]}`)
		w.want(a, float64(running.PID()), "pid")
		w.has(a.Text, "It ran already, and showed no effect of this")
	})
}

// TestLaunchByAScript: a script may hand its work to a program with its name and a new window, and
// to no other.
func TestLaunchByAScript(t *testing.T) {
	inWorld(t, func(w *world) {
		running, other := w.d.Program("office").SetExecutable("/usr/lib/office/office.bin"), w.d.Program("Other").SetExecutable("/usr/lib/other/other")
		running.Window("Untitled 1")
		other.Window("Other")
		takes := running
		w.d.Install("office", func() *fakedesktop.Program { // /usr/bin/office
			second := w.d.Program("office")
			time.AfterFunc(time.Second, func() {
				takes.Window("Untitled 2")
				second.Quit()
			})
			return second
		})
		const start = `{"app": "office", "launch": true, "arguments": ["b.ods"]}`
		a := w.ok("ax_connect", start)
		w.want(a, float64(running.PID()), "pid")
		w.want(a, 2, "windows")
		takes = other
		w.has(w.failure(aai.AutomationFailed, "ax_connect", start).Message, "ended without a window")
	})
}
