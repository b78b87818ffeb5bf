package recording_test

import (
	"context"
	"encoding/json"
	"reflect"
	"strings"
	"sync"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/automation/recorded"
	"github.com/gybob/aai-gateway/internal/automation/workflow"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gateway"
	"github.com/gybob/aai-gateway/internal/gui"
)

// desk is a catalog with the desktop alone.
type desk struct{ app *aai.App }

func (d desk) Apps() []*aai.App { return []*aai.App{d.app} }
func (d desk) Find(_ context.Context, name string) (*aai.App, error) {
	if name != d.app.ID {
		return nil, aai.Errorf(aai.AppNotFound, "no app %s", name)
	}
	return d.app, nil
}
func (d desk) OnChange(func()) func() { return func() {} }

// admitAll admits each call, and keeps the elements that it was asked about.
type admitAll struct {
	mu   sync.Mutex
	hits []string
}

func (g *admitAll) Check(ctx context.Context, r *aai.Request) ([]aai.Question, error) {
	hit := r.ResolveTarget(ctx)
	g.mu.Lock()
	defer g.mu.Unlock()
	g.hits = append(g.hits, r.Tool.Name+" "+hit.Name)
	return nil, nil
}

// journal keeps the lines of the journal as text.
type journal struct {
	mu    sync.Mutex
	lines string
}

func (j *journal) Record(_ context.Context, e *aai.Entry) error {
	b, err := json.Marshal(e)
	j.mu.Lock()
	defer j.mu.Unlock()
	j.lines += string(b) + "\n"
	return err
}

// gateway returns a gateway with the real tools.
func (w *world) gateway() (*gateway.Gateway, *admitAll, *journal) {
	gate, kept := &admitAll{}, &journal{}
	g := &gateway.Gateway{Gates: []aai.Gate{gate}, Journal: kept}
	flows := workflow.Config{Gateway: func() *gateway.Gateway { return g }}
	g.Catalog = desk{gui.New(gui.Config{Open: func() desktop.Backend { return w.backend }, ExtraTools: flows.DesktopTools()})}
	return g, gate, kept
}

// replay does the steps again.
func (w *world) replay(steps []recorded.Step) (*aai.Result, error) {
	w.Helper()
	value, err := aai.ToJSONValue(steps)
	assert.NilError(w, err)
	g, _, _ := w.gateway()
	return g.Do(w.Context(), &aai.Call{Caller: aai.Caller{Door: aai.DoorMCP, Session: "s"}, App: aai.DesktopApp, Tool: workflow.DesktopToolName, Args: map[string]any{"steps": value}})
}

// A task is something that a person does in a form, and the state that it leaves.
type task struct {
	name string
	do   func(person)
	want map[string]any
	// changed is the outcome where elements have moved or have other names: found by the query as before, healed or stopped.
	changed string
}

// A program is one with tasks.
type program struct {
	name  string
	open  func(w *world, version string) person
	tasks []task
}

func programs() []program {
	return []program{
		{"GTK 3", func(w *world, version string) person { return w.orders(version) }, orderTasks()},
		{"Qt 6", func(w *world, version string) person {
			return w.script("tickets.py", `role:button name:"Book trip"`, version)
		}, ticketTasks()},
		{"Chromium", (*world).visit, visitTasks()},
	}
}

func orderTasks() []task {
	return []task{
		{"two texts", func(p person) {
			p.click(`role:textbox name:"Customer name"`)
			p.types("Ada Lovelace")
			p.press("Tab")
			p.focused(`role:textbox name:City`)
			p.types("Paris")
			p.press("Return")
		}, map[string]any{"customer": "Ada Lovelace", "city": "Paris", "entered": "city"}, "healed"},
		{"corrected text", func(p person) {
			p.click(`role:textbox name:City`)
			p.types("Rome")
			p.press("BackSpace", "BackSpace", "BackSpace", "BackSpace")
			p.types("Oslo")
		}, map[string]any{"city": "Oslo"}, "found"},
		{"check box and radio", func(p person) {
			p.click(`role:checkbox name:"Wrap as gift"`)
			p.click(`role:radio name:"Pay later"`)
		}, map[string]any{"gift": true, "later": true}, "healed"},
		{"combo box", func(p person) {
			p.click(`role:combobox`)
			p.click(`role:menuitem name:Courier`)
		}, map[string]any{"shipping": "Courier"}, "found"},
		{"menu", func(p person) {
			p.click(`//menubar/*[@name='File']`)
			p.click(`role:menuitem name:Archive`)
		}, map[string]any{"menu": "Archive"}, "found"},
		{"menu by keys", func(p person) {
			p.click(`role:textbox name:Notes`)
			p.types("two boxes")
			p.click(`//menubar/*[@name='View']`)
			p.press("Down")
			p.until("the item", func() bool {
				e := p.find(p.app, `role:menuitemcheckbox name:Details`)
				return e != nil && e.States.Has(desktop.Selected)
			})
			p.press("Return")
		}, map[string]any{"notes": "two boxes", "menu": "Details"}, "found"},
		{"menu by quick keys", func(p person) {
			p.click(`//menubar/*[@name='File']`)
			p.press("Down", "Down", "Return")
		}, map[string]any{"menu": "Archive"}, "found"},
		{"tab and list", func(p person) {
			p.click(`role:tab name:Goods`)
			p.click(`role:cell name:Cheese`, "--repeat", "2", "--delay", "60", "1")
		}, map[string]any{"page": 1.0, "goods": "Cheese", "opened": "Cheese"}, "found"},
		{"dialog", func(p person) {
			p.click(`role:button name:"Send order"`)
			p.click(`role:button name:"Send it"`)
		}, map[string]any{"sent": true}, "found"},
		{"number", func(p person) {
			p.click(`role:spinbutton`)
			p.press("ctrl+a")
			p.press("7", "Return")
		}, map[string]any{"count": 7.0}, "found"},
	}
}

func ticketTasks() []task {
	return []task{
		{"two texts", func(p person) {
			p.click(`role:textbox name:"Passenger name"`)
			p.types("Ada Lovelace")
			p.click(`role:textbox name:Seat`)
			p.types("12 B")
		}, map[string]any{"passenger": "Ada Lovelace", "seat": "12 B"}, "healed"},
		{"several lines", func(p person) {
			p.click(`role:textbox name:Remarks`)
			p.types("by the window")
			p.press("Return")
			p.types("no stairs")
		}, map[string]any{"remarks": "by the window\nno stairs"}, "found"},
		{"check box", func(p person) { p.click(`role:checkbox`) }, map[string]any{"bicycle": true}, "healed"},
		{"combo box", func(p person) {
			p.click(`role:combobox`)
			p.click(`role:option name:Sleeper`)
		}, map[string]any{"class": "Sleeper"}, "found"},
		{"menu", func(p person) {
			p.click(`//menubar/*[@name='Ticket']`)
			p.click(`role:menuitem name:"Print ticket"`)
		}, map[string]any{"menu": "Print ticket"}, "healed"},
		{"tab and list", func(p person) {
			p.click(`role:tab name:Stations`)
			p.click(`role:option name:Basel`, "--repeat", "2", "--delay", "60", "1")
		}, map[string]any{"tab": 1.0, "station": "Basel", "opened": "Basel"}, "found"},
		{"dialog", func(p person) {
			p.click(`role:button name:"Book trip"`)
			p.click(`role:button name:"Book now"`)
		}, map[string]any{"booked": true}, "found"},
		{"number", func(p person) {
			p.click(`role:spinbutton`)
			p.press("ctrl+a")
			p.types("3")
		}, map[string]any{"seats": 3.0}, "found"},
		{"two buttons for one", func(p person) { p.click(`role:button name:"Add luggage"`) }, map[string]any{"luggage": "Add luggage"}, "stopped"},
	}
}

func visitTasks() []task {
	return []task{
		{"text", func(p person) {
			p.click(`role:textbox name:Guest`)
			p.types("Ada Lovelace")
		}, map[string]any{"guest": "Ada Lovelace"}, "found"},
		{"several lines", func(p person) {
			p.click(`role:textbox name:Reason`)
			p.types("A talk")
			p.press("Return")
			p.types("and lunch")
		}, map[string]any{"why": "A talk\nand lunch"}, "healed"},
		{"check box and radio", func(p person) {
			p.click(`role:checkbox`)
			p.click(`role:radio name:Tuesday`)
		}, map[string]any{"lunch": true, "day": "tue"}, "healed"},
		{"combo box", func(p person) {
			p.click(`role:combobox name:Room`)
			p.focused(`role:menuitem name:Blue`)
			p.xdo("mousemove_relative", "0", "47", "sleep", "0.1", "click", "1") // only the first item has a place
		}, map[string]any{"room": "Green"}, "found"},
		{"link", func(p person) { p.click(`role:link name:"Show map"`) }, map[string]any{"map": true}, "healed"},
		{"dialog", func(p person) {
			p.click(`role:button name:Enter`)
			p.click(`role:button name:"Enter visit"`)
		}, map[string]any{"entered": "yes"}, "found"},
		{"the opposite", func(p person) { p.click(`role:button name:Forget`) }, map[string]any{"forgot": true}, "stopped"},
	}
}

// TestTasks: tasks that a person does in forms of three toolkits are done again in a fresh one, and in one that has changed.
// There each element is the same, is healed, or stops the replay; no other one is used in its place.
func TestTasks(t *testing.T) {
	for _, form := range programs() {
		t.Run(form.name, func(t *testing.T) {
			w := newWorld(t)
			var all [][]recorded.Step
			for _, task := range form.tasks {
				p := form.open(w, "plain")
				steps := p.record(func(p person) {
					task.do(p)
					w.until("the task "+task.name, func() bool { return w.has(p.file, task.want) })
				})
				w.end(p.app)
				all = append(all, steps)
			}
			for i, task := range form.tasks {
				t.Run("plain/"+task.name, func(t *testing.T) { w.on(t).again(form.open, "plain", all[i], task.want, "found") })
				t.Run("changed/"+task.name, func(t *testing.T) { w.on(t).again(form.open, "changed", all[i], task.want, task.changed) })
			}
		})
	}
}

// again replays a task, with an outcome.
func (w *world) again(open func(*world, string) person, version string, steps []recorded.Step, want map[string]any, outcome string) {
	w.Helper()
	p := open(w, version)
	defer w.end(p.app)
	result, err := w.replay(steps)
	switch {
	case outcome == "stopped" && err == nil:
		w.Fatalf("the replay did not stop: %s", result.Text)
	case outcome == "stopped":
		w.Log(err)
		state := w.state(p.file)
		assert.Check(w, is.Len(state, 1), "something was done: %v", state)
		return
	case err != nil:
		w.Fatalf("%v\n%v", err, w.state(p.file))
	}
	w.Log(result.Text)
	w.until("the state", func() bool { return w.has(p.file, want) })
	isHealed := strings.Contains(result.Text, "in place of")
	assert.Check(w, is.Equal(isHealed, (outcome == "healed")), "healed: %t; expected the outcome %s", isHealed, outcome)
}

// on returns the world for a subtest.
func (w *world) on(t *testing.T) *world {
	part := *w
	part.T = t
	return &part
}

// has reports whether a test program has reached a state.
func (w *world) has(file string, want map[string]any) bool {
	state := w.state(file)
	for name, value := range want {
		if !reflect.DeepEqual(state[name], value) {
			return false
		}
	}
	return true
}

// end ends a program.
func (w *world) end(app desktop.App) {
	w.Helper()
	for _, p := range w.Programs() {
		if p.PID == app.PID {
			_ = p.End()
		}
	}
}
