package gui_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// unlike maps the names on a real window to queries that match none of them.
func unlike() map[string]string {
	return map[string]string{
		"OK": "Bookmark this tab", "Save": "Don't Save", "Close": "Close without saving", "Delete": "Delete all data",
		"保存": "不保存", "Lock": "Unlock", "Delete Al Dat": "Delete All Data",
	}
}

// exactly opens a window with the buttons, and returns its program and the pressed buttons, which a file has.
func (w *realWorld) exactly(kind linuxtest.Kind, names []string) (app string, pressed func() string) {
	w.Helper()
	file := filepath.Join(w.TempDir(), "pressed")
	pressed = func() string {
		text, err := os.ReadFile(file)
		assert.Assert(w, err == nil || os.IsNotExist(err), err)
		return strings.TrimSpace(string(text))
	}
	if kind != linuxtest.Chromium {
		return w.process(w.script("exact_"+string(kind)+".py", append([]string{file}, names...)...)), pressed
	}
	site := httptest.NewServer(http.HandlerFunc(func(out http.ResponseWriter, in *http.Request) {
		if in.Method == http.MethodPost {
			name, err := io.ReadAll(in.Body)
			if err == nil {
				err = os.WriteFile(file, []byte(pressed()+"\n"+string(name)), 0o600)
			}
			assert.Check(w, err)
			return
		}
		out.Header().Set("Content-Type", "text/html; charset=utf-8")
		page := "<title>exact</title>"
		for _, name := range names {
			page += fmt.Sprintf(`<p><button onclick="fetch('/', {method: 'POST', body: this.innerText})">%s</button>`, name)
		}
		_, _ = io.WriteString(out, page)
	}))
	w.Cleanup(site.Close)
	return w.process(w.Browser(w.T, site.URL)), pressed
}

// TestRealExact: in real windows, including Chromium's frame around the page, only an exact match
// is pressed.
func TestRealExact(t *testing.T) {
	all := newRealWorld(t)
	for _, kind := range []linuxtest.Kind{linuxtest.GTK3, linuxtest.Qt6, linuxtest.Chromium} {
		t.Run(string(kind), func(t *testing.T) {
			w := all.on(t)
			names := []string{"Apply"}
			for _, name := range unlike() {
				names = append(names, name)
			}
			app, pressed := w.exactly(kind, names)
			w.awaitElement(app, "role:button name:Apply")
			for asked, name := range unlike() {
				code := aai.ElementNotFound
				if asked == "Close" && kind == linuxtest.Chromium {
					code = aai.AmbiguousTarget // its tab and its window have that name
				}
				e := w.refused(code, "ax_click", params{"app": app, "query": asked})
				if code == aai.ElementNotFound && !strings.Contains(strings.Join(e.Candidates, "\n"), name) && asked != "OK" {
					w.Errorf("%q: candidates %q", asked, e.Candidates)
				}
			}
			assert.Equal(w, pressed(), "")
			w.ok("ax_click", params{"app": app, "query": "APPLY"})
			w.ok("ax_click", params{"app": app, "query": "don’t save"})
			w.eventually("both are pressed", func() bool { return len(strings.Split(pressed(), "\n")) == 2 })
			assert.Check(w, is.Equal(pressed(), "Apply\nDon't Save"))
		})
	}
}

// guest matches the report of a window of another process.
var guest = regexp.MustCompile(`A window of (\S+) \(process (\d+)(, started by [^)]*)?\) opened`)

// hosts starts the program and its helper, and returns the program's name for calls.
func (w *realWorld) hosts(said string) (app string) {
	w.Helper()
	helps := w.script("helper.py", said+".ready")
	w.eventually("the helper runs", func() bool { _, err := os.Stat(said + ".ready"); return err == nil })
	app = strconv.Itoa(w.script("host.py", said, strconv.Itoa(helps.PID)).PID)
	w.awaitElement(app, "button Nothing")
	return app
}

// only admits calls about one program.
type only struct{ pid string }

func (g only) Check(_ context.Context, r *aai.Request) ([]aai.Question, error) {
	if r.Call.Target != nil && strconv.Itoa(r.Call.Target.PID) != g.pid {
		return nil, aai.Errorf(aai.PermissionDenied, "no")
	}
	return nil, nil
}

// brings clicks a button and returns the report of the window that it opens, from the reply or from
// a later call.
func (w *realWorld) brings(app, button, words string) string {
	w.Helper()
	text := w.ok("ax_click", params{"app": app, "query": "button " + button}).Text
	w.eventually("it is told that a window came", func() bool {
		if strings.Contains(text, words) {
			return true
		}
		text = w.ok("ax_get_tree", params{"app": app}).Text
		return false
	})
	return text
}

// TestRealForeignWindows: the reply contains the foreign window's question, and its refs answer it.
// The script that waits for the answer confirms it.
func TestRealForeignWindows(t *testing.T) {
	w := parallelWorld(t)
	said := filepath.Join(t.TempDir(), "said")
	app := w.hosts(said)
	for n, bring := range []func() string{
		func() string {
			a := w.ok("ax_fill", params{"app": app, "fields": fields("Name", "draft", "Note", "none")})
			if came, _ := at(a.data, "came").([]any); len(came) != 1 {
				t.Errorf("came of a field: %v", at(a.data, "came"))
			}
			return a.Text
		},
		func() string { // the program may still be busy when return is to be pressed
			result, err := w.do(w.Context(), "ax_type", params{"app": app, "query": "Note", "text": "draft", "clear_first": true, "submit": true})
			if err != nil {
				return err.Message
			}
			return result.Text
		},
		func() string {
			return w.refused(aai.AutomationFailed, "ax_fill", params{"app": app, "fields": fields("Strict", "draft")}).Message
		},
		func() string {
			return w.refused(aai.AutomationFailed, "ax_type", params{"app": app, "query": "Strict", "text": "draft", "clear_first": true}).Message
		},
		func() string { return w.brings(app, "Ask", "Delete the draft?") },
		func() string { return w.brings(app, "Later", "Delete the draft?") },
	} {
		text := bring()
		told := guest.FindStringSubmatch(text)
		assert.Assert(t, told != nil, "%d %q", n, text)
		assert.Assert(t, told[3] != "", "%d %q", n, text)
		assert.Assert(t, is.Contains(strings.ToLower(told[1]), "zenity"), "%d %q", n, text)
		ref := regexp.MustCompile(`button "Erase" \[(e\d+)\]`).FindStringSubmatch(text)
		assert.Assert(t, ref != nil, "no ref of its button: %q", text)
		t.Log(text)
		w.ok("ax_click", params{"app": told[2], "query": ref[1]})
		w.eventually("the script has its answer", func() bool {
			answers, _ := os.ReadFile(said)
			return string(answers) == strings.Repeat("0\n", n+1)
		})
	}
	text := w.brings(app, "Choose", "Take it")
	told := guest.FindStringSubmatch(text)
	assert.Assert(t, told != nil, "of a program that ran already: %q", text)
	assert.Assert(t, !strings.Contains(text, "a helper"), "of a program that ran already: %q", text)
	t.Log(text)
	a := w.ok("ax_click", params{"app": app, "query": "button Nothing"})
	assert.Assert(t, !guest.MatchString(a.Text), "nothing came: %q", a.Text)
	assert.Assert(t, at(a.data, "came") == nil, "nothing came: %q", a.Text)
}

// TestRealForeignWindowsUnseen: for a program that the caller may not see, the reply mentions the
// window without its content.
func TestRealForeignWindowsUnseen(t *testing.T) {
	w := parallelWorld(t)
	said := filepath.Join(t.TempDir(), "said")
	app := w.hosts(said)
	w.gateway.Gates = []aai.Gate{only{app}}
	text := w.brings(app, "Ask", "A window of")
	assert.Assert(t, guest.FindStringSubmatch(text) != nil, "%q", text)
	assert.Assert(t, !strings.Contains(text, "draft"), "%q", text)
	assert.Assert(t, !strings.Contains(text, "Sure"), "%q", text)
	assert.Assert(t, is.Contains(text, "if the person allows it"))
	t.Log(text)
}

// TestRealForeignWindowsTakeNoKeyboard: the keyboard guard also covers windows of processes that
// the program started.
func TestRealForeignWindowsTakeNoKeyboard(t *testing.T) {
	w := parallelWorld(t)
	app := w.hosts(filepath.Join(t.TempDir(), "said"))
	p := w.somebody()
	a := w.done("ax_click", params{"app": app, "query": "button Together"})
	w.says(a.Text, "A window of zenity", "Delete the draft?")
	p.works(t)
}
