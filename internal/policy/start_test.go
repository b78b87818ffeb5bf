package policy

import (
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
)

// launched returns a call that starts the editor.
func launched(t *testing.T, change func(*aai.App)) *aai.Request {
	t.Helper()
	editor := &aai.App{ID: "desktop/editor", Name: "editor", Digest: "program", Process: aai.Process{Launch: &aai.Launch{
		CommandLine: "/usr/bin/editor --new", Digest: "entry",
	}}}
	if change != nil {
		change(editor)
	}
	return shelled(t, operating(editor, "look"))
}

// TestARememberedStartIsForItsOwnCommand checks that a grant covers opening files; other
// arguments and a changed command ask again.
func TestARememberedStartIsForItsOwnCommand(t *testing.T) {
	other := func(a *aai.App) {
		a.Process.Launch.CommandLine, a.Process.Launch.HasArgs = "/usr/bin/editor --new --eval 'rm'", true
	}
	d := newDesk()
	own := func() *aai.Request { return launched(t, nil) }
	d.admits(t, answered(own(), d.question(t, own()), choiceAlways))
	d.admits(t, own())
	d.admits(t, launched(t, func(a *aai.App) { a.Process.Launch.HasArgs, a.Process.Launch.OpensArgs = true, true }))
	d.question(t, launched(t, func(a *aai.App) { a.Process.Launch.Digest = "another command" }))
	for range 2 { // each time
		q := d.question(t, launched(t, other))
		assert.Check(t, is.Contains(q.Text, "\n│ Runs: /usr/bin/editor --new --eval 'rm'\n"), "the whole command is not shown:\n%s", q.Text)
		ids := slices.Collect(func(yield func(string) bool) {
			for _, c := range q.Choices {
				yield(c.ID)
			}
		})
		assert.Check(t, slices.Equal(ids, []string{choiceDeny, choiceOnce}), "offered are %q", ids)
		d.admits(t, answered(launched(t, other), q, choiceOnce))
	}
	q := d.question(t, launched(t, other))
	d.refuses(t, answered(launched(t, other), q, choiceSession), aai.PermissionDenied)
}

// TestAStartWithArgumentsByPolicy checks that the configuration may allow one exact command.
func TestAStartWithArgumentsByPolicy(t *testing.T) {
	given := func(line string) *aai.Request {
		return launched(t, func(a *aai.App) { a.Process.Launch.CommandLine, a.Process.Launch.HasArgs = line, true })
	}
	grant := Grant{Caller: Wildcard, App: "desktop/editor", Tool: "start /usr/bin/editor --line 3", Decision: Allow}
	every := Grant{Caller: Wildcard, App: "desktop/editor", Tool: Wildcard, Decision: Allow}
	newDesk(grant).admits(t, given("/usr/bin/editor --line 3"))
	newDesk(grant, every).question(t, given("/usr/bin/editor --line 33"))
	newDesk(grant).question(t, launched(t, nil))
	newDesk(every).admits(t, launched(t, nil))
}

// TestAStartOfBefore checks that an older grant for the executable covers only a start
// without arguments.
func TestAStartOfBefore(t *testing.T) {
	d := newDesk()
	d.kept.grants = []Grant{{
		Caller: agent().String(), Identity: agent().Identity, App: "desktop/editor", Tool: aai.PermissionStart, Digest: "program", Decision: Allow,
	}}
	d.question(t, launched(t, nil))
	plain := func(a *aai.App) {
		a.Process.Launch.IsBareProgram, a.Process.Launch.CommandLine = true, "/usr/bin/editor"
	}
	d.admits(t, launched(t, plain))
	d.question(t, launched(t, func(a *aai.App) { plain(a); a.Process.Launch.HasArgs = true }))
}

// TestWhatRunsCommandsIsStartedToRun checks that such programs need PermissionRun for every argument.
func TestWhatRunsCommandsIsStartedToRun(t *testing.T) {
	shell := func(more func(*aai.App)) *aai.Request {
		return launched(t, func(a *aai.App) {
			a.Process.Launch.RunsCommands = true
			if more != nil {
				more(a)
			}
		})
	}
	d := newDesk(Grant{Caller: Wildcard, App: "desktop/editor", Tool: Wildcard, Decision: Allow}, Grant{Caller: Wildcard, App: "desktop/editor", Tool: aai.PermissionStart, Decision: Allow})
	q := d.question(t, shell(nil))
	assert.Check(t, strings.HasSuffix(q.Title, `to start "editor", which runs commands?`), q.Title)
	d.admits(t, answered(shell(nil), q, choiceAlways))
	d.admits(t, shell(nil))
	d.question(t, shell(func(a *aai.App) { a.Process.Launch.HasArgs, a.Process.Launch.OpensArgs = true, true }))
	got := check(&ModeGate{Configured: Safe}, shell(nil))
	assert.Check(t, is.Equal(got, "PERMISSION_DENIED"), "in the mode safe: %s", got)
}

// TestFilesAreAskedAboutEachTime checks that no earlier consent to a tool lets a call send a file,
// and that the question shows the file.
func TestFilesAreAskedAboutEachTime(t *testing.T) {
	upload := func(file string) *aai.Request {
		app := notesApp("v1", &aai.Tool{Name: "upload", Effect: aai.Changes, Assess: func(call *aai.Call) aai.Assessment {
			var a aai.Assessment
			if call != nil && call.Args["file"] != nil {
				a.ReadsFiles, a.FilesGoTo = []string{call.Args["file"].(string)}, "https://api.example.com/v1"
			}
			return a
		}})
		r := asking(app, "upload")
		if file != "" {
			r.Call.Args["file"] = file
		}
		return r
	}
	d := newDesk()
	d.admits(t, answered(upload(""), d.question(t, upload("")), choiceAlways))
	d.admits(t, upload(""))
	for range 2 {
		q := d.question(t, upload("/home/me/plan.txt"))
		assert.Check(t, is.Contains(q.Text, "\nSends the content of the file \"/home/me/plan.txt\" to api.example.com\n"), "the file is not shown:\n%s", q.Text)
		assert.Assert(t, is.Len(q.Choices, 2))
		assert.Equal(t, q.Choices[1].ID, choiceOnce)
		d.admits(t, answered(upload("/home/me/plan.txt"), q, choiceOnce))
	}
	if q := d.question(t, upload("result:c-1")); !strings.Contains(q.Text, "\nSends the kept result of the call \"c-1\" to api.example.com\n") {
		t.Errorf("the result is not shown:\n%s", q.Text)
	}
	q := d.question(t, upload("/home/me/plan.txt"))
	d.refuses(t, answered(upload("/home/me/other.txt"), q, choiceOnce), aai.ConsentRequired)
	allowed := newDesk(Grant{Caller: Wildcard, App: notes, Tool: "upload /home/me/plan.txt", Decision: Allow})
	allowed.admits(t, upload("/home/me/plan.txt"))
	allowed.question(t, upload("/home/me/other.txt"))
	newDesk(Grant{Caller: Wildcard, App: notes, Tool: Wildcard, Decision: Allow}).question(t, upload("/home/me/plan.txt"))
}
