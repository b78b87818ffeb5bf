package policy

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
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

// A vault is a Sealer in memory: it can be without a key, or fail.
type vault struct {
	mu      sync.Mutex
	records map[string][]byte
	err     error
	within  func() // called during a change
}

func newVault() *vault { return &vault{records: map[string][]byte{}} }

// errNoKey returns the error of a vault that cannot seal.
func errNoKey() error {
	return &aai.Error{Code: aai.AutomationNotSupported, Message: "no key here", Err: errors.ErrUnsupported}
}

func (v *vault) Get(_ context.Context, id string) ([]byte, error) {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.records[id], v.err
}

func (v *vault) Update(_ context.Context, id string, edit func([]byte) ([]byte, error)) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	if v.err != nil {
		return v.err
	}
	now, err := edit(v.records[id])
	if v.within != nil {
		v.within()
	}
	if err == nil {
		v.records[id] = now
	}
	return err
}

func (v *vault) CheckSealing(context.Context) error {
	v.mu.Lock()
	defer v.mu.Unlock()
	return v.err
}

// A lateVault has no key when it changes something, and has one right after.
type lateVault struct{ *vault }

func (lateVault) Update(context.Context, string, func([]byte) ([]byte, error)) error {
	return errNoKey()
}

func storePath(t *testing.T) string {
	t.Helper()
	return filepath.Join(t.TempDir(), "data", "consent.json")
}

func grantsOf(t *testing.T, s Store) []Grant {
	t.Helper()
	grants, err := s.Grants()
	assert.NilError(t, err)
	return grants
}

func add(t *testing.T, s Store, grants ...Grant) {
	t.Helper()
	assert.NilError(t, s.Add(grants...))
}

func full() Grant {
	return Grant{
		Caller: "mcp:claude \"ai\" <é>", App: notes, Tool: "add", Digest: "d1", Decision: Allow,
		GrantedAt: epoch().Add(123456789), ExpiresAt: epoch().Add(time.Hour), Channel: aai.Client,
	}
}

func grantOf(tool string) Grant {
	g := full()
	g.Tool = tool
	return g
}

func refusalOf(tool string) Grant {
	g := grantOf(tool)
	g.Decision = Deny
	return g
}

// tools returns the tools of the grants, in order.
func tools(t *testing.T, s Store) string {
	t.Helper()
	var names []string
	for _, g := range grantsOf(t, s) {
		names = append(names, g.Tool)
	}
	return strings.Join(names, " ")
}

// unsealed returns the grants as a store returns them from a plain file.
func unsealed(grants ...Grant) []Grant {
	for i := range grants {
		grants[i].Unsealed = true
	}
	return grants
}

func exists(t *testing.T, path string) bool {
	t.Helper()
	_, err := os.Lstat(path)
	assert.Assert(t, err == nil || errors.Is(err, fs.ErrNotExist), err)
	return err == nil
}

func write(t *testing.T, path, content string) {
	t.Helper()
	assert.NilError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	assert.NilError(t, os.WriteFile(path, []byte(content), 0o600))
}
