package gui_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/testkit/fakedesktop"
)

func TestIsAccessible(t *testing.T) {
	inWorld(t, func(w *world) {
		w.want(w.ok("ax_is_accessible", `{}`), true, "enabled")
		w.d.SetReady(desktop.Readiness{Detail: "There is no bus.", Hint: "Start one."})
		a := w.ok("ax_is_accessible", `{}`)
		w.want(a, false, "enabled")
		w.want(a, "Start one.", "suggestion")
		w.has(a.Text, "There is no bus.", "Start one.")
	})
}

// hangingTree is the tree of a bus that accepts connections and never answers.
type hangingTree struct{ desktop.Tree }

func (hangingTree) Ready(ctx context.Context) (desktop.Readiness, error) {
	<-ctx.Done()
	return desktop.Readiness{}, &aai.Error{Code: aai.Timeout, Message: "the session bus does not answer", Hint: "Start one", Err: ctx.Err()}
}

// TestIsAccessibleOfWhatHangs: the answer comes within seconds, and each sentence has a full stop.
func TestIsAccessibleOfWhatHangs(t *testing.T) {
	inWorldWithout(t, func(b *desktop.Backend) { b.Tree = hangingTree{b.Tree} }, func(w *world) {
		begun := time.Now()
		a := w.ok("ax_is_accessible", `{}`)
		w.want(a, false, "enabled")
		want := "The session bus does not answer. Start one."
		assert.Check(w, strings.EqualFold(a.Text, want), "it says %q, want %q", a.Text, want)
		if waited := time.Since(begun); waited > 5*time.Second { // by the clock of the bubble
			w.Errorf("it took %s", waited)
		}
	})
}

func TestListApps(t *testing.T) {
	inWorld(t, func(w *world) {
		w.want(w.ok("ax_list_apps", `{}`), nil, "apps", 0)
		editor := w.d.Program("Text\x1b[31m Editor")
		editor.Window("One")
		w.d.Program("Daemon") // has no window
		w.d.Program("xterm").HideTree("It shows no tree.").Window("shell")
		a := w.ok("ax_list_apps", `{}`)
		w.want(a, "Text[31m Editor", "apps", 0, "name")
		w.want(a, editor.PID(), "apps", 0, "pid")
		w.want(a, "It shows no tree.", "apps", 1, "hidden")
		w.want(a, nil, "apps", 2)
		w.has(a.Text, "xterm (xterm, process ", "It shows no tree.")
	})
}

func TestConnect(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.d.Program("Editor")
		p.Window("One")
		p.Window("Two")
		a := w.ok("ax_connect", `{"app": "editor", "alias": "ed"}`)
		w.want(a, true, "connected")
		w.want(a, p.PID(), "pid")
		w.want(a, "editor", "bundle_id")
		w.want(a, 2, "windows")
		w.want(w.ok("ax_list_windows", `{"app": "ed"}`), "Two", "windows", 0, "title")
		w.want(w.ok("ax_session_info", `{}`), "Editor", "connected_apps", 0)
		w.want(w.ok("ax_list_apps", `{}`), true, "apps", 0, "connected")

		other := w.as("s2") // an alias belongs to its conversation
		other.fails(aai.AppNotFound, "ax_list_windows", `{"app": "ed"}`)
		other.want(other.ok("ax_list_apps", `{}`), false, "apps", 0, "connected")
		other.want(other.ok("ax_session_info", `{}`), nil, "connected_apps", 0)
	})
}

// TestOnlyConnectedProgram: a key and a click at a point without app go to the conversation's only
// connected program.
func TestOnlyConnectedProgram(t *testing.T) {
	inWorld(t, func(w *world) {
		f := form(w)
		other := w.d.Program("Other")
		other.Window("One")
		w.fails(aai.InvalidParams, "ax_key_press", `{"key": "f5"}`)
		w.ok("ax_connect", `{"app": "Form"}`)
		w.has(w.ok("ax_key_press", `{"key": "f5"}`).Text, "Pressed f5")
		w.has(w.ok("ax_get_tree", fmt.Sprintf(`{"app": "%d", "root_query": "Press"}`, f.Program.PID())).Text, `button "Press"`)
		w.ok("ax_connect", `{"app": "Other"}`)
		e := w.failure(aai.InvalidParams, "ax_click_at", `{"x": 10, "y": 10}`)
		w.has(e.Message, "2 programs are connected")
	})
}

// TestConnectedIsAProcess: another program with the same name is not connected.
func TestConnectedIsAProcess(t *testing.T) {
	inWorld(t, func(w *world) {
		first := w.d.Program("Editor")
		first.Window("One")
		w.d.Program("Editor").Window("Two")
		w.ok("ax_connect", fmt.Sprintf(`{"app": "%d"}`, first.PID()))
		a := w.ok("ax_list_apps", `{}`)
		w.want(a, true, "apps", 0, "connected")
		w.want(a, false, "apps", 1, "connected")
	})
}

// TestAliasOfTheEnded: an alias refers to one process and never to another one.
func TestAliasOfTheEnded(t *testing.T) {
	inWorld(t, func(w *world) {
		first := w.d.Program("Editor")
		first.Window("One")
		w.ok("ax_connect", `{"app": "editor", "alias": "edit"}`)
		first.Quit()
		w.d.Program("Editor").Window("Two")
		w.fails(aai.AppNotRunning, "ax_list_windows", `{"app": "edit"}`)
		w.want(w.ok("ax_session_info", `{}`), nil, "connected_apps", 0)
	})
}

func TestConnectFails(t *testing.T) {
	inWorld(t, func(w *world) {
		w.d.Program("Mousepad").Window("notes")
		e := w.failure(aai.AppNotFound, "ax_connect", `{"app": "Mosepad"}`)
		assert.Check(w, is.Contains(e.Candidates, "Mousepad"), "candidates %q, want Mousepad", e.Candidates)
		w.fails(aai.InvalidParams, "ax_connect", `{}`)
		w.fails(aai.InvalidParams, "ax_connect", `{"launch": true}`)
		w.fails(aai.AppNotFound, "ax_connect", `{"app": "nothing", "launch": true}`)
	})
}

func TestConnectWarnsOfAHiddenTree(t *testing.T) {
	inWorld(t, func(w *world) {
		w.d.Program("xterm").HideTree("It shows no tree.").Window("shell")
		assert.Check(w, is.Equal(w.ok("ax_connect", `{"app": "xterm"}`).Warning, "It shows no tree."))
		assert.Check(w, is.Equal(w.ok("ax_get_tree", `{"app": "xterm"}`).Warning, "It shows no tree."))
	})
}

func TestLaunch(t *testing.T) {
	inWorld(t, func(w *world) {
		w.d.Install("calc", func() *fakedesktop.Program { // a script that starts the program
			script := w.d.Program("sh")
			calc := w.d.Program("Calc").SetParent(script.PID())
			time.AfterFunc(3*time.Second, func() { calc.Window("Untitled") })
			return script
		})
		a := w.ok("ax_connect", `{"app": "calc", "launch": true, "alias": "c"}`)
		w.want(a, "Calc", "app_name")
		w.want(a, 1, "windows")
		w.ok("ax_list_windows", `{"app": "c"}`)
	})
}

func TestLaunchOfWhatShowsNothing(t *testing.T) {
	inWorld(t, func(w *world) {
		w.d.Install("daemon", func() *fakedesktop.Program { return w.d.Program("daemon") })
		e := w.failure(aai.AutomationFailed, "ax_connect", `{"app": "daemon", "launch": true}`)
		assert.Check(w, is.Equal(e.Delivery, aai.Delivered), "delivery %q: it was started", e.Delivery)
		w.has(e.Message, "showed no window")
	})
}

func TestListWindows(t *testing.T) {
	inWorld(t, func(w *world) {
		p := w.d.Program("Editor")
		p.Window("Back").Move(desktop.Rect{X: 100, Y: 50, W: 400, H: 300})
		w.d.Program("Other").Window("Cover").Move(desktop.Rect{X: 100, Y: 50, W: 200, H: 300})
		p.Window("Gone").Minimize()
		front := p.Window("Front")
		front.Move(desktop.Rect{X: 800, Y: 50, W: 100, H: 100})
		a := w.ok("ax_list_windows", `{"app": "Editor"}`)
		w.want(a, "Front", "windows", 0, "title")
		w.want(a, true, "windows", 0, "focused")
		w.want(a, true, "windows", 1, "minimized")
		w.want(a, "Back", "windows", 2, "title")
		w.want(a, 0.5, "windows", 2, "covered")
		w.want(a, 100, "windows", 2, "position", 0)
		w.want(a, 300, "windows", 2, "size", 1)
		w.want(a, nil, "windows", 3)
		w.has(a.Text, `2: "Back" at 100, 50, 400 × 300, 50% covered`)
	})
}

// TestSameName: for several programs with one name there is a question to the person, or an error
// for a caller that cannot ask.
func TestSameName(t *testing.T) {
	inWorld(t, func(w *world) {
		first, second := w.d.Program("Editor"), w.d.Program("Editor")
		first.Window("One")
		second.Window("Two")
		call := &aai.Call{Caller: w.caller, App: aai.DesktopApp, Tool: "ax_list_windows", Args: map[string]any{"app": "Editor"}}
		_, err := w.run(w.Context(), call)
		assert.Assert(w, err != nil, "got %+v, want a question with two candidates", err)
		assert.Equal(w, err.Code, aai.AmbiguousTarget, "%+v", err)
		assert.Assert(w, is.Len(err.Questions, 1), "%+v", err)
		assert.Assert(w, is.Len(err.Candidates, 2), "%+v", err)
		q := err.Questions[0]
		assert.Assert(w, is.Len(q.Choices, 3))
		assert.Equal(w, q.Choices[0].ID, "none")
		for choice, want := range map[int]string{1: "One", 2: "Two"} {
			call.Answers = map[string]aai.Answer{q.ID: {Choice: q.Choices[choice].ID}}
			result, err := w.run(w.Context(), call)
			assert.Assert(w, err == nil, err)
			w.want(answer{result, asJSON(w, result.Data)}, want, "windows", 0, "title")
		}
		for _, refusal := range []string{"none", "1", ""} {
			call.Answers = map[string]aai.Answer{q.ID: {Choice: refusal}}
			_, err := w.run(w.Context(), call)
			assert.Assert(w, err != nil, "answered %q: %v, want PERMISSION_DENIED", refusal, err)
			assert.Equal(w, err.Code, aai.PermissionDenied, "%q %v", refusal, err)
		}
		w.want(w.ok("ax_list_windows", fmt.Sprintf(`{"app": "%d"}`, second.PID())), "Two", "windows", 0, "title")
	})
}

// TestBusNames: an exact name wins over a partial match.
func TestBusNames(t *testing.T) {
	inWorld(t, func(w *world) {
		w.d.Program("Code").Window("exact")
		w.d.Program("Code Viewer").Window("longer")
		for name, want := range map[string]string{
			"code": "exact", "Code": "exact", "CODE": "exact", "viewer": "longer", "desktop/code-viewer": "longer",
		} {
			w.want(w.ok("ax_list_windows", fmt.Sprintf(`{"app": %q}`, name)), want, "windows", 0, "title")
		}
		w.fails(aai.AppNotFound, "ax_list_windows", `{"app": "vi"}`) // too short for a partial match
	})
}

// TestTarget: gates and journal see the program, bound to its executable.
func TestTarget(t *testing.T) {
	inWorld(t, func(w *world) {
		w.d.Program("Editor").Window("One").Button("Save", nil)
		w.ok("ax_get_tree", `{"app": "Editor"}`)
		see := w.record.lastRequest()
		w.ok("ax_click", `{"app": "Editor", "query": "Save"}`)
		act := w.record.lastRequest()
		assert.Check(w, is.Equal(see.Call.Target.ID, "desktop/editor"))
		assert.Check(w, is.Equal(see.Permission(), aai.PermissionSee))
		assert.Check(w, is.Equal(act.Permission(), aai.PermissionAct))
		e := w.record.last(aai.Intent)
		assert.Check(w, is.Equal(e.Target, "desktop/editor"), "%+v", e)
		assert.Check(w, is.Equal(e.Digest, act.Call.Target.Digest), "%+v", e)
		assert.Check(w, e.Digest != "", "on record is %+v", e)
		other := w.d.Program("Editor").SetExecutable("/tmp/editor")
		other.Window("Two")
		w.ok("ax_get_tree", fmt.Sprintf(`{"app": "%d"}`, other.PID()))
		assert.Check(w, w.record.lastRequest().Digest() != see.Digest(), "another executable has the same digest")
		w.ok("ax_screenshot", `{}`)
		e = w.record.last(aai.Outcome)
		assert.Check(w, is.Equal(e.Target, aai.DesktopApp), "a picture of the screen touches %q, want the desktop itself", e.Target)
	})
}

// ownTree also lists this process.
type ownTree struct{ desktop.Tree }

func (t ownTree) Apps(ctx context.Context) ([]desktop.App, error) {
	apps, err := t.Tree.Apps(ctx)
	return append(apps, desktop.App{PID: os.Getpid(), Name: "Gateway", ID: "gateway"}), err
}

// TestNotItself: the gateway does not operate its own windows.
func TestNotItself(t *testing.T) {
	inWorldWithout(t, func(b *desktop.Backend) { b.Tree = ownTree{b.Tree} }, func(w *world) {
		w.d.Program("Editor").Window("One")
		w.fails(aai.AppNotFound, "ax_get_tree", `{"app": "Gateway"}`)
		w.want(w.ok("ax_list_apps", `{}`), nil, "apps", 1)
	})
}

// endedTree also lists a process that has ended, with only its name.
type endedTree struct{ desktop.Tree }

func (t endedTree) Apps(ctx context.Context) ([]desktop.App, error) {
	apps, err := t.Tree.Apps(ctx)
	return append(apps, desktop.App{PID: 4711, Name: "Gone"}), err
}

// TestEndedIsNoTarget: there is no question about a program without an id.
func TestEndedIsNoTarget(t *testing.T) {
	inWorldWithout(t, func(b *desktop.Backend) { b.Tree = endedTree{b.Tree} }, func(w *world) {
		w.d.Program("Editor").Window("One")
		for _, name := range []string{"Gone", "4711"} {
			e := w.failure(aai.AppNotRunning, "ax_get_tree", `{"app": "`+name+`"}`)
			assert.Check(w, e.Delivery == "", "%+v", e)
			assert.Check(w, e.Hint != "", "%+v", e)
			assert.Check(w, is.Contains(e.Message, "Gone (process 4711) has ended"), "%+v", e)
		}
	})
}

func TestSessionInfo(t *testing.T) {
	inWorld(t, func(w *world) {
		w.d.Program("Editor").Window("One").Button("Save", nil)
		w.ok("ax_click", `{"app": "Editor", "query": "Save"}`)
		w.ok("ax_get_tree", `{"app": "Editor"}`)
		time.Sleep(time.Minute)
		a := w.ok("ax_session_info", `{}`)
		w.want(a, 1, "action_count")
		w.want(a, 60, "uptime_seconds")
		raw, _ := json.Marshal(a.Data)
		w.has(string(raw), `"connected_apps":[]`)
	})
}

// TestStartingIsAPermissionOfItsOwn: a running program is connected. Starting one, or one with
// arguments, needs another permission, which the gates know.
func TestStartingIsAPermissionOfItsOwn(t *testing.T) {
	inWorld(t, func(w *world) {
		w.d.Install("calc", func() *fakedesktop.Program {
			p := w.d.Program("Calc").SetExecutable("/usr/bin/calc")
			p.Window("Untitled")
			return p
		})
		permission := func(args string) string {
			w.ok("ax_connect", args)
			r := w.record.lastRequest()
			return r.Permission()
		}
		got := permission(`{"app": "calc", "launch": true}`)
		assert.Check(t, is.Equal(got, aai.PermissionStart), "what does not run: %s", got)
		got = permission(`{"app": "calc", "launch": true}`)
		assert.Check(t, is.Equal(got, aai.PermissionSee), "what runs: %s", got)
		assert.Check(t, is.Equal(permission(`{"app": "calc", "launch": true, "arguments": ["--new"]}`), aai.PermissionStart))
		started := slices.DeleteFunc(w.d.Actions(), func(deed string) bool { return !strings.HasPrefix(deed, "Start") })
		assert.Check(t, slices.Equal(started, []string{"Start calc", "Start calc --new"}), "started were %q", started)
	})
}

func TestLaunchOfWhatEnds(t *testing.T) {
	inWorld(t, func(w *world) {
		w.d.Install("once", func() *fakedesktop.Program {
			p := w.d.Program("once")
			p.Quit()
			return p
		})
		w.has(w.failure(aai.AutomationFailed, "ax_connect", `{"app": "once", "launch": true}`).Message, "ended without a window")
	})
}

// TestRefsOfAProgramBegunAnew: a ref of a program that has ended is stale in the same program after
// a restart, even after a read.
func TestRefsOfAProgramBegunAnew(t *testing.T) {
	inWorld(t, func(w *world) {
		begin := func(label string) *fakedesktop.Program {
			p := w.d.Program("Notes")
			p.Window("Notes").Button(label, func() { w.Errorf("%s was pressed", label) })
			return p
		}
		p := begin("Dead")
		w.has(w.ok("ax_get_tree", `{"app": "Notes"}`).Text, `"Dead" [e2]`)
		p.Quit()
		begin("Zebra")
		for range 2 {
			w.has(w.failure(aai.StaleRef, "ax_click", `{"app": "Notes", "query": "e2"}`).Message, "e2", "gone")
			w.has(w.ok("ax_get_tree", `{"app": "Notes"}`).Text, `"Zebra" [e4]`)
		}
	})
}
