package apps

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

// observation is the state that the witnesses report at a moment.
type observation struct {
	nodes   map[ref]node
	windows []string
	tops    int    // windows with and without titles
	page    string // the page's own report
}

// expectation reports whether the effect of an act is there.
type expectation func(before, after observation) bool

// step is an act, and its expected effect.
type step struct {
	kind string // of act
	tool string
	args params
	// want is the expected effect. nil: the act must be refused and have no effect.
	want expectation
	// dialogTitle is a part of the title of the required dialog: without that dialog the step is skipped.
	dialogTitle string
	// isUnobserved means that only later acts show the effect: the step is not counted.
	isUnobserved bool
	// after means that the step depends on the one before it, and is skipped if that was not done.
	after bool
	// lateArgs returns arguments that are known only at run time; nil if there is no target.
	lateArgs func() params
	// replyCheck checks the reply of an act that reads.
	replyCheck func(reply) bool
}

func (p step) String() string { return fmt.Sprintf("%s %.200q", p.tool, fmt.Sprint(p.args)) }

func (s *stage) scene() observation {
	s.Helper()
	now := observation{nodes: make(map[ref]node), windows: s.windows()}
	if now.tops = len(now.windows); !s.isWayland() {
		now.tops = len(strings.Fields(s.run("xdotool", "search", "--onlyvisible", "--maxdepth", "1", "--class", ".")))
	}
	for _, n := range s.witness.tree(false) {
		now.nodes[n.ref] = n
	}
	if s.page != nil {
		now.page = s.page.said()
	}
	return now
}

// describeChanges lists the changes that matter to users: marks, texts, windows, the page.
func (before observation) describeChanges(after observation) (changes []string) {
	for r, was := range before.nodes {
		now, there := after.nodes[r]
		switch {
		case !there || was.role == "label" || was.role == "statusbar":
		case was.on() != now.on() && !was.holds():
			changes = append(changes, fmt.Sprintf("%s %q: on %v, was %v", now.role, now.name, now.on(), was.on()))
		case was.text != now.text && now.is(editable):
			changes = append(changes, fmt.Sprintf("%s %q: holds %.60q, held %.60q", now.role, now.name, now.text, was.text))
		case was.value != now.value && now.marks():
			changes = append(changes, fmt.Sprintf("%s %q: %v, was %v", now.role, now.name, now.value, was.value))
		}
	}
	if before.page != after.page {
		changes = append(changes, "the page says "+after.page)
	}
	if !slices.Equal(before.windows, after.windows) {
		changes = append(changes, fmt.Sprintf("windows %q, were %q", after.windows, before.windows))
	}
	slices.Sort(changes)
	return changes
}

// holds reports whether the element is on only because of a part of it.
func (n node) holds() bool {
	return slices.Contains([]string{"menu", "menu bar", "frame", "document text", "document spreadsheet"}, n.role)
}

// marks reports whether users set the element's value.
func (n node) marks() bool { return n.role == "slider" || n.role == "spin button" }

// act makes the act, and compares its reply with the observed effect.
func (s *stage) act(p step) {
	s.Helper()
	before := s.scene()
	if p.dialogTitle != "" && titled(before, p.dialogTitle) == 0 {
		return
	}
	if p.after && !s.done {
		return
	}
	if p.lateArgs != nil {
		aimed := p.lateArgs()
		if aimed == nil {
			return
		}
		p.args = maps.Clone(p.args)
		maps.Copy(p.args, aimed)
	}
	said := s.call(p.tool, p.args)
	if said.Failed && said.refused() && p.kind == "row" && p.want != nil {
		// As an agent would: it scrolls hidden elements into view first.
		s.call("ax_scroll", params{"query": p.args["query"], "to_view": true})
		said = s.call(p.tool, p.args)
	}
	if said.Failed && said.refused() && p.args["mode"] == nil && (p.want != nil || p.isUnobserved) && p.byPointer() {
		// As an agent would: with the user's own pointer and keyboard.
		s.tally.focus++
		p.args = maps.Clone(p.args)
		p.args["mode"] = "focus"
		said = s.call(p.tool, p.args)
	}
	after := s.scene()
	done := p.want != nil && p.want(before, after)
	for end := time.Now().Add(s.waits(p, said)); !done && time.Now().Before(end); time.Sleep(pollInterval) {
		after = s.scene()
		done = p.want != nil && p.want(before, after)
	}
	done = done && (p.replyCheck == nil || p.replyCheck(said))
	s.done = done
	if !p.isUnobserved {
		s.judge(p, said, done, before.describeChanges(after))
	}
}

// byPointer reports whether the user's own pointer and keyboard can do it too.
func (p step) byPointer() bool {
	return !slices.Contains([]string{"ax_set_value", "ax_window", "ax_clipboard"}, p.tool)
}

// waits returns the time to wait for an effect: a refused act may have happened too, and a busy
// computer may show a confirmed effect later.
func (s *stage) waits(p step, said reply) time.Duration {
	switch {
	case p.want == nil || said.refused():
		return refusalWait
	case said.isVerified():
		return patience
	}
	return effectWait
}

// allSteps runs the steps on the stage: the program's own, and acts on the elements of its screen
// between them, up to the limit.
func (s *stage) allSteps(most int, all bool) {
	s.Helper()
	for round := 0; s.tally.acts < most && round < most; round++ {
		steps := s.program.steps(s)
		if all {
			steps = append(steps, s.commonSteps(round)...)
		}
		for _, p := range steps {
			s.act(p)
		}
		windows := s.windows()
		for _, p := range s.generated(cmp.Or(s.program.generatedActs, 6)) {
			s.act(p)
			s.closeOpened(windows)
		}
	}
}

// closeOpened closes, as a user would, windows that a generated act opened.
func (s *stage) closeOpened(windows []string) {
	s.Helper()
	for range 3 {
		open := slices.DeleteFunc(s.windows(), func(title string) bool { return slices.Contains(windows, title) })
		if len(open) == 0 || len(s.windows()) <= len(windows) {
			return
		}
		if s.isWayland() {
			s.escapes(open[0])
		} else {
			s.run("xdotool", "search", "--onlyvisible", "--name", "^"+regexp.QuoteMeta(open[0])+"$", "windowactivate", "--sync", "key", "Escape")
		}
		time.Sleep(refusalWait)
	}
}

// Without AAI_APPS=all, the limits are one program per toolkit, and few acts.
const (
	fewActs  = 8
	manyActs = 32
)

// TestActs lets agents operate real programs.
func TestActs(t *testing.T) {
	gateway, all, most := build(t), os.Getenv("AAI_APPS") == "all", fewActs
	if all {
		most = manyActs
	}
	only := os.Getenv("AAI_APPS_ONLY")
	var mu sync.Mutex
	var tallies []*actTally
	t.Run("of", func(t *testing.T) {
		for _, p := range programs() {
			if only != "" && only != p.name || !all && !p.inEveryRun {
				continue
			}
			t.Run(p.name, func(t *testing.T) {
				if all {
					t.Parallel() // they mostly wait, each on its own desktop
				}
				s := open(t, p, gateway)
				mu.Lock()
				tallies = append(tallies, s.tally)
				mu.Unlock()
				if all && p.inertElement != "" {
					s.clicksWithoutEffect()
				}
				s.allSteps(most, all)
			})
		}
	})
	report(t, tallies, all && only == "")
}

// generated returns acts on the elements that the witness sees: at most one of each element.
func (s *stage) generated(most int) []step {
	s.Helper()
	nodes := s.witness.tree(false)
	named := make(map[string]int)
	for _, n := range nodes {
		if n.name != "" && n.role != "label" {
			named[strings.ToLower(n.name)]++
		}
	}
	var steps []step
	misses := 0
	for _, n := range nodes {
		if n.name == "" || !n.is(sensitive) || s.program.isExit(n.name) || named[strings.ToLower(n.name)] > 1 {
			continue
		}
		if made, ok := s.generate(n); ok && (made.want != nil || named[strings.ToLower(made.args["query"].(string))] == 0) {
			if made.want == nil {
				misses++
			}
			if made.want == nil && misses > 2 {
				continue
			}
			steps = append(steps, made)
		}
	}
	s.random.Shuffle(len(steps), func(i, j int) { steps[i], steps[j] = steps[j], steps[i] })
	return steps[:min(most, len(steps))]
}

// generate returns an act on the element. Now and then its target is a similar name that does not
// exist on the screen.
func (s *stage) generate(n node) (step, bool) {
	click := func(kind string, wanted expectation) (step, bool) {
		if s.random.IntN(5) == 0 {
			return made("near miss", "ax_click", params{"query": s.near(n.name)}, nil), true
		}
		return made(kind, "ax_click", params{"query": n.name}, wanted), true
	}
	switch n.role {
	case "check box", "toggle button", "switch":
		if s.random.IntN(3) == 0 {
			return made("toggle", "ax_set_value", params{"query": n.name, "value": fmt.Sprint(!n.on())}, togglesMark(n)), true
		}
		return click("toggle", togglesMark(n))
	case "radio button":
		return click("radio", comesOn(n))
	case "page tab":
		return click("tab", comesOn(n))
	case "list item", "tree item", "table cell", "icon":
		return click("row", comesOn(n))
	case "push button":
		// The effect depends on the program; the test checks that no other element is pressed.
		return made("near miss", "ax_click", params{"query": s.near(n.name)}, nil), true
	case "text", "entry":
		if !n.is(editable) {
			return step{}, false
		}
		word := s.word()
		if s.random.IntN(2) == 0 {
			return made("field", "ax_set_value", params{"query": n.name, "value": word}, has(n.ref, word)), true
		}
		return made("field", "ax_type", params{"query": n.name, "text": word, "clear_first": true}, has(n.ref, word)), true
	case "spin button", "slider":
		value := 1 + s.random.IntN(9)
		return made("number", "ax_set_value", params{"query": n.name, "value": fmt.Sprint(value)}, counts(n.ref, float64(value))), true
	}
	return step{}, false
}

// near returns a similar name that has no element.
func (s *stage) near(name string) string {
	switch s.random.IntN(3) {
	case 0:
		return "Don't " + name
	case 1:
		return name + " all of it"
	}
	return "Un" + strings.ToLower(name)
}

func (s *stage) word() string {
	letters := []rune("abcdefgh ijklmnop qrstuvwxyzäöüß")
	var b strings.Builder
	b.WriteString("w")
	for range 4 + s.random.IntN(20) {
		b.WriteRune(letters[s.random.IntN(len(letters))])
	}
	return strings.Join(strings.Fields(b.String()), " ") + "w" // two spaces are a separate element in Writer's files
}

// isExit reports whether the element of that name ends or leaves the program.
func (p program) isExit(name string) bool {
	return slices.ContainsFunc(append([]string{"quit", "exit", "close"}, p.excludedNames...), func(part string) bool {
		return strings.Contains(strings.ToLower(name), part)
	})
}
