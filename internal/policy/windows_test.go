package policy

import (
	"context"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/testkit/fakeoperator"
)

// screen returns an app with tools that operate the windows of other programs.
func screen() *aai.App {
	return &aai.App{
		ID: "desktop", Name: "Desktop",
		Tools: []*aai.Tool{
			{Name: "look", Effect: aai.Reads, Assess: aai.Always(aai.Assessment{EffectInherent: true}), Target: "app"},
			{Name: "find", Effect: aai.Reads, Assess: aai.Always(aai.Assessment{EffectInherent: true}), Target: "app"},
			{Name: "click", Effect: aai.Destroys, Target: "app", Assess: func(c *aai.Call) aai.Assessment {
				return aai.Assessment{KeepsFocus: c != nil && c.Args["mode"] != "focus"}
			}},
			{Name: "scroll", Effect: aai.Changes, Target: "app"},
			{Name: "type", Effect: aai.Destroys, Assess: aai.Always(aai.Assessment{SendsKeys: true}), Target: "app"},
		},
		Operator: fakeoperator.Operator{Find: func(context.Context, *aai.Call, string) (*aai.App, error) { panic("gates do not look for targets") }},
	}
}

func program(name, digest string) *aai.App {
	return &aai.App{ID: "desktop/" + name, Name: name, Digest: digest, PID: 7}
}

func operating(target *aai.App, tool string) *aai.Request {
	app := screen()
	if target == nil {
		target = app
	}
	r := asking(app, tool)
	r.App, r.Call.Target = app, target
	r.Tool = app.Tool(tool)
	return r
}

func TestOneApprovalCoversAnAppAndNotEveryButton(t *testing.T) {
	editor, mail := program("editor", "e1"), program("mail", "m1")
	d := newDesk()
	q := d.question(t, operating(editor, "look"))
	d.admits(t, answered(operating(editor, "look"), q, choiceAlways))

	d.admits(t, operating(editor, "find"))    // the same permission
	d.question(t, operating(editor, "click")) // another one
	d.question(t, operating(mail, "look"))    // another app
	d.question(t, operating(nil, "look"))     // the whole screen
	q = d.question(t, operating(editor, "scroll"))
	d.admits(t, answered(operating(editor, "scroll"), q, choiceSession))
	d.admits(t, operating(editor, "click"))
	d.question(t, operating(program("editor", "e2"), "look"))  // another program of that name
	d.question(t, operating(program("editor", "e2"), "click")) // also for the session
}

func TestAllAndNeverForWindows(t *testing.T) {
	editor := program("editor", "e1")
	d := newDesk()
	q := d.question(t, operating(editor, "look"))
	d.admits(t, answered(operating(editor, "look"), q, choiceAll))
	d.admits(t, operating(editor, "click"))

	d = newDesk()
	q = d.question(t, operating(editor, "click"))
	d.refuses(t, answered(operating(editor, "click"), q, choiceNever), aai.PermissionDenied)
	d.refuses(t, operating(editor, "scroll"), aai.ConsentRequired)
	q = d.question(t, operating(editor, "look"))
	d.admits(t, answered(operating(editor, "look"), q, choiceAll))
	d.refuses(t, operating(editor, "click"), aai.ConsentRequired) // "all" did not cover that
}

func TestPreapprovedWindows(t *testing.T) {
	editor := program("editor", "e1")
	d := newDesk(Grant{Caller: "claude-ai", Identity: agent().Identity, App: "desktop/editor", Tool: aai.PermissionSee, Decision: Allow})
	d.admits(t, operating(editor, "look"))
	d.question(t, operating(editor, "click"))
	d.question(t, operating(program("mail", "m1"), "look"))
}

// TestStarting checks that starting a program needs its own permission, since arguments
// can do more than any of its buttons.
func TestStarting(t *testing.T) {
	shell, running := program("shell", "s1"), program("shell", "s1")
	shell.PID, shell.Process.Launch = 0, &aai.Launch{CommandLine: "/usr/bin/shell", Digest: "s1"}
	d := newDesk(Grant{Caller: "claude-ai", Identity: agent().Identity, App: "desktop/shell", Tool: aai.PermissionAct, Decision: Allow})
	d.admits(t, operating(running, "click"))
	q := d.question(t, operating(shell, "click"))
	d.admits(t, answered(operating(shell, "click"), q, choiceAlways))
	d.admits(t, operating(shell, "click"))
	d.question(t, operating(running, "look"))

	d = newDesk()
	q = d.question(t, operating(running, "click"))
	d.admits(t, answered(operating(running, "click"), q, choiceAll))
	q = d.question(t, operating(shell, "click")) // "all" does not cover starting it
	for _, choice := range q.Choices {
		assert.Check(t, choice.ID != choiceAll, "to start has no more than that to allow, but %q is offered", choice.Label)
	}
	d.refuses(t, answered(operating(shell, "click"), q, choiceAll), aai.PermissionDenied)
}

func TestTheQuestionSaysWhatIsAllowed(t *testing.T) {
	d := newDesk()
	for _, c := range []struct {
		target *aai.App
		tool   string
		title  string
	}{
		{program("editor", "e1"), "look", `to see the windows of "editor"?`},
		{program("editor", "e1"), "click", `to click and type in the windows of "editor"?`},
		{&aai.App{ID: "desktop/shell", Name: "shell", Process: aai.Process{Launch: &aai.Launch{}}}, "click", `to start "shell", with files or addresses that it opens?`},
		{&aai.App{ID: "desktop/shell", Name: "shell", Process: aai.Process{Launch: &aai.Launch{HasArgs: true}}}, "click", `to start "shell" with other arguments than its own?`},
		{nil, "look", "to see running programs, and the whole screen?"},
		{nil, "click", "to click and type in the whole screen and the clipboard?"},
	} {
		q := d.question(t, operating(c.target, c.tool))
		assert.Check(t, strings.HasSuffix(q.Title, c.title), "title %q, want …%s", q.Title, c.title)
		for _, choice := range q.Choices {
			assert.Check(t, !strings.Contains(choice.Label, "tool"), "%s: %q speaks of tools", c.tool, choice.Label)
		}
	}
}
