package policy

import (
	"errors"
	"io/fs"
	"slices"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
)

// TestChoices checks the effect of each choice on this call, on the same call again, on
// the same tool in another session, and on another tool.
func TestChoices(t *testing.T) {
	for _, c := range []struct {
		choice                          string
		now, again, elsewhere, neighbor string
	}{
		{choiceDeny, "PERMISSION_DENIED", "asks", "asks", "asks"},
		{choiceOnce, "admits", "asks", "asks", "asks"},
		{choiceSession, "admits", "admits", "asks", "asks"},
		{choiceAlways, "admits", "admits", "admits", "asks"},
		{choiceAll, "admits", "admits", "admits", "admits"},
		{choiceNever, "PERMISSION_DENIED", "CONSENT_REQUIRED", "CONSENT_REQUIRED", "asks"},
		{"", "PERMISSION_DENIED", "asks", "asks", "asks"},
		{"ALWAYS", "PERMISSION_DENIED", "asks", "asks", "asks"},
		{"yes", "PERMISSION_DENIED", "asks", "asks", "asks"},
	} {
		t.Run(c.choice, func(t *testing.T) {
			d, app := newDesk(), notesApp("d1")
			expect := func(when, want string, r *aai.Request) {
				t.Helper()
				assert.Check(t, is.Equal(check(d, r), want), when)
			}
			r := d.choose(t, app, "add", c.choice)
			expect("now", c.now, r)
			if c.now == "admits" && r.Consent != c.choice+" (terminal)" {
				t.Errorf("the record says %q", r.Consent)
			}
			expect("again", c.again, asking(app, "add"))
			other := asking(app, "add")
			other.Call.Caller.Session = "s2"
			expect("in another session", c.elsewhere, other)
			other = asking(app, "add")
			other.Call.Caller.Principal = "somebody else"
			expect("of another user in a session of that name", c.elsewhere, other)
			expect("another tool", c.neighbor, asking(app, "wipe"))
		})
	}
}

// TestWhatIsKept checks the grants that "always" and "all" store.
func TestWhatIsKept(t *testing.T) {
	d, app := newDesk(), notesApp("d1")
	d.admits(t, d.choose(t, app, "add", choiceAlways))
	want := Grant{
		Caller: "mcp:claude-ai", Identity: agent().Identity, App: notes, Tool: "add", Digest: "d1",
		Decision: Allow, GrantedAt: epoch(), Channel: aai.Terminal,
		Terms: Terms{App: "Notes", Description: "Adds a note.", Effect: "changes"},
	}
	assert.Assert(t, is.DeepEqual([]Grant{want}, d.kept.grants))
	d.admits(t, d.choose(t, app, "list", choiceAll))
	assert.Assert(t, is.Len(d.kept.grants, len(app.Tools)), "kept %+v, expected one for each tool", d.kept.grants)
	for i, g := range d.kept.grants {
		assert.Check(t, is.Equal(g.Tool, app.Tools[i].Name), "%d %+v", i, g)
		assert.Check(t, g.Tool != Wildcard, "grants[%d] = %+v", i, g)
		assert.Check(t, is.Equal(g.Digest, "d1"), "%d %+v", i, g)
	}
	for _, choice := range []string{choiceDeny, choiceOnce, choiceSession} {
		d := newDesk()
		check(d, d.choose(t, app, "add", choice))
		assert.Check(t, is.Len(d.kept.grants, 0), choice)
	}
}

// TestNotKept checks that a grant that cannot be stored is invalid, for this call and the next.
func TestNotKept(t *testing.T) {
	for _, choice := range []string{choiceAlways, choiceAll, choiceNever} {
		d, app := newDesk(), notesApp("d1")
		d.kept.err = fs.ErrPermission
		e := d.refusal(t, d.choose(t, app, "add", choice), aai.ConsentRequired)
		assert.Assert(t, is.ErrorIs(e, fs.ErrPermission), choice)
		assert.Assert(t, is.Contains(e.Hint, fs.ErrPermission.Error()), choice)
		d.question(t, asking(app, "add"))
	}
}

// TestGrantsAreBound checks that a grant is for one caller, app, tool and form of the descriptor.
func TestGrantsAreBound(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(*aai.Request)
		want   string
	}{
		{"nothing", func(*aai.Request) {}, "admits"},
		{"arguments", func(r *aai.Request) { r.Call.Args = map[string]any{"text": "eggs"} }, "admits"},
		{"caller", func(r *aai.Request) { r.Call.Caller.Name = "claude-ai2" }, "asks"},
		{"door", func(r *aai.Request) { r.Call.Caller.Door = aai.DoorCLI }, "asks"},
		{"tool", func(r *aai.Request) { r.Tool = r.App.Tool("wipe") }, "asks"},
		{"digest", func(r *aai.Request) { r.App = notesApp("d2"); r.Call.Target = r.App }, "asks"},
		{"app", func(r *aai.Request) {
			app := notesApp("d1")
			app.ID = "org.example.Notes2"
			r.App, r.Call.Target = app, app
		}, "asks"},
		{"target", func(r *aai.Request) { r.Call.Target = &aai.App{ID: "org.example.Bank", Digest: "d1"} }, "asks"},
	} {
		for _, choice := range []string{choiceSession, choiceAlways} {
			d, app := newDesk(), notesApp("d1")
			d.admits(t, d.choose(t, app, "add", choice))
			r := asking(app, "add")
			c.change(r)
			assert.Check(t, is.Equal(check(d, r), c.want), "%s %s", choice, c.name)
		}
	}
}

// TestChangedDescriptor checks that a changed descriptor asks again with the reason, and
// that the grant for the new form does not revive the old one.
func TestChangedDescriptor(t *testing.T) {
	const notice = "You allowed this on 2026-05-04. Since then it has changed:"
	d := newDesk()
	assert.Check(t, !strings.Contains(d.question(t, asking(notesApp("d1"), "add")).Text, notice), "a first question speaks of a change")
	d.admits(t, d.choose(t, notesApp("d1"), "add", choiceAll))
	added := &aai.Tool{Name: "share", Description: "Sends the notes to a friend."}
	next := notesApp("d2", added)
	q := d.question(t, asking(next, "add"))
	assert.Check(t, is.Contains(q.Text, notice), "the question does not say that the descriptor changed:\n%s", q.Text)
	assert.Check(t, !strings.Contains(d.question(t, asking(next, "share")).Text, notice), "a tool that was never allowed is said to have been")
	d.admits(t, d.choose(t, next, "add", choiceAlways))
	d.admits(t, asking(next, "add"))
	d.question(t, asking(next, "share"))
	d.question(t, asking(notesApp("d1"), "add"))
}

// TestNever checks that a refusal for good asks nothing, survives a changed descriptor,
// overrides every permission, and gives the command that revokes it.
func TestNever(t *testing.T) {
	everything := Grant{Caller: Wildcard, App: notes, Tool: Wildcard, Decision: Allow, ExpiresAt: epoch().Add(time.Hour)}
	d, app := newDesk(everything), notesApp("d1")
	d.sessions.add(asking(app, "wipe"))
	allow := Grant{Caller: Wildcard, App: notes, Tool: "wipe", Digest: "d1", Decision: Allow, GrantedAt: epoch()}
	deny := Grant{Caller: "mcp:claude-ai", App: notes, Tool: "wipe", Digest: "d0", Decision: Deny, GrantedAt: epoch()}
	for _, grants := range [][]Grant{{allow, deny}, {deny, allow}, {deny}} {
		d.kept.grants = grants
		e := d.refusal(t, asking(app, "wipe"), aai.ConsentRequired)
		assert.Check(t, is.Contains(e.Hint, "consent revoke "+notes+" wipe"))
		d.admits(t, asking(app, "add"))
	}
}

func TestPreapproved(t *testing.T) {
	hour := epoch().Add(time.Hour)
	grant := func(caller, app, tool string) Grant {
		g := Grant{Caller: caller, App: app, Tool: tool, Decision: Allow, ExpiresAt: hour}
		if caller != Wildcard {
			g.Identity = agent().Identity
		}
		return g
	}
	for _, c := range []struct {
		name  string
		grant Grant
		want  string
	}{
		{"exactly", grant("mcp:claude-ai", notes, "add"), "admits"},
		{"a bare name", grant("claude-ai", notes, "add"), "admits"},
		{"every tool", grant("mcp:claude-ai", notes, Wildcard), "admits"},
		{"every caller", grant(Wildcard, notes, "add"), "admits"},
		{"another tool", grant(Wildcard, notes, "ad"), "asks"},
		{"another app", grant(Wildcard, "org.example.Note", Wildcard), "asks"},
		{"every app is no word", grant(Wildcard, Wildcard, Wildcard), "asks"},
		{"another caller", grant("claude", notes, Wildcard), "asks"},
		{"another door", grant("http:claude-ai", notes, Wildcard), "asks"},
		{"nobody", grant("", notes, Wildcard), "asks"},
		{"a refusal is no permission", Grant{Caller: Wildcard, App: notes, Tool: Wildcard, Decision: Deny, ExpiresAt: hour}, "asks"},
		{"undecided", Grant{Caller: Wildcard, App: notes, Tool: Wildcard, ExpiresAt: hour}, "asks"},
	} {
		t.Run(c.name, func(t *testing.T) {
			d := newDesk(c.grant)
			r := asking(notesApp("whatever the descriptor is now"), "add")
			assert.Check(t, is.Equal(check(d, r), c.want))
			if c.want == "admits" && r.Consent != "preapproved" {
				t.Errorf("the record says %q", r.Consent)
			}
		})
	}
}

// TestExpiry checks that a grant is valid until the moment it expires.
func TestExpiry(t *testing.T) {
	expiring := Grant{Caller: Wildcard, App: notes, Tool: "add", Digest: "d1", Decision: Allow, ExpiresAt: epoch().Add(time.Hour)}
	configured, stored := newDesk(expiring), newDesk()
	stored.kept.grants = []Grant{expiring}
	for _, d := range []*desk{configured, stored} {
		d.clock.advance(time.Hour - time.Nanosecond)
		d.admits(t, asking(notesApp("d1"), "add"))
		d.clock.advance(time.Nanosecond)
		d.question(t, asking(notesApp("d1"), "add"))
	}
	refusal := expiring
	refusal.Decision = Deny
	stored.kept.grants = []Grant{refusal}
	stored.question(t, asking(notesApp("d1"), "add"))
}

// TestNothingCanBeKept checks that choices that cannot be stored are not offered, because
// they would fail after the answer.
func TestNothingCanBeKept(t *testing.T) {
	d, app := newDesk(), notesApp("d1")
	d.kept.full = errors.New("no keychain")
	q := d.question(t, asking(app, "add"))
	var offered []string
	for _, c := range q.Choices {
		offered = append(offered, c.ID)
	}
	want := []string{choiceDeny, choiceOnce, choiceSession}
	assert.Assert(t, slices.Equal(offered, want), "offers %q, expected %q; the details say %s", offered, want, q.Details)
	assert.Assert(t, is.Contains(q.Details, "nothing can be saved here"), "%q %q", offered, want)
	d.refuses(t, answered(asking(app, "add"), q, choiceAlways), aai.PermissionDenied)
	d.admits(t, d.choose(t, app, "add", choiceSession))
}

// TestWhatIsTakenBackWhileACallWaits checks that a waiting call asks again after a
// revocation of its earlier grant, but not if a person allowed this very call.
func TestWhatIsTakenBackWhileACallWaits(t *testing.T) {
	d, app := newDesk(), notesApp("d1")
	answered := d.choose(t, app, "add", choiceAlways)
	d.admits(t, answered)
	waiting := asking(app, "add")
	d.admits(t, waiting)
	answered.AdmittedPermission, waiting.AdmittedPermission = answered.Permission(), waiting.Permission()
	d.admits(t, waiting)
	d.kept.grants, waiting.Consent = nil, ""
	d.question(t, waiting)
	d.admits(t, answered)
}

// TestSessionGrantsAreBounded checks the limit of session grants: beyond it, a person is
// asked more often.
func TestSessionGrantsAreBounded(t *testing.T) {
	d, app := newDesk(), notesApp("d1")
	for i := range maxSessionGrants {
		d.sessions.granted[sessionKey{conversation: "s", tool: string(rune(i + 0x4e00))}] = ""
	}
	d.admits(t, d.choose(t, app, "add", choiceSession))
	d.question(t, asking(app, "add"))
	assert.Check(t, is.Len(d.sessions.granted, maxSessionGrants), "%d are remembered", len(d.sessions.granted))
}

// TestFirstUseAsks: an unanswered question allows nothing.
func TestFirstUseAsks(t *testing.T) {
	for _, tool := range []string{"list", "add", "wipe"} {
		d := newDesk()
		q := d.question(t, asking(notesApp("d1"), tool))
		assert.Check(t, is.Equal(q.Choices[0].ID, choiceDeny), "%s: the first choice is %q", tool, q.Choices[0].ID)
		// An unanswered question allows nothing.
		d.question(t, asking(notesApp("d1"), tool))
	}
}
