package gui_test

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/refs"
	"github.com/gybob/aai-gateway/internal/gateway"
	"github.com/gybob/aai-gateway/internal/gui"
	"github.com/gybob/aai-gateway/internal/testkit/fakedesktop"
	"github.com/gybob/aai-gateway/internal/vision"
)

// world is a desktop in memory, the tools, and a gateway that admits everything and keeps its
// journal.
type world struct {
	*testing.T
	d       *fakedesktop.Desktop
	app     *aai.App
	gateway *gateway.Gateway
	record  *record
	caller  aai.Caller
}

// unsealed is a vision.Sealer that encrypts nothing.
type unsealed struct{}

func (unsealed) Seal(_ context.Context, id string, content []byte) ([]byte, error) {
	return append([]byte(id), content...), nil
}

func (unsealed) Open(_ context.Context, id string, box []byte) ([]byte, error) {
	content, is := bytes.CutPrefix(box, []byte(id))
	if !is {
		return nil, errors.New("it was sealed with another id")
	}
	return content, nil
}

// inWorld runs a test in a bubble of time with an empty desktop.
func inWorld(t *testing.T, f func(w *world)) { inWorldWithout(t, func(*desktop.Backend) {}, f) }

// inWorldWithout is inWorld with a backend that lacks something.
func inWorldWithout(t *testing.T, lack func(*desktop.Backend), f func(w *world)) {
	t.Helper()
	synctest.Test(t, func(t *testing.T) {
		defer time.Sleep(12 * time.Minute) // until the probes of a hanging program and the recorders of events end
		d := fakedesktop.New()
		backend := d.Backend()
		lack(&backend)
		w := &world{
			T: t, d: d, record: &record{},
			app:    gui.New(gui.Config{Open: func() desktop.Backend { return backend }, Baselines: &vision.Baselines{Folder: t.TempDir(), Sealer: unsealed{}}}),
			caller: aai.Caller{Door: aai.DoorMCP, Name: "test", Session: "s1"},
		}
		w.gateway = &gateway.Gateway{Catalog: catalog{w.app}, Gates: []aai.Gate{admitAll{w.record}}, Journal: w.record}
		f(w)
	})
}

// as returns the world as another conversation sees it.
func (w *world) as(session string) *world {
	other := *w
	other.caller.Session = session
	return &other
}

// do makes a call; args is a JSON object.
func (w *world) do(tool, args string) (*aai.Result, *aai.Error) {
	w.Helper()
	return w.doBy(w.Context(), tool, args)
}

func (w *world) doBy(ctx context.Context, tool, args string) (*aai.Result, *aai.Error) {
	w.Helper()
	call := &aai.Call{Caller: w.caller, App: aai.DesktopApp, Tool: tool, Args: map[string]any{}}
	assert.NilError(w, json.Unmarshal([]byte(args), &call.Args), args)
	return w.run(ctx, call)
}

func (w *world) run(ctx context.Context, call *aai.Call) (*aai.Result, *aai.Error) {
	w.Helper()
	result, err := w.gateway.Do(ctx, call)
	e := aai.AsError(err)
	switch {
	case e == nil && result == nil:
		w.Fatalf("%s %v: neither a result nor an error", call.Tool, call.Args)
	case e != nil && (e.Code == aai.Internal || e.Code == "" || e.Message == ""):
		w.Fatalf("%s %v: %v\n%v", call.Tool, call.Args, e, e.Err)
	}
	if e == nil {
		w.keepsItsWord(call, result)
	}
	return result, e
}

// ok makes a call that must succeed.
func (w *world) ok(tool, args string) answer {
	w.Helper()
	result, err := w.do(tool, args)
	if err != nil {
		w.Fatalf("%s %s: %v; hint %q, candidates %q", tool, args, err, err.Hint, err.Candidates)
	}
	return answer{result, asJSON(w, result.Data)}
}

// fails makes a call that must fail with the code.
func (w *world) fails(code aai.Code, tool, args string) {
	w.Helper()
	_ = w.failure(code, tool, args)
}

// failure is fails, and returns the error.
func (w *world) failure(code aai.Code, tool, args string) *aai.Error {
	w.Helper()
	result, err := w.do(tool, args)
	switch {
	case err == nil:
		w.Fatalf("%s %s: succeeded with %q %v, want %s", tool, args, result.Text, result.Data, code)
	case err.Code != code:
		w.Fatalf("%s %s: %v, want %s", tool, args, err, code)
	}
	return err
}

// answer is a result and its data as JSON.
type answer struct {
	*aai.Result
	data map[string]any
}

func asJSON(t testing.TB, data any) map[string]any {
	t.Helper()
	raw, err := json.Marshal(data)
	assert.NilError(t, err)
	var object map[string]any
	assert.NilError(t, json.Unmarshal(raw, &object), raw)
	return object
}

// at follows keys and indexes into a JSON value; it returns nil for an absent one.
func at(value any, path ...any) any {
	for _, step := range path {
		switch s := step.(type) {
		case string:
			object, _ := value.(map[string]any)
			value = object[s]
		case int:
			list, _ := value.([]any)
			if s >= len(list) {
				return nil
			}
			value = list[s]
		}
	}
	return value
}

// want checks a value in the data of the reply.
func (w *world) want(a answer, want any, path ...any) {
	w.Helper()
	if n, ok := want.(int); ok {
		want = float64(n)
	}
	assert.Check(w, is.Equal(at(a.data, path...), want), "%v %v", path, a.data)
}

// has checks that a text has all the parts.
func (w *world) has(text string, parts ...string) {
	w.Helper()
	for _, part := range parts {
		assert.Check(w, is.Contains(text, part))
	}
}

// ref finds an element and returns its ref.
func (w *world) ref(app, query string) string {
	w.Helper()
	raw, _ := json.Marshal(map[string]any{"app": app, "query": query})
	ref, _ := w.ok("ax_find", string(raw)).data["element_ref"].(string)
	assert.Assert(w, refs.Is(ref), "ax_find gave the ref %q for %s", ref, query)
	return ref
}

// mutations returns a function that lists the changes of the desktop from now on.
func (w *world) mutations() func() []string {
	before := len(w.d.Actions())
	return func() []string { return w.d.Actions()[before:] }
}

// nothingDone fails if there were changes since.
func (w *world) nothingDone(since func() []string) {
	w.Helper()
	done := since()
	assert.Check(w, is.Len(done, 0), "the desktop was asked to %q, want nothing", done)
}

// elapsed returns how long f takes in the bubble's time.
func elapsed(f func()) time.Duration {
	begun := time.Now()
	f()
	return time.Since(begun)
}

// catalog has one app.
type catalog struct{ app *aai.App }

func (c catalog) Apps() []*aai.App { return []*aai.App{c.app} }

func (c catalog) Find(_ context.Context, name string) (*aai.App, error) {
	if name != c.app.ID && !slices.Contains(c.app.Aliases, name) {
		return nil, aai.Errorf(aai.AppNotFound, "there is no app %q", name)
	}
	return c.app, nil
}

func (catalog) OnChange(func()) func() { return func() {} }

// record keeps the requests and journal entries of the gateway.
type record struct {
	mu       sync.Mutex
	entries  []aai.Entry
	requests []*aai.Request
}

func (r *record) Record(_ context.Context, e *aai.Entry) error {
	r.mu.Lock()
	defer r.mu.Unlock()
	r.entries = append(r.entries, *e)
	return nil
}

// last returns the last entry of the kind.
func (r *record) last(kind aai.EntryKind) aai.Entry {
	r.mu.Lock()
	defer r.mu.Unlock()
	for _, e := range slices.Backward(r.entries) {
		if e.Kind == kind {
			return e
		}
	}
	return aai.Entry{}
}

// text returns all journal entries.
func (r *record) text() string {
	r.mu.Lock()
	defer r.mu.Unlock()
	raw, _ := json.Marshal(r.entries)
	return string(raw)
}

// admitAll admits everything and keeps the requests.
type admitAll struct{ *record }

func (g admitAll) Check(_ context.Context, r *aai.Request) ([]aai.Question, error) {
	g.mu.Lock()
	defer g.mu.Unlock()
	g.requests = append(g.requests, r)
	return nil, nil
}

// lastRequest returns the last request for admission.
func (r *record) lastRequest() *aai.Request {
	r.mu.Lock()
	defer r.mu.Unlock()
	return r.requests[len(r.requests)-1]
}

// The screen's size, and a click on it.
const (
	fullWidth  = fakedesktop.Width
	fullHeight = fakedesktop.Height
)

type fakeClick = fakedesktop.Click

type fakeElement = fakedesktop.Element
