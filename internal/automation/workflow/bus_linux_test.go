package workflow_test

import (
	"context"
	"fmt"
	"strings"
	"sync"
	"testing"

	godbus "github.com/godbus/dbus/v5"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"
	"pgregory.net/rapid"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/drivers/dbus"
	"github.com/gybob/aai-gateway/internal/policy"
	"github.com/gybob/aai-gateway/internal/schema"
	"github.com/gybob/aai-gateway/internal/testkit"
)

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
