package policy

import (
	"context"
	"encoding/json"
	"errors"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/gateway"
)

// shelfOf returns a catalog with the app alone, which calls name "a".
func shelfOf(app *aai.App) shelf { return shelf{map[string]*aai.App{"a": app}} }

// shelf is a catalog in memory.
type shelf struct{ apps map[string]*aai.App }

func (s shelf) Apps() []*aai.App { return slices.Collect(maps.Values(s.apps)) }

func (s shelf) Find(_ context.Context, name string) (*aai.App, error) {
	if app := s.apps[name]; app != nil {
		return app, nil
	}
	return nil, aai.Errorf(aai.AppNotFound, "there is no app %q", name)
}

func (s shelf) OnChange(func()) func() { return func() {} }

// records is a journal in memory.
type records struct {
	mu      sync.Mutex
	entries []aai.Entry
}

func (r *records) Record(_ context.Context, e *aai.Entry) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.entries = append(r.entries, *e)
	return nil
}

// intents returns the consents of the calls that ran.
func (r *records) intents() []string {
	var consents []string
	for _, e := range r.entries {
		if e.Kind == aai.Intent {
			consents = append(consents, e.Consent)
		}
	}
	return consents
}

// A world is a gateway with these gates, and with tools that count their runs.
type world struct {
	*gateway.Gateway
	records *records
	ran     map[string]int
	apps    map[string]*aai.App
	store   *GrantStore
	person  *somebody
}

func newWorld(t *testing.T, preapproved ...Grant) *world {
	t.Helper()
	w := &world{
		person: &somebody{phrase: "correct horse"}, records: &records{}, ran: map[string]int{}, apps: map[string]*aai.App{},
		store: NewFileStore(filepath.Join(t.TempDir(), "aai", "consent.json")),
	}
	w.put(notesApp("d1"))
	w.put(&aai.App{ID: "org.example.Bank", Name: "Bank", Digest: "b1"})
	w.put(&aai.App{ID: "desktop", Name: "Desktop", Tools: []*aai.Tool{{Name: "click", Target: "app"}}})
	w.put(&aai.App{ID: aai.BuiltinApp, Tools: []*aai.Tool{{Name: "guide", Effect: aai.Reads}, {Name: "consent_grant", Effect: aai.Changes}}})
	w.Gateway = w.gateway(preapproved...)
	return w
}

// gateway returns a gateway of another process with the same files.
func (w *world) gateway(preapproved ...Grant) *gateway.Gateway {
	return &gateway.Gateway{
		Catalog: shelf{w.apps}, Journal: w.records,
		Gates: []aai.Gate{
			NewBuiltinGate(BuiltinConfig{AgentTools: []string{"guide"}, PersonDoors: []string{aai.DoorCLI}, Authenticator: w.person}),
			NewConsent(ConsentConfig{Store: NewFileStore(w.store.path), Preapproved: preapproved}),
		},
	}
}

// put adds the app; its tools take any arguments and count their runs.
func (w *world) put(app *aai.App) {
	for _, tool := range app.Tools {
		tool.Params.Check = func(v any) (any, error) { return v, nil }
		tool.Run = func(context.Context, *aai.Call) (*aai.Result, error) {
			w.ran[app.ID+":"+tool.Name]++
			return &aai.Result{Text: "done"}, nil
		}
	}
	w.apps[app.ID] = app
}

func call(app, tool string) *aai.Call {
	return &aai.Call{Caller: agent(), App: app, Tool: tool, Args: map[string]any{"text": "milk"}}
}

// code returns the result of a call: "ok" or an error code, with "?" if there are questions.
func code(err error) string {
	e := aai.AsError(err)
	switch {
	case e == nil:
		return "ok"
	case len(e.Questions) > 0:
		return string(e.Code) + "?"
	}
	return string(e.Code)
}

// say makes the call and answers its question.
func say(t *testing.T, g *gateway.Gateway, c *aai.Call, choice string) string {
	t.Helper()
	_, err := g.Do(t.Context(), c)
	assert.Equal(t, code(err), "CONSENT_REQUIRED?")
	q := aai.AsError(err).Questions[0]
	again := *c
	again.Answers = map[string]aai.Answer{q.ID: {Choice: choice, Seal: q.Seal, Channel: aai.Terminal}}
	_, err = g.Do(t.Context(), &again)
	return code(err)
}

func (w *world) expect(t *testing.T, g *gateway.Gateway, c *aai.Call, want string) {
	t.Helper()
	if _, err := g.Do(t.Context(), c); code(err) != want {
		t.Errorf("%s:%s: %v, expected %s", c.App, c.Tool, err, want)
	}
}

func TestDoAsksAndRuns(t *testing.T) {
	w := newWorld(t)
	assert.Check(t, is.Equal(say(t, w.Gateway, call(notes, "wipe"), choiceDeny), "PERMISSION_DENIED"))
	w.expect(t, w.Gateway, call(notes, "list"), "CONSENT_REQUIRED?")
	assert.Assert(t, is.Len(w.ran, 0), "ran %v without a yes", w.ran)
	if got := say(t, w.Gateway, call(notes, "wipe"), choiceOnce); got != "ok" || w.ran[notes+":wipe"] != 1 {
		t.Errorf("%s, ran %v", got, w.ran)
	}
	w.expect(t, w.Gateway, call(notes, "wipe"), "CONSENT_REQUIRED?")
	got := strings.Join(w.records.intents(), "|")
	assert.Check(t, is.Equal(got, "once (terminal)"), "on record: %q", got)
}

// TestDoInTwoProcesses checks that a grant of one process is valid in another until it is revoked.
func TestDoInTwoProcesses(t *testing.T) {
	w := newWorld(t)
	other := w.gateway()
	w.expect(t, other, call(notes, "add"), "CONSENT_REQUIRED?")
	assert.Equal(t, say(t, w.Gateway, call(notes, "add"), choiceAlways), "ok")
	w.expect(t, other, call(notes, "add"), "ok")
	n, err := w.store.Remove(func(g Grant) bool { return g.App == notes })
	assert.Equal(t, n, 1)
	assert.NilError(t, err)
	w.expect(t, other, call(notes, "add"), "CONSENT_REQUIRED?")
	w.expect(t, w.Gateway, call(notes, "add"), "CONSENT_REQUIRED?")
	assert.Equal(t, say(t, w.Gateway, call(notes, "add"), choiceNever), "PERMISSION_DENIED")
	w.expect(t, other, call(notes, "add"), "CONSENT_REQUIRED")
	assert.Check(t, is.Equal(w.ran[notes+":add"], 2), w.ran)
}

func TestDoOwnApp(t *testing.T) {
	w := newWorld(t)
	person := call(aai.BuiltinApp, "consent_grant")
	person.Caller = aai.Caller{Door: aai.DoorCLI, Name: "terminal"}
	w.expect(t, w.Gateway, call(aai.BuiltinApp, "guide"), "ok")
	w.expect(t, w.Gateway, call(aai.BuiltinApp, "consent_grant"), "PERMISSION_DENIED")
	w.expect(t, w.Gateway, person, "PERMISSION_DENIED")
	w.person.way = aai.Passphrase
	w.expect(t, w.Gateway, person, "CONSENT_REQUIRED?")
	_, err := w.Do(t.Context(), person)
	person.Answers = map[string]aai.Answer{reauthQuestionID: {Choice: choiceYes, Channel: aai.Passphrase, Secret: "correct horse", Seal: aai.AsError(err).Questions[0].Seal}}
	w.expect(t, w.Gateway, person, "ok")
	assert.Check(t, is.Equal(w.ran["aai:consent_grant"], 1), w.ran)
}

// dialog answers every question with one choice.
type dialog struct {
	choice string
	err    error
}

func (d dialog) Ask(_ context.Context, q aai.Question) (aai.Answer, error) {
	return aai.Answer{Choice: d.choice, Seal: q.Seal, Channel: aai.DesktopDialog}, d.err
}

func TestDoWithADialog(t *testing.T) {
	for _, c := range []struct {
		dialog dialog
		want   string
	}{
		{dialog{choice: choiceOnce}, "ok"},
		{dialog{choice: choiceDeny}, "PERMISSION_DENIED"},
		{dialog{}, "PERMISSION_DENIED"},
		{dialog{choiceOnce, errors.New("no display")}, "CONSENT_REQUIRED?"},
	} {
		w := newWorld(t)
		w.Dialog = c.dialog
		w.expect(t, w.Gateway, call(notes, "add"), c.want)
		assert.Check(t, is.Equal(w.ran[notes+":add"] == 1, (c.want == "ok")), "%+v %v", c.dialog, w.ran)
	}
}

// TestDoKeepsSecrets checks that secrets are in neither the question nor the record.
func TestDoKeepsSecrets(t *testing.T) {
	w := newWorld(t)
	w.apps[notes].Tools[1].Privacy.Secret = []string{"text"}
	c := call(notes, "add")
	c.Args["text"] = "hunter2"
	_, err := w.Do(t.Context(), c)
	shown, jsonErr := json.Marshal(aai.AsError(err).Questions)
	assert.NilError(t, jsonErr, shown)
	assert.Assert(t, !strings.Contains(string(shown), "hunter2"), shown)
	assert.Equal(t, say(t, w.Gateway, c, choiceOnce), "ok")
	kept, jsonErr := json.Marshal(w.records.entries)
	assert.NilError(t, jsonErr, kept)
	assert.Assert(t, !strings.Contains(string(kept), "hunter2"), kept)
	assert.Assert(t, is.Contains(string(kept), "[secret]"), kept)
}

// TestDoSpendsAnAnswerOnce checks that concurrent calls use an answer once.
func TestDoSpendsAnAnswerOnce(t *testing.T) {
	w := newWorld(t)
	var mu sync.Mutex
	_, err := w.Do(t.Context(), call(notes, "add"))
	q := aai.AsError(err).Questions[0]
	answers := map[string]aai.Answer{q.ID: {Choice: choiceOnce, Seal: q.Seal, Channel: aai.Terminal}}
	ok, refused := 0, 0
	w.apps[notes].Tools[1].Run = func(context.Context, *aai.Call) (*aai.Result, error) { return &aai.Result{}, nil }
	var wg sync.WaitGroup
	for range 16 {
		wg.Go(func() {
			c := call(notes, "add")
			c.Answers = answers
			_, err := w.Do(t.Context(), c)
			mu.Lock()
			defer mu.Unlock()
			switch code(err) {
			case "ok":
				ok++
			case "CONSENT_REQUIRED":
				refused++
			}
		})
	}
	wg.Wait()
	assert.Check(t, is.Equal(ok, 1))
	assert.Check(t, is.Equal(refused, 15))
}

func TestDoAfterAnUpdate(t *testing.T) {
	w := newWorld(t)
	assert.Equal(t, say(t, w.Gateway, call(notes, "list"), choiceAll), "ok")
	w.expect(t, w.Gateway, call(notes, "wipe"), "ok")
	w.put(notesApp("d2", &aai.Tool{Name: "share"}))
	for _, tool := range []string{"list", "wipe", "share"} {
		w.expect(t, w.Gateway, call(notes, tool), "CONSENT_REQUIRED?")
	}
	assert.Check(t, is.Equal(w.ran[notes+":share"], 0), w.ran)
	assert.Check(t, is.Equal(w.ran[notes+":wipe"], 1), w.ran)
}

func TestDoKeysOnTheTarget(t *testing.T) {
	w := newWorld(t)
	click := func(app string) *aai.Call {
		return &aai.Call{Caller: agent(), App: "desktop", Tool: "click", Args: map[string]any{"app": app}}
	}
	assert.Equal(t, say(t, w.Gateway, click(notes), choiceAlways), "ok")
	w.expect(t, w.Gateway, click(notes), "ok")
	w.expect(t, w.Gateway, click("org.example.Bank"), "CONSENT_REQUIRED?")
	w.expect(t, w.Gateway, click(aai.BuiltinApp), "CONSENT_REQUIRED?")
}
