package policy

import (
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
)

// sending returns a request that sends pictures of the program to the model at the host.
func sending(target *aai.App, host string) *aai.Request {
	r := operating(target, "look")
	tool := *r.Tool
	tool.Assess = aai.Always(aai.Assessment{EffectInherent: true, PicturesGoTo: host})
	r.Tool = &tool
	return r
}

// TestPicturesForAModel: a person allows each host for each program, and no other permission includes it.
func TestPicturesForAModel(t *testing.T) {
	editor, mail := program("editor", "e1"), program("mail", "m1")
	const far, near = "api.model.example", "127.0.0.1:1234"
	by := func(tool string) Grant {
		return Grant{Caller: "claude-ai", Identity: agent().Identity, App: "desktop/editor", Tool: tool, Decision: Allow}
	}
	d := newDesk(by(Wildcard), by(aai.PermissionHost), by(aai.PermissionSee))
	d.admits(t, operating(editor, "look"))
	q := d.question(t, sending(editor, far))
	assert.Assert(t, is.Contains(q.Text, "\nA picture leaves this computer, to: api.model.example"))
	assert.Assert(t, is.Contains(q.Title, `let the model at api.model.example see the windows of "editor"`))
	assert.Assert(t, !q.AllowsChannel(aai.Client), "it may be answered over %v by %v", q.Channels, q.Choices)
	assert.Equal(t, q.Choices[1].ID, choiceOnce, "%v %v", q.Channels, q.Choices)
	d.admits(t, answered(sending(editor, far), q, choiceAlways))
	d.admits(t, sending(editor, far))
	d.question(t, sending(mail, far))
	d.question(t, sending(editor, "other.example"))
	q = d.question(t, sending(editor, near))
	assert.Assert(t, is.Contains(q.Text, "\nA picture goes to a model on this computer, at: 127.0.0.1:1234"))
	assert.Assert(t, !strings.Contains(q.Text, "leaves"), "it asks\n%s", q.Text)
	q = d.question(t, sending(editor, "аpi.model.example")) // with a Cyrillic а
	assert.Check(t, !strings.Contains(q.Text, "аpi.model"), "it asks\n%s", q.Text)
	d = newDesk(by(aai.PermissionPicture + " " + far))
	d.admits(t, sending(editor, far))
	d.question(t, operating(editor, "look"))

	hosting := program("editor", "e1")
	hosting.Process.HostsCaller = true
	d = newDesk(by(aai.PermissionHost))
	d.admits(t, operating(hosting, "look"))
	d.question(t, sending(hosting, far))

	d = newDesk()
	q = d.question(t, operating(editor, "look"))
	d.admits(t, answered(operating(editor, "look"), q, choiceAll))
	d.question(t, sending(editor, far))
}
