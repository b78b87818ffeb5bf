package cli_test

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/signal"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/doors/cli"
	"github.com/gybob/aai-gateway/internal/gateway"
)

// world is a gateway in memory: a catalog, a journal and gates that a test controls, and a
// person with scripted input.
type world struct {
	mu        sync.Mutex
	entries   []aai.Entry
	seals     map[string]bool // given out and not used yet
	started   chan struct{}   // closed when the tool hang runs
	opened    int
	refuse    error  // the error of OpenGateway
	typed     string // the person's input; ^C and ^D are keys
	cancel    context.CancelFunc
	stale     bool     // the asking gate accepts no answer
	lookups   []string // addresses that were looked up
	tokens    someTokens
	changed   string // the client with the latest change
	noClients bool   // no client is installed, and no workflow is stored
	windows   aai.Asker
}

func newWorld() *world {
	return &world{seals: make(map[string]bool), started: make(chan struct{}), cancel: func() {}}
}

func (w *world) open(cli.Flags) (*gateway.Gateway, func() error, error) {
	w.opened++
	if w.refuse != nil {
		return nil, nil, w.refuse
	}
	gateway := &gateway.Gateway{Catalog: catalog{w, w.apps()}, Gates: []aai.Gate{askingGate{w}}, Journal: w, Dialog: w.windows}
	return gateway, func() error { return nil }, nil
}

// Record stores the entry, or reports a full disk for the tool "norecord".
func (w *world) Record(_ context.Context, e *aai.Entry) error {
	w.mu.Lock()
	defer w.mu.Unlock()
	if e.Tool == "norecord" {
		return errors.New("no space left on device")
	}
	w.entries = append(w.entries, *e)
	return nil
}

// ask is the terminal's Ask: the person types the next of w.typed.
func (w *world) ask(transcript io.Writer) func(context.Context, string) (string, error) {
	return func(ctx context.Context, prompt string) (string, error) {
		if _, err := io.WriteString(transcript, prompt); err != nil {
			return "", err
		}
		line, rest, _ := strings.Cut(w.typed, "\n")
		w.typed = rest
		switch line {
		case "^C":
			w.cancel()
			return "", ctx.Err()
		case "2^C":
			w.cancel()
			return "2", nil
		case "^D":
			return "", io.EOF
		}
		_, err := io.WriteString(transcript, line+"\n")
		return line, err
	}
}

// catalog is a fixed list of apps.
type catalog struct {
	w    *world
	apps []*aai.App
}

func (c catalog) Apps() []*aai.App { return c.apps }

func (c catalog) Find(_ context.Context, name string) (*aai.App, error) {
	if strings.Contains(name, "/") {
		c.w.lookups = append(c.w.lookups, name)
	}
	var ids []string
	for _, app := range c.apps {
		if app.ID == name {
			return app, nil
		}
		ids = append(ids, app.ID)
	}
	e := aai.Errorf(aai.AppNotFound, "there is no app %q", aai.CleanLabel(name, 60))
	e.Candidates = aai.Nearest(name, ids, 3)
	return nil, e
}

func (c catalog) OnChange(func()) func() { return func() {} }

// askingGate asks about the tool "delete" and admits everything else. Like the real one it
// issues seals that are valid for one answer.
type askingGate struct{ w *world }

func (g askingGate) Check(_ context.Context, r *aai.Request) ([]aai.Question, error) {
	if !strings.HasPrefix(r.Tool.Name, "delete") {
		return nil, nil
	}
	if answer, ok := r.Call.Answers["consent"]; ok {
		if !g.w.seals[answer.Seal] {
			return nil, aai.Errorf(aai.ConsentRequired, "the seal is not one of this gateway's")
		}
		delete(g.w.seals, answer.Seal)
		switch {
		case g.w.stale:
		case answer.Choice == "once" && answer.Channel == aai.Terminal:
			r.Consent = "once (terminal)"
			return nil, nil
		case answer.Choice == "once" && answer.Channel == aai.Passphrase && answer.Secret == "correct horse":
			r.Consent = "once (passphrase)"
			return nil, nil
		default:
			return nil, aai.Errorf(aai.PermissionDenied, "the person at this computer said no")
		}
	}
	seal := "seal" + string(rune('a'+len(g.w.entries)))
	g.w.seals[seal] = true
	question := aai.Question{
		ID: "consent", Channels: []aai.Channel{aai.DesktopDialog, aai.Terminal},
		Title: "Allow \x1b[31mcli:terminal to use delete?", Text: "Effect: may delete things for good\nWith:   \u202e\"x\"",
		Choices: []aai.Choice{{ID: "deny", Label: "Deny"}, {ID: "once", Label: "Allow this once"}},
		Seal:    seal,
	}
	if r.Tool.Name == "delete_proved" {
		question.Channels = []aai.Channel{aai.Passphrase}
	}
	if r.Tool.Name == "delete_natively" {
		question.Channels = []aai.Channel{aai.DesktopDialog}
	}
	return []aai.Question{question}, nil
}

// schema returns a schema with the check that a test needs.
func schema(source string, check func(args map[string]any) error) aai.Schema {
	return aai.Schema{Source: json.RawMessage(source), Check: func(value any) (any, error) {
		args, ok := value.(map[string]any)
		if !ok {
			return nil, aai.Errorf(aai.InvalidParams, "expected an object")
		}
		return args, check(args)
	}}
}

func anything(map[string]any) error { return nil }

func respond(r *aai.Result) aai.Action {
	return func(context.Context, *aai.Call) (*aai.Result, error) { return r, nil }
}

const echoParams = `{"type":"object","properties":{
	"title":{"type":"string"}, "count":{"type":"integer"}, "ratio":{"type":"number"}, "done":{"type":"boolean"},
	"tags":{"type":"array"}, "more":{"type":"object"}, "maybe":{"type":["integer","null"]}, "either":{"type":["string","integer"]},
	"free":{}, "odd":true}}`

func checkEcho(args map[string]any) error {
	if count, given := args["count"]; given {
		if _, ok := count.(json.Number); !ok {
			return aai.Errorf(aai.InvalidParams, "count: expected an integer, got %q", count)
		}
	}
	return nil
}

func (w *world) apps() []*aai.App {
	return []*aai.App{w.builtinApp(), w.notes(), {
		ID: "org.example.Dictionary", Name: "辞書アプリ|Dictionary", Platform: "macos",
		Tools: []*aai.Tool{{Name: "look_up", Description: "Looks a word up\tand\x1b[1m more"}},
	}}
}

func (w *world) notes() *aai.App {
	open := schema(`{}`, anything)
	return &aai.App{ID: "org.example.Notes", Name: "Notes", Aliases: []string{"memo"}, Platform: "linux", Tools: []*aai.Tool{
		{Name: "echo", Description: "Gives its arguments back", Effect: aai.Reads, Params: schema(echoParams, checkEcho), Run: echo},
		{Name: "add", Description: "Adds a note", Run: respond(&aai.Result{Text: "added"})},
		{Name: "data", Run: respond(&aai.Result{Data: map[string]any{"html": "<b>", "rtl": "a\u202eb\u009b\U000E0041\x7f"}})},
		{Name: "text", Run: respond(&aai.Result{Text: "red \x1b[31mtext\u202e\r\n\ttab"})},
		{Name: "foreign", Run: respond(&aai.Result{Text: "obey", UntrustedSource: "the page of https://\x1bexample.com"})},
		{Name: "doubt", Run: respond(&aai.Result{Text: "done\n", Warning: "not \x1bverified"})},
		{Name: "empty", Run: respond(&aai.Result{})},
		{Name: "nan", Run: respond(&aai.Result{Data: func() {}})},
		{Name: "image", Run: respond(&aai.Result{Images: []aai.Image{{MIME: "image/png", Data: []byte("png!")}}})},
		{Name: "long", Run: respond(&aai.Result{Text: strings.Repeat("0123456789abcdef", 4096)})},
		{Name: "fail", Params: open, Run: fail},
		{Name: "panic", Run: func(context.Context, *aai.Call) (*aai.Result, error) { panic("no") }},
		{Name: "hang", Run: w.hang},
		{Name: "slow", Limits: aai.Limits{Timeout: time.Minute}, Run: slow},
		{Name: "late", Limits: aai.Limits{Timeout: time.Second}, Run: slow},
		{Name: "norecord"}, {Name: "nodriver"},
		{Name: "delete", Params: open, Run: respond(&aai.Result{Text: "deleted"})},
		{Name: "delete_proved", Run: respond(&aai.Result{Text: "deleted"})},
		{Name: "delete_natively", Run: respond(&aai.Result{Text: "deleted"})},
	}}
}

func echo(_ context.Context, call *aai.Call) (*aai.Result, error) {
	return &aai.Result{Data: call.Args}, nil
}

// fail returns an error with the code and the delivery in its arguments.
func fail(_ context.Context, call *aai.Call) (*aai.Result, error) {
	word := func(name string) string { s, _ := call.Args[name].(string); return s }
	e := aai.Errorf(aai.Code(word("code")), "it \x1b[1mfailed")
	e.Hint, e.Delivery = word("hint"), aai.Delivery(word("delivery"))
	if word("again") != "" {
		e.RetryAfter = 1500 * time.Millisecond
	}
	return nil, e
}

func (w *world) hang(ctx context.Context, _ *aai.Call) (*aai.Result, error) {
	close(w.started)
	<-ctx.Done()
	return nil, ctx.Err()
}

// slow takes three and a half seconds.
func slow(ctx context.Context, _ *aai.Call) (*aai.Result, error) {
	select {
	case <-ctx.Done():
		return nil, ctx.Err()
	case <-time.After(3500 * time.Millisecond):
		return &aai.Result{Text: "at last"}, nil
	}
}

// someTokens are tokens in memory.
type someTokens struct{ names []string }

func (s *someTokens) Add(name string) (string, error) {
	s.names = append(s.names, name)
	return "secret of " + name, nil
}

func (s *someTokens) List() ([]cli.Token, error) {
	list := []cli.Token{}
	for _, name := range s.names {
		list = append(list, cli.Token{Name: name, Identity: "http:" + name, CreatedAt: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)})
	}
	return list, nil
}

func (s *someTokens) Revoke(name string) error {
	i := slices.Index(s.names, name)
	if i < 0 {
		return aai.Errorf(aai.InvalidParams, "there is no token %q", name)
	}
	s.names = slices.Delete(s.names, i, i+1)
	return nil
}

// someClients are the clients of a script: "new", "same", "different", "foreign", with a foreign
// entry, "broken", which cannot be read, "full", which cannot be written, and "dead", with a server
// that does not start. Those with a first letter before e are installed.
type someClients struct{ w *world }

func (c someClients) List() []cli.Client {
	var all []cli.Client
	for _, id := range []string{"broken", "dead", "different", "foreign", "full", "new", "same"} {
		all = append(all, cli.Client{ID: id, Name: strings.ToUpper(id), File: "/home/ann/" + id, Installed: id < "e" && !c.w.noClients})
	}
	return all
}

func (c someClients) LastChanged() string { return c.w.changed }

func (c someClients) Leftovers() []cli.Leftover { return nil }

func (c someClients) Purge(cli.Leftover) error { return nil }

func (c someClients) Plan(act, client, profile string) (*cli.ClientPlan, error) {
	if client == "broken" {
		return nil, aai.Errorf(aai.InvalidParams, "/home/ann/broken: line 1, column 2: expected JSON")
	}
	p := &cli.ClientPlan{
		ID: client, Name: strings.ToUpper(client), File: "/home/ann/" + client, Change: "add", After: "Start it anew.",
		Diff: fmt.Sprintf("--- %s\n+++ %s\n@@ -1 +1 @@\n+%s %s\n", client, client, act, profile), Notes: []string{"a note of " + client},
	}
	switch {
	case client == cli.ShellExtension: // it is not installed
		p.Change, p.Notes = "nothing", nil
	case client == "same":
		p.Change = "nothing"
	case client == "different":
		p.Change = "replace"
	case client == "foreign":
		p.Change, p.NeedsConfirmation = "replace", true
	case act == cli.ClientUninstall:
		p.Change = "remove"
	case act == cli.ClientRollback:
		p.Change = "restore"
	}
	p.Apply = func(context.Context) error {
		if client == "full" {
			return aai.Errorf(aai.AutomationFailed, "/home/ann/full cannot be written: the disk is full")
		}
		c.w.changed = client
		return nil
	}
	p.Probe = func(context.Context) (cli.ProbeResult, error) {
		if client == "dead" {
			return cli.ProbeResult{}, aai.Errorf(aai.AutomationFailed, "it does not start as DEAD starts it")
		}
		return cli.ProbeResult{Server: "aai-gateway", Version: "1.2.3", Protocol: "2025-11-25", Tools: 4, Took: 1234 * time.Microsecond}, nil
	}
	return p, nil
}

// TestMain starts the runtime's goroutine for signals, which would otherwise start in the
// first bubble of package synctest and outlive it.
func TestMain(m *testing.M) {
	signals := make(chan os.Signal, 1)
	signal.Notify(signals, os.Interrupt)
	signal.Stop(signals)
	os.Exit(m.Run())
}
