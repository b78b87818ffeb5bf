package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"log/slog"
	"math"
	"slices"
	"sync"
	"testing"

	"github.com/gybob/aai-gateway"
	door "github.com/gybob/aai-gateway/internal/doors/mcp"
	"github.com/gybob/aai-gateway/internal/gateway"
)

// The app of most tests, and the names of its tools.
const (
	notes = "org.example.Notes"

	addTool            = "add"   // succeeds with data
	sayTool            = "say"   // succeeds with text
	notRunningTool     = "sync"  // fails: the app does not run
	unknownOutcomeTool = "send"  // fails, with an unknown outcome
	blockTool          = "block" // waits to be released, or for the end of its context
	panicTool          = "crash" // panics
	nanTool            = "ratio" // returns a value that is not JSON
)

// A world is a gateway in memory behind a door. Each test sets its gate.
type world struct {
	catalog *catalog
	journal *journal
	door    *door.Door

	entered chan string    // the note of a call of "block" that has begun
	release chan struct{}  // closed to release all of them
	ended   chan error     // how the context of one that was not released ended
	added   chan *aai.Call // the calls of "add" that ran
	gate    func(*aai.Request) ([]aai.Question, error)
	dialog  aai.Asker
	options func(*door.Config)
}

// A change to a world, before its door is made.
type change func(*world)

func withGate(gate func(*aai.Request) ([]aai.Question, error)) change {
	return func(w *world) { w.gate = gate }
}

// set changes the door's configuration, after the changes before.
func (w *world) set(change func(*door.Config)) {
	before := w.options
	w.options = func(c *door.Config) { before(c); change(c) }
}

// with is a change of the door's configuration.
func with(change func(*door.Config)) change { return func(w *world) { w.set(change) } }

func canonical(w *world) { w.set(func(c *door.Config) { c.UseCanonicalNames = true }) }

func newWorld(t *testing.T, changes ...change) *world {
	t.Helper()
	w := &world{
		journal: &journal{}, entered: make(chan string, 1000), release: make(chan struct{}),
		ended: make(chan error, 1000), added: make(chan *aai.Call, 1000),
		gate:    func(*aai.Request) ([]aai.Question, error) { return nil, nil },
		options: func(*door.Config) {},
	}
	w.catalog = &catalog{listeners: map[int]func(){}}
	w.catalog.apps = []*aai.App{w.builtinApp(), w.notes()}
	for _, c := range changes {
		c(w)
	}
	cfg := door.Config{
		PeerIdentity: "/usr/bin/tester",
		Gateway:      &gateway.Gateway{Catalog: w.catalog, Gates: []aai.Gate{w}, Journal: w.journal, Dialog: w.dialog},
		Version:      "1.2.3", Log: slog.New(slog.NewTextHandler(t.Output(), nil)),
	}
	w.options(&cfg)
	w.door = door.New(cfg)
	return w
}

// Check implements aai.Gate: every caller may use the gateway's own app.
func (w *world) Check(_ context.Context, r *aai.Request) ([]aai.Question, error) {
	if r.App.ID == aai.BuiltinApp {
		return nil, nil
	}
	return w.gate(r)
}

// builtinApp has the tools of the gateway's own app that the door uses.
func (w *world) builtinApp() *aai.App {
	find := func(ctx context.Context, call *aai.Call) (*aai.App, error) {
		id, _ := call.Args["app"].(string)
		return w.catalog.Find(ctx, id)
	}
	guide := func(ctx context.Context, call *aai.Call) (*aai.Result, error) {
		app, err := find(ctx, call)
		if err != nil {
			return nil, err
		}
		return &aai.Result{Text: "# " + app.Name, Data: map[string]any{"app": app.ID}}, nil
	}
	descriptor := func(ctx context.Context, call *aai.Call) (*aai.Result, error) {
		app, err := find(ctx, call)
		if err != nil {
			return nil, err
		}
		if call.Args["platform"] != true {
			return nil, aai.Errorf(aai.Internal, "agents are not shown what is of other platforms")
		}
		return &aai.Result{Text: string(app.Descriptor.Raw), Data: app.Descriptor.Raw}, nil
	}
	return &aai.App{ID: aai.BuiltinApp, Name: "AAI Gateway", Tools: []*aai.Tool{
		tool("guide", aai.Reads, guide), tool("descriptor", aai.Reads, descriptor),
	}}
}

func tool(name string, effect aai.Effect, run aai.Action) *aai.Tool {
	check := func(value any) (any, error) {
		if object, ok := value.(map[string]any); !ok || object["wrong"] != nil {
			return nil, aai.Errorf(aai.InvalidParams, "wrong: is not a parameter of %s", name)
		}
		return value, nil
	}
	return &aai.Tool{Name: name, Effect: effect, Run: run, Params: aai.Schema{Check: check, Order: []string{"text"}}}
}

func (w *world) notes() *aai.App {
	fails := func(e aai.Error) aai.Action {
		return func(context.Context, *aai.Call) (*aai.Result, error) { return nil, &e }
	}
	returns := func(r aai.Result) aai.Action {
		return func(context.Context, *aai.Call) (*aai.Result, error) { return &r, nil }
	}
	return &aai.App{
		ID: notes, Name: "Notes|Notizen", Description: "Keeps notes.", Aliases: []string{"notes", "jotter"},
		Digest: "d1", Descriptor: aai.Descriptor{Raw: json.RawMessage(`{"schema_version":"1.0"}`)},
		Tools: []*aai.Tool{
			tool(addTool, aai.Changes, w.add),
			tool(sayTool, aai.Reads, returns(aai.Result{Text: "hello", Warning: "it is late"})),
			tool(notRunningTool, aai.Reads, fails(aai.Error{
				Code: aai.AppNotRunning, Message: "Notes is not running", Hint: "Start it.", Delivery: aai.NotDelivered,
			})),
			tool(unknownOutcomeTool, aai.Destroys, fails(aai.Error{
				Code: aai.Timeout, Message: "no answer", Delivery: aai.DeliveryUnknown, Candidates: []string{"sync"},
			})),
			tool(blockTool, aai.Changes, w.block),
			tool(panicTool, aai.Changes, func(context.Context, *aai.Call) (*aai.Result, error) { panic("the app's driver is broken") }),
			tool(nanTool, aai.Changes, returns(aai.Result{Data: math.NaN()})),
		},
	}
}

func (w *world) add(_ context.Context, call *aai.Call) (*aai.Result, error) {
	w.added <- call
	return &aai.Result{Data: map[string]any{"id": 1, "text": call.Args["text"]}}, nil
}

func (w *world) block(ctx context.Context, call *aai.Call) (*aai.Result, error) {
	note, _ := call.Args["text"].(string)
	w.entered <- note
	select {
	case <-w.release:
		return &aai.Result{Text: "released"}, nil
	case <-ctx.Done():
		w.ended <- ctx.Err()
		return nil, ctx.Err()
	}
}

// app returns another app, with one tool.
func (w *world) app(id, name, description string, aliases ...string) *aai.App {
	return &aai.App{
		ID: id, Name: name, Description: description, Aliases: aliases, Digest: "d1",
		Tools: []*aai.Tool{tool(addTool, aai.Changes, w.add)}, Descriptor: aai.Descriptor{Raw: json.RawMessage(`{}`)},
	}
}

// A catalog is a list of apps in memory.
type catalog struct {
	mu        sync.Mutex
	apps      []*aai.App
	listeners map[int]func()
	broken    bool          // panics
	look      chan struct{} // closed when the first scan is over; nil: it is
}

func (c *catalog) Apps() []*aai.App {
	if c.look != nil {
		<-c.look
	}
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.broken {
		panic("the catalog is broken")
	}
	return slices.Clone(c.apps)
}

func (c *catalog) Find(_ context.Context, name string) (*aai.App, error) {
	for _, app := range c.Apps() {
		if app.ID == name || slices.Contains(app.Aliases, name) || aai.WireName("app:"+app.ID) == name {
			return app, nil
		}
	}
	e := aai.Errorf(aai.AppNotFound, "there is no app %q", name)
	e.Hint = "List the tools."
	return nil, e
}

func (c *catalog) OnChange(f func()) (stop func()) {
	c.mu.Lock()
	defer c.mu.Unlock()
	n := len(c.listeners)
	c.listeners[n] = f
	return func() {
		c.mu.Lock()
		defer c.mu.Unlock()
		delete(c.listeners, n)
	}
}

// edit changes the list of apps and notifies, as the real catalog does: in a goroutine in which no
// caller would recover a panic.
func (c *catalog) edit(edit func([]*aai.App) []*aai.App) {
	c.mu.Lock()
	c.apps = edit(slices.Clone(c.apps))
	c.mu.Unlock()
	c.tell()
}

func (c *catalog) tell() {
	c.mu.Lock()
	listeners := make([]func(), 0, len(c.listeners))
	for _, f := range c.listeners {
		listeners = append(listeners, f)
	}
	c.mu.Unlock()
	done := make(chan struct{})
	go func() {
		defer close(done)
		for _, f := range listeners {
			f()
		}
	}()
	<-done
}

func (c *catalog) setBroken(broken bool) {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.broken = broken
}

// A journal keeps entries in memory.
type journal struct {
	mu      sync.Mutex
	entries []aai.Entry
	full    bool
}

func (j *journal) Record(_ context.Context, e *aai.Entry) error {
	j.mu.Lock()
	defer j.mu.Unlock()
	if j.full {
		return errors.New("no space left on device")
	}
	j.entries = append(j.entries, *e)
	return nil
}

// first reports whether an entry is the first of its call.
func first(e aai.Entry) bool { return e.Caller.Door != "" }

// asked returns the first entry of each call.
func (j *journal) asked() []aai.Entry {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(j.entries), func(e aai.Entry) bool { return !first(e) })
}

// admitted returns the admission entries, one of each call.
func (j *journal) admitted() []aai.Entry {
	j.mu.Lock()
	defer j.mu.Unlock()
	return slices.DeleteFunc(slices.Clone(j.entries), func(e aai.Entry) bool { return !e.Admitted })
}

// lines returns the entries in short form: kind, caller and tool, admission, code.
func (j *journal) lines() []string {
	j.mu.Lock()
	defer j.mu.Unlock()
	var lines []string
	for _, e := range j.entries {
		line := string(e.Kind)
		if first(e) {
			line += fmt.Sprintf(" %s %q %q", e.Caller, e.App, e.Tool)
		}
		if e.Admitted {
			line += fmt.Sprintf(" %s %s %s %q", e.Target, e.Tool, e.Effect, e.Consent)
		}
		if e.Kind == aai.Outcome {
			line += fmt.Sprintf(" %q", e.Code)
		}
		lines = append(lines, line)
	}
	return lines
}

// outcomes counts the outcomes of a tool's calls, by code.
func (j *journal) outcomes(tool string) map[aai.Code]int {
	j.mu.Lock()
	defer j.mu.Unlock()
	of := map[string]bool{}
	count := map[aai.Code]int{}
	for _, e := range j.entries {
		if first(e) && e.Tool == tool {
			of[e.Call] = true
		}
		if e.Kind == aai.Outcome && of[e.Call] {
			count[e.Code]++
		}
	}
	return count
}

// calls returns the entries of one kind.
func (j *journal) calls(kind aai.EntryKind) []aai.Entry {
	j.mu.Lock()
	defer j.mu.Unlock()
	var found []aai.Entry
	for _, e := range j.entries {
		if e.Kind == kind {
			found = append(found, e)
		}
	}
	return found
}
