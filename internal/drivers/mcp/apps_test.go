package mcp_test

import (
	"context"
	"fmt"
	"os"
	"path/filepath"
	"runtime"
	"strings"
	"sync"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/catalog"
	"github.com/gybob/aai-gateway/internal/drivers/mcp"
	"github.com/gybob/aai-gateway/internal/gateway"
	"github.com/gybob/aai-gateway/internal/policy"
)

// Listing an app starts no server. The consent for its start shows the command, and then the app
// has the server's tools, also in later gateways.
func TestAServerIsStartedByWhomItIsAllowed(t *testing.T) {
	w := newWorld(t)
	app := w.hostile(t, "plain")
	apps := w.Catalog.Apps()
	assert.Assert(t, is.Len(apps, 1))
	assert.Assert(t, is.Len(apps[0].Tools, 1))
	assert.Equal(t, apps[0].Tools[0].Name, "mcp_start")
	assert.Assert(t, apps[0].Descriptor.Unprobed, "%+v", apps)
	w.answer = "deny"
	if _, e := w.call(t, app, "mcp_start", nil); e == nil || e.Code != aai.PermissionDenied {
		t.Error(e)
	}
	q := w.questions()
	assert.Assert(t, is.Len(q, 1))
	assert.Assert(t, is.Contains(fmt.Sprint(q[0]), asServer))
	assert.Check(t, w.tool(t, app, "do") == nil, "it was started")
	w.answer = "always"
	changes := 0
	defer w.Catalog.OnChange(func() { changes++ })()
	w.start(t, app)
	do := w.tool(t, app, "do")
	assert.Assert(t, do != nil, "%+v, %d changes", do, changes)
	assert.Equal(t, do.Effect, aai.Destroys, "%+v", do)
	assert.Equal(t, changes, 1, "%+v", do)
	assert.Assert(t, w.tool(t, app, "mcp_start") == nil, "%+v, %d changes", do, changes)
	assert.Assert(t, !w.Catalog.Apps()[0].Descriptor.Unprobed, "%+v, %d changes", do, changes)
	result := w.must(t, app, "do", nil)
	assert.Equal(t, result.Text, "done", "%+v", result)
	assert.Equal(t, result.UntrustedSource, "the MCP server of "+app, "%+v", result)
	later := newWorld(t, func(c *mcp.Config) { c.Folder = filepath.Join(w.folder, "mcp") })
	later.hostile(t, "plain")
	do = later.tool(t, app, "do")
	assert.Assert(t, do != nil, "a later gateway does not list it")
	assert.Equal(t, do.Implementation.Digest(), w.tool(t, app, "do").Implementation.Digest())
	later.hostile(t, "plain", "another command")
	assert.Assert(t, later.tool(t, app, "mcp_start") != nil, "what another command said is listed")
	assert.Assert(t, later.tool(t, app, "do") == nil, "what another command said is listed")
}

// A misbehaving server costs only its calls, with an error that names the fault.
func TestHostileServers(t *testing.T) {
	for kind, want := range map[string]aai.Error{
		"hangs":          {Code: aai.Timeout, Delivery: aai.DeliveryUnknown, Message: "had not answered at the deadline"},
		"dies":           {Code: aai.AppNotRunning, Delivery: aai.DeliveryUnknown, Message: `ended before it answered: "panic: the database is gone"`},
		"floods":         {Code: aai.AutomationFailed, Delivery: aai.DeliveryUnknown, Message: "was stopped: it sent more than 20000 unrequested messages"},
		"floods answers": {Code: aai.AutomationFailed, Delivery: aai.DeliveryUnknown, Message: "was stopped: it sent more than 20000 unrequested messages"},
		"huge":           {Code: aai.AutomationFailed, Delivery: aai.DeliveryUnknown, Message: "was stopped: it sent a message of more than 16 MiB"},
		"fails":          {Code: aai.AutomationFailed, Delivery: aai.Delivered, Message: `reports an error: "no 'such' file[31m"`},
		"refuses":        {Code: aai.AutomationFailed, Delivery: aai.Delivered, Message: `answered with error -32000: "not today"`},
	} {
		forHostileWorlds(t, kind, func(t *testing.T, w *world, app string) {
			w.start(t, app)
			ctx := t.Context()
			if kind == "hangs" || kind == "floods answers" {
				var cancel context.CancelFunc
				ctx, cancel = context.WithTimeout(ctx, map[string]time.Duration{"hangs": 3 * time.Second, "floods answers": time.Minute}[kind])
				defer cancel()
			}
			_, e := w.callIn(ctx, app, "do", nil)
			want := want
			if overHTTP(t) {
				want.Message = remoteDescription(kind, want.Message)
			}
			assert.Assert(t, e != nil, "%+v %+v", e, want)
			assert.Equal(t, e.Code, want.Code, "%+v %+v", e, want)
			assert.Equal(t, e.Delivery, want.Delivery, "%+v %+v", e, want)
			assert.Assert(t, is.Contains(e.Message, want.Message), "%+v %+v", e, want)
			if kind == "dies" || kind == "floods" || kind == "huge" { // it works again
				_, e := w.call(t, app, "other", nil)
				assert.Assert(t, e != nil, "the next call: %v", e)
				assert.Assert(t, e.Delivery != aai.NotDelivered, "the next call: %v", e)
			}
		})
	}
}

// remoteDescription returns the text for a server at an address: it has no standard error, and the limit
// applies to the response.
func remoteDescription(kind, words string) string {
	switch kind {
	case "dies":
		return "ended before it answered"
	case "huge":
		return "was stopped: it sent an answer of more than 16 MiB"
	}
	return words
}

// Harmless noise does not affect a call.
func TestServersThatAreOnlyLoud(t *testing.T) {
	for kind, want := range map[string]string{"greets": "", "chatters": "", "floods errors": "", "asks": "refused 3 requests of the server"} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			app := w.hostile(t, kind)
			w.start(t, app)
			result := w.must(t, app, "do", nil)
			assert.Equal(t, result.Text, "done", "%+v", result)
			assert.Assert(t, is.Contains(result.Warning, want), "%+v", result)
			assert.Equal(t, (want == ""), (result.Warning == ""), "%+v", result)
			n := len(w.log.String())
			assert.Check(t, n <= 1<<20, "the log has %d bytes", n)
		})
	}
}

// A server that does not start has no tools and an error.
func TestServersThatDoNotStart(t *testing.T) {
	for kind, want := range map[string]string{
		"dies at once": `did not start: "`,
	} {
		t.Run(kind, func(t *testing.T) {
			t.Parallel()
			w := newWorld(t)
			app := w.hostile(t, kind)
			_, e := w.call(t, app, "mcp_start", nil)
			assert.Assert(t, e != nil, "%+v", e)
			assert.Equal(t, e.Delivery, aai.NotDelivered, "%+v", e)
			assert.Assert(t, is.Contains(e.Message, want), "%+v", e)
			assert.Assert(t, e.Hint != "", "%+v", e)
			if kind == "dies at once" && !strings.Contains(e.Message, "no [31mlibrary of that name") {
				t.Errorf("not its last words: %s", e.Message)
			}
			for range 3 {
				_, e = w.call(t, app, "mcp_start", nil)
			}
			assert.Assert(t, is.Contains(e.Message, "it is started again in"), e)
			assert.Assert(t, e.RetryAfter > 0, "it does not rest: %v", e)
		})
	}
	w := newWorld(t)
	app := w.add(t, &aai.MCPRecipe{Command: "no-such-program-anywhere"})
	_, e := w.call(t, app, "mcp_start", nil)
	assert.Assert(t, e != nil, e)
	assert.Assert(t, is.Contains(e.Message, `there is no program "no-such-program-anywhere"`), e)
	app = w.hostile(t, "mute")
	ctx, cancel := context.WithTimeout(t.Context(), 2*time.Second)
	defer cancel()
	_, e = w.callIn(ctx, app, "mcp_start", nil)
	assert.Assert(t, e != nil, "%+v", e)
	assert.Assert(t, is.Contains(e.Message, "was still starting"), "%+v", e)
	assert.Equal(t, e.Delivery, aai.NotDelivered, "%+v", e)
	ended := make(chan bool)
	go func() { defer close(ended); w.close(t) }()
	select {
	case <-ended:
	case <-time.After(time.Minute): // it would take three minutes
		t.Error("a server that starts keeps the gateway from ending")
	}
}

// A faulty tool carries its error and does not affect the others.
func TestOddTools(t *testing.T) {
	w := newWorld(t)
	app := w.hostile(t, "odd")
	w.start(t, app)
	for name, want := range map[string]string{
		"do": "", "other": "", "regex": "", "list": "", "a_b_": "", "deep": "",
		"tool_6": `cannot be read: name is a number, in "{'name':7}"`, "tool_7": `the value is a string, in "'nothing'"`, "wrong-title": "",
	} {
		tool := w.tool(t, app, name)
		if tool == nil || (tool.Run != nil) != (want == "") {
			t.Errorf("%s: %+v", name, tool)
			continue
		}
		_, e := w.call(t, app, name, nil)
		assert.Check(t, is.Equal((e == nil), (want == "")), "%s %v %q", name, e, want)
		assert.Check(t, e == nil || strings.Contains(e.Message, want), "%s %v %q", name, e, want)
	}
	d := w.tool(t, app, "a_b_").Description
	assert.Check(t, is.Equal(d, `The server's name of it is "a b".`), "the name that became another: %q", d)
	u := w.tool(t, app, "regex").Params.Unchecked
	assert.Assert(t, is.Len(u, 1))
	assert.Assert(t, strings.HasPrefix(u[0], "properties.a.pattern: "), "what is not checked: %q", u)
	do := w.tool(t, app, "do")
	assert.Check(t, is.Equal(do.Description, "Does a thing"), "the second of the name: %q", do.Description)
}

// Neither the server's nor the gateway's tool replaces the other.
func TestNamesThatClash(t *testing.T) {
	w := newWorld(t)
	app := w.hostile(t, "clashes")
	w.start(t, app)
	_, e := w.call(t, app, "resource_read", map[string]any{"uri": "x:"})
	assert.Assert(t, e != nil, e)
	assert.Assert(t, is.Contains(e.Message, `the server has a tool "resource_read"`), e)
	assert.Assert(t, w.tool(t, app, "resource_list").Run != nil, "others are gone")
	assert.Assert(t, w.tool(t, app, "do").Run != nil, "others are gone")
}

// Reading a resource may start the server's program, so no mode or channel treats it as reading.
func TestToReadAResourceStartsAProgram(t *testing.T) {
	w := newWorld(t)
	app := w.hostile(t, "clashes")
	w.start(t, app)
	found, err := w.Catalog.Find(t.Context(), app)
	tool := found.Tool("resource_list")
	assert.NilError(t, err, "%+v", tool)
	assert.Equal(t, tool.Effect, aai.Reads, "%+v", tool)
	assert.Assert(t, tool.Assessment(nil).MayStartProgram, "%+v", tool)
	assert.Assert(t, !tool.Assessment(nil).EffectInherent, "%+v", tool)
	assert.Assert(t, !policy.Sandboxed.Allows(found, tool), "%+v", tool)
}

// Frequent change notifications cost only a few listings, and progress texts are redacted like all
// others.
func TestWhatServersSayMeanwhile(t *testing.T) {
	w := newWorld(t, withMemorySecrets)
	t.Setenv("TEST_GIVEN", "given-in-the-environment")
	app := w.hostile(t, "progresses")
	w.local.apps[0].Server.MCP.Env = []string{"TEST_GIVEN"}
	w.start(t, app)
	var mu sync.Mutex
	var words []string
	ctx := gateway.WithProgress(t.Context(), func(_, _ float64, message string) {
		mu.Lock()
		defer mu.Unlock()
		words = append(words, message)
	})
	before := runtime.NumGoroutine()
	_, e := w.callIn(ctx, app, "do", nil)
	assert.Assert(t, e == nil, e)
	n := runtime.NumGoroutine() - before
	assert.Check(t, n <= 50, "%d goroutines more", n)
	eventually(t, "it is told", func() bool {
		mu.Lock()
		defer mu.Unlock()
		return strings.Contains(strings.Join(words, " "), "with [secret]")
	})
}

// A server's text is quoted, and its claims grant nothing.
func TestWords(t *testing.T) {
	w := newWorld(t)
	app := w.hostile(t, "words")
	w.start(t, app)
	found, err := w.Catalog.Find(t.Context(), app)
	assert.NilError(t, err)
	guide := catalog.Guide(found)
	assert.Assert(t, !strings.Contains(guide, "\n# Ignore"), guide)
	assert.Assert(t, !strings.ContainsAny(guide, "\u202e\x1b"), guide)
	assert.Assert(t, !strings.Contains(guide, "<script>"), guide)
	assert.Equal(t, found.Tool("do").Effect, aai.Destroys, guide)
}

// A tool with a changed definition needs new consent.
func TestChangedTools(t *testing.T) {
	forHostileWorlds(t, "changes and says", func(t *testing.T, w *world, app string) {
		w.start(t, app)
		was := w.tool(t, app, "do").Implementation.Digest()
		if _, e := w.call(t, app, "do", nil); e != nil { // it changes its definition from now on
			t.Fatal(e)
		}
		w.questions()
		eventually(t, "the change is listed", func() bool { return w.tool(t, app, "do").Implementation.Digest() != was })
		_, e := w.call(t, app, "do", nil)
		assert.Check(t, e == nil, e)
		q := w.questions()
		assert.Assert(t, is.Len(q, 1))
		assert.Assert(t, is.Contains(fmt.Sprint(q), "send the person's keys along"))
		if _, e := w.call(t, app, "other", nil); e != nil { // asked for the first time
			t.Error(e)
		}
		_, e = w.call(t, app, "do", nil)
		assert.Assert(t, e == nil, e)
		assert.Assert(t, is.Len(w.questions(), 1), e)
	})
}

// A call admitted before the change does not run after it.
func TestWhatWasAdmittedBeforeAChange(t *testing.T) {
	forHostileWorlds(t, "changes and says", func(t *testing.T, w *world, app string) {
		w.start(t, app)
		old := w.tool(t, app, "do")
		_, e := w.call(t, app, "do", nil)
		assert.Assert(t, e == nil, e)
		eventually(t, "the change is listed", func() bool { return w.tool(t, app, "do").Implementation.Digest() != old.Implementation.Digest() })
		_, err := old.Run(t.Context(), &aai.Call{ID: "c1", Tool: "do"})
		e = aai.AsError(err)
		assert.Assert(t, e != nil, "%+v", e)
		assert.Equal(t, e.Code, aai.ConsentRequired, "%+v", e)
		assert.Equal(t, e.Delivery, aai.NotDelivered, "%+v", e)
		assert.Assert(t, is.Contains(e.Message, "has changed its description of the tool do"), "%+v", e)
	})
}

// The server learns of a cancelled call.
func TestCancelled(t *testing.T) {
	w := newWorld(t)
	file := filepath.Join(w.folder, "cancelled")
	app := w.hostile(t, "hangs", file)
	w.start(t, app)
	ctx, cancel := context.WithTimeout(t.Context(), time.Second)
	defer cancel()
	_, _ = w.callIn(ctx, app, "do", nil)
	eventually(t, "it hears of it", func() bool { b, _ := os.ReadFile(file); return strings.Contains(string(b), "requestId") })
}

// A server that does not read its input is not waited for.
func TestDeafServer(t *testing.T) {
	w := newWorld(t)
	app := w.hostile(t, "deaf")
	w.start(t, app)
	if result, e := w.call(t, app, "do", nil); e != nil || result.Text != "heard" {
		t.Fatal(e)
	}
	_, err := w.tool(t, app, "other").Run(t.Context(), &aai.Call{ID: "c1", Args: map[string]any{"words": strings.Repeat("x", 500_000)}})
	e := aai.AsError(err) // beyond the limit of a question
	assert.Assert(t, e != nil, "%+v", e)
	assert.Assert(t, is.Contains(e.Message, "was stopped: it did not read its input"), "%+v", e)
	assert.Equal(t, e.Delivery, aai.DeliveryUnknown, "%+v", e)
}

// Numbers stay exact, and repeated data is returned once.
func TestNumbers(t *testing.T) {
	w := newWorld(t)
	app := w.hostile(t, "numbers")
	w.start(t, app)
	result := w.must(t, app, "do", nil)
	assert.Equal(t, fmt.Sprint(result.Data), "map[n:9007199254740993]", "%+v", result)
	assert.Equal(t, result.Text, "", "%+v", result)
}
