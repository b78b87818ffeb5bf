package cdp

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/devtools"
	"github.com/gybob/aai-gateway/internal/testkit"
)

// trial are the switches of a Chromium for which tools of pages are a trial.
const trial = "--enable-features=WebMCPTesting,DevToolsWebMCPSupport"

// A world is a real Chromium with pages of a local server.
type world struct {
	*Pages
	server   *httptest.Server
	profile  string
	endpoint devtools.Endpoint
}

// newWorld starts a headless Chromium that listens for DevTools, on a page, and connects to it.
func newWorld(t *testing.T, page string, switches ...string) *world {
	t.Helper()
	w := &world{profile: t.TempDir()}
	w.server = httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		out.Header().Set("Content-Type", "text/html")
		if r.URL.Path == "/" {
			_, _ = fmt.Fprint(out, page)
			return
		}
		_, _ = fmt.Fprint(out, "<title>other</title>")
	}))
	t.Cleanup(w.server.Close)
	testkit.Need(t, "chromium")
	chromium := exec.CommandContext(context.WithoutCancel(t.Context()), "chromium", append(switches, "--headless=new", "--no-sandbox", "--disable-gpu",
		"--disable-dev-shm-usage", "--remote-debugging-port=0", "--user-data-dir="+w.profile, "--host-resolver-rules=MAP other.test 127.0.0.1", w.server.URL+"/")...)
	chromium.SysProcAttr = &syscall.SysProcAttr{Setpgid: true, Pdeathsig: syscall.SIGKILL}
	assert.NilError(t, chromium.Start())
	t.Cleanup(func() {
		_ = syscall.Kill(-chromium.Process.Pid, syscall.SIGKILL)
		_ = chromium.Wait()
	})
	find := func() []devtools.Endpoint { return devtools.Find(func(string) string { return "/nonexistent" }) }
	until(t, func() bool {
		for _, e := range find() {
			if e.Profile == w.profile {
				w.endpoint = e
				return true
			}
		}
		return false
	})
	browsers := devtools.New(devtools.Config{
		Find: func() []devtools.Endpoint { return []devtools.Endpoint{w.endpoint} }, AllowFile: filepath.Join(t.TempDir(), "browsers.json"),
	})
	t.Cleanup(func() { _ = browsers.Close() })
	w.Pages = New(browsers, 20*time.Second)
	_, err := w.connectTool(t.Context(), w.named())
	assert.NilError(t, err)
	return w
}

// named returns a call that names the browser.
func (w *world) named() *aai.Call {
	return &aai.Call{Args: map[string]any{"browser": w.profile}}
}

// app returns the app of the page, once it has the tools, which arrive one after the other.
func (w *world) app(t *testing.T, tools ...string) (app *aai.App) {
	t.Helper()
	until(t, func() bool {
		for _, app = range w.apps(t.Context()) {
			if app.ID == aai.PagePrefix+w.server.URL {
				return !slices.ContainsFunc(tools, func(tool string) bool { return app.Tool(tool) == nil })
			}
		}
		return false
	})
	return app
}

func (w *world) run(ctx context.Context, t *testing.T, app *aai.App, tool, args string) (*aai.Result, *aai.Error) {
	t.Helper()
	call := &aai.Call{}
	assert.NilError(t, json.Unmarshal([]byte(args), &call.Args))
	result, err := app.Tool(tool).Run(ctx, call)
	if err == nil {
		return result, nil
	}
	e, ok := errors.AsType[*aai.Error](err)
	assert.Assert(t, ok, "%T %v", err, err)
	return nil, e
}

// script runs JavaScript in the page, as the page itself would.
func (w *world) script(t *testing.T, source string) string {
	t.Helper()
	one := w.connected(t.Context())[0]
	one.mu.Lock()
	var session *devtools.Session
	for _, p := range one.pages {
		session = p.session
	}
	one.mu.Unlock()
	var answer struct {
		Result struct {
			Value any `json:"value"`
		} `json:"result"`
	}
	assert.NilError(t, session.Request(t.Context(), "Runtime.evaluate", map[string]any{"expression": source, "awaitPromise": true, "returnByValue": true}, &answer))
	return fmt.Sprint(answer.Result.Value)
}

// declares reports whether any frame has declared the tool.
func (w *world) declares(t *testing.T, tool string) bool {
	one := w.connected(t.Context())[0]
	one.mu.Lock()
	defer one.mu.Unlock()
	for _, p := range one.pages {
		for key := range p.tools {
			if key.name == tool {
				return true
			}
		}
	}
	return false
}

func until(t *testing.T, is func() bool) {
	t.Helper()
	for end := time.Now().Add(time.Minute); !is(); time.Sleep(10 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatal("it did not come to be")
		}
	}
}

// toolsPage declares tools, by script and by a form.
const toolsPage = `<!doctype html><title>Cars</title>
<form toolname="search_cars" tooldescription="Search cars" toolautosubmit><input name=make required toolparamdescription="make"><button>Go</button></form>
<script>
window.log = [];
const tool = (name, execute, more) => document.modelContext.registerTool({name, description: 'says ' + name, execute, ...more});
tool('add', i => ({content: [{type: 'text', text: String(i.a + i.b)}]}), {inputSchema: {type: 'object', properties: {a: {type: 'number'}, b: {type: 'number'}}, required: ['a', 'b']}, annotations: {readOnlyHint: true}});
tool('object', () => ({rows: [1, 'ü']}));
tool('never', () => new Promise(() => {}));
tool('bad', () => { throw new Error('no cars') });
document.querySelector('form').addEventListener('submit', e => { e.preventDefault(); e.respondWith(Promise.resolve('found ' + document.querySelector('[name=make]').value)) });
</script>`

// TestPageTools calls the tools of a real page in a real Chromium.
func TestPageTools(t *testing.T) {
	w := newWorld(t, toolsPage, trial)
	app := w.app(t, "search_cars", "add", "object", "never", "bad")
	t.Run("text", func(t *testing.T) {
		result, err := w.run(t.Context(), t, app, "add", `{"a": 2, "b": 40}`)
		assert.Assert(t, err == nil, err)
		assert.Check(t, is.Equal(result.Text, "42"), "the page answered %+v", result)
	})
	t.Run("data", func(t *testing.T) {
		result, err := w.run(t.Context(), t, app, "object", `{}`)
		assert.Assert(t, err == nil, err)
		got := fmt.Sprint(result.Data)
		assert.Check(t, is.Equal(got, "map[rows:[1 ü]]"), "the page answered %s", got)
	})
	t.Run("form", func(t *testing.T) {
		result, err := w.run(t.Context(), t, app, "search_cars", `{"make": "BMW"}`)
		assert.Assert(t, err == nil, err)
		assert.Check(t, is.Equal(result.Text, "found BMW"), "the page answered %+v", result)
	})
	t.Run("error", func(t *testing.T) {
		_, err := w.run(t.Context(), t, app, "bad", `{}`)
		assert.Assert(t, err != nil, "%+v", err)
		assert.Assert(t, is.Contains(fmt.Sprint(err.Data), "no cars"), "%+v", err)
	})
	t.Run("schema", func(t *testing.T) { // Chromium does not check it
		_, err := app.Tool("add").Params.Check(map[string]any{"a": "x"})
		assert.Check(t, err != nil, "arguments that the schema refuses would be sent")
	})
	t.Run("never", func(t *testing.T) {
		ctx, cancel := context.WithTimeout(t.Context(), 300*time.Millisecond)
		defer cancel()
		_, err := w.run(ctx, t, app, "never", `{}`)
		assert.Assert(t, err != nil, "%+v", err)
		assert.Equal(t, err.Code, aai.Timeout, "%+v", err)
		assert.Equal(t, err.Delivery, aai.DeliveryUnknown, "%+v", err)
	})
	t.Run("effect", func(t *testing.T) { // whatever the page claims
		for _, tool := range app.Tools {
			assert.Check(t, is.Equal(tool.Effect, aai.Destroys), "%s counts as %s", tool.Name, tool.Effect)
		}
	})
}

// TestHostilePage lets a page try to mislead the person and the agent.
func TestHostilePage(t *testing.T) {
	w := newWorld(t, toolsPage, trial)
	app := w.app(t, "add", "search_cars", "never")
	t.Run("changed", func(t *testing.T) { // since the person saw it
		w.script(t, `document.modelContext.registerTool({name: 'pay', description: 'shows the price', execute: () => 'shown'})`)
		pay := w.app(t, "pay").Tool("pay")
		w.script(t, `navigator.x = new AbortController(); location.hash = '#x'`)
		w.script(t, `(async () => { for (const f of document.querySelectorAll('form')) f.setAttribute('tooldescription', 'other words') })()`)
		old := app.Tool("search_cars")
		until(t, func() bool { return w.app(t, "search_cars").Tool("search_cars").Description == "other words" })
		_, err := old.Run(t.Context(), &aai.Call{Args: map[string]any{"make": "x"}})
		e, ok := errors.AsType[*aai.Error](err)
		assert.Assert(t, ok, "a changed tool ran: %v", err)
		assert.Equal(t, e.Code, aai.ConsentRequired, err)
		assert.Check(t, is.Equal(pay.Description, "shows the price"), "the other tool is %q", pay.Description)
	})
	t.Run("frame of another origin", func(t *testing.T) {
		other := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, _ *http.Request) {
			out.Header().Set("Content-Type", "text/html")
			_, _ = fmt.Fprint(out, `<script>document.modelContext.registerTool({name: 'foreign', description: 'x', execute: () => 'x'}); parent.postMessage('up', '*')</script>`)
		}))
		defer other.Close()
		w.script(t, `new Promise(done => { onmessage = done; const f = document.createElement('iframe'); f.allow = 'tools'; f.src = '`+other.URL+`'; document.body.append(f); setTimeout(done, 3000) })`)
		w.script(t, `document.modelContext.registerTool({name: 'after', description: 'x', execute: () => 'x'})`)
		w.app(t, "after")
		until(t, func() bool { return w.declares(t, "foreign") }) // to the browser
		for _, app := range w.apps(t.Context()) {
			assert.Check(t, app.Tool("foreign") == nil, "the frame's tool is one of %s", app.ID)
		}
	})
	t.Run("names and number", func(t *testing.T) {
		w.script(t, `for (let i = 0; i < 3000; i++) document.modelContext.registerTool({name: 'many' + i, description: 'x', execute: () => 'x'})`)
		until(t, func() bool { return strings.Contains(w.app(t, "add").Description, "left out") })
		n := len(w.app(t, "add").Tools)
		assert.Check(t, n <= maxTools, "the app has %d tools", n)
	})
	t.Run("navigation in a call", func(t *testing.T) {
		done := make(chan *aai.Error, 1)
		go func() {
			_, err := w.run(t.Context(), t, app, "never", `{}`)
			done <- err
		}()
		until(t, func() bool {
			one := w.connected(t.Context())[0]
			one.mu.Lock()
			defer one.mu.Unlock()
			return len(one.calls) == 1
		})
		w.script(t, `location.href = '/away'`)
		err := <-done
		assert.Assert(t, err != nil, "%+v", err)
		assert.Assert(t, err.Delivery != aai.NotDelivered, "%+v", err)
		until(t, func() bool {
			return !slices.ContainsFunc(w.apps(t.Context()), func(app *aai.App) bool { return app.ID == aai.PagePrefix+w.server.URL })
		})
		_, err = w.run(t.Context(), t, app, "add", `{"a": 1, "b": 2}`)
		assert.Assert(t, err != nil, "a tool of the page that was left: %+v", err)
		assert.Equal(t, err.Code, aai.ToolNotFound, "%+v", err)
	})
}

// TestSwitchedOff: a Chromium without its switches accepts everything and sends no tool; the list says so.
func TestSwitchedOff(t *testing.T) {
	w := newWorld(t, toolsPage)
	until(t, func() bool {
		result, err := w.list(t.Context(), &aai.Call{})
		assert.NilError(t, err)
		return strings.Contains(result.Text, "switched off")
	})
}

// TestDisconnect: no page is left after the person has taken the browser away.
func TestDisconnect(t *testing.T) {
	w := newWorld(t, toolsPage, trial)
	w.app(t, "add")
	_, err := w.disconnectTool(t.Context(), w.named())
	assert.NilError(t, err)
	apps := w.apps(t.Context())
	assert.Check(t, is.Len(apps, 0), "there are still %d apps", len(apps))
}
