package pages

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"
	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
	"github.com/gybob/aai-gateway/internal/testkit/tokencount"
)

const (
	patience     = time.Minute
	effectWait   = 5 * time.Second // for the state after the last call
	pollInterval = 40 * time.Millisecond
)

// A way is a program through which an agent does the tasks.
type way struct {
	name string
	// open opens the page and connects an agent. It returns the name of the browser, for the agent's calls.
	open func(t *testing.T, w *world, address string) (*agent, string)
	// look is the call with which an agent first looks at the page.
	look  string
	calls func(*task) []call
}

func ways() []way {
	gateway := func(k *task) []call { return k.gateway }
	return []way{
		{"DevTools", openDebugged, "ax_get_tree", func(k *task) []call {
			if k.debugged != nil {
				return k.debugged
			}
			return k.gateway
		}},
		{"accessibility, Chromium", openChromium, "ax_get_tree", gateway},
		{"accessibility, Firefox", openFirefox, "ax_get_tree", gateway},
		{"playwright-mcp", openPlaywright, "browser_snapshot", func(k *task) []call { return k.peer }},
	}
}

// A world is a private desktop with the site of the pages.
type world struct {
	*linuxtest.Session
	site    *site
	gateway string // program
}

// An agent is a client of the gateway, or of playwright-mcp.
type agent struct {
	session *mcp.ClientSession
	outline string // the last one, for refs
	last    string // answer
}

// An outcome is the end of a task. Its costs do not hold those of the first look.
type outcome struct {
	way, page, goal string
	isRight         bool
	isFalseSuccess  bool // the replies claimed success
	fault           string
	calls, tokens   int
	look            int // tokens
	took            time.Duration
}

// do does a task, and returns its outcome.
func (y way) do(t *testing.T, w *world, k *task) outcome {
	t.Helper()
	a, app := y.open(t, w, w.site.begin(k))
	result := outcome{way: y.name, page: k.page, goal: k.goal}
	begun := time.Now()
	_ = a.call(t, call{tool: y.look}, app, &result)
	result.look, result.tokens, result.calls = result.tokens, 0, 0
	ended := make(chan struct{})
	defer close(ended)
	for _, c := range y.calls(k) {
		if c.args["upload"] != nil { // the person is asked about each file
			go w.allow(t.Context(), ended)
		}
		if result.fault = a.call(t, c, app, &result); result.fault != "" && !a.isDoubtful() {
			break
		}
	}
	result.took = time.Since(begun)
	difference := w.site.difference(k)
	for end := time.Now().Add(effectWait); difference != "" && time.Now().Before(end); difference = w.site.difference(k) {
		time.Sleep(pollInterval)
	}
	result.isRight, result.isFalseSuccess = difference == "", difference != "" && result.fault == ""
	if !result.isRight {
		result.fault = strings.TrimSpace(difference + "; " + result.fault + "\nthe last answer: " + a.last)
	}
	return result
}

// call makes a call and adds its cost. It returns an error of the call, or a doubt, as text.
func (a *agent) call(t *testing.T, c call, app string, cost *outcome) string {
	t.Helper()
	given, err := resolve(c.args, a.outline)
	if err != nil {
		return err.Error()
	}
	args, _ := given.(map[string]any)
	if args == nil {
		args = map[string]any{}
	}
	if app != "" && args["app"] == nil {
		args["app"] = app
	}
	sent, err := json.Marshal(args)
	assert.NilError(t, err)
	result, err := a.session.CallTool(t.Context(), &mcp.CallToolParams{Name: c.tool, Arguments: args})
	if err != nil {
		return err.Error()
	}
	a.last = ""
	for _, content := range result.Content {
		if text, ok := content.(*mcp.TextContent); ok {
			a.last += text.Text
		}
	}
	if strings.Contains(a.last, "[e") || strings.Contains(a.last, "[ref=") {
		a.outline = a.last
	}
	cost.calls++
	cost.tokens += tokencount.Count(t, c.tool+string(sent)+a.last)
	if os.Getenv("AAI_PAGES_SAY") != "" {
		t.Logf("%s %s\n%s", c.tool, sent, a.last)
	}
	if result.IsError || a.isDoubtful() {
		return a.last
	}
	return ""
}

// isDoubtful reports whether the last answer says that the effect is not known. An agent goes on then.
func (a *agent) isDoubtful() bool { return strings.Contains(a.last, "delivered, but ") }

// newWorld starts a desktop and the site.
func newWorld(t *testing.T, gateway string) *world {
	t.Helper()
	w := &world{Session: linuxtest.StartAccessible(t), site: newSite(t), gateway: gateway}
	folder := filepath.Join(w.Home, ".aai")
	assert.NilError(t, os.MkdirAll(folder, 0o700))
	grants := ""
	for _, app := range []string{"desktop", "desktop/chromium", "desktop/firefox-esr"} {
		grants += fmt.Sprintf(`{"app": %q, "tools": ["*", "run"], "caller": "*", "expires": "2100-01-01T00:00:00Z"},`, app)
	}
	config := `{"consent": {"preapproved": [` + strings.TrimSuffix(grants, ",") + `]}, "rate_limits": {"declared_rps": 100000, "declared_rpm": 1000000, "rps": 100000, "rpm": 1000000}}`
	assert.NilError(t, os.WriteFile(filepath.Join(folder, "config.json"), []byte(config), 0o600))
	return w
}

// connect starts an MCP server and connects an agent.
func (w *world) connect(t *testing.T, program string, args ...string) *agent {
	t.Helper()
	command := exec.CommandContext(t.Context(), program, args...)
	command.Env, command.Dir, command.Stderr = w.Env, w.Home, t.Output()
	client := mcp.NewClient(&mcp.Implementation{Name: "agent", Version: "1"}, nil)
	session, err := client.Connect(t.Context(), &mcp.CommandTransport{Command: command}, nil)
	assert.NilError(t, err)
	t.Cleanup(func() { _ = session.Close() })
	return &agent{session: session}
}

// serve connects an agent to the gateway, after the page can be read.
func (w *world) serve(t *testing.T, app, address string) *agent {
	t.Helper()
	shown := heading(t, filepath.Base(address))
	w.eventually(t, "the page can be read", func() bool {
		find := exec.CommandContext(t.Context(), w.gateway, "exec", "desktop", "ax_find", fmt.Sprintf(`{"app": %q, "query": %q}`, app, shown))
		find.Env, find.Dir = w.Env, w.Home
		return w.site.isOpen() && find.Run() == nil
	})
	return w.connect(t, w.gateway, "mcp", "serve", "--profile", "desktop")
}

func (w *world) eventually(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(patience); !is(); time.Sleep(pollInterval) {
		if time.Now().After(end) {
			t.Fatalf("it did not come to be that %s", what)
		}
	}
}

// allow answers the gateway's question as the person, by its first allowing button.
func (w *world) allow(ctx context.Context, ended <-chan struct{}) {
	xdotool := func(args ...string) string {
		command := exec.CommandContext(ctx, "xdotool", args...)
		command.Env = w.Env
		out, _ := command.Output()
		return string(out)
	}
	for {
		select {
		case <-ended:
			return
		case <-time.After(time.Second): // faster answers are ignored
		}
		if strings.HasPrefix(xdotool("getactivewindow", "getwindowname"), "AAI Gateway") {
			time.Sleep(time.Second) // to read it
			xdotool("key", "--delay", "100", "Tab", "space")
		}
	}
}

func openChromium(t *testing.T, w *world, address string) (*agent, string) {
	t.Helper()
	app := w.Browser(t, address)
	t.Cleanup(func() { app.Kill(t) })
	return w.serve(t, "chromium", address), "chromium"
}

// openDebugged opens the page in a Chromium to whose DevTools the person has let the gateway. In the home of a test no
// keychain seals the list of such browsers.
func openDebugged(t *testing.T, w *world, address string) (*agent, string) {
	t.Helper()
	files, _ := filepath.Glob(w.Path("tmp", "*", "DevToolsActivePort")) // of browsers before
	for _, file := range files {
		_ = os.Remove(file)
	}
	app := w.Browser(t, address, "--remote-debugging-port=0", "--enable-features=WebMCPTesting,DevToolsWebMCPSupport")
	t.Cleanup(func() { app.Kill(t) })
	w.eventually(t, "the browser listens", func() bool {
		files, _ := filepath.Glob(w.Path("tmp", "*", "DevToolsActivePort"))
		var ids []string
		for _, file := range files {
			text, _ := os.ReadFile(file)
			if _, id, ok := strings.Cut(string(text), "/devtools/browser/"); ok {
				ids = append(ids, fmt.Sprintf("%q", strings.TrimSpace(id)))
			}
		}
		folder := filepath.Join(w.Home, ".local", "share", "aai-gateway")
		list := "[" + strings.Join(ids, ",") + "]"
		return len(ids) > 0 && os.MkdirAll(folder, 0o700) == nil && os.WriteFile(filepath.Join(folder, "browsers.json"), []byte(list), 0o600) == nil
	})
	return w.serve(t, "chromium", address), "chromium"
}

// firefoxSettings keep Firefox from showing pages and questions of its own.
const firefoxSettings = `user_pref("browser.aboutwelcome.enabled", false);
user_pref("browser.shell.checkDefaultBrowser", false);
user_pref("datareporting.policy.dataSubmissionEnabled", false);
user_pref("toolkit.telemetry.reportingpolicy.firstRun", false);
user_pref("termsofuse.bypassNotification", true);
user_pref("signon.rememberSignons", false);
user_pref("network.captive-portal-service.enabled", false);
user_pref("network.connectivity-service.enabled", false);
`

func openFirefox(t *testing.T, w *world, address string) (*agent, string) {
	t.Helper()
	profile := t.TempDir()
	assert.NilError(t, os.WriteFile(filepath.Join(profile, "user.js"), []byte(firefoxSettings), 0o600))
	app := w.Launch(t, "firefox-esr", "--no-remote", "--new-instance", "--profile", profile, address)
	t.Cleanup(func() { app.Kill(t) })
	return w.serve(t, "firefox-esr", address), "firefox-esr"
}

// openPlaywright opens the page in playwright-mcp, unmodified, with a browser of its own.
func openPlaywright(t *testing.T, w *world, address string) (*agent, string) {
	t.Helper()
	modules, err := filepath.Abs("../../.cache/peers/node_modules")
	assert.NilError(t, err)
	nodes, _ := filepath.Glob(filepath.Join(modules, "node-linux-*", "bin", "node"))
	assert.Assert(t, len(nodes) != 0, "playwright-mcp is not installed: scripts/need-peers")
	a := w.connect(t, nodes[0], filepath.Join(modules, "@playwright", "mcp", "cli.js"),
		"--executable-path", "/usr/bin/chromium", "--headless", "--no-sandbox", "--isolated", "--allow-unrestricted-file-access")
	navigate := &mcp.CallToolParams{Name: "browser_navigate", Arguments: map[string]any{"url": address}}
	_, err = a.session.CallTool(context.WithoutCancel(t.Context()), navigate)
	assert.NilError(t, err)
	w.eventually(t, "the page is open", w.site.isOpen)
	return a, ""
}

// reporting is the script with which every page posts its state.
const reporting = `<script>
(() => { let last = ''; setInterval(() => {
  const now = JSON.stringify(typeof state == 'function' ? state() : {});
  if (now != last) fetch('/state', {method: 'POST', body: now, keepalive: true}).then(() => { last = now });
}, 40) })()
</script>`

// A site serves the pages from two origins, and has the state of the page of one task.
type site struct {
	*testing.T
	own, other *httptest.Server

	mu     sync.Mutex
	state  map[string]any
	opened bool
}

func newSite(t *testing.T) *site {
	t.Helper()
	s := &site{T: t}
	libraries, err := filepath.Abs("../../.cache/widgets/node_modules")
	assert.NilError(t, err)
	mux := http.NewServeMux()
	mux.Handle("GET /lib/", http.StripPrefix("/lib/", http.FileServer(http.Dir(libraries))))
	mux.HandleFunc("GET /page/{name}", s.page)
	mux.HandleFunc("POST /state", s.receive)
	mux.HandleFunc("GET /slow", func(w http.ResponseWriter, _ *http.Request) { _, _ = io.WriteString(w, "loaded") })
	s.own, s.other = httptest.NewServer(mux), httptest.NewServer(mux)
	t.Cleanup(s.own.Close)
	t.Cleanup(s.other.Close)
	return s
}

// page serves a page without its tasks, or a part of it: <template id=part>.
func (s *site) page(w http.ResponseWriter, r *http.Request) {
	_, page, err := splitPage(r.PathValue("name"))
	if err != nil {
		http.NotFound(w, r)
		return
	}
	if part := r.URL.Query().Get("part"); part != "" {
		found := regexp.MustCompile(`(?s)<template id=` + part + `>(.*?)</template>`).FindStringSubmatch(page)
		if found == nil {
			http.NotFound(w, r)
			return
		}
		page = found[1]
	}
	w.Header().Set("Content-Type", "text/html; charset=utf-8")
	_, _ = fmt.Fprint(w, `<!doctype html><html lang="en"><meta charset="utf-8">`, strings.ReplaceAll(page, "$OTHER", s.other.URL), reporting)
}

// receive adds what a page posts to the state: frames post theirs too.
func (s *site) receive(w http.ResponseWriter, r *http.Request) {
	var state map[string]any
	if json.NewDecoder(r.Body).Decode(&state) == nil {
		s.mu.Lock()
		maps.Copy(s.state, state)
		s.opened = true
		s.mu.Unlock()
	}
	w.WriteHeader(http.StatusNoContent)
}

// begin forgets the state, for a new task, and returns the address of its page.
func (s *site) begin(k *task) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.state, s.opened = map[string]any{}, false
	return s.own.URL + "/page/" + k.page
}

func (s *site) isOpen() bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.opened
}

// difference returns the difference between the state and the one that the task wants, or "".
func (s *site) difference(k *task) string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return k.difference(s.state)
}

// heading returns the first heading of a page. It shows that the page can be read.
func heading(t *testing.T, name string) string {
	t.Helper()
	_, page, err := splitPage(name)
	assert.NilError(t, err)
	found := regexp.MustCompile(`<h1>(.*?)</h1>`).FindStringSubmatch(page)
	assert.Assert(t, found != nil, "%s has no heading", name)
	return found[1]
}
