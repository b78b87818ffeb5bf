package apps

import (
	"cmp"
	"encoding/json"
	"os"
	"slices"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// Expectations of acts.

func togglesMark(n node) expectation {
	return func(_, after observation) bool { return after.marked(n, !n.on()) }
}

func comesOn(n node) expectation {
	return func(_, after observation) bool { return after.marked(n, true) }
}

// marked reports whether the element is on, or off. Qt renumbers rows occasionally; then the name
// identifies the element.
func (s observation) marked(n node, on bool) bool {
	if now, there := s.nodes[n.ref]; there {
		return now.on() == on
	}
	for _, now := range s.nodes {
		if now.role == n.role && now.name == n.name {
			return now.on() == on
		}
	}
	return false
}

func has(r ref, text string) expectation {
	return func(_, after observation) bool { return strings.TrimSuffix(after.nodes[r].text, "\n") == text }
}

func counts(r ref, value float64) expectation {
	return func(_, after observation) bool { return after.nodes[r].value == value }
}

// opens expects a window with the part in its title.
func opens(part string) expectation {
	return func(before, after observation) bool { return titled(after, part) > titled(before, part) }
}

// closes expects that a window with the part in its title has closed.
func closes(part string) expectation {
	return func(before, after observation) bool { return titled(after, part) < titled(before, part) }
}

func titled(s observation, part string) (n int) {
	for _, title := range s.windows {
		if strings.Contains(title, part) {
			n++
		}
	}
	return n
}

// shows expects an element of this role with the text as its name or content; without a role, any
// element of that name but a button.
func shows(role, text string) expectation {
	return func(_, after observation) bool {
		for _, n := range after.nodes {
			if role == "" && n.role != "push button" && n.name == text {
				return true
			}
			if n.role == role && (strings.Contains(n.name, text) || strings.Contains(n.text, text)) {
				return true
			}
		}
		return false
	}
}

// keeps expects the text in a file; a plain text file has nothing else in it.
func keeps(file, text string) expectation {
	return func(observation, observation) bool {
		b, err := os.ReadFile(file)
		if strings.HasSuffix(file, ".txt") {
			return err == nil && strings.ReplaceAll(string(b), "\n", "") == text
		}
		return err == nil && strings.Contains(string(b), text)
	}
}

// onDisk expects that the file exists, or not.
func onDisk(file string, there bool) expectation {
	return func(observation, observation) bool {
		_, err := os.Stat(file)
		return (err == nil) == there
	}
}

// eachOf expects all of them.
func eachOf(wants ...expectation) expectation {
	return func(before, after observation) bool {
		return !slices.ContainsFunc(wants, func(w expectation) bool { return !w(before, after) })
	}
}

// togglesNamed expects that the element with the role and the name was toggled.
func togglesNamed(role, name string) expectation {
	return func(before, after observation) bool {
		for r, n := range before.nodes {
			if now, there := after.nodes[r]; there && n.role == role && n.name == name && now.on() != n.on() {
				return true
			}
		}
		return false
	}
}

// seen expects an element with the name.
func seen(role, name string) expectation {
	return func(before, after observation) bool {
		for _, n := range after.nodes {
			if n.role == role && n.name == name && n.is(showing) {
				return true
			}
		}
		return false
	}
}

// TestKeysOfAPerson: a user presses a key at many moments around the gateway's opening and closing
// of each program's dialogs, beside a client that listens to all events. No program hangs, and the
// written text is there in the end.
func TestKeysOfAPerson(t *testing.T) {
	gateway, all := build(t), os.Getenv("AAI_APPS") == "all"
	for _, p := range programs() {
		if only := os.Getenv("AAI_APPS_ONLY"); only != "" && only != p.name || !all && !p.inEveryRun || len(p.dialogs) == 0 {
			continue
		}
		t.Run(p.name, func(t *testing.T) {
			if all {
				t.Parallel()
			}
			open(t, p, gateway).pressed(all)
		})
	}
}

// pressed opens and closes the dialogs, with keys at the moments.
func (s *stage) pressed(all bool) {
	s.Helper()
	for _, p := range s.program.first {
		s.act(p)
	}
	const text = "wiederholung"
	if s.program.writes {
		s.call("ax_type", s.editor(params{"text": text, "clear_first": true}))
		s.keeps(text, "before any dialog")
	}
	moments := []time.Duration{0, 30 * time.Millisecond, 150 * time.Millisecond, 400 * time.Millisecond}
	if !all {
		moments = moments[1:2]
	}
	opened := 0
	for _, d := range s.program.dialogs {
		for _, moment := range moments {
			title := d.title + " at " + moment.String()
			s.beside(moment, func() { open := d.opening(); s.call(open.tool, open.args) })
			s.lives(title + ", opened")
			if slices.ContainsFunc(s.windows(), func(w string) bool { return strings.Contains(w, d.title) }) {
				opened++
			}
			s.types(cmp.Or(s.program.personKey, "x"), "Tab")
			s.beside(moment, func() {
				if d.button != "" {
					s.call("ax_click", params{"query": d.button})
				}
			})
			s.lives(title + ", closed")
			for range 3 { // the user closes the remaining dialogs
				if !slices.ContainsFunc(s.windows(), func(w string) bool { return strings.Contains(w, d.title) }) {
					break
				}
				s.types("Escape")
				time.Sleep(refusalWait)
			}
			s.lives(title + ", over")
			if s.program.writes {
				s.keeps(text, title)
			}
		}
	}
	s.Logf("%s: dialogs %d, moments %d, opened %d times", s.program.name, len(s.program.dialogs), len(moments), opened)
	assert.Check(s, opened != 0, "no dialog was ever open")
}

// beside runs do while a user presses a key, at the moment after its beginning, and again at its
// end.
func (s *stage) beside(moment time.Duration, do func()) {
	s.Helper()
	pressed, key := make(chan struct{}), cmp.Or(s.program.personKey, "x")
	go func() {
		defer close(pressed)
		time.Sleep(moment)
		s.types(key)
		s.types(key)
	}()
	do()
	<-pressed
	s.types(key)
}

// lives checks that the program answers the witness.
func (s *stage) lives(when string) {
	s.Helper()
	for end := time.Now().Add(patience / 4); ; {
		if len(s.witness.windows()) > 0 {
			return
		}
		assert.Assert(s, !time.Now().After(end), "%s hangs, or has ended: %s", s.program.name, when)
	}
}

// keeps checks for the text in the editor, regardless of the user's keys.
func (s *stage) keeps(text, when string) {
	s.Helper()
	var said []string
	for end := time.Now().Add(patience); time.Now().Before(end); time.Sleep(pollInterval) {
		said = said[:0]
		for _, n := range s.witness.tree(false) {
			if !n.is(editable) {
				continue
			}
			is := strings.ReplaceAll(n.text, "x", "")
			if strings.TrimSpace(is) == text {
				return
			}
			said = append(said, is)
		}
	}
	s.tally.textLost++
	s.Errorf("%s: the text %q is lost; what can be edited holds %q: %s; windows %q", s.program.name, text, said, when, s.windows())
}

// clicksWithoutEffect repeats a click without effect, and measures the time until the answer that
// nothing was seen.
func (s *stage) clicksWithoutEffect() {
	s.Helper()
	const times = 15
	var took []time.Duration
	s.byAgent("ax_click", params{"query": s.program.inertElement}) // so that it is in its final state
	for range times {
		// The effect of the previous click must have been seen before the next one.
		time.Sleep(refusalWait)
		began := time.Now()
		said := s.byAgent("ax_click", params{"query": s.program.inertElement})
		took = append(took, time.Since(began).Round(time.Millisecond))
		assert.Assert(s, !said.Failed, "a click on %q: failed %v, verified %v: %.300s", s.program.inertElement, said.Failed, said.Result.Verified, said.Text)
		assert.Assert(s, !said.Result.Verified, "a click on %q: failed %v, verified %v: %.300s", s.program.inertElement, said.Failed, said.Result.Verified, said.Text)
	}
	slices.Sort(took)
	load, _ := os.ReadFile("/proc/loadavg")
	s.Logf("%s: a click without effect is answered in %s, at best %s, at worst %s, with a load of %s", s.program.name, took[times/2], took[0], took[times-1], strings.TrimSpace(string(load)))
}

// startSession starts a desktop of X11, or of the Wayland compositor that AAI_TEST_COMPOSITOR names. With sway the tests
// must not run as root: sway refuses root, and the gateway a home folder of another user.
func startSession(t *testing.T) *linuxtest.Session {
	t.Helper()
	if os.Getenv(linuxtest.CompositorEnv) != "" {
		return linuxtest.StartWayland(t, linuxtest.ChosenCompositor())
	}
	return linuxtest.StartAccessible(t)
}

// isWayland reports whether the desktop is one of Wayland.
func (s *stage) isWayland() bool { return s.Compositor() != nil }

// swayNode is a container in the answer of swaymsg.
type swayNode struct {
	ID       int64      `json:"id"`
	PID      int        `json:"pid"`
	Name     string     `json:"name"`
	Visible  bool       `json:"visible"`
	Nodes    []swayNode `json:"nodes"`
	Floating []swayNode `json:"floating_nodes"`
}

// titles returns the titles of the visible windows in and below the container.
func (n swayNode) titles() (titles []string) {
	if n.PID != 0 && n.Visible && n.Name != "" {
		titles = append(titles, n.Name)
	}
	for _, below := range [][]swayNode{n.Nodes, n.Floating} {
		for _, c := range below {
			titles = append(titles, c.titles()...)
		}
	}
	return titles
}

// swayWindows returns the titles of the visible windows, by swaymsg.
func (s *stage) swayWindows() []string {
	s.Helper()
	var root swayNode
	assert.NilError(s, json.Unmarshal([]byte(s.run("swaymsg", "-t", "get_tree")), &root))
	return root.titles()
}

// escapes presses Escape in the window with the title, as a user would.
func (s *stage) escapes(title string) {
	s.Helper()
	s.run("swaymsg", `[title="^`+strings.ReplaceAll(title, `"`, ".")+`$"] focus`)
	s.run("wtype", "-k", "Escape")
}
