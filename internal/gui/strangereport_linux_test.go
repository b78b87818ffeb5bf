package gui_test

import (
	"encoding/json"
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway/internal/testkit/strange"
)

// follow does what the reply of a failure advises, in up to two calls, as an agent without own
// ideas. It reports whether there was advice, and whether it led to success.
func (s *strangeRun) follow(task strange.Task, p params, before strange.State, e end) (followed, led bool) {
	s.Helper()
	for range 2 {
		tool, next, prepares := advised(task.Tool, p, e)
		if tool == "" {
			return followed, false
		}
		followed = true
		if e = s.call(tool, next); prepares {
			s.trail += "\n\tadvised: " + e.call + ": " + e.text
			if e.advice = ""; next["mode"] != nil {
				p = maps.Clone(p)
				p["mode"] = next["mode"]
			}
			continue
		}
		verdict, why := s.judge(task, before, e)
		s.trail += fmt.Sprintf("\n\tadvised: %s: %s: %s %s", e.call, e.text, verdict, why)
		if verdict.IsRight() {
			return true, true
		}
		p = next
	}
	if p["mode"] == "focus" { // a list that stays open would keep the pointer from the next windows
		s.call("ax_key_press", params{"key": "escape", "mode": "focus"})
	}
	return followed, false
}

// followStep does what the reply to a refused step advises, once, and returns the last end.
func (s *strangeRun) followStep(tool string, p params, e end) end {
	s.Helper()
	tool, next, _ := advised(tool, p, e)
	if tool == "" {
		return e
	}
	after := s.call(tool, next)
	if s.tally.Followed++; after.failure != nil {
		return e
	}
	s.tally.Led++
	return after
}

// advised returns the call that the reply of the call names: the same call with a candidate's ref or
// in another mode, or one that prepares it. next is "" if it names none.
func advised(tool string, p params, e end) (next string, with params, prepares bool) {
	query, _ := p["query"].(string)
	with = maps.Clone(p)
	if p["value"] == nil && p["text"] != nil {
		p = maps.Clone(p)
		p["value"] = p["text"]
	}
	refs := regexp.MustCompile(`\be\d+\b`)
	if e.failure != nil && len(e.failure.Candidates) > 0 {
		fits := slices.DeleteFunc(slices.Clone(e.failure.Candidates), func(c string) bool {
			return !strings.Contains(strings.ToLower(c), strings.ToLower(query))
		})
		if len(fits) == 0 {
			fits = e.failure.Candidates
		}
		with["query"] = refs.FindString(fits[0])
		return tool, with, false
	}
	has := func(words ...string) bool {
		return !slices.ContainsFunc(words, func(word string) bool { return !strings.Contains(e.advice, word) })
	}
	switch {
	case e.advice == "": // the call before prepared this one
		if p["mode"] == "focus" && p["value"] != nil { // a list was opened for this option
			return "ax_click", params{"query": p["value"], "mode": "focus"}, false
		}
		return tool, with, false
	case has(`Open it by ax_click with mode "focus"`, "option") && p["value"] != nil:
		return "ax_click", params{"query": query, "mode": "focus"}, true
	case has("ax_type with submit writes there by keys"):
		return "ax_type", params{"query": query, "text": p["value"], "submit": true}, false
	case has(`mode "focus"`) && p["mode"] == nil && tool == "ax_set_value":
		if p["value"] == "true" || p["value"] == "false" {
			return "ax_click", params{"query": query, "mode": "focus"}, false
		}
		return "ax_type", params{"query": query, "text": p["value"], "clear_first": true, "mode": "focus"}, false
	case has(`mode "focus"`) && p["mode"] == nil:
		with["mode"] = "focus"
		return tool, with, false
	case has("ax_scroll", "to_view"), has("ax_scroll brings it into view"):
		return "ax_scroll", params{"query": query, "to_view": true}, true
	case has("Open it by ax_click, then click the option"):
		return "ax_click", params{"query": query}, true
	case has("ask again"), has("Try again"), has("call again"):
		return tool, with, false
	}
	return "", nil, false
}

// strangeTally counts the verdicts of a toolkit.
type strangeTally struct {
	Toolkit  strange.Toolkit                          `json:"toolkit"`
	Seed     uint64                                   `json:"seed"`
	Windows  int                                      `json:"windows"`
	Seconds  float64                                  `json:"seconds"`
	Kinds    map[strange.Kind]map[strange.Verdict]int `json:"kinds"`
	ByRef    map[strange.Verdict]int                  `json:"by_ref"`
	Followed int                                      `json:"hints_followed"`
	Led      int                                      `json:"hints_led_on"`
	begun    time.Time
}

func newStrangeTally() *strangeTally {
	return &strangeTally{begun: time.Now(), Kinds: make(map[strange.Kind]map[strange.Verdict]int), ByRef: make(map[strange.Verdict]int)}
}

func (c *strangeTally) count(o outcome) {
	if c.Kinds[o.kind] == nil {
		c.Kinds[o.kind] = make(map[strange.Verdict]int)
	}
	c.Kinds[o.kind][o.verdict]++
	if o.byRef {
		c.ByRef[o.verdict]++
	}
	if o.followed {
		c.Followed++
	}
	if o.led {
		c.Led++
	}
}

// strangeFloor is the share of tasks, in percent, that must be right at the first try.
const strangeFloor = 55

// report prints the verdicts by kind of control as a table, and all of it as a line of JSON. Wrong
// elements and false successes fail the test, and too few right tasks.
func (c *strangeTally) report(t *testing.T, toolkit strange.Toolkit, seed uint64, windows int) {
	t.Helper()
	c.Toolkit, c.Seed, c.Seconds = toolkit, seed, time.Since(c.begun).Seconds()
	total, tasks := make(map[strange.Verdict]int), 0
	table := new(strings.Builder)
	line := func(name string, counts map[strange.Verdict]int) {
		sum := 0
		for _, n := range counts {
			sum += n
		}
		fmt.Fprintf(table, "%-12s %5d", name, sum)
		for _, v := range strange.Verdicts() {
			fmt.Fprintf(table, " %7d", counts[v])
		}
		table.WriteByte('\n')
	}
	fmt.Fprintf(table, "%-12s %5s", toolkit, "tasks")
	for _, title := range []string{"right", "unseen", "refused", "stale", "void", "partial", "f.fail", "f.succ", "wrong"} {
		fmt.Fprintf(table, " %7s", title)
	}
	table.WriteByte('\n')
	for _, kind := range slices.Sorted(maps.Keys(c.Kinds)) {
		line(string(kind), c.Kinds[kind])
		for v, n := range c.Kinds[kind] {
			total[v] += n
			tasks += n
		}
	}
	line("all", total)
	line("by ref", c.ByRef)
	right := total[strange.Right] + total[strange.NothingSeen]
	text, err := json.Marshal(c)
	assert.NilError(t, err)
	t.Logf("%d windows\n%sright at the first try: %d of %d; advice led on: %d of %d\n%s", windows, table, right, tasks, c.Led, c.Followed, text)
	assert.Check(t, 100*right >= strangeFloor*tasks, "only %d of %d tasks are right; want %d %%", right, tasks, strangeFloor)
	for _, v := range []strange.Verdict{strange.WrongElement, strange.FalseSuccess} {
		assert.Check(t, total[v] <= 0, "%d tasks: %s", total[v], v)
	}
}
