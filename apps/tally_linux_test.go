package apps

import (
	"cmp"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
)

// actTally counts the faults of the acts on a program.
type actTally struct {
	program, toolkit                             string
	kinds                                        map[string]int
	acts, done, refused, unsure, focus           int
	target, falseSuccess, falseFailure, textLost int
}

func (s *stage) judge(p step, said reply, done bool, changes []string) {
	s.Helper()
	t, fault := s.tally, ""
	t.acts++
	t.kinds[p.kind]++
	sure := said.isVerified()
	switch {
	case p.want == nil && len(changes) > 0:
		t.target, fault = t.target+1, "wrong target"
	case p.want == nil && !said.Failed:
		t.falseSuccess, fault = t.falseSuccess+1, "false success"
	case p.want == nil:
		t.done++
	case done && said.Failed && said.Code == "TIMEOUT" && said.Delivery == "delivered":
		t.unsure, fault = t.unsure+1, "done, but said to be unsure"
	case done && said.Failed:
		t.falseFailure, fault = t.falseFailure+1, "false failure"
	case done && !sure:
		t.unsure, fault = t.unsure+1, "done, but said to be unsure"
	case done:
		t.done++
	case s.foreign(p, changes):
		t.target, fault = t.target+1, "wrong target"
	case sure:
		t.falseSuccess, fault = t.falseSuccess+1, "false success"
	default:
		t.refused, fault = t.refused+1, "not done, and said so"
	}
	if fault != "" {
		s.Logf("%s: %s: %s\n  said: failed %v %s %s verified %v: %.700s\n  true: %q", s.program.name, fault, p, said.Failed, said.Code, said.Delivery, sure, said.Text, changes)
	}
	if os.Getenv("AAI_APPS_SAY") != "" {
		s.Logf("%s: %s: verified %v: %q", s.program.name, p, sure, changes)
	}
}

// foreign reports whether an unnamed element was acted on.
func (s *stage) foreign(p step, changes []string) bool {
	return len(changes) > 0 && slices.Contains([]string{"toggle", "radio", "tab", "row", "field", "number"}, p.kind)
}

func (t *actTally) add(o *actTally) {
	for kind, n := range o.kinds {
		t.kinds[kind] += n
	}
	t.acts, t.done, t.refused, t.unsure, t.focus = t.acts+o.acts, t.done+o.done, t.refused+o.refused, t.unsure+o.unsure, t.focus+o.focus
	t.target, t.falseSuccess, t.falseFailure, t.textLost = t.target+o.target, t.falseSuccess+o.falseSuccess, t.falseFailure+o.falseFailure, t.textLost+o.textLost
}

// Minimum numbers of a full run.
const (
	wantedActs     = 300
	wantedPrograms = 10
	wantedToolkits = 5
	wantedKinds    = 15
)

// report prints the results of all acts. It fails if one was wrong, if most had no effect, or if a
// full run was smaller than required.
func report(t *testing.T, tallies []*actTally, whole bool) {
	t.Helper()
	slices.SortFunc(tallies, func(a, b *actTally) int {
		return cmp.Or(cmp.Compare(a.toolkit, b.toolkit), cmp.Compare(a.program, b.program))
	})
	const row = "%-18s %-12s %5v %5v %6v %8v %7v %14v %16v %15v %10v\n"
	var b strings.Builder
	fmt.Fprintf(&b, row, "program", "toolkit", "acts", "done", "unsure", "not done", "focus", "wrong targets", "false successes", "false failures", "text lost")
	sum, toolkits := &actTally{program: "in all", kinds: make(map[string]int)}, make(map[string]bool)
	for _, c := range tallies {
		sum.add(c)
		toolkits[c.toolkit] = true
	}
	for _, c := range append(tallies, sum) {
		fmt.Fprintf(&b, row, c.program, c.toolkit, c.acts, c.done, c.unsure, c.refused, c.focus, c.target, c.falseSuccess, c.falseFailure, c.textLost)
	}
	for _, kind := range slices.Sorted(maps.Keys(sum.kinds)) {
		fmt.Fprintf(&b, "%s %d; ", kind, sum.kinds[kind])
	}
	fmt.Println(b.String())
	if wrong := sum.target + sum.falseSuccess + sum.falseFailure + sum.textLost; wrong > 0 || sum.acts == 0 {
		t.Errorf("%d of %d acts were wrong: on another target, said to have succeeded or failed and had not, or text was lost", wrong, sum.acts)
	}
	assert.Check(t, sum.done+sum.unsure >= sum.acts*3/4, "of %d acts %d were done: too few to say anything", sum.acts, sum.done+sum.unsure)
	if whole && (sum.acts < wantedActs || len(tallies) < wantedPrograms || len(toolkits) < wantedToolkits || len(sum.kinds) < wantedKinds) {
		t.Errorf("%d acts of %d kinds on %d programs of %d toolkits; expected %d, %d, %d, %d", sum.acts, len(sum.kinds), len(tallies), len(toolkits), wantedActs, wantedKinds, wantedPrograms, wantedToolkits)
	}
}
