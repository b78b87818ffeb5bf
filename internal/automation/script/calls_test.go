package script

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/gateway"
	"github.com/gybob/aai-gateway/internal/policy"
	"github.com/gybob/aai-gateway/internal/testkit/tokencount"
)

// TestCallsAreTheCallers: the journal has each call as a child of the script's call, with the
// rights of its caller, and the script without its literals.
func TestCallsAreTheCallers(t *testing.T) {
	w := newWorld(t)
	const text = `call("org.example.notes", "read", {cell: 1}); call("org.example.notes", "add", {text: "a"})`
	w.answers(t, text, nil)
	var kinds []string
	outer := ""
	for _, e := range w.entries {
		kinds = append(kinds, string(e.Kind)+" "+e.Tool)
		switch {
		case e.Tool == BuiltinToolName:
			outer = e.Call
			assert.Check(t, e.Kind != aai.Intent || e.Args["script"] == `call([…], […], {cell: 1}); call([…], […], {text: […]})` && e.Durable, "on record: %+v", e.Args)
		case e.Kind == aai.Outcome && e.Tool == "add": // the call's first entry names the caller
		case e.Parent != outer || e.Caller != agent():
			t.Errorf("%s: within %q, by %s", e.Tool, e.Parent, e.Caller)
		}
	}
	assert.Check(t, slices.Equal(kinds, []string{"intent script", "outcome read", "intent add", "outcome add", "outcome script"}), "on record: %q", kinds)
}

// TestAProgramIsAnApp: a program named as the app of a desktop tool becomes its target, unless the
// arguments name another; other calls are unchanged.
func TestAProgramIsAnApp(t *testing.T) {
	w := newWorld(t)
	for text, want := range map[string]string{
		`call("chromium", "ax_find", {query: "q"})`:                    `["chromium","q"]`,
		`call("chromium", "ax_find")`:                                  `["chromium",null]`,
		`call("org.example.notes", "ax_find", {query: "q"})`:           `["org.example.notes","q"]`,
		`call("chromium", "ax_find", {app: "firefox", query: "q"})`:    `["firefox","q"]`,
		`call("` + aai.DesktopApp + `", "ax_find", {app: "chromium"})`: `["chromium",null]`,
	} {
		a := w.answers(t, `const r = `+text+`; [r.of, r.by]`, nil)
		assert.Check(t, is.Equal(string(a.Result), want), "%s %s", text, a.Result)
	}
	for _, tool := range []string{"find", "ax_nothing"} {
		a := w.answers(t, `try { call("chromium", "`+tool+`") } catch (e) { e.code }`, nil)
		assert.Check(t, is.Equal(string(a.Result), `"APP_NOT_FOUND"`), "%s %s", tool, a.Result)
	}
}

// TestAScriptMayWhatItsCallerMay: the script itself needs no consent.
func TestAScriptMayWhatItsCallerMay(t *testing.T) {
	w := newWorld(t)
	w.open() // nothing is allowed
	a := w.answers(t, `try { call("org.example.notes", "add") } catch (e) { e.code }`, nil)
	assert.Check(t, is.Equal(string(a.Result), `"CONSENT_REQUIRED"`), a.Result)
	assert.Check(t, is.Len(w.notes, 0), a.Result)
	a = w.answers(t, `try { call("aai", "script", {script: "1"}) } catch (e) { e.code }`, nil)
	assert.Check(t, is.Equal(string(a.Result), `"PERMISSION_DENIED"`), "a script within one: %s", a.Result)
}

// TestTheDoorAsks: before the first mutation the door asks about calls, and the script restarts;
// afterwards such calls fail.
func TestTheDoorAsks(t *testing.T) {
	w := newWorld(t)
	w.open()
	call := &aai.Call{
		Caller: aai.Caller{Door: aai.DoorCLI, Name: "terminal", Identity: aai.IdentityTerminal, Session: "s"}, App: aai.BuiltinApp, Tool: BuiltinToolName,
		Args: map[string]any{"script": `const a = call("org.example.notes", "read", {cell: 1}).value, b = call("org.example.notes", "add", {text: "a"});
			try { call("org.example.notes", "fail") } catch (e) { [a, b, e.code] }`},
	}
	for _, of := range []string{"read", "add"} {
		_, err := w.gateway.Do(t.Context(), call)
		e := aai.AsError(err)
		assert.Assert(t, e != nil, "%s %v", of, e)
		assert.Equal(t, e.Code, aai.ConsentRequired, "%s %v", of, e)
		assert.Assert(t, is.Len(e.Questions, 1), "%s %v", of, e)
		assert.Assert(t, e.RetrySafe(), "%s %v", of, e)
		assert.Assert(t, is.Len(w.notes, 0), "%s %v", of, e)
		q := e.Questions[0]
		call.Answers = map[string]aai.Answer{q.ID: {Choice: "session", Seal: q.Seal, Channel: q.Channels[len(q.Channels)-1]}}
	}
	result, err := w.gateway.Do(t.Context(), call)
	assert.NilError(t, err, result)
	assert.Equal(t, string(result.Data.(answer).Result), `["v1",1,"CONSENT_REQUIRED"]`, result)
	assert.Assert(t, is.Len(w.notes, 1), result)
}

// TestSandboxedScriptsRead: by their argument; the modes "safe" and "sandboxed" refuse scripts.
func TestSandboxedScriptsRead(t *testing.T) {
	const text = `const codes = []; for (const tool of ["read", "add"]) try { call("org.example.notes", tool, {}); codes.push("did") } catch (e) { codes.push(e.code) }; codes`
	for sandboxed, want := range map[bool]string{false: `["did","did"]`, true: `["did","PERMISSION_DENIED"]`} {
		w := newWorld(t)
		a := w.answers(t, text, map[string]any{"sandboxed": sandboxed})
		assert.Check(t, is.Equal(string(a.Result), want), "%v %s", sandboxed, a.Result)
		for _, mode := range []policy.Mode{policy.Safe, policy.Sandboxed} {
			w.gateway.Gates[0] = &policy.ModeGate{Configured: mode}
			_, err := w.do(t.Context(), text, map[string]any{"sandboxed": sandboxed})
			assert.Assert(t, aai.AsError(err) != nil, "%s %v %v", mode, sandboxed, err)
			assert.Equal(t, aai.AsError(err).Code, aai.PermissionDenied, "%s %v %v", mode, sandboxed, err)
		}
	}
}

// TestALoopIsNotTooOften: rate-limited calls wait.
func TestALoopIsNotTooOften(t *testing.T) {
	w := newWorld(t)
	w.limits[policy.KindDeclared] = policy.Limit{PerSecond: 100, PerMinute: 100_000, Concurrent: 10}
	w.open(allowed("org.example.notes"))
	a := w.answers(t, `for (let i = 0; i < 150; i++) call("org.example.notes", "read", {cell: i}); 1`, nil)
	if string(a.Result) != "1" || w.reads.Load() != 150 {
		t.Errorf("%s, %d arrived", a.Result, w.reads.Load())
	}
}

// TestStrangersWordsAreNamed: a script's result names its untrusted sources.
func TestStrangersWordsAreNamed(t *testing.T) {
	w := newWorld(t)
	result, err := w.do(t.Context(), `call("org.example.notes", "words"); call("org.example.notes", "words")`, nil)
	assert.NilError(t, err, "%+v", result)
	assert.Equal(t, result.UntrustedSource, "https://example.com", "%+v", result)
}

// TestProgressOfAScript: progress messages have the number of calls and the log.
func TestProgressOfAScript(t *testing.T) {
	w := newWorld(t)
	heard := make(chan string, 100)
	ctx := gateway.WithProgress(t.Context(), func(_, _ float64, message string) { heard <- message })
	_, err := w.do(ctx, `call("org.example.notes", "read", {}); sleep(300); log("half of it"); sleep(300); log("more")`, nil)
	assert.NilError(t, err)
	close(heard)
	var all []string
	for message := range heard {
		all = append(all, message)
	}
	got := strings.Join(all, ", ")
	assert.Check(t, strings.HasPrefix(got, "1 call, half of it"), "heard: %s", got)
}

// TestScriptsOfAProject: a named file runs only if it is in one of the client's roots.
func TestScriptsOfAProject(t *testing.T) {
	w := newWorld(t)
	project, elsewhere := t.TempDir(), t.TempDir()
	for path, text := range map[string]string{
		filepath.Join(project, ".aai", "scripts", "a.js"): `"a" + args.n`, filepath.Join(project, ".axterminator", "b.js"): `"b"`,
		filepath.Join(project, "c.js"): `"c"`, filepath.Join(elsewhere, ".aai", "d.js"): `"d"`, filepath.Join(project, ".aai", "e.txt"): `"e"`,
		filepath.Join(project, ".aai", "big.js"): strings.Repeat(" ", maxFile+1),
	} {
		assert.NilError(t, os.MkdirAll(filepath.Dir(path), 0o700))
		assert.NilError(t, os.WriteFile(path, []byte(text), 0o600))
	}
	for link, to := range map[string]string{
		filepath.Join(project, ".aai", "out.js"): filepath.Join(elsewhere, ".aai", "d.js"), filepath.Join(project, ".aai", "in.js"): "scripts/a.js",
	} {
		assert.NilError(t, os.Symlink(to, link))
	}
	ctx := aai.WithClientCapabilities(t.Context(), aai.ClientCapabilities{Roots: func(context.Context) ([]aai.Root, error) {
		return []aai.Root{{Path: t.TempDir()}, {Path: project}}, nil
	}})
	for file, want := range map[string]string{
		".aai/scripts/a.js": `"a1"`, filepath.Join(project, ".axterminator", "b.js"): `"b"`, ".aai/in.js": `"a1"`,
		"c.js": "", ".aai/../c.js": "", ".aai/e.txt": "", ".aai/out.js": "", ".aai/big.js": "", ".aai/none.js": "", "../.aai/d.js": "", filepath.Join(elsewhere, ".aai", "d.js"): "", ".aai": "",
	} {
		call := &aai.Call{Caller: agent(), App: aai.BuiltinApp, Tool: BuiltinToolName, Args: map[string]any{"file": file, "args": map[string]any{"n": json.Number("1")}}}
		result, err := w.gateway.Do(ctx, call)
		switch {
		case want == "":
			e := aai.AsError(err)
			assert.Assert(t, e != nil, "%s %v", file, err)
			assert.Equal(t, e.Code, aai.InvalidParams, "%s %v", file, err)
			assert.Equal(t, e.Delivery, aai.NotDelivered, "%s %v", file, err)
		case err != nil || string(result.Data.(answer).Result) != want:
			t.Errorf("%s: %+v, %v", file, result, err)
		}
		_, err = w.gateway.Do(t.Context(), call)
		assert.Check(t, err != nil, "%s is run for who does not work there", file)
	}
}

// TestPlaces: scripts of one caller wait for each other, and not for another caller's.
func TestPlaces(t *testing.T) {
	p := newSlotPool()
	var leave []func()
	for range maxPerOwner {
		l, err := p.acquire(t.Context(), "a", time.Minute)
		assert.NilError(t, err)
		leave = append(leave, l)
	}
	if _, err := p.acquire(t.Context(), "a", time.Millisecond); aai.AsError(err) == nil || aai.AsError(err).Code != aai.Timeout || aai.AsError(err).Delivery != aai.NotDelivered {
		t.Errorf("one too many: %v", err)
	}
	other, err := p.acquire(t.Context(), "b", time.Minute)
	assert.NilError(t, err)
	waited := make(chan error)
	go func() {
		_, err := p.acquire(t.Context(), "a", time.Minute)
		waited <- err
	}()
	other()
	leave[0]()
	assert.Check(t, <-waited)
}

// TestWhatAScriptCostsAModel: the tokens of the tool's entry, and of fifty reads by a script
// compared with fifty calls.
func TestWhatAScriptCostsAModel(t *testing.T) {
	_, desktop := Tools(Config{})
	n := tokencount.Count(t, desktop.Name+desktop.Description+string(desktop.Params.Source))
	assert.Check(t, n <= 200, "its name, description and parameters are %d tokens", n)
	w := newWorld(t)
	const text = `let s = 0; for (let i = 0; i < 50; i++) s += call("org.example.notes", "read", {cell: i}).cell; s`
	result, err := w.do(t.Context(), text, nil)
	assert.NilError(t, err)
	by := tokencount.Count(t, text) + tokencount.Count(t, shown(result.Data))
	one, err := w.gateway.Do(t.Context(), &aai.Call{Caller: agent(), App: "org.example.notes", Tool: "read", Args: map[string]any{"cell": json.Number("49")}})
	assert.NilError(t, err)
	each := tokencount.Count(t, `{"app":"org.example.notes","tool":"read","args":{"cell":49}}`) + tokencount.Count(t, shown(one.Data))
	if t.Logf("%d tokens by a script, %d by calls", by, 50*each); by*10 > 50*each {
		t.Errorf("a script that reads 50 cells is %d tokens, 50 calls are %d", by, 50*each)
	}
}

// person is a user who answers slowly.
type person struct {
	takes time.Duration
	asked int
}

func (p *person) Ask(ctx context.Context, q aai.Question) (aai.Answer, error) {
	p.asked++
	select {
	case <-time.After(p.takes):
	case <-ctx.Done():
	}
	return aai.Answer{Choice: "session", Seal: q.Seal, Channel: aai.DesktopDialog}, ctx.Err()
}

// TestAPersonsTimeIsNotTheScripts: the deadline pauses during a question about a call, and
// continues then.
func TestAPersonsTimeIsNotTheScripts(t *testing.T) {
	w := newWorld(t)
	w.open()
	somebody := &person{takes: 6 * time.Second}
	w.gateway.Dialog = somebody
	a := w.answers(t, `call("org.example.notes", "add", {text: "a"})`, map[string]any{"timeout_ms": 5000})
	assert.Check(t, is.Equal(string(a.Result), "1"), a.Result)
	assert.Check(t, is.Equal(somebody.asked, 1), a.Result)
	e := w.fails(t, `call("org.example.notes", "add", {text: "a"}); while (true) {}`, map[string]any{"timeout_ms": 5000})
	assert.Check(t, is.Equal(e.Code, aai.Timeout), e)
	assert.Check(t, is.Equal(e.Delivery, aai.Delivered), e)
}

// TestPlacesOfSessions: sessions of an identified caller share their slots; other sessions have
// separate ones.
func TestPlacesOfSessions(t *testing.T) {
	known, again, other := agent(), agent(), agent()
	again.Session, other.Principal = "another", "other"
	if slotOwner(known) != slotOwner(again) || slotOwner(known) == slotOwner(other) {
		t.Errorf("%q, %q, %q", slotOwner(known), slotOwner(again), slotOwner(other))
	}
	known.Identity, again.Identity = "", ""
	assert.Check(t, slotOwner(known) != slotOwner(again), "callers of whom nobody knows who they are share places")
}

// TestArgsAreNotOnRecord: a script's arguments may contain a password.
func TestArgsAreNotOnRecord(t *testing.T) {
	w := newWorld(t)
	e := w.fails(t, `throw new Error("wrong: " + args.value)`, map[string]any{"args": map[string]any{"value": "hunter2hunter2"}})
	assert.Check(t, is.Contains(e.Message, "hunter2hunter2"), "its caller is told %s", e.Message)
	for _, entry := range w.entries {
		said := shown(entry)
		assert.Check(t, !strings.Contains(said, "hunter2"), said)
	}
}
