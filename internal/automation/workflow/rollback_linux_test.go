package workflow_test

import (
	"cmp"
	"context"
	"flag"
	"fmt"
	"maps"
	"os"
	"reflect"
	"regexp"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	godbus "github.com/godbus/dbus/v5"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"pgregory.net/rapid"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/drivers/dbus"
	"github.com/gybob/aai-gateway/internal/policy"
	"github.com/gybob/aai-gateway/internal/schema"
	"github.com/gybob/aai-gateway/internal/testkit"
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

const (
	boardID     = "org.example.Board"
	boardValues = 5
)

// board is a service on a real bus with properties of several types.
type board struct {
	mu     sync.Mutex
	values map[string]godbus.Variant
}

func (b *board) Get(_, name string) (godbus.Variant, *godbus.Error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	value, ok := b.values[name]
	if !ok {
		return value, godbus.NewError("org.example.No", []any{"no such property"})
	}
	return value, nil
}

func (b *board) Set(_, name string, value godbus.Variant) *godbus.Error {
	b.mu.Lock()
	defer b.mu.Unlock()
	if b.values[name].Signature() != value.Signature() {
		return godbus.NewError("org.example.No", []any{"another type"})
	}
	b.values[name] = value
	return nil
}

// onBoard adds an app whose tools set and get the properties of a real service. look reads a
// property with another client on another connection.
func onBoard(t *testing.T, w *world) (b *board, look func(name string) godbus.Variant) {
	t.Helper()
	bus := testkit.StartBus(t)
	b = &board{values: map[string]godbus.Variant{"V0": godbus.MakeVariant("zero"), "V1": godbus.MakeVariant(byte(1)), "V2": godbus.MakeVariant(2.5), "V3": godbus.MakeVariant([]string{"a", "b"}), "V4": godbus.MakeVariant(map[string]string{"old": "1"})}}
	assert.NilError(t, testkit.ServeOnBus(t, bus, boardID).Conn.Export(b, testkit.OpaqueServicePath, "org.freedesktop.DBus.Properties"))
	d := dbus.New(dbus.Config{Getenv: bus.Getenv})
	t.Cleanup(func() { _ = d.Close() })
	app := &aai.App{ID: boardID, Name: "Board", Digest: "b"}
	for _, access := range []string{"get", "set"} {
		for i := range boardValues + 1 { // the last does not exist
			app.Tools = append(app.Tools, boardTool(t, d, access, fmt.Sprintf("V%d", i)))
		}
	}
	w.apps = append(w.apps, app)
	object := bus.Connect(t).Object(boardID, testkit.OpaqueServicePath)
	return b, func(name string) (value godbus.Variant) {
		assert.NilError(t, object.Call("org.freedesktop.DBus.Properties.Get", 0, testkit.ServiceInterface, name).Store(&value))
		return value
	}
}

func boardTool(t *testing.T, d *dbus.Driver, access, name string) *aai.Tool {
	t.Helper()
	recipe := &aai.Recipe{
		Platform: "linux", App: boardID, Tool: access + "_" + name, Reversible: true,
		DBus: &aai.DBusRecipe{Bus: "session", Service: boardID, Object: testkit.OpaqueServicePath, Interface: testkit.ServiceInterface, Property: name, Access: access},
	}
	tool := &aai.Tool{Name: recipe.Tool, Effect: aai.Reads, Assess: aai.Always(aai.Assessment{EffectInherent: access == "get"}), Params: schema.MustParse(`{"type": "object", "properties": {}}`)}
	if access == "set" {
		recipe.Params = []string{"to"}
		tool.Effect, tool.Params = aai.Changes, schema.MustParse(`{"type": "object", "properties": {"to": {}}, "required": ["to"]}`)
	}
	var err error
	tool.Run, err = d.Compile(recipe)
	assert.NilError(t, err)
	return tool
}

// valueFor returns a value of the property's type.
func valueFor(t *rapid.T, i int) any {
	switch i {
	case 0:
		return rapid.StringMatching(`[ -~]{0,12}`).Filter(func(s string) bool { return !strings.Contains(s, "{{") }).Draw(t, "text")
	case 1:
		return rapid.IntRange(0, 255).Draw(t, "byte")
	case 2:
		return rapid.Float64Range(-9, 9).Draw(t, "double")
	case 4:
		return rapid.MapOfN(rapid.StringMatching(`[a-z]`), rapid.StringMatching(`[a-z]{0,3}`).AsAny(), 0, 1).Draw(t, "dict")
	}
	return []any{rapid.StringMatching(`[a-z]{0,3}`).Draw(t, "item")}
}

// At every failure of a workflow on a real bus, the rollback restores all properties, as another
// client confirms; irreversible acts are named.
func TestRollbackOnABus(t *testing.T) {
	w := newWorld(t)
	w.answer = "session"
	w.Gates[0] = policy.NewLimits(map[policy.Kind]policy.Limit{policy.KindDeclared: {PerSecond: 1_000_000, PerMinute: 1_000_000, Concurrent: 10}})
	_, look := onBoard(t, w)
	w.apps[1].Tool("burn").Run = func(context.Context, *aai.Call) (*aai.Result, error) { return &aai.Result{}, nil }
	rapid.Check(t, func(t2 *rapid.T) {
		before := map[string]string{}
		for i := range boardValues {
			name := fmt.Sprintf("V%d", i)
			before[name] = look(name).String()
		}
		var all []any
		sets, burns := 0, 0
		for range rapid.IntRange(1, 6).Draw(t2, "steps") {
			i := rapid.IntRange(0, boardValues-1).Draw(t2, "which")
			one := documentObject{"app": boardID, "tool": fmt.Sprintf("set_V%d", i), "args": documentObject{"to": valueFor(t2, i)}}
			switch rapid.SampledFrom([]string{"set", "group", "each", "burn"}).Draw(t2, "kind") {
			case "burn":
				burns++
				one = step("burn", documentObject{"name": "x"})
			case "group":
				sets++
				one = documentObject{"parallel": []any{one, documentObject{"app": boardID, "tool": "get_V0", "args": documentObject{}}}}
			case "each":
				sets += 2
				one["args"], one["for_each"] = documentObject{"to": "{{item}}"}, []any{valueFor(t2, i), valueFor(t2, i)}
			default:
				sets++
			}
			all = append(all, one)
		}
		all = append(all, documentObject{"app": boardID, "tool": fmt.Sprintf("get_V%d", boardValues), "args": documentObject{}, "on_fail": "rollback"})
		_, err := w.does(t, all...)
		assert.Assert(t2, err != nil, "it did not fail")
		for name, was := range before {
			if is := look(name).String(); is != was {
				t2.Errorf("%s is %s, and was %s: %v", name, is, was, err)
			}
		}
		assert.Assert(t2, is.ErrorContains(err, fmt.Sprintf("rolled back: %s undone", times(sets))), "%d", sets)
		assert.Equal(t2, strings.Count(err.Error(), "(burn)"), burns, "%d", sets)
	})
}

// TestRollbackKeepsNewerWork: the rollback keeps a member that another client added to a dict
// after the workflow set it, also to an empty one.
func TestRollbackKeepsNewerWork(t *testing.T) {
	for name, set := range map[string]map[string]any{"an empty dict": {}, "a dict": {"a": "1"}} {
		t.Run(name, func(t *testing.T) {
			w := newWorld(t)
			w.answer = "session"
			b, look := onBoard(t, w)
			newer := godbus.MakeVariant(map[string]string{"letter": "an hour of work"})
			if len(set) > 0 {
				newer = godbus.MakeVariant(map[string]string{"a": "1", "letter": "an hour of work"})
			}
			w.apps[1].Tool("burn").Run = func(context.Context, *aai.Call) (*aai.Result, error) {
				_ = b.Set("", "V4", newer)
				return nil, aai.Errorf(aai.AutomationFailed, "it burnt")
			}
			_, err := w.does(t,
				documentObject{"app": boardID, "tool": "set_V4", "args": documentObject{"to": set}},
				step("burn", documentObject{"name": "x"}, "on_fail", "rollback"))
			assert.Check(t, is.ErrorContains(err, "letter is new"), "it says %v", err)
			if is := look("V4").String(); is != newer.String() {
				t.Errorf("the dict is %s, want %s", is, newer)
			}
		})
	}
}

func times(n int) string {
	if n == 1 {
		return "1 act"
	}
	return fmt.Sprintf("%d acts", n)
}
