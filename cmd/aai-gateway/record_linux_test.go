package main

import (
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// A lesson is a desktop with the program at a terminal, and a person who plays: xdotool presses keys and buttons, also in
// the questions of the gateway.
type lesson struct {
	home
	*testing.T
	desktop *linuxtest.Session
	state   string // the file with the state of the form
}

func newLesson(t *testing.T) *lesson {
	t.Helper()
	l := &lesson{home: selfProgram(t).home(t, nil), T: t, desktop: linuxtest.StartAccessible(t)}
	l.desktop.AwaitWindowManager(t)
	l.write(t, "key", strings.Repeat("0123456789abcdef", 4))
	l.write(t, ".aai/config.json", "{}")
	l.env = append(l.desktop.Env, "HOME="+l.folder, "AAI_MASTER_KEY_FILE="+filepath.Join(l.folder, "key"))
	return l
}

// orders starts the form.
func (l *lesson) orders() *linuxtest.App {
	l.Helper()
	l.state = filepath.Join(l.TempDir(), "state.json")
	script, err := filepath.Abs("../../internal/gui/recording/testdata/orders.py")
	assert.NilError(l, err)
	app := l.desktop.Launch(l.T, "/usr/bin/python3", script, l.state)
	l.until("the form", func() bool { return l.desktop.ActiveWindow(l.T) == "Orders" })
	return app
}

// has reports whether the form has a value.
func (l *lesson) has(name string, want any) bool {
	b, err := os.ReadFile(l.state)
	var state map[string]any
	return err == nil && json.Unmarshal(b, &state) == nil && fmt.Sprint(state[name]) == fmt.Sprint(want)
}

func (l *lesson) until(what string, is func() bool) {
	l.Helper()
	for end := time.Now().Add(patience); !is(); time.Sleep(20 * time.Millisecond) {
		if time.Now().After(end) {
			l.Fatal("waiting for " + what)
		}
	}
}

func (l *lesson) xdo(args ...string) string {
	cmd := exec.CommandContext(l.Context(), "xdotool", args...)
	cmd.Env = l.desktop.Env
	out, _ := cmd.Output() // a window may close meanwhile
	return strings.TrimSpace(string(out))
}

// A running is a command of the program.
type running struct {
	*exec.Cmd
	out   string // the file with all that it prints
	ended chan struct{}
}

func (l *lesson) start(args ...string) *running {
	l.Helper()
	r := &running{Cmd: l.command(l.Context(), args...), ended: make(chan struct{})}
	out, err := os.CreateTemp(l.TempDir(), "out")
	assert.NilError(l, err)
	r.Stdout, r.Stderr, r.out = out, out, out.Name()
	assert.NilError(l, r.Start())
	_ = out.Close()
	go func() {
		defer close(r.ended)
		_ = r.Wait()
	}()
	l.Cleanup(func() { _ = r.Process.Kill(); <-r.ended })
	return r
}

// answer answers questions of the gateway with the keys in turn until the condition holds: a key may be lost.
func (l *lesson) answer(until func() bool, keys ...string) {
	l.Helper()
	var shown string
	var since time.Time
	l.until("an answer", func() bool {
		if until() {
			return true
		}
		id := l.xdo("getactivewindow")
		switch {
		case id == "" || !strings.HasPrefix(l.xdo("getwindowname", id), "AAI Gateway"):
		case id != shown:
			shown, since = id, time.Now()
		case time.Since(since) > 2*time.Second: // an earlier answer does not count
			since = time.Now()
			l.xdo(append([]string{"key", "--delay", "80"}, strings.Fields(keys[0])...)...)
			keys = append(keys[1:], keys[0])
		}
		return false
	})
}

func (r *running) said() string {
	b, _ := os.ReadFile(r.out)
	return string(b)
}

func (r *running) isOver() bool {
	select {
	case <-r.ended:
		return true
	default:
		return false
	}
}

// types plays the person in the field with the keyboard.
func (l *lesson) types(field, text string) {
	l.Helper()
	l.xdo("type", "--delay", "20", text)
	l.until(field, func() bool { return l.has(field, text) })
}

// typesOrder plays the person in a new form.
func (l *lesson) typesOrder() {
	l.Helper()
	l.until("the form", func() bool { return l.desktop.ActiveWindow(l.T) == "Orders" })
	l.types("customer", "Ada Lovelace")
	l.xdo("key", "Tab")
	l.types("city", "Paris")
}

// record begins a recording, which the person allows.
func (l *lesson) record(args ...string) *running {
	l.Helper()
	r := l.start(append([]string{"record", "--app", "orders"}, args...)...)
	l.answer(func() bool { return strings.Contains(r.said(), "Ctrl-C") || r.isOver() }, "Tab Tab space")
	return r
}

// twoPages returns the keys for a question on two pages: past the text and the answer to the next page, and the answer.
func twoPages() []string { return []string{"Tab Tab Tab space", "Tab Tab space"} }

// replay runs a command, and answers its questions until it ends.
func (l *lesson) replay(args ...string) (said string, asked int) {
	l.Helper()
	l.revoke()
	r := l.start(args...)
	l.answer(r.isOver, twoPages()...)
	return r.said(), strings.Count(r.said(), "You are asked")
}

// revoke ends longer permissions that the answers have given.
func (l *lesson) revoke() {
	_, _ = (&victim{home: l.home, t: l.T}).run(nil, "consent", "revoke", "desktop/orders", "--yes")
}

// kill ends a command as a crash does.
func (r *running) kill() {
	_ = r.Process.Kill()
	<-r.ended
}

// recording returns the path of the only file of a recording, and its text.
func (l *lesson) recording() (path, text string) {
	l.Helper()
	found, err := filepath.Glob(filepath.Join(l.folder, ".local/share/aai-gateway/recordings/*.jsonl"))
	assert.NilError(l, err)
	assert.Assert(l, is.Len(found, 1))
	b, err := os.ReadFile(found[0])
	assert.NilError(l, err)
	return found[0], string(b)
}

// TestTeachByShowing: the gateway is killed while a person teaches a task. The file is done again, with another text, and
// stored. The person is asked once each time, and for a stored name about the workflow, too.
func TestTeachByShowing(t *testing.T) {
	l := newLesson(t)
	form := l.orders()
	r := l.record()
	l.typesOrder()
	var file, text string
	l.until("the second text in the file", func() bool { file, text = l.recording(); return strings.Contains(text, "Paris") })
	r.kill()
	again := func(questions int, customer, city string, args ...string) {
		t.Helper()
		form.Kill(t)
		form = l.orders()
		if said, asked := l.replay(args...); asked != questions || !l.has("customer", customer) || !l.has("city", city) {
			t.Errorf("%q: asked %d times, %s", args, asked, said)
		}
	}
	again(1, "Ada Lovelace", "Oslo", "replay", file, "city=Oslo", "--save", "order")
	again(2, "Grace Hopper", "Paris", "replay", "order", "customer_name=Grace Hopper")
}

// TestReplayResumes: a replay that was killed resumes, after a question about the look at the window and one about the steps
// that are left. The person answers at a terminal, too. The stop key
// ends a recording.
func TestReplayResumes(t *testing.T) {
	l := newLesson(t)
	form, file := l.orders(), filepath.Join(l.folder, "order.json")
	r := l.record("--output", file)
	l.typesOrder()
	_ = r.Process.Signal(os.Interrupt)
	<-r.ended
	b, err := os.ReadFile(file)
	assert.NilError(t, err)
	slow := filepath.Join(l.folder, "slow.json")
	l.write(t, "slow.json", strings.Replace(string(b), `"tool": "ax_set_value"`, `"tool": "ax_set_value", "wait_after_ms": 15000`, 1))
	form.Kill(t)
	form = l.orders()
	r = l.start("replay", slow)
	l.answer(func() bool { return r.isOver() || l.has("customer", "Ada Lovelace") }, twoPages()...)
	r.kill()
	var listed struct{ Runs []struct{ Run, State string } }
	code, said := (&victim{home: l.home, t: t}).run(nil, "workflow", "list", "--format", "json")
	err = json.Unmarshal([]byte(said), &listed)
	assert.NilError(t, err, said)
	assert.Equal(t, code, 0, said)
	assert.Assert(t, len(listed.Runs) != 0, said)
	said, asked := l.replay("workflow", "resume", listed.Runs[0].Run)
	assert.Assert(t, asked >= 1, "resumed: asked %d times, %s", asked, said)
	assert.Assert(t, asked <= 2, "resumed: asked %d times, %s", asked, said)
	assert.Assert(t, l.has("city", "Paris"), "resumed: asked %d times, %s", asked, said)
	assert.Assert(t, l.has("customer", "Ada Lovelace"), "resumed: asked %d times, %s", asked, said)
	form.Kill(t)
	l.orders()
	l.revoke()
	v := &victim{home: l.home, t: t}
	v.env = append(v.env, "AAI_CONSENT_DIALOG=off")
	code, said = v.typed([]string{"2"}, "replay", file)
	assert.Check(t, is.Equal(code, 0), said)
	assert.Check(t, is.Equal(strings.Count(said, "Your choice"), 1), said)
	assert.Check(t, l.has("city", "Paris"), "at a terminal: %d, %s", code, said)
	r = l.record("--output", filepath.Join(l.folder, "stopped.json"))
	l.xdo("key", "super+Escape")
	l.until("the end by the stop key", func() bool { return r.isOver() && strings.Contains(r.said(), "Replay it") })
}

// TestNoTypedSecretIsKept: of 22 secrets that a person types while an agent records by the resources none is in a file, in the
// journal, or in a reply. A replay without them names the command that sets them.
func TestNoTypedSecretIsKept(t *testing.T) {
	l := newLesson(t)
	l.orders()
	agent := l.home.start(t)
	agent.ask("initialize", `{"protocolVersion": "2025-06-18", "capabilities": {}, "clientInfo": {"name": "c", "version": "1"}}`)
	agent.send(`{"jsonrpc": "2.0", "method": "notifications/initialized"}`)
	read := func(uri string) (text string) {
		id := agent.request("resources/read", fmt.Sprintf(`{"uri": %q}`, uri))
		l.answer(func() bool {
			select {
			case text = <-agent.lines:
				return strings.Contains(text, `"id":`+id)
			default:
				return false
			}
		}, "Tab Tab space")
		return text
	}
	if said := read("axterminator://recording/start?app=orders"); !strings.Contains(said, "Recording what") && !strings.Contains(said, "jsonl") {
		t.Fatal(said)
	}
	l.typesOrder()
	var secrets []string
	for i := range 11 {
		for _, field := range []string{"secret", "pin"} {
			secrets = append(secrets, fmt.Sprintf("zq%dwkv%d", 1000+len(secrets)*37, 100+len(secrets)*7))
			l.xdo("key", map[bool]string{true: "shift+Tab", false: "Tab"}[i > 0 && field == "secret"])
			l.xdo("key", "ctrl+a", "Delete")
			l.types(field, secrets[len(secrets)-1])
		}
	}
	said := []string{read("axterminator://recording/stop")}
	assert.Assert(t, is.Contains(said[0], "{{secret:orders-password}}"))
	assert.Assert(t, is.Contains(said[0], "Paris"))
	file, _ := l.recording()
	replayed, _ := l.replay("replay", file)
	assert.Check(t, is.Contains(replayed, "aai-gateway secret set"), "a missing secret: %s", replayed)
	_, history := (&victim{home: l.home, t: t}).run(nil, "history", "--format", "json")
	said = append(said, replayed, history, agent.err.String())
	eachFile(t, l.folder, func(path string, b []byte) { said = append(said, path+": "+string(b)) })
	for _, text := range said {
		for i, s := range secrets {
			assert.Check(t, !strings.Contains(text, s), "secret %d is in %.200s", i+1, text)
		}
	}
}
