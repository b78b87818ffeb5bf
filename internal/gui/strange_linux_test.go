package gui_test

import (
	"cmp"
	"fmt"
	"maps"
	"net/http/httptest"
	"os"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
	"github.com/gybob/aai-gateway/internal/testkit/strange"
)

// strangeTasks is the number of tasks for each window.
const strangeTasks = 5

// TestRealStrange does random tasks in random windows, by name first, and compares the programs'
// own states with the tasks. AAI_STRANGE is the number of windows for each toolkit,
// AAI_STRANGE_SEED the first seed, AAI_STRANGE_TOOLKITS the toolkits.
func TestRealStrange(t *testing.T) {
	windows, err := strconv.Atoi(cmp.Or(os.Getenv("AAI_STRANGE"), "3"))
	if err != nil {
		t.Fatal(err)
	}
	first, err := strconv.ParseUint(cmp.Or(os.Getenv("AAI_STRANGE_SEED"), "1"), 10, 64)
	if err != nil {
		t.Fatal(err)
	}
	only := strings.Fields(os.Getenv("AAI_STRANGE_TOOLKITS"))
	for _, toolkit := range strange.Toolkits() {
		if len(only) > 0 && !slices.Contains(only, string(toolkit)) {
			continue
		}
		t.Run(string(toolkit), func(t *testing.T) {
			s := &strangeRun{realWorld: newRealWorld(t), tally: make(map[strange.Kind]map[strange.Verdict]int)}
			for seed := first; seed < first+uint64(windows); seed++ {
				s.window(strange.New(seed, toolkit))
			}
			s.report()
		})
	}
}

// strangeRun is a desktop on which random windows are shown, and the verdicts so far.
type strangeRun struct {
	*realWorld
	tally map[strange.Kind]map[strange.Verdict]int
}

// window shows the window and does its tasks.
func (s *strangeRun) window(w *strange.Window) {
	s.Helper()
	program, file := s.show(w)
	defer program.Kill(s.T)
	app := s.process(program)
	s.eventually(w.Title+" has written its state", func() bool { _, err := strange.ReadState(file); return err == nil })
	for _, task := range strange.Tasks(w, strangeTasks) {
		s.task(w, app, file, task)
	}
}

// show starts the program or browser that shows the window, and returns the file of its state.
func (s *strangeRun) show(w *strange.Window) (program *linuxtest.App, file string) {
	s.Helper()
	if w.Toolkit != strange.Chromium && w.Toolkit != strange.Firefox {
		command, file, err := w.Install(s.Path("tmp"))
		if err != nil {
			s.Fatal(err)
		}
		return s.Launch(s.T, command[0], command[1:]...), file
	}
	page, file, err := w.Page(s.Path("tmp"))
	if err != nil {
		s.Fatal(err)
	}
	server := httptest.NewServer(page)
	s.Cleanup(server.Close)
	address := server.URL + "/page.html"
	if w.Toolkit == strange.Chromium {
		return s.Browser(s.T, address), file
	}
	return s.firefox(s.Path("tmp", "firefox"), address), file
}

// task does one task and counts its verdict.
func (s *strangeRun) task(w *strange.Window, app, file string, task strange.Task) {
	s.Helper()
	for _, open := range task.Opens {
		if open.IsDone(s.state(file)) {
			continue
		}
		if _, err := s.do(s.Context(), "ax_click", params{"app": app, "query": open.Name}); err != nil {
			s.Logf("%s %d: opening %q for %q: %v", w.Toolkit, w.Seed, open.Name, task.Node.Name, err)
		}
	}
	before := s.state(file)
	p := params{"app": app}
	maps.Copy(p, task.Params)
	result, failure := s.do(s.Context(), task.Tool, p)
	kind, reply := strange.Refused, ""
	switch {
	case failure != nil:
		reply = fmt.Sprintf("%s; %s %q", failure, failure.Hint, failure.Candidates)
	case at(asJSON(s.T, result.Data), "verified") == false:
		kind, reply = strange.Unsure, result.Text+" "+result.Warning
	default:
		kind, reply = strange.Done, result.Text+" "+result.Warning
	}
	verdict, why := s.judge(task, before, file, kind)
	if s.tally[task.Node.Kind] == nil {
		s.tally[task.Node.Kind] = make(map[strange.Verdict]int)
	}
	s.tally[task.Node.Kind][verdict]++
	if verdict != strange.Right {
		if os.Getenv("AAI_STRANGE_TREES") != "" {
			tree := s.ok("ax_get_tree", params{"app": app})
			s.Log(tree.Text)
		}
		s.Logf("%s %d: %s (%s, %s): %s %s\n\t%s", w.Toolkit, w.Seed, task.Text, task.Node.Kind, task.Node.Labelling, verdict, why, strings.ReplaceAll(reply, "\n", " | "))
	}
	for after := s.state(file); after.Dialog != ""; after = s.state(file) {
		if _, err := s.do(s.Context(), "ax_click", params{"app": app, "query": "Understood"}); err != nil {
			s.Fatalf("the dialog stays: %v", err)
		}
	}
}

// judge waits for the effect, and returns the verdict.
func (s *strangeRun) judge(task strange.Task, before strange.State, file string, reply strange.Reply) (verdict strange.Verdict, why string) {
	limit := 1500 * time.Millisecond
	if reply == strange.Refused {
		limit = 600 * time.Millisecond
	}
	for end := time.Now().Add(limit); ; time.Sleep(20 * time.Millisecond) {
		verdict, why = task.Judge(before, s.state(file), reply)
		if verdict == strange.Right && reply != strange.Refused || time.Now().After(end) {
			return verdict, why
		}
	}
}

// state reads the program's state.
func (s *strangeRun) state(file string) strange.State {
	s.Helper()
	state, err := strange.ReadState(file)
	if err != nil {
		s.Fatal(err)
	}
	return state
}

// report prints the verdicts by kind of control.
func (s *strangeRun) report() {
	total := make(map[strange.Verdict]int)
	for _, kind := range slices.Sorted(maps.Keys(s.tally)) {
		s.Logf("%-10s %v", kind, s.tally[kind])
		for verdict, n := range s.tally[kind] {
			total[verdict] += n
		}
	}
	s.Logf("%-10s %v", "all", total)
	for _, verdict := range []strange.Verdict{strange.WrongElement, strange.FalseSuccess} {
		if total[verdict] > 0 {
			s.Errorf("%d tasks: %s", total[verdict], verdict)
		}
	}
}
