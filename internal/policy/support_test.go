package policy

import (
	"context"
	"errors"
	"os"
	"sync"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
)

// TestMain lets the test binary run as another process: see TestKilledConsents.
func TestMain(m *testing.M) {
	if os.Getenv("POLICY_TEST_WRITE") != "" {
		writeUntilKilled()
		os.Exit(0)
	}
	os.Exit(m.Run())
}

const notes = "org.example.Notes"

// epoch returns the initial time of the fake clock.
func epoch() time.Time { return time.Date(2026, 5, 4, 10, 0, 0, 0, time.UTC) }

// A clock is a fake clock that tests move.
type clock struct {
	mu sync.Mutex
	at time.Time
}

func newClock() *clock { return &clock{at: epoch()} }

func (c *clock) now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.at
}

func (c *clock) advance(d time.Duration) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.at = c.at.Add(d)
}

// A memory is a Store in memory.
type memory struct {
	grants []Grant
	err    error // the error of Add
	full   error // the error of CheckWritable
}

func (m *memory) CheckWritable() error { return m.full }

func (m *memory) Grants() ([]Grant, error) { return m.grants, nil }

func (m *memory) Add(added ...Grant) error {
	if m.err != nil {
		return m.err
	}
	for _, g := range added {
		m.grants = without(m.grants, func(old Grant) bool {
			return g.sameSubject(old)
		})
		m.grants = append(m.grants, g)
	}
	return nil
}

func (m *memory) Remove(drop func(Grant) bool) (int, error) {
	kept := without(m.grants, drop)
	n := len(m.grants) - len(kept)
	m.grants = kept
	return n, nil
}

// notesApp returns an app with three tools and a descriptor with the digest.
func notesApp(digest string, more ...*aai.Tool) *aai.App {
	tools := []*aai.Tool{
		{Name: "list", Description: "Lists the notes.", Effect: aai.Reads},
		{Name: "add", Description: "Adds a note.", Effect: aai.Changes},
		{Name: "wipe", Description: "Deletes all notes."},
	}
	return &aai.App{ID: notes, Name: "Notes", Digest: digest, Source: "/usr/share/aai/notes.json", Tools: append(tools, more...)}
}

func agent() aai.Caller {
	return aai.Caller{Door: aai.DoorMCP, Name: "claude-ai", Session: "s1", Identity: "/usr/bin/claude"}
}

// asking returns a request by the agent for a tool of the app.
func asking(app *aai.App, tool string) *aai.Request {
	return &aai.Request{
		Call: &aai.Call{ID: "c1", Caller: agent(), App: app.ID, Tool: tool, Args: map[string]any{"text": "milk"}, Target: app},
		App:  app, Tool: app.Tool(tool),
	}
}

// A desk is the gate with its dependencies.
type desk struct {
	*Consent
	clock *clock
	kept  *memory
}

func newDesk(preapproved ...Grant) *desk {
	d := &desk{clock: newClock(), kept: &memory{}}
	d.Consent = NewConsent(ConsentConfig{Store: d.kept, Preapproved: preapproved})
	d.now = d.clock.now
	return d
}

// question returns the gate's only question about the request.
func (d *desk) question(t *testing.T, r *aai.Request) aai.Question {
	t.Helper()
	questions, err := d.Check(t.Context(), r)
	assert.NilError(t, err)
	assert.Assert(t, is.Len(questions, 1))
	assert.Equal(t, r.Consent, "")
	return questions[0]
}

// admits fails the test unless the gate admits the request at once.
func (d *desk) admits(t *testing.T, r *aai.Request) {
	t.Helper()
	questions, err := d.Check(t.Context(), r)
	if err != nil || len(questions) != 0 || r.Consent == "" {
		t.Fatalf("Check = %d questions, %v, consent %q; expected to be admitted", len(questions), err, r.Consent)
	}
}

// refuses fails the test unless the gate refuses with the code, without a question.
func (d *desk) refuses(t *testing.T, r *aai.Request, code aai.Code) {
	t.Helper()
	_ = d.refusal(t, r, code)
}

// refusal is refuses, and returns the error.
func (d *desk) refusal(t *testing.T, r *aai.Request, code aai.Code) *aai.Error {
	t.Helper()
	questions, err := d.Check(t.Context(), r)
	e, ok := errors.AsType[*aai.Error](err)
	if !ok || e.Code != code || len(questions) != 0 || len(e.Questions) != 0 || r.Consent != "" {
		t.Fatalf("Check = %d questions, %v, consent %q; expected %s and no questions", len(questions), err, r.Consent, code)
	}
	return e
}

// answered returns the request with the answer to a question.
func answered(r *aai.Request, q aai.Question, choice string) *aai.Request {
	r.Call.Answers = map[string]aai.Answer{q.ID: {Choice: choice, Seal: q.Seal, Channel: aai.Terminal}}
	return r
}

// choose asks about the tool, answers and returns the request of the answer.
func (d *desk) choose(t *testing.T, app *aai.App, tool, choice string) *aai.Request {
	t.Helper()
	return answered(asking(app, tool), d.question(t, asking(app, tool)), choice)
}

// check returns the result of Gate.CheckPassphrase as one word.
func check(g aai.Gate, r *aai.Request) string {
	questions, err := g.Check(context.Background(), r)
	switch {
	case err != nil:
		return string(aai.AsError(err).Code)
	case len(questions) > 0:
		return "asks"
	}
	return "admits"
}
