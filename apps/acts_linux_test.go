package apps

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"
	"time"
)

// A scene is what others than us see at a moment.
type scene struct {
	nodes   map[ref]node
	windows []string
	paper   string // what the page says of itself
}

// A step is an act, and what must be so after it.
type step struct {
	kind string // of act
	tool string
	args params
	// want says whether the effect is there. nil: nothing may come of it, and it must be
	// refused.
	want func(before, after scene) bool
	// in is a part of the title of the dialog that it is about: without that dialog it is left out.
	in string
}

func (p step) String() string { return fmt.Sprintf("%s %v", p.tool, p.args) }

func (s *stage) scene() scene {
	s.Helper()
	now := scene{nodes: make(map[ref]node), windows: s.windows()}
	for _, n := range s.witness.tree(false) {
		now.nodes[n.ref] = n
	}
	if s.page != nil {
		now.paper = s.page.said()
	}
	return now
}

// what tells what is otherwise now, of what people do: marks, texts, windows, the page.
func (before scene) what(after scene) (changes []string) {
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
	if before.paper != after.paper {
		changes = append(changes, "the page says "+after.paper)
	}
	if !slices.Equal(before.windows, after.windows) {
		changes = append(changes, fmt.Sprintf("windows %q, were %q", after.windows, before.windows))
	}
	slices.Sort(changes)
	return changes
}

// holds reports whether it is on for something in it only.
func (n node) holds() bool {
	return slices.Contains([]string{"menu", "menu bar", "frame", "document text", "document spreadsheet"}, n.role)
}

// marks reports whether people set its number.
func (n node) marks() bool { return n.role == "slider" || n.role == "spin button" }

// act makes the act, and judges what was said of it by what has come of it.
func (s *stage) act(p step) {
	s.Helper()
	before := s.scene()
	if p.in != "" && titled(before, p.in) == 0 {
		return
	}
	said := s.call(p.tool, p.args)
	if said.Failed && said.refused() && p.args["mode"] == nil && p.want != nil && p.tool != "ax_set_value" {
		// As an agent would: with the person's own pointer and keyboard.
		s.tally.focus++
		p.args = maps.Clone(p.args)
		p.args["mode"] = "focus"
		said = s.call(p.tool, p.args)
	}
	after := s.scene()
	done := p.want != nil && p.want(before, after)
	for end := time.Now().Add(s.waits(p, said)); !done && time.Now().Before(end); time.Sleep(look) {
		after = s.scene()
		done = p.want != nil && p.want(before, after)
	}
	s.judge(p, said, done, before.what(after))
}

// waits is how long to look for an effect: also what was refused may have happened.
func (s *stage) waits(p step, said reply) time.Duration {
	if p.want == nil || said.refused() {
		return rest
	}
	return late
}

// A tally counts what was wrong with the acts on a program.
type tally struct {
	program, toolkit                             string
	acts, done, refused, unsure, focus           int
	target, falseSuccess, falseFailure, textLost int
}

func (s *stage) judge(p step, said reply, done bool, changes []string) {
	s.Helper()
	t, fault := s.tally, ""
	t.acts++
	switch {
	case p.want == nil && len(changes) > 0:
		t.target, fault = t.target+1, "wrong target"
	case p.want == nil && !said.Failed:
		t.falseSuccess, fault = t.falseSuccess+1, "false success"
	case p.want == nil:
		t.done++
	case done && said.Failed:
		t.falseFailure, fault = t.falseFailure+1, "false failure"
	case done && !said.Result.Verified:
		t.unsure, fault = t.unsure+1, "done, but said to be unsure"
	case done:
		t.done++
	case s.foreign(p, changes):
		t.target, fault = t.target+1, "wrong target"
	case said.Result.Verified:
		t.falseSuccess, fault = t.falseSuccess+1, "false success"
	default:
		t.refused, fault = t.refused+1, "not done, and said so"
	}
	if fault != "" {
		s.Logf("%s: %s: %s\n  said: failed %v %s %s verified %v: %.700s\n  true: %q", s.program.name, fault, p, said.Failed, said.Code, said.Delivery, said.Result.Verified, said.Text, changes)
	}
	if os.Getenv("AAI_APPS_SAY") != "" {
		s.Logf("%s: %s: verified %v: %q", s.program.name, p, said.Result.Verified, changes)
	}
}

// foreign reports whether something else than what was named has been acted on.
func (s *stage) foreign(p step, changes []string) bool {
	return len(changes) > 0 && slices.Contains([]string{"toggle", "radio", "tab", "row", "field", "number"}, p.kind)
}

// What is wanted of an act.

func flips(n node) func(before, after scene) bool {
	return func(_, after scene) bool { return after.marked(n, !n.on()) }
}

func comesOn(n node) func(before, after scene) bool {
	return func(_, after scene) bool { return after.marked(n, true) }
}

// marked reports whether the element is on, or off. Qt gives rows other numbers every so
// often, and then the one of its name is meant.
func (s scene) marked(n node, on bool) bool {
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

func has(r ref, text string) func(before, after scene) bool {
	return func(_, after scene) bool { return strings.TrimSuffix(after.nodes[r].text, "\n") == text }
}

func counts(r ref, value float64) func(before, after scene) bool {
	return func(_, after scene) bool { return after.nodes[r].value == value }
}

// opens wants a window whose title has the part.
func opens(part string) func(before, after scene) bool {
	return func(before, after scene) bool { return titled(after, part) > titled(before, part) }
}

// closes wants that a window with the part in its title has gone.
func closes(part string) func(before, after scene) bool {
	return func(before, after scene) bool { return titled(after, part) < titled(before, part) }
}

func titled(s scene, part string) (n int) {
	for _, title := range s.windows {
		if strings.Contains(title, part) {
			n++
		}
	}
	return n
}

// shows wants that something of this role shows, with the text as its name or in it; without
// a role, anything but a button that is called so.
func shows(role, text string) func(before, after scene) bool {
	return func(_, after scene) bool {
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

// keeps wants the text in a file.
func keeps(file, text string) func(before, after scene) bool {
	return func(scene, scene) bool {
		b, err := os.ReadFile(file)
		return err == nil && strings.ReplaceAll(string(b), "\n", "") == text
	}
}

// onDisk wants that there is such a file, or none.
func onDisk(file string, there bool) func(before, after scene) bool {
	return func(scene, scene) bool {
		_, err := os.Stat(file)
		return (err == nil) == there
	}
}

// generated are acts on what the witness sees on the screen: at most one of each element.
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
	for _, n := range nodes {
		if n.name == "" || !n.is(sensitive) || s.program.leaves(n.name) || named[strings.ToLower(n.name)] > 1 {
			continue
		}
		if made, ok := s.generate(n); ok {
			steps = append(steps, made)
		}
	}
	s.random.Shuffle(len(steps), func(i, j int) { steps[i], steps[j] = steps[j], steps[i] })
	return steps[:min(most, len(steps))]
}

// generate is an act on the element. Now and then it is one that means nothing on the
// screen: a name that is only like this one.
func (s *stage) generate(n node) (step, bool) {
	click := func(kind string, want func(before, after scene) bool) (step, bool) {
		if s.random.IntN(5) == 0 {
			return step{"near miss", "ax_click", params{"query": s.near(n.name)}, nil, ""}, true
		}
		return step{kind, "ax_click", params{"query": n.name}, want, ""}, true
	}
	switch n.role {
	case "check box", "toggle button", "switch":
		if s.random.IntN(3) == 0 {
			return step{"toggle", "ax_set_value", params{"query": n.name, "value": fmt.Sprint(!n.on())}, flips(n), ""}, true
		}
		return click("toggle", flips(n))
	case "radio button":
		return click("radio", comesOn(n))
	case "page tab":
		return click("tab", comesOn(n))
	case "list item", "tree item", "table cell", "icon":
		return click("row", comesOn(n))
	case "push button":
		// What it does is the program's matter; that nothing but it is pressed is ours.
		return step{"near miss", "ax_click", params{"query": s.near(n.name)}, nil, ""}, true
	case "text", "entry":
		if !n.is(editable) {
			return step{}, false
		}
		word := s.word()
		if s.random.IntN(2) == 0 {
			return step{"field", "ax_set_value", params{"query": n.name, "value": word}, has(n.ref, word), ""}, true
		}
		return step{"field", "ax_type", params{"query": n.name, "text": word, "clear_first": true}, has(n.ref, word), ""}, true
	case "spin button", "slider":
		value := 1 + s.random.IntN(9)
		return step{"number", "ax_set_value", params{"query": n.name, "value": fmt.Sprint(value)}, counts(n.ref, float64(value)), ""}, true
	}
	return step{}, false
}

// near is a name that is like another and means something else.
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
	return b.String() + "w"
}

// leaves reports whether what has the name ends the program or leads out of it.
func (p program) leaves(name string) bool {
	return slices.ContainsFunc(append([]string{"quit", "exit", "close"}, p.not...), func(part string) bool {
		return strings.Contains(strings.ToLower(name), part)
	})
}

// everything is what is played on the stage: the program's own scenes, and what its
// screen offers between them.
func (s *stage) everything(most int) {
	s.Helper()
	for round := 0; s.tally.acts < most && round < most; round++ {
		for _, p := range s.program.plays(s) {
			s.act(p)
		}
		for _, p := range s.generated(cmp.Or(s.program.some, 6)) {
			s.act(p)
		}
	}
}

// TestActs lets agents operate real programs. Without AAI_APPS=all it is one a toolkit,
// and few acts.
func TestActs(t *testing.T) {
	gateway, all, most := build(t), os.Getenv("AAI_APPS") == "all", 8
	if all {
		most = 30
	}
	var tallies []*tally
	for _, p := range programs() {
		if only := os.Getenv("AAI_APPS_ONLY"); only != "" && only != p.name || !all && !p.usual {
			continue
		}
		t.Run(p.name, func(t *testing.T) {
			s := open(t, p, gateway)
			tallies = append(tallies, s.tally)
			s.everything(most)
		})
	}
	const row = "%-18s %-12s %5v %5v %6v %7v %7v %7v %8v %8v %5v\n"
	var b strings.Builder
	fmt.Fprintf(&b, row, "program", "toolkit", "acts", "done", "focus", "refused", "unsure", "target", "success", "failure", "text")
	sum := &tally{program: "in all"}
	for _, c := range append(tallies, sum) {
		fmt.Fprintf(&b, row, c.program, c.toolkit, c.acts, c.done, c.focus, c.refused, c.unsure, c.target, c.falseSuccess, c.falseFailure, c.textLost)
		sum.add(c)
	}
	fmt.Println(b.String())
	if wrong := sum.target + sum.falseSuccess + sum.falseFailure + sum.textLost; wrong > 0 || sum.acts == 0 {
		t.Errorf("%d of %d acts were wrong: on another target, said to have succeeded or failed and had not, or text was lost", wrong, sum.acts)
	}
}

func (t *tally) add(o *tally) {
	if t == o {
		return
	}
	t.acts, t.done, t.refused, t.unsure, t.focus = t.acts+o.acts, t.done+o.done, t.refused+o.refused, t.unsure+o.unsure, t.focus+o.focus
	t.target, t.falseSuccess, t.falseFailure, t.textLost = t.target+o.target, t.falseSuccess+o.falseSuccess, t.falseFailure+o.falseFailure, t.textLost+o.textLost
}
