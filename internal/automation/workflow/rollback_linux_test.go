package workflow_test

import (
	"cmp"
	"flag"
	"fmt"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"testing"
	"time"

	godbus "github.com/godbus/dbus/v5"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"pgregory.net/rapid"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/policy"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// rollbackStand is the target of random workflows: two windows of different toolkits, and a
// service. Their state is read without the gateway: the windows record their own.
type rollbackStand struct {
	*world
	panes []pane
	look  func(name string) godbus.Variant
}

type pane struct {
	*linuxtest.Fixture
	app string
}

// onStand creates a stand. The environment sets the number of rounds.
func onStand(t *testing.T) *rollbackStand {
	t.Helper()
	s := &rollbackStand{world: newWorld(t)}
	s.answer = "session"
	many := policy.Limit{PerSecond: 1_000_000, PerMinute: 1_000_000, Concurrent: 20}
	s.Gates[0] = policy.NewLimits(map[policy.Kind]policy.Limit{policy.KindDeclared: many, policy.KindDesktop: many})
	_, s.look = onBoard(t, s.world)
	open := onDesktop(t, s.world)
	for _, kind := range []linuxtest.Kind{linuxtest.GTK3, linuxtest.Qt6} {
		f, app := open(kind)
		s.panes = append(s.panes, pane{f, app})
	}
	for name, value := range map[string]string{"rapid.checks": cmp.Or(os.Getenv("AAI_ROLLBACKS"), "4"), "rapid.shrinktime": "1ns"} {
		was := flag.Lookup(name).Value.String()
		assert.NilError(t, flag.Set(name, value))
		t.Cleanup(func() { _ = flag.Set(name, was) })
	}
	return s
}

// state returns the state of all targets, except for irreversible changes.
func (s *rollbackStand) state(t *testing.T) map[string]any {
	t.Helper()
	all := map[string]any{}
	for i := range boardValues {
		name := fmt.Sprintf("V%d", i)
		all[name] = s.look(name).String()
	}
	for _, p := range s.panes {
		state := p.State(t)
		for _, key := range []string{"name", "notes", "volume", "count", "colour", "agree"} {
			all[string(p.Kind)+" "+key] = state[key]
		}
	}
	return all
}

// presses returns the number of presses of the windows' buttons.
func (s *rollbackStand) presses(t *testing.T) (n float64) {
	t.Helper()
	for _, p := range s.panes {
		n += p.State(t)["presses"].(float64)
	}
	return n
}

// reversible returns a reversible step.
func (s *rollbackStand) reversible(t *rapid.T) documentObject {
	if which := rapid.IntRange(-1, len(s.panes)-1).Draw(t, "where"); which >= 0 {
		return s.panes[which].sets(t)
	}
	return s.property(t)
}

func (s *rollbackStand) property(t *rapid.T) documentObject {
	i := rapid.IntRange(0, boardValues-1).Draw(t, "property")
	return documentObject{"app": boardID, "tool": fmt.Sprintf("set_V%d", i), "args": documentObject{"to": valueFor(t, i)}}
}

// sets returns a step that sets something in the window.
func (p pane) sets(t *rapid.T) documentObject {
	text := rapid.StringMatching(`[a-zé]{1,8}`)
	number := rapid.Custom(func(t *rapid.T) string { return fmt.Sprint(rapid.IntRange(0, 100).Draw(t, "number")) })
	tool, args := "ax_set_value", documentObject{"app": p.app}
	set := func(query string, value *rapid.Generator[string]) {
		args["query"], args["value"] = query, value.Draw(t, query)
	}
	kinds := []string{"name", "notes", "volume", "count", "agree", "type", "fill", "click"}
	if p.Kind != linuxtest.Qt6 { // which sets no closed list in the background
		kinds = append(kinds, "colour")
	}
	switch rapid.SampledFrom(kinds).Draw(t, "what") {
	case "name":
		set(`textbox "Full name"`, text)
	case "notes":
		set("textbox Notes", text)
	case "volume":
		set("slider Volume", number)
	case "count":
		set("spinbutton Count", number)
	case "colour":
		set("combobox Colour", rapid.SampledFrom([]string{"Red", "Green", "Blue"}))
	case "agree":
		set("checkbox Agree", rapid.SampledFrom([]string{"true", "false"}))
	case "type":
		tool, args["query"], args["text"] = "ax_type", `textbox "Full name"`, text.Draw(t, "text")
	case "click":
		tool, args["query"] = "ax_click", "checkbox Agree"
	case "fill":
		tool, args["fields"] = "ax_fill", []any{
			documentObject{"query": `textbox "Full name"`, "value": text.Draw(t, "name")}, documentObject{"query": "slider Volume", "value": number.Draw(t, "volume")},
		}
	}
	return documentObject{"app": aai.DesktopApp, "tool": tool, "args": args}
}

// press returns an irreversible step.
func (s *rollbackStand) press(t *rapid.T) documentObject {
	p := s.panes[rapid.IntRange(0, len(s.panes)-1).Draw(t, "window")]
	return documentObject{"app": aai.DesktopApp, "tool": "ax_click", "args": documentObject{"app": p.app, "query": "button Press"}}
}

// fails returns a step that only fails.
func (s *rollbackStand) fails(t *rapid.T) documentObject {
	app := s.panes[0].app
	one := rapid.SampledFrom([]documentObject{
		{"app": boardID, "tool": fmt.Sprintf("get_V%d", boardValues), "args": documentObject{}},
		{"app": aai.DesktopApp, "tool": "ax_find", "args": documentObject{"app": app, "query": "no such thing"}},
		{"app": aai.DesktopApp, "tool": "ax_click", "args": documentObject{"app": app, "query": "button Disabled"}},
		step("get", documentObject{"name": "{{step_1.no.such.value}}"}),
	}).Draw(t, "failure")
	return maps.Clone(one)
}

// steps returns the steps of a random failing workflow, and the labels of the irreversible ones.
func (s *rollbackStand) steps(t *rapid.T) (all []any, lasting []string) {
	for n := range rapid.IntRange(1, 6).Draw(t, "steps") {
		switch rapid.SampledFrom([]string{"one", "one", "one", "press", "group"}).Draw(t, "kind") {
		case "press":
			all, lasting = append(all, s.press(t)), append(lasting, fmt.Sprintf("step %d (ax_click)", n+1))
		case "group":
			all = append(all, documentObject{"parallel": []any{s.panes[n%len(s.panes)].sets(t), s.press(t), s.property(t)}})
			lasting = append(lasting, fmt.Sprintf("step %d.2 (ax_click)", n+1))
		default:
			all = append(all, s.reversible(t))
		}
	}
	failing := s.fails(t)
	failing["on_fail"] = "rollback"
	return append(all, failing, s.press(t)), lasting // steps after it do not run
}

// named returns the steps that the report lists as not undone.
func named(report string) (steps []string) {
	for _, line := range regexp.MustCompile(`(?m)^not undone: (.*)$`).FindAllStringSubmatch(report, -1) {
		steps = append(steps, regexp.MustCompile(`step [\d.]+ \(\w+\)`).FindAllString(line[1], -1)...)
	}
	slices.Sort(steps)
	return steps
}

// At every failure of a workflow on real windows and a real bus, all reversible acts are undone,
// and all others are named. AAI_ROLLBACKS is the number of workflows.
func TestRollbackOfRandomWorkflows(t *testing.T) {
	s := onStand(t)
	rapid.Check(t, func(t2 *rapid.T) {
		was, pressed := s.state(t), s.presses(t)
		steps, lasting := s.steps(t2)
		_, err := s.does(t, steps...)
		assert.Assert(t2, is.ErrorContains(err, "rolled back: "), "it ended with %v", err)
		slices.Sort(lasting)
		got := named(err.Error())
		assert.Check(t2, slices.Equal(got, lasting), "of %v these are named: %q, expected %q\n%v", steps, got, lasting, err)
		// A window records its state a moment after a change.
		right := func() bool {
			return reflect.DeepEqual(s.state(t), was) && s.presses(t) == pressed+float64(len(lasting))
		}
		for end := time.Now().Add(time.Minute); !right() && time.Now().Before(end); {
			_ = aai.Sleep(t.Context(), 10*time.Millisecond)
		}
		if !right() {
			t2.Errorf("after %v\nit is  %v, pressed %v times,\nand was %v, pressed %v times\n%v", steps, s.state(t), s.presses(t), was, pressed, err)
		}
	})
}
