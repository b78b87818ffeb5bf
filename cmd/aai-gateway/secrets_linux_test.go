package main

import (
	"context"
	"encoding/json"
	"fmt"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/policy"
	"github.com/gybob/aai-gateway/internal/secrets/named"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// A secretWorld is a gateway with secrets, and a person who answers its questions.
type secretWorld struct {
	*components
	t    *testing.T
	home string

	mu     sync.Mutex
	asked  []aai.Question    // questions so far
	choice string            // the person's answer; "" is "once"
	values map[string]string // of secrets, by name
	said   []string          // replies to the agent
	during func()            // runs once, while the person reads a question
}

// newSecretWorld returns the gateway of a home, which other gateways may share. The agent may call the tools of the apps,
// and the workflows. Descriptors must be there before.
func newSecretWorld(t *testing.T, s *linuxtest.Session, home string, apps ...string) *secretWorld {
	t.Helper()
	w := &secretWorld{t: t, home: home, values: map[string]string{}}
	w.write("master", strings.Repeat("5a", 32))
	w.write("config.json", `{"dev": true, "journal": {"keepFull": true, "answers": ["*"], "pictures": ["desktop/chromium"]}, "consent": {"preapproved": `+
		grants(append(apps, "desktop/chromium", "desktop", "workflows")...)+`}}`)
	getenv := func(name string) string {
		switch name {
		case "HOME":
			return home
		case "XDG_DATA_HOME", "XDG_CONFIG_HOME", "XDG_CACHE_HOME":
			return ""
		case "AAI_MASTER_KEY_FILE":
			return filepath.Join(home, "master")
		}
		return s.Getenv(name)
	}
	host := testHost(getenv)
	host.person = func() (policy.Authenticator, aai.Asker) { return agreeingPerson{}, w }
	host.value = func(_ context.Context, _ *aai.Call, request named.ValueRequest) (string, error) {
		w.mu.Lock()
		defer w.mu.Unlock()
		return w.values[request.Name], nil
	}
	w.components = inProcess{home: home, config: filepath.Join(home, "config.json"), getenv: getenv, host: host, change: func(cfg *setup) {
		cfg.LogLevel, cfg.LogFile = slog.LevelDebug, filepath.Join(home, "gateway.log")
	}}.build(t)
	w.allowTime(t)
	return w
}

func (w *secretWorld) write(name, content string) {
	w.t.Helper()
	writeFile(w.t, w.home, name, content)
}

// Ask implements aai.Asker.
func (w *secretWorld) Ask(_ context.Context, q aai.Question) (aai.Answer, error) {
	w.mu.Lock()
	during := w.during
	w.during = nil
	w.mu.Unlock()
	if during != nil {
		during()
	}
	w.mu.Lock()
	defer w.mu.Unlock()
	w.asked = append(w.asked, q)
	choice := w.choice
	if choice == "" {
		choice = "once"
	}
	if q.ID == "proof" {
		choice = "yes"
	}
	return aai.Answer{Choice: choice, Seal: q.Seal, Channel: aai.DesktopDialog}, nil
}

// questions returns the texts of the questions since the last call.
func (w *secretWorld) questions() string {
	w.mu.Lock()
	defer w.mu.Unlock()
	var b strings.Builder
	for _, q := range w.asked {
		b.WriteString(q.Title + "\n" + q.Text + "\n")
	}
	w.asked = nil
	return b.String()
}

// set sets a secret.
func (w *secretWorld) set(name, value, target string, more map[string]any) {
	w.t.Helper()
	w.mu.Lock()
	w.values[name] = value
	w.mu.Unlock()
	args := map[string]any{"name": name, "for": target}
	for k, v := range more {
		args[k] = v
	}
	if _, err := w.gateway.Do(w.t.Context(), &aai.Call{Caller: aai.Caller{Door: aai.DoorCLI, Name: "terminal", Identity: aai.IdentityTerminal}, App: aai.BuiltinApp, Tool: "secret_set", Args: args}); err != nil {
		w.t.Fatalf("set %s: %v %s", name, err, aai.AsError(err).Hint)
	}
	w.questions()
}

// call makes a call of the agent, and returns all that the agent gets.
func (w *secretWorld) call(app, tool string, args map[string]any) (string, *aai.Error) {
	w.t.Helper()
	raw, err := json.Marshal(args)
	assert.NilError(w.t, err)
	result, err := w.gateway.Do(w.t.Context(), &aai.Call{
		Caller: aai.Caller{Door: aai.DoorMCP, Name: "agent", Session: "s", Identity: "/usr/bin/agent"}, App: app, Tool: tool, Raw: raw,
	})
	said := ""
	if result != nil {
		data, _ := json.Marshal(result.Data)
		said = result.Text + "\n" + result.Warning + "\n" + string(data)
	}
	failure := aai.AsError(err)
	if failure != nil {
		data, _ := json.Marshal(failure)
		said = failure.Error() + "\n" + failure.Hint + "\n" + string(data)
	}
	w.mu.Lock()
	w.said = append(w.said, said)
	w.mu.Unlock()
	return said, failure
}

// window makes a call on a window, which must succeed.
func (w *secretWorld) window(tool string, args map[string]any) string {
	w.t.Helper()
	said, err := w.call(aai.DesktopApp, tool, args)
	if err != nil {
		w.t.Fatalf("%s %v: %v; %s", tool, args, err, err.Hint)
	}
	return said
}

// A loginSite is a site with a login, as a page of a real browser.
type loginSite struct {
	*httptest.Server
	mu  sync.Mutex
	got []string // the forms that arrived
	now string   // the script that pages with a loop run next
}

// run makes pages with a loop run a script.
func (s *loginSite) run(script string) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.now = script
}

func newLoginSite(t *testing.T, pages map[string]string) *loginSite {
	site := &loginSite{}
	site.Server = httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, r *http.Request) {
		if r.Method == http.MethodPost {
			_ = r.ParseForm()
			site.mu.Lock()
			site.got = append(site.got, r.PostForm.Encode())
			site.mu.Unlock()
			out.Header().Set("Content-Type", "text/html")
			_, _ = fmt.Fprint(out, "<title>Welcome</title><h1>Welcome</h1>")
			return
		}
		out.Header().Set("Content-Type", "text/html")
		if r.URL.Path == "/now" {
			site.mu.Lock()
			_, _ = fmt.Fprint(out, site.now)
			site.mu.Unlock()
			return
		}
		_, _ = fmt.Fprint(out, pages[r.URL.Path])
	}))
	t.Cleanup(site.Close)
	return site
}

func (s *loginSite) forms() string {
	s.mu.Lock()
	defer s.mu.Unlock()
	return strings.Join(s.got, "\n")
}

// until waits for a condition.
func until(t *testing.T, what string, is func() bool) {
	t.Helper()
	for end := time.Now().Add(patienceOnScreen); !is(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			t.Fatalf("%s did not happen", what)
		}
	}
}

const loginPage = `<title>Login</title><form method=post><label>User <input name=user></label>
<label>Password <input type=password name=password></label><button>Log in</button></form>`

// TestSecretGoesIntoItsField: the person binds a secret to a site; an agent fills it into the password field of a page,
// and sees it nowhere.
func TestSecretGoesIntoItsField(t *testing.T) {
	s := linuxtest.StartAccessible(t)
	w := newSecretWorld(t, s, t.TempDir())
	site := newLoginSite(t, map[string]string{"/": loginPage})
	w.set("github", "cAnArY01xy-in-page", site.URL, nil)
	s.Browser(t, site.URL)
	awaitWindow(t, s, "Login - Chromium")
	said := w.window("ax_type", map[string]any{"app": "chromium", "query": "Password", "text": "{{secret:github}}"})
	t.Log(said)
	q := w.questions()
	assert.Check(t, is.Contains(q, `fill the secret "github" into a password field of `+site.URL), "the person was asked: %s", q)
	w.window("ax_click", map[string]any{"app": "chromium", "query": "Log in"})
	until(t, "the login", func() bool { return site.forms() != "" })
	assert.Check(t, is.Equal(site.forms(), "password=cAnArY01xy-in-page&user="))
	said = strings.Join(w.said, "\n")
	assert.Check(t, !strings.Contains(said, "cAnArY01xy"), "the agent sees %s", said)
}
