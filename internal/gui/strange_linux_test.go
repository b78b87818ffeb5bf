package gui_test

import (
	"cmp"
	"encoding/json"
	"fmt"
	"net/http/httptest"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
	"github.com/gybob/aai-gateway/internal/testkit/strange"
)

// strangeTasks is the number of tasks for each window.
const strangeTasks = 5

// strangePatience is the longest time in which a program shows a window or the effect of a step.
const strangePatience = 20 * time.Second

// TestRealStrange does random tasks in random windows, by name first, and compares the programs'
// own states with the tasks. AAI_STRANGE is the number of windows for each toolkit,
// AAI_STRANGE_SEED the first seed, AAI_STRANGE_TOOLKITS the toolkits. With AAI_STRANGE_SHRINK each
// failure is shown in the smallest window that has it; with AAI_STRANGE_TREES also the outline.
func TestRealStrange(t *testing.T) {
	windows, err := strconv.Atoi(cmp.Or(os.Getenv("AAI_STRANGE"), "4"))
	assert.NilError(t, err)
	first, err := strconv.ParseUint(cmp.Or(os.Getenv("AAI_STRANGE_SEED"), "1"), 10, 64)
	assert.NilError(t, err)
	only := strings.Fields(os.Getenv("AAI_STRANGE_TOOLKITS"))
	for _, toolkit := range strange.Toolkits() {
		if len(only) > 0 && !slices.Contains(only, string(toolkit)) {
			continue
		}
		t.Run(string(toolkit), func(t *testing.T) {
			t.Parallel()
			s := newStrangeRun(t, toolkit)
			for seed := first; seed < first+uint64(windows); seed++ {
				s.tasks(strange.New(seed, toolkit))
			}
			s.tally.report(t, toolkit, first, windows)
		})
	}
}

// TestRealStrangeFixtures: the windows of failures that were mended stay right.
func TestRealStrangeFixtures(t *testing.T) {
	files, err := filepath.Glob("testdata/strange/*.json")
	assert.NilError(t, err)
	stages := make(map[strange.Toolkit][]*strange.Fixture)
	for _, file := range files {
		text, err := os.ReadFile(file)
		assert.NilError(t, err)
		f, err := strange.ParseFixture(text)
		assert.NilError(t, err, file)
		stages[f.Window.Toolkit] = append(stages[f.Window.Toolkit], f)
	}
	for toolkit, fixtures := range stages {
		t.Run(string(toolkit), func(t *testing.T) {
			t.Parallel()
			s := newStrangeRun(t, toolkit)
			for _, f := range fixtures {
				s.show(f.Window)
				if o := s.try(f.Task); o.verdict != strange.Right {
					t.Errorf("%s: %s: %s %s\n%s\n%s", f.Window.Title, f.Task.Text, o.verdict, o.why, o.call, o.reply)
				}
			}
		})
	}
}

// TestRealStrangeOpenPopover: an open popover of a window does not stop the clicks in the next one.
func TestRealStrangeOpenPopover(t *testing.T) {
	s := newStrangeRun(t, strange.GTK4)
	words := []string{"Batch", "Cabin", "Depth"}
	window := func(n *strange.Node) *strange.Window {
		n.ID, n.Labelling = "n2", strange.Own
		root := &strange.Node{ID: "n1", Kind: strange.Column, Children: []*strange.Node{n}}
		return &strange.Window{Title: "Popover", Toolkit: strange.GTK4, Width: 500, Height: 400, Root: root}
	}
	for opener, click := range map[*strange.Node]string{
		{Kind: strange.Combo, Name: "Summary", Items: words, Value: "Batch"}:                                            "single",
		{Kind: strange.Menu, Name: "Summary", Items: words}:                                                             "single",
		{Kind: strange.Popover, Name: "Summary", Children: []*strange.Node{{ID: "n3", Kind: strange.Note, Name: "Ok"}}}: "single",
		{Kind: strange.List, Name: "Rows", Items: []string{"Summary"}, Choices: words}:                                  "right",
	} {
		s.show(window(opener))
		e := s.call("ax_click", params{"query": "Summary", "click_type": click, "mode": "focus"})
		assert.Equal(t, e.kind, strange.Done, "%s does not open: %s", opener.Kind, e.text)
		s.show(window(&strange.Node{Kind: strange.Check, Name: "Signal", Value: false}))
		s.ok("ax_click", params{"app": s.app, "query": "Signal", "mode": "focus"})
		assert.Assert(t, s.within(strangePatience, func(now strange.State) bool { return now.Values["n2"] == true }), "after an open %s a click does nothing", opener.Kind)
	}
}

// strangeRun is a desktop on which one program or browser shows random windows, and the verdicts
// so far.
type strangeRun struct {
	*realWorld
	toolkit strange.Toolkit
	stage   *strange.Stage
	address string // of the first page
	program *linuxtest.App
	app     string
	window  *strange.Window
	file    string            // of the window's state
	outline string            // the first one of the window
	refs    map[string]string // of that outline, by name
	acts    int               // since that outline
	trail   string            // of the advice followed after the last failure
	tally   *strangeTally
}

func newStrangeRun(t *testing.T, toolkit strange.Toolkit) *strangeRun {
	t.Helper()
	s := &strangeRun{realWorld: newRealWorld(t), toolkit: toolkit, tally: newStrangeTally()}
	stage, err := strange.NewStage(s.Path("tmp", "strange"), toolkit)
	assert.NilError(t, err)
	handler, err := stage.Handler()
	assert.NilError(t, err)
	server := httptest.NewServer(handler)
	t.Cleanup(server.Close)
	s.stage, s.address = stage, server.URL+"/page.html"
	return s
}

// start starts the program or browser.
func (s *strangeRun) start() {
	s.Helper()
	switch command := s.stage.Command(); {
	case len(command) > 0:
		s.program = s.Launch(s.T, command[0], command[1:]...)
	case s.toolkit == strange.Chromium:
		s.program = s.Browser(s.T, s.address)
	default:
		s.program = s.firefox(s.Path("tmp", "firefox"), s.address)
	}
	s.app = s.process(s.program)
}

// show shows the window in the place of the one before, and looks at its outline.
func (s *strangeRun) show(w *strange.Window) {
	s.Helper()
	file, err := s.stage.Show(w)
	assert.NilError(s, err)
	s.window, s.file = w, file
	if s.program == nil {
		s.start()
	}
	shown := func(strange.State) bool { return true }
	if !s.within(strangePatience, shown) {
		s.Logf("%s %d: the program does not show the window, and is started again; it printed:\n%s", w.Toolkit, w.Seed, s.program.Output())
		s.program.Kill(s.T)
		if s.start(); !s.within(strangePatience, shown) {
			s.Fatalf("%s %d: a new program does not show the window either", w.Toolkit, w.Seed)
		}
	}
	s.look()
}

// within waits until the state satisfies the condition.
func (s *strangeRun) within(limit time.Duration, ok func(strange.State) bool) bool {
	for end := time.Now().Add(limit); ; time.Sleep(10 * time.Millisecond) {
		if state, err := strange.ReadState(s.file); err == nil && ok(state) {
			return true
		}
		if time.Now().After(end) {
			return false
		}
	}
}

// state reads the program's state.
func (s *strangeRun) state() strange.State {
	s.Helper()
	state, err := strange.ReadState(s.file)
	assert.NilError(s, err)
	return state
}

// look keeps the refs of the names that are once in the outline.
func (s *strangeRun) look() {
	s.Helper()
	s.outline, s.refs, s.acts = "", make(map[string]string), 0
	result, failure := s.do(s.Context(), "ax_get_tree", params{"app": s.app, "budget_tokens": 3000})
	if failure != nil {
		s.Logf("%s %d: no outline: %v", s.toolkit, s.window.Seed, failure)
		return
	}
	s.outline = result.Text
	named := regexp.MustCompile(`(\w+) "([^"]+)" \[(e\d+)\]`)
	for _, m := range named.FindAllStringSubmatch(result.Text, -1) {
		if m[1] == "label" || m[1] == "text" || m[1] == "group" || strings.Count(result.Text, m[2]) > 1 {
			continue
		}
		s.refs[m[2]] = m[3]
	}
}

// tasks shows the window and does its tasks. After a failure, and if something stays open, it
// shows the window anew, so that a failure does not cause others.
func (s *strangeRun) tasks(w *strange.Window) {
	s.Helper()
	s.show(w)
	s.tally.Windows++
	for _, task := range strange.Tasks(w, strangeTasks) {
		o := s.try(task)
		s.tally.count(o)
		if o.verdict != strange.Right {
			s.tell(o)
		}
		if !o.verdict.IsRight() && os.Getenv("AAI_STRANGE_SHRINK") != "" {
			s.shrink(o)
		}
		if !o.verdict.IsRight() || strings.Contains(task.Refusable, "popups") || !s.closeFronts(task.Node.Habits.Dialog && task.Reads == "") {
			s.show(w)
		}
	}
}

// shrink logs the smallest window found in which the task fails in the same way.
func (s *strangeRun) shrink(o outcome) {
	s.Helper()
	f := strange.Shrink(&strange.Fixture{Window: s.window, Task: o.task}, 20, func(f *strange.Fixture) bool {
		s.show(f.Window)
		return s.try(f.Task).verdict == o.verdict
	})
	text, err := json.Marshal(f)
	assert.NilError(s, err)
	s.Logf("%s %d: the smallest window: %s", s.toolkit, f.Window.Seed, text)
}

// closeFronts closes what the task opened in front of the window, and reports whether it could.
// mayAsk tells whether a dialog is expected.
func (s *strangeRun) closeFronts(mayAsk bool) (closed bool) {
	s.Helper()
	if mayAsk {
		s.within(time.Second, func(now strange.State) bool { return now.Dialog != "" })
	}
	closed = true
	press := func(button string, closes func(strange.State) bool) {
		e := s.call("ax_click", params{"query": button})
		if !s.within(1500*time.Millisecond, closes) {
			o := outcome{kind: strange.Dialog, verdict: strange.WrongRefusal, call: e.call, reply: e.text}
			s.tally.count(o)
			s.tell(o)
			closed = false
		}
	}
	state := s.state()
	if state.Dialog != "" {
		press("Understood", func(now strange.State) bool { return now.Dialog == "" })
	}
	s.window.Walk(func(n *strange.Node, _ []*strange.Node) {
		switch isOpen := state.Values[n.ID] == true; {
		case isOpen && n.Kind == strange.Dialog:
			press("Dismiss", func(now strange.State) bool { return now.Values[n.ID] != true })
		case isOpen && n.Kind == strange.Popover:
			closed = false
		}
	})
	return closed
}

// tell logs a failure, as small as wanted.
func (s *strangeRun) tell(o outcome) {
	s.Helper()
	if os.Getenv("AAI_STRANGE_TREES") != "" {
		s.Log(s.ok("ax_get_tree", params{"app": s.app, "budget_tokens": 4000}).Text)
	}
	led := ""
	if o.followed {
		led = fmt.Sprintf(" [the advice led on: %v]", o.led)
	}
	s.Logf("%s %d: %s (%s, %s): %s %s%s\n\t%s\n\t%s%s", s.toolkit, s.window.Seed, o.task.Text, o.kind, labellingOf(o.task), o.verdict, o.why, led, o.call, strings.ReplaceAll(o.reply, "\n", " | "), s.trail)
}

func labellingOf(task strange.Task) strange.Labelling {
	if task.Node == nil {
		return ""
	}
	return task.Node.Labelling
}
