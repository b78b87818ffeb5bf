package gui_test

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
)

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
	t.Parallel()
	w := newRealWorld(t)
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
	t.Parallel()
	w := newRealWorld(t)
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
	t.Parallel()
	w := newRealWorld(t)
	app := w.hosts(filepath.Join(t.TempDir(), "said"))
	p := w.somebody()
	a := w.done("ax_click", params{"app": app, "query": "button Together"})
	w.says(a.Text, "A window of zenity", "Delete the draft?")
	p.works(t)
}
