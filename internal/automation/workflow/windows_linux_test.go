package workflow_test

import (
	"fmt"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/automation/workflow"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/inputlock"
	"github.com/gybob/aai-gateway/internal/gateway"
	"github.com/gybob/aai-gateway/internal/gui"
	"github.com/gybob/aai-gateway/internal/platform/linux/atspi"
	"github.com/gybob/aai-gateway/internal/platform/linux/x11"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// onWindow adds the real desktop, with a real window. app is its name in calls.
func onWindow(t *testing.T, w *world, kind linuxtest.Kind) (f *linuxtest.Fixture, app string) {
	t.Helper()
	return onDesktop(t, w)(kind)
}

// onDesktop adds the real desktop. open opens a window on it.
func onDesktop(t *testing.T, w *world) (open func(linuxtest.Kind) (f *linuxtest.Fixture, app string)) {
	t.Helper()
	s := linuxtest.StartAccessible(t)
	screen := x11.New(x11.Config{Getenv: s.Getenv, InputLock: inputlock.New(inputlock.Config{Folder: inputlock.Folder, Getenv: s.Getenv})})
	tree := atspi.New(atspi.Config{Getenv: s.Getenv, Windows: screen})
	t.Cleanup(func() { tree.Close(); _ = screen.Close() })
	desk := gui.New(gui.Config{ExtraTools: w.DesktopTools(), Open: func() desktop.Backend {
		return desktop.Backend{Tree: tree, Offscreen: tree, Actor: tree, Events: tree, Windows: screen, Input: screen, Screen: screen, Clipboard: screen}
	}})
	for _, tool := range desk.Tools { // slow is not failed
		tool.Limits.Timeout += 2 * time.Minute
	}
	w.apps = append(w.apps, desk)
	return func(kind linuxtest.Kind) (*linuxtest.Fixture, string) {
		f := s.Fixture(t, kind)
		app := strconv.Itoa(f.PID)
		for {
			_, err := w.Do(t.Context(), &aai.Call{Caller: agent(), App: aai.DesktopApp, Tool: "ax_find", Args: documentObject{"app": app, "query": "button Press"}})
			if err == nil {
				return f, app
			}
			e := aai.AsError(err)
			assert.Assert(t, e.Code == aai.AppNotFound || e.Code == aai.ElementNotFound || e.Code == aai.AppNotRunning, err)
			_ = aai.Sleep(t.Context(), 50*time.Millisecond)
		}
	}
}

// On a real window a workflow copies one field to others, with progress per step; if a step fails,
// each act is undone or named.
func TestWorkflowOnAWindow(t *testing.T) {
	w := newWorld(t)
	w.answer = "session"
	f, app := onWindow(t, w, linuxtest.GTK3)
	var heard []string
	ctx := gateway.WithProgress(t.Context(), func(done, total float64, message string) {
		heard = append(heard, fmt.Sprintf("%v/%v %s", done, total, message))
	})
	do := func(steps ...any) (*aai.Result, error) {
		return w.Do(ctx, &aai.Call{Caller: agent(), App: aai.DesktopApp, Tool: workflow.DesktopToolName, Args: documentObject{"name": "copy", "steps": steps}})
	}
	set := func(query, value string, more ...any) documentObject {
		s := documentObject{"tool": "ax_set_value", "app": app, "args": documentObject{"query": query, "value": value}}
		for i := 0; i+1 < len(more); i += 2 {
			s[more[i].(string)] = more[i+1]
		}
		return s
	}
	result, err := do(
		set(`textbox "Full name"`, "Ann {{{{x}}"),
		documentObject{"tool": "ax_get_value", "args": documentObject{"app": app, "query": `textbox "Full name"`}, "name": "name"},
		documentObject{"tool": "ax_clipboard", "args": documentObject{"action": "write", "text": "{{name.value}}"}},
		set("textbox Notes", "of {{step_2.value}}!"),
		documentObject{"tool": "ax_find", "app": app, "args": documentObject{"query": "no such thing"}, "on_fail": "skip"},
		documentObject{"tool": "ax_click", "app": app, "args": documentObject{"query": "button Press"}, "when": documentObject{"value": "{{step_5.error.code}}", "equals": "ELEMENT_NOT_FOUND"}},
	)
	assert.NilError(t, err)
	f.WaitState(t, "name", "Ann {{x}}")
	f.WaitState(t, "notes", "of Ann {{x}}!")
	f.WaitState(t, "presses", float64(1))
	if !strings.HasPrefix(result.Text, "copy: 5 of 6 steps done\n5 ax_find: skipped: ") || len(heard) == 0 || heard[0] != "1/6 Step 1/6: ax_set_value" {
		t.Errorf("%s\nheard %q", result.Text, heard)
	}
	_, err = do(
		set(`textbox "Full name"`, "Bob"), set("slider Volume", "70"),
		documentObject{"tool": "ax_click", "app": app, "args": documentObject{"query": "button Press"}},
		documentObject{"tool": "ax_find", "app": app, "args": documentObject{"query": "no such thing"}, "on_fail": "rollback"},
	)
	e := aai.AsError(err)
	assert.Assert(t, e != nil, err)
	assert.Equal(t, e.Code, aai.ElementNotFound, err)
	assert.Assert(t, is.Contains(e.Message, "step 4 of 4 (ax_find)"), err)
	state := f.State(t)
	for name, c := range map[string]struct {
		was  any
		step string
	}{"name": {"Ann {{x}}", "step 1 "}, "volume": {float64(30), "step 2 "}, "presses": {float64(1), "step 3 "}} {
		assert.Check(t, state[name] == c.was || regexp.MustCompile(`not undone: .*`+c.step).MatchString(err.Error()), "%s is %v, was %v, and is not named in %v", name, state[name], c.was, err)
	}
	if !strings.Contains(err.Error(), "not undone: step 3 (ax_click)") { // the newest is the first
		t.Error(err)
	}
}
