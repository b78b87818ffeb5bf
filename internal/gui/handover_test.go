package gui_test

import (
	"context"
	"fmt"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gui"
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

// TestActionsPause: while the person cannot see the screen, tools that act fail with the reason, and
// tools that read work.
func TestActionsPause(t *testing.T) {
	inWorld(t, func(w *world) {
		w.d.Program("Notes").Window("Notes").Button("Save", nil)
		backend := w.d.Backend()
		backend.PauseReason = func(context.Context) string { return "the screen is locked" }
		app := gui.New(gui.Config{Open: func() desktop.Backend { return backend }})
		w.gateway.Catalog = catalog{app}
		w.ok("ax_get_tree", `{"app": "notes"}`)
		e := w.failure(aai.RateLimited, "ax_click", `{"app": "notes", "query": "Save"}`)
		assert.Check(t, is.Contains(e.Message, "the screen is locked"))
	})
}

// An indicator counts the actions that it shows.
type indicator struct {
	shown, hidden atomic.Int32
	label         atomic.Value
}

func (i *indicator) Show(label string) func() {
	i.shown.Add(1)
	i.label.Store(label)
	return func() { i.hidden.Add(1) }
}

// TestActionsAreShown: the person's sign shows during calls that act, and not during calls that read.
func TestActionsAreShown(t *testing.T) {
	inWorld(t, func(w *world) {
		w.d.Program("Notes").Window("Notes").Button("Save", nil)
		backend, sign := w.d.Backend(), &indicator{}
		backend.Indicator = sign
		app := gui.New(gui.Config{Open: func() desktop.Backend { return backend }})
		w.gateway.Catalog = catalog{app}
		w.ok("ax_get_tree", `{"app": "notes"}`)
		n := sign.shown.Load()
		assert.Check(t, n == 0, "a reading call showed the sign %d times", n)
		w.ok("ax_click", `{"app": "notes", "query": "Save"}`)
		shown, hidden := sign.shown.Load(), sign.hidden.Load()
		assert.Check(t, shown == 1, "a click showed the sign %d times and hid it %d times", shown, hidden)
		assert.Check(t, hidden == 1, "a click showed the sign %d times and hid it %d times", shown, hidden)
		label, _ := sign.label.Load().(string)
		assert.Check(t, strings.HasSuffix(label, " acts in Notes"), "the sign says %q", label)
	})
}

// TestSessionInfoOfTheGateway checks the figures that other packages give.
func TestSessionInfoOfTheGateway(t *testing.T) {
	app := gui.New(gui.Config{
		Open: func() desktop.Backend { return desktop.Backend{} }, SecurityMode: func() string { return "safe" },
		UndoDepth: func(context.Context, aai.Caller) (int, error) { return 3, nil },
	})
	ctx := aai.WithClientCapabilities(t.Context(), aai.ClientCapabilities{Subscriptions: func() int { return 2 }})
	result, err := app.Tool("ax_session_info").Run(ctx, &aai.Call{App: aai.DesktopApp, Tool: "ax_session_info"})
	assert.NilError(t, err)
	info, _ := result.Data.(map[string]any)
	for name, want := range map[string]any{"security_mode": "safe", "undo_stack_depth": 3, "subscriptions": 2} {
		assert.Check(t, is.Equal(info[name], want), name)
	}
}

// whileAsked is a gate that takes its time, while something happens.
type whileAsked struct{ happens func() }

func (g whileAsked) Check(context.Context, *aai.Request) ([]aai.Question, error) {
	time.Sleep(time.Second)
	g.happens()
	return nil, nil
}

// retold lists programs with changed attributes.
type retold struct {
	desktop.Tree
	as *func(*desktop.App)
}

func (t retold) Apps(ctx context.Context) ([]desktop.App, error) {
	apps, err := t.Tree.Apps(ctx)
	for i := range apps {
		if *t.as != nil {
			(*t.as)(&apps[i])
		}
	}
	return apps, err
}

// TestAnotherProgramThanAskedAbout: a process that became another program after the gates' decision
// is left alone, whichever attribute changed.
func TestAnotherProgramThanAskedAbout(t *testing.T) {
	for name, as := range map[string]func(*desktop.App){
		"its executable": func(a *desktop.App) { a.Executable = "/tmp/editor" },
		"its contents":   func(a *desktop.App) { a.ProgramIdentity = a.Executable + " sha256:00" },
		"its script":     func(a *desktop.App) { a.ID = "another.py" },
		"nothing":        nil,
	} {
		t.Run(name, func(t *testing.T) {
			var now func(*desktop.App)
			inWorldWithout(t, func(b *desktop.Backend) { b.Tree = retold{b.Tree, &now} }, func(w *world) {
				pressed := false
				w.d.Program("Editor").Window("One").Button("Save", func() { pressed = true })
				w.gateway.Gates = []aai.Gate{admitAll{w.record}, whileAsked{func() { now = as }}}
				_, err := w.do("ax_click", `{"app": "Editor", "query": "Save"}`)
				switch {
				case as == nil && (err != nil || !pressed):
					w.Errorf("nothing has changed, and it was pressed: %v, %v", pressed, err)
				case as != nil && (err == nil || err.Code != aai.AppNotRunning || pressed):
					w.Errorf("it was pressed: %v, %v", pressed, err)
				}
			})
		})
	}
}

// replaced finds programs at another path.
type replaced struct {
	desktop.Programs
	by *string
}

func (r replaced) Find(name string) (desktop.Program, error) {
	p, err := r.Programs.Find(name)
	if *r.by != "" {
		p.Path = *r.by
	}
	return p, err
}

// TestAnotherProgramIsNotStarted: only the program of the gates' decision starts, and no other with
// its name.
func TestAnotherProgramIsNotStarted(t *testing.T) {
	for by, starts := range map[string]bool{"": true, "/tmp/calc": false} {
		now := ""
		inWorldWithout(t, func(b *desktop.Backend) { b.Programs = replaced{b.Programs, &now} }, func(w *world) {
			started := false
			w.d.Install("calc", func() *fakedesktop.Program {
				started = true
				p := w.d.Program("Calc")
				p.Window("One")
				return p
			})
			w.gateway.Gates = []aai.Gate{admitAll{w.record}, whileAsked{func() { now = by }}}
			_, err := w.do("ax_connect", `{"app": "calc", "launch": true}`)
			assert.Check(w, is.Equal(started, starts), "%q %v", by, err)
			assert.Check(w, starts || err != nil && err.Delivery == aai.NotDelivered, "replaced by %q: started %v, %v", by, started, err)
		})
	}
}
