package recording_test

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway/internal/automation/recorded"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/inputlock"
	"github.com/gybob/aai-gateway/internal/desktop/query"
	"github.com/gybob/aai-gateway/internal/gui/recording"
	"github.com/gybob/aai-gateway/internal/platform/linux/atspi"
	"github.com/gybob/aai-gateway/internal/platform/linux/x11"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// A world is a private desktop with a person: xdotool, which presses keys and buttons as a person does.
type world struct {
	*testing.T
	*linuxtest.Session
	tree    *atspi.Bus
	screen  *x11.Display
	backend desktop.Backend
}

func newWorld(t *testing.T) *world {
	s := linuxtest.StartAccessible(t)
	s.AwaitWindowManager(t)
	screen := x11.New(x11.Config{Getenv: s.Getenv, InputLock: inputlock.New(inputlock.Config{Folder: inputlock.Folder, Getenv: s.Getenv})})
	tree := atspi.New(atspi.Config{Getenv: s.Getenv, Windows: screen})
	t.Cleanup(func() {
		tree.Close()
		_ = screen.Close()
	})
	return &world{T: t, Session: s, tree: tree, screen: screen, backend: desktop.Backend{
		Tree: tree, Offscreen: tree, Actor: tree, Events: tree, Windows: screen, Input: screen, Screen: screen, Person: screen,
	}}
}

// until waits for a condition.
func (w *world) until(what string, is func() bool) {
	w.Helper()
	for end := time.Now().Add(60 * time.Second); !is(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			w.Fatal("waiting for " + what)
		}
	}
}

// app waits for a running program with the keyboard and an element of the query.
func (w *world) app(pid int, shows string) desktop.App {
	w.Helper()
	var found desktop.App
	w.until("the program with "+shows, func() bool {
		apps, err := w.tree.Apps(w.Context())
		if err != nil {
			return false
		}
		for _, a := range apps {
			if a.PID == pid && a.HiddenReason == "" {
				if found = a; w.find(a, shows) != nil && w.isActive(a) {
					return true
				}
			}
		}
		return false
	})
	return found
}

// isActive reports whether a window of the program has the keyboard: then the window manager has placed it.
func (w *world) isActive(app desktop.App) bool {
	all, err := w.backend.Windows.Windows(w.Context())
	return err == nil && slices.ContainsFunc(all, func(o desktop.WindowInfo) bool { return o.PID == app.PID && o.Active })
}

// find returns an element; nil if there is not one.
func (w *world) find(app desktop.App, text string) *desktop.Element {
	w.Helper()
	s, err := w.tree.Snapshot(w.Context(), app)
	if err != nil {
		return nil
	}
	q, err := query.Parse(text, query.Auto)
	assert.NilError(w, err)
	m := q.Find(s, query.Options{Root: -1}).Matches
	if len(m) != 1 || s.Elements[m[0]].Frame.Empty() {
		return nil
	}
	return &s.Elements[m[0]]
}

// xdo plays the person.
func (w *world) xdo(args ...string) {
	w.Helper()
	cmd := exec.CommandContext(w.Context(), "xdotool", args...)
	cmd.Env = w.Env
	out, err := cmd.CombinedOutput()
	assert.NilError(w, err, "%q %s", args, out)
}

// A person acts in a program.
type person struct {
	*world
	app  desktop.App
	file string // the state of the program
}

// click clicks an element with a button, 1 if none is given; two times for a double click. A text field then has the focus.
func (p person) click(text string, how ...string) {
	p.Helper()
	var e *desktop.Element
	p.until(text, func() bool { e = p.find(p.app, text); return e != nil })
	at := e.Frame.Center()
	args := []string{"mousemove", fmt.Sprint(at.X), fmt.Sprint(at.Y), "sleep", "0.1"}
	if len(how) == 0 {
		how = []string{"mousedown", "1", "sleep", "0.08", "mouseup", "1"}
	} else {
		how = append([]string{"click"}, how...)
	}
	p.xdo(append(args, how...)...)
	if e.States.Has(desktop.Editable) {
		p.focused(text)
	}
}

// focused waits until an element has the focus.
func (p person) focused(text string) {
	p.Helper()
	p.until("the focus of "+text, func() bool {
		e := p.find(p.app, text)
		return e != nil && e.States.Has(desktop.Focused)
	})
}

// types types a text at the pace of a fast person, and waits until the program has it.
func (p person) types(text string) {
	p.Helper()
	p.xdo("type", "--delay", "40", text)
	p.until("the text", func() bool { return p.hasText(text) })
}

// hasText reports whether the program shows a text, or has it in its state.
func (p person) hasText(text string) bool {
	if b, err := os.ReadFile(p.file); err == nil && strings.Contains(string(b), text) {
		return true
	}
	s, err := p.tree.Snapshot(p.Context(), p.app)
	return err == nil && slices.ContainsFunc(s.Elements, func(e desktop.Element) bool { return strings.Contains(e.Value, text) })
}

func (p person) press(keys ...string) {
	p.Helper()
	p.xdo(append([]string{"key", "--delay", "60"}, keys...)...)
}

// record records the person until acts returns.
func (p person) record(acts func(person)) []recorded.Step {
	p.Helper()
	ctx, cancel := context.WithCancel(p.Context())
	defer cancel()
	config := p.config()
	config.Write = func(n int, s *recorded.Step) error {
		b, _ := json.Marshal(s)
		p.Logf("%d %s", n, b)
		return nil
	}
	r := recording.New(config)
	ready, ended := make(chan struct{}), make(chan error, 1)
	go func() { ended <- r.Run(ctx, func() { close(ready) }) }()
	select {
	case <-ready:
	case err := <-ended:
		p.Fatal(err)
	}
	acts(p)
	cancel()
	assert.NilError(p, <-ended)
	return r.Steps()
}

// config returns the configuration for a recording of the program.
func (p person) config() recording.Config {
	return recording.Config{Backend: p.backend, App: p.app, IsApp: func(pid int) bool { return pid == p.app.PID }}
}

// state reads the state that a test program writes.
func (w *world) state(file string) map[string]any {
	b, err := os.ReadFile(file)
	state := map[string]any{}
	if err == nil && json.Unmarshal(b, &state) != nil {
		return map[string]any{}
	}
	return state
}

// orders starts the form in GTK 3.
func (w *world) orders(args ...string) person {
	w.Helper()
	return w.script("orders.py", "role:button name:Clear", args...)
}

// script starts a form in Python.
func (w *world) script(name, shows string, args ...string) person {
	w.Helper()
	file := filepath.Join(w.TempDir(), "state.json")
	script, err := filepath.Abs("testdata/" + name)
	assert.NilError(w, err)
	started := w.Launch(w.T, "/usr/bin/python3", append([]string{script, file}, args...)...)
	return person{w, w.app(started.PID, shows), file}
}

// visit opens the form in a page of Chromium.
func (w *world) visit(version string) person {
	w.Helper()
	file := filepath.Join(w.TempDir(), "state.json")
	mux := http.NewServeMux()
	mux.Handle("GET /", http.FileServer(http.Dir("testdata")))
	mux.HandleFunc("POST /state", func(_ http.ResponseWriter, r *http.Request) {
		b, err := io.ReadAll(r.Body)
		if err == nil {
			err = os.WriteFile(file+".new", b, 0o600)
		}
		if err == nil {
			err = os.Rename(file+".new", file)
		}
		assert.Check(w, err)
	})
	server := httptest.NewServer(mux)
	w.Cleanup(server.Close)
	started := w.Browser(w.T, server.URL+"/visit.html?"+version)
	return person{w, w.app(started.PID, "role:button name:Enter"), file}
}
