package main

import (
	"encoding/pem"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// taskPage is a page of docs/tasks that the test executes: it writes blocks with a file name into
// an empty home and runs sh blocks there. The text block after one is its expected output, with
// "…" for any text. Files below /etc are root's policy and are written elsewhere.
type taskPage struct {
	home, policy string
	env          []string
	replace      *strings.Replacer // hosts of the page, and their local ones
	open         func(file string) // opens a web page after it is written
}

func newTaskPage(t *testing.T, env ...string) *taskPage {
	t.Helper()
	p := &taskPage{home: t.TempDir(), policy: filepath.Join(t.TempDir(), "policy.json"), replace: strings.NewReplacer()}
	p.env = append(env, "HOME="+p.home, "PATH="+os.Getenv("PATH"), "POLICY="+p.policy, "STRICT=1", "PERSON=yes")
	return p
}

var fence = regexp.MustCompile("(?ms)^```(\\w+)(?: file=(\\S+))?\n(.*?)^```$")

// do executes the page.
func (p *taskPage) do(t *testing.T, name string) {
	t.Helper()
	page, err := os.ReadFile(filepath.Join("..", "..", "docs", "tasks", name+".md"))
	assert.NilError(t, err)
	lines := strings.Count(string(page), "\n")
	assert.Check(t, lines <= 90, "%s has %d lines; expected 90 at most", name, lines)
	said, run, compared := "", 0, 0
	for _, block := range fence.FindAllStringSubmatch(string(page), -1) {
		kind, file, body := block[1], block[2], p.replace.Replace(block[3])
		switch {
		case file != "":
			if p.write(t, file, body); kind == "html" {
				p.open(file)
			}
		case kind == "sh":
			said = p.run(t, name, body)
			run++
		case kind == "text":
			compared++
			assert.Assert(t, prints(body).MatchString(said), "%s: expected\n%s\nbut it printed\n%s", name, body, said)
		default:
			t.Errorf("%s: a block of %q is neither run nor written", name, kind)
		}
	}
	assert.Check(t, run >= 3, "%s: only %d blocks were run, and %d compared", name, run, compared)
	assert.Check(t, compared >= 3, "%s: only %d blocks were run, and %d compared", name, run, compared)
}

func prints(pattern string) *regexp.Regexp {
	quoted := regexp.QuoteMeta(strings.TrimRight(pattern, "\n"))
	quoted = regexp.MustCompile(`(?m)^…\n`).ReplaceAllLiteralString(quoted, `(?:[^\n]*\n)*`) // a separate line: any lines
	quoted = regexp.MustCompile(`(?m)^…$`).ReplaceAllLiteralString(quoted, `(?s:.*)`)
	return regexp.MustCompile(`\A` + strings.ReplaceAll(quoted, "…", `[^\n]*`) + `\s*\z`)
}

func (p *taskPage) write(t *testing.T, file, body string) {
	t.Helper()
	path := filepath.Join(p.home, strings.TrimPrefix(file, "~/"))
	if file == "/etc/aai-gateway/policy.json" {
		path = p.policy
	} else if !filepath.IsLocal(strings.TrimPrefix(file, "~/")) {
		t.Fatalf("%s is not in the home", file)
	}
	assert.NilError(t, os.MkdirAll(filepath.Dir(path), 0o700))
	assert.NilError(t, os.WriteFile(path, []byte(body), 0o600))
}

func (p *taskPage) run(t *testing.T, name, script string) string {
	t.Helper()
	cmd := exec.CommandContext(t.Context(), "sh", "-eu", "-c", script)
	cmd.Dir, cmd.Env = p.home, p.env
	out, err := cmd.CombinedOutput()
	assert.NilError(t, err, "%s %s %s", name, script, out)
	return string(out)
}

// TestTaskForm: the form's own server verifies the values.
func TestTaskForm(t *testing.T) {
	s := linuxtest.StartAccessible(t)
	p := newTaskPage(t, s.Env...)
	booked := make(chan url.Values, 1)
	mux := http.NewServeMux()
	mux.Handle("GET /", http.FileServer(http.Dir(p.home)))
	mux.HandleFunc("POST /booked", func(w http.ResponseWriter, r *http.Request) {
		assert.Check(t, r.ParseForm())
		booked <- r.PostForm
		_, _ = io.WriteString(w, "<!DOCTYPE html><title>Booked</title><h1>Thank you</h1>")
	})
	site := httptest.NewServer(mux)
	t.Cleanup(site.Close)
	p.open = func(file string) { // the user does
		s.Browser(t, site.URL+"/"+file)
		awaitTitle(t, s, "A table for tonight")
	}
	p.do(t, "form")
	got := <-booked
	want := "guests=4&message=A+table+by+the+window.&name=Ann&vegetarian=yes"
	assert.Check(t, is.Equal(got.Encode(), want), "the form arrived with %s, want %s", got.Encode(), want)
}

// TestTaskFiveMinutes: the app is GNOME's calculator, which the bus starts.
func TestTaskFiveMinutes(t *testing.T) {
	newTaskPage(t, linuxtest.Start(t).Env...).do(t, "five-minutes")
}

// TestTaskUnattended: root's policy applies without a user, and a stop ends it.
func TestTaskUnattended(t *testing.T) {
	newTaskPage(t, linuxtest.Start(t).Env...).do(t, "unattended")
}

// TestTaskCompany: an internal server, which requires a token, verifies the requests.
func TestTaskCompany(t *testing.T) {
	p := newTaskPage(t)
	refunded := make(chan string, 1)
	mux := http.NewServeMux()
	mux.HandleFunc("GET /.well-known/aai.json", func(w http.ResponseWriter, r *http.Request) {
		http.ServeFile(w, r, filepath.Join(p.home, "site.json"))
	})
	mux.HandleFunc("/v1/", func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("Content-Type", "application/json")
		switch {
		case r.Header.Get("Authorization") != "Bearer a-token-of-ann":
			w.WriteHeader(http.StatusUnauthorized)
		case r.Method == http.MethodPost:
			b, _ := io.ReadAll(r.Body)
			refunded <- r.URL.Path + " " + string(b)
			_, _ = io.WriteString(w, `{"id": 7, "refunded": 50}`)
		default:
			_, _ = io.WriteString(w, `[{"id": 7, "total": 120}]`)
		}
	})
	site := httptest.NewTLSServer(mux)
	t.Cleanup(site.Close)
	authority := filepath.Join(t.TempDir(), "authority.pem")
	assert.NilError(t, os.WriteFile(authority, pem.EncodeToMemory(&pem.Block{Type: "CERTIFICATE", Bytes: site.Certificate().Raw}), 0o600))
	p.env = append(p.env, "SSL_CERT_FILE="+authority)
	p.replace = strings.NewReplacer("orders.example.com", site.Listener.Addr().String())
	p.do(t, "company")
	got := <-refunded
	assert.Check(t, is.Equal(got, `/v1/orders/7/refund {"amount":50}`), "the server was asked %s", got)
}
