package recording_test

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"testing"
	"time"

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

// app waits for a running program with an element of the query.
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
				if found = a; w.find(a, shows) != nil {
					return true
				}
			}
		}
		return false
	})
	return found
}

// find returns an element; nil if there is not one.
func (w *world) find(app desktop.App, text string) *desktop.Element {
	w.Helper()
	s, err := w.tree.Snapshot(w.Context(), app)
	if err != nil {
		return nil
	}
	q, err := query.Parse(text, query.Auto)
	if err != nil {
		w.Fatal(err)
	}
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
	if out, err := cmd.CombinedOutput(); err != nil {
		w.Fatalf("xdotool %q: %v: %s", args, err, out)
	}
}

// A person acts in a program.
type person struct {
	*world
	app desktop.App
}

// rest is the pause of a person between two acts.
const rest = 700 * time.Millisecond

// click clicks an element with a button, 1 if none is given; two times for a double click.
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
	time.Sleep(rest)
}

// types types a text, at the pace of a fast person.
func (p person) types(text string) {
	p.Helper()
	p.xdo("type", "--delay", "40", text)
	time.Sleep(rest / 2)
}

func (p person) press(keys ...string) {
	p.Helper()
	p.xdo(append([]string{"key", "--delay", "60"}, keys...)...)
	time.Sleep(rest)
}

// record records the person while acts runs.
func (w *world) record(app desktop.App, acts func(person)) []recorded.Step {
	w.Helper()
	ctx, cancel := context.WithCancel(w.Context())
	defer cancel()
	r := recording.New(recording.Config{Backend: w.backend, App: app, IsApp: func(pid int) bool { return pid == app.PID }, Write: func(n int, s *recorded.Step) error {
		b, _ := json.Marshal(s)
		w.Logf("%d %s", n, b)
		return nil
	}})
	ready, ended := make(chan struct{}), make(chan error, 1)
	go func() { ended <- r.Run(ctx, func() { close(ready) }) }()
	select {
	case <-ready:
	case err := <-ended:
		w.Fatal(err)
	}
	acts(person{w, app})
	cancel()
	if err := <-ended; err != nil {
		w.Fatal(err)
	}
	return r.Steps()
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
func (w *world) orders(args ...string) (app desktop.App, state string) {
	w.Helper()
	state = filepath.Join(w.TempDir(), "state.json")
	script, err := filepath.Abs("testdata/orders.py")
	if err != nil {
		w.Fatal(err)
	}
	started := w.Launch(w.T, "/usr/bin/python3", append([]string{script, state}, args...)...)
	return w.app(started.PID, "role:button name:Clear"), state
}
