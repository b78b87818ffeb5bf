package policy

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	"pgregory.net/rapid"

	"github.com/gybob/aai-gateway"
)

// A model is the simplest description of the gate. It has no MACs, stores or keys: only
// questions, answers and remembered decisions.
type model struct {
	now      time.Time
	stored   map[subject]storedDecision
	sessions map[string]bool // by caller, session, tool and digest
	issued   []*issued
}

// A subject is the caller and the tool of a decision.
type subject struct{ identity, name, tool string }

type storedDecision struct {
	decision Decision
	digest   string
	until    time.Time // zero: for ever
}

// An issued is a question and its request.
type issued struct {
	about string
	at    time.Time
	seal  string
	used  bool
}

// about returns all facts that an answer is bound to.
func about(r *aai.Request) string {
	return fmt.Sprintf("%s %q %s %q %q %q %q %v", r.Call.Caller, r.Call.Caller.Identity, r.Call.Caller.Session, r.App.ID, r.App.Digest, r.Call.Target.ID, r.Tool.Name, r.Call.Args)
}

func stored(r *aai.Request, tool string) subject {
	return subject{r.Call.Caller.Identity, r.Call.Caller.String(), tool}
}

// refuses reports whether the tool was refused to the caller: to all names of its
// identity, or to the name of a caller without an identity.
func (m *model) refuses(r *aai.Request, tool string) bool {
	for who, had := range m.stored {
		same := who.identity == r.Call.Caller.Identity
		if who.identity == "" {
			same = who.name == r.Call.Caller.String()
		}
		if same && who.tool == tool && had.decision == Deny && (had.until.IsZero() || m.now.Before(had.until)) {
			return true
		}
	}
	return false
}

func session(r *aai.Request) string {
	return fmt.Sprintf("%s %q %s %s %s", r.Call.Caller, r.Call.Caller.Identity, r.Call.Caller.Session, r.Tool.Name, r.App.Digest)
}

// expect returns the expected result of the gate, and updates the model.
func (m *model) expect(r *aai.Request) string {
	had, kept := m.stored[stored(r, r.Tool.Name)]
	kept = kept && (had.until.IsZero() || m.now.Before(had.until))
	switch {
	case m.refuses(r, r.Tool.Name):
		return "CONSENT_REQUIRED"
	case r.Call.Caller.Name == "bus" && r.Call.Caller.Identity == busProgram && r.Tool.Name != "wipe" && m.now.Before(epoch().Add(time.Hour)):
		return "admits"
	case kept && had.decision == Allow && had.digest == r.App.Digest:
		return "admits"
	case r.Call.Caller.Session != "" && m.sessions[session(r)]:
		return "admits"
	}
	a, given := r.Call.Answers[questionID]
	if !given {
		return "asks"
	}
	i := slices.IndexFunc(m.issued, func(i *issued) bool { return i.seal == a.Seal })
	if i < 0 || m.issued[i].used || m.issued[i].about != about(r) || m.now.Sub(m.issued[i].at) > sealLifetime {
		return "CONSENT_REQUIRED"
	}
	m.issued[i].used = true
	byClient := trusted(r) && r.Tool.Name != "wipe"
	if a.Channel != aai.DesktopDialog && a.Channel != aai.Terminal && (a.Channel != aai.Client || !byClient) {
		return "CONSENT_REQUIRED"
	}
	if a.Choice == "all" && byClient {
		return "PERMISSION_DENIED" // not offered: it would cover tools that a client may not ask about
	}
	return m.follow(r, a.Choice)
}

// trusted reports whether the person lets the caller's own client ask.
func trusted(r *aai.Request) bool { return r.Call.Caller.Identity == agent().Identity }

// busProgram is the verified identity of one name.
const busProgram = "/usr/bin/bus"

func (m *model) follow(r *aai.Request, choice string) string {
	if r.Call.Caller.Identity == "" && (choice == "always" || choice == "all") {
		return "PERMISSION_DENIED" // not offered
	}
	switch choice {
	case "once":
		return "admits"
	case "session":
		if r.Call.Caller.Session == "" {
			return "PERMISSION_DENIED"
		}
		m.sessions[session(r)] = true
		return "admits"
	case "always":
		m.stored[stored(r, r.Tool.Name)] = storedDecision{decision: Allow, digest: r.App.Digest}
		return "admits"
	case "all":
		for _, tool := range r.App.Tools {
			if m.refuses(r, tool.Name) {
				continue // "all" does not cover refused tools
			}
			m.stored[stored(r, tool.Name)] = storedDecision{decision: Allow, digest: r.App.Digest}
		}
		return "admits"
	case "never":
		m.stored[stored(r, r.Tool.Name)] = storedDecision{decision: Deny, digest: r.App.Digest}
	}
	return "PERMISSION_DENIED"
}

// TestGateAgainstModel checks that the gate admits a call if and only if there is a valid
// grant or a new, valid answer, for any order of events.
func TestGateAgainstModel(t *testing.T) {
	folder := t.TempDir()
	rapid.Check(t, func(t *rapid.T) {
		soon := epoch().Add(time.Hour)
		d := newDesk(
			Grant{Caller: "bus", Identity: busProgram, App: notes, Tool: "list", Decision: Allow, ExpiresAt: soon},
			Grant{Caller: "mcp:bus", Identity: busProgram, App: notes, Tool: "add", Decision: Allow, ExpiresAt: soon},
		)
		d.elicitation = []string{agent().Identity}
		revocations := NewRevocations(filepath.Join(folder, rapid.StringMatching(`[a-z]{8}`).Draw(t, "file")))
		_ = os.Remove(revocations.path) // of an earlier run
		d.sessions.revocations = revocations
		m := &model{now: epoch(), stored: map[subject]storedDecision{}, sessions: map[string]bool{}}
		t.Repeat(map[string]func(*rapid.T){
			"call": func(t *rapid.T) {
				r := drawRequest(t)
				drawAnswer(t, r, m)
				want := m.expect(r)
				questions, err := d.Check(t.Context(), r)
				if got := outcomeOf(questions, err); got != want {
					t.Fatalf("%s\nanswers %+v: %s, expected %s", about(r), r.Call.Answers, got, want)
				}
				assert.Equal(t, (r.Consent != ""), (want == "admits"), "%s, but the record says %q", want, r.Consent)
				for _, q := range questions {
					m.issued = append(m.issued, &issued{about(r), m.now, q.Seal, false})
				}
			},
			"time passes": func(t *rapid.T) {
				passed := time.Duration(rapid.Int64Range(0, int64(sealLifetime)).Draw(t, "passed"))
				d.clock.advance(passed)
				m.now = m.now.Add(passed)
			},
			"a person revokes": func(t *rapid.T) {
				tool := rapid.SampledFrom([]string{"list", "add", "wipe"}).Draw(t, "revoked")
				assert.NilError(t, revocations.Revoke())
				m.sessions = map[string]bool{} // all are asked again
				_, _ = d.kept.Remove(func(g Grant) bool { return g.Tool == tool })
				for who := range m.stored {
					if who.tool == tool {
						delete(m.stored, who)
					}
				}
			},
			"the gateway starts again": func(*rapid.T) {
				again := newDesk(d.preapproved...)
				again.clock, again.now, again.kept, again.store = d.clock, d.clock.now, d.kept, d.kept
				again.elicitation, again.sessions.revocations = d.elicitation, revocations
				d = again
				m.sessions = map[string]bool{}
				for _, i := range m.issued {
					i.used = true // its seals are another process's
				}
			},
			"a grant is given an end": func(t *rapid.T) {
				if len(d.kept.grants) == 0 {
					return
				}
				i := rapid.IntRange(0, len(d.kept.grants)-1).Draw(t, "which")
				grants := slices.Clone(d.kept.grants)
				grants[i].ExpiresAt = m.now.Add(time.Duration(rapid.Int64Range(1, int64(sealLifetime)).Draw(t, "until")))
				d.kept.grants = grants
				key := subject{grants[i].Identity, grants[i].Caller, grants[i].Tool}
				was := m.stored[key]
				was.until = grants[i].ExpiresAt
				m.stored[key] = was
			},
		})
	})
}

func outcomeOf(questions []aai.Question, err error) string {
	switch {
	case err != nil:
		return string(aai.AsError(err).Code)
	case len(questions) > 0:
		return "asks"
	}
	return "admits"
}

func drawRequest(t *rapid.T) *aai.Request {
	r := asking(notesApp(rapid.SampledFrom([]string{"d1", "d1", "d2"}).Draw(t, "digest")),
		rapid.SampledFrom([]string{"list", "add", "wipe"}).Draw(t, "tool"))
	r.Call.Caller = rapid.SampledFrom([]aai.Caller{
		{Door: aai.DoorMCP, Name: "claude-ai", Session: "s1", Identity: agent().Identity},
		{Door: aai.DoorMCP, Name: "claude-ai", Session: "s2", Identity: agent().Identity},
		{Door: aai.DoorMCP, Name: "bus", Session: "s1", Identity: agent().Identity}, // a self-reported identity
		{Door: aai.DoorMCP, Name: "bus", Session: "s1", Identity: busProgram},
		{Door: aai.DoorMCP, Name: "claude-ai", Session: "s1", Identity: "/home/u/evil"},
		{Door: aai.DoorMCP, Name: "claude-ai", Session: "s1"},
		{Door: aai.DoorCLI, Name: "terminal", Identity: aai.IdentityTerminal},
	}).Draw(t, "caller")
	r.Call.Args = map[string]any{"text": rapid.SampledFrom([]string{"milk", "milk", "eggs"}).Draw(t, "text")}
	return r
}

// drawAnswer gives the request no answer, or one with a seal that was issued for this or
// any other request, or with a forged one. Half of the time it is the newest seal for just
// this request.
func drawAnswer(t *rapid.T, r *aai.Request, m *model) {
	kind := rapid.SampledFrom([]string{"none", "fitting", "fitting", "any", "forged"}).Draw(t, "answer")
	seal := "AAAA"
	switch kind {
	case "none":
		return
	case "fitting":
		for _, i := range m.issued {
			if i.about == about(r) {
				seal = i.seal
			}
		}
	case "any":
		if len(m.issued) > 0 {
			seal = rapid.SampledFrom(m.issued).Draw(t, "issued").seal
		}
	}
	r.Call.Answers = map[string]aai.Answer{questionID: {
		Seal:    seal,
		Choice:  rapid.SampledFrom([]string{"deny", "once", "session", "always", "all", "never", "", "Once"}).Draw(t, "choice"),
		Channel: rapid.SampledFrom([]aai.Channel{aai.DesktopDialog, aai.Terminal, aai.Client, aai.Client, "other"}).Draw(t, "channel"),
	}}
}
