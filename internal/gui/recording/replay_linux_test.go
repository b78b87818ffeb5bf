package recording_test

import (
	"context"
	"encoding/json"
	"reflect"
	"sync"
	"testing"

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
	if err != nil {
		w.Fatal(err)
	}
	g, _, _ := w.gateway()
	return g.Do(w.Context(), &aai.Call{Caller: aai.Caller{Door: aai.DoorMCP, Session: "s"}, App: aai.DesktopApp, Tool: workflow.DesktopToolName, Args: map[string]any{"steps": value}})
}

// A task is something that a person does in the form, and the state that it leaves.
type task struct {
	name string
	do   func(person)
	want map[string]any
	// changed is the outcome where elements have moved or have other names: "done" or "stopped".
	changed string
}

func orderTasks() []task {
	return []task{
		{"two texts", func(p person) {
			p.click(`role:textbox name:"Customer name"`)
			p.types("Ada Lovelace")
			p.press("Tab")
			p.types("Paris")
			p.press("Return")
		}, map[string]any{"customer": "Ada Lovelace", "city": "Paris", "entered": "city"}, "done"},
		{"corrected text", func(p person) {
			p.click(`role:textbox name:City`)
			p.types("Rome")
			p.press("BackSpace", "BackSpace", "BackSpace", "BackSpace")
			p.types("Oslo")
		}, map[string]any{"city": "Oslo"}, "done"},
		{"check box and radio", func(p person) {
			p.click(`role:checkbox name:"Wrap as gift"`)
			p.click(`role:radio name:"Pay later"`)
		}, map[string]any{"gift": true, "later": true}, "done"},
		{"combo box", func(p person) {
			p.click(`role:combobox`)
			p.click(`role:menuitem name:Courier`)
		}, map[string]any{"shipping": "Courier"}, "done"},
		{"menu", func(p person) {
			p.click(`//menubar/*[@name='File']`)
			p.click(`role:menuitem name:Archive`)
		}, map[string]any{"menu": "Archive"}, "done"},
		{"tab and list", func(p person) {
			p.click(`role:tab name:Goods`)
			p.click(`role:cell name:Cheese`, "--repeat", "2", "--delay", "60", "1")
		}, map[string]any{"page": 1.0, "goods": "Cheese", "opened": "Cheese"}, "done"},
		{"dialog", func(p person) {
			p.click(`role:button name:"Send order"`)
			p.click(`role:button name:"Send it"`)
		}, map[string]any{"sent": true}, "done"},
		{"number", func(p person) {
			p.click(`role:spinbutton`)
			p.press("ctrl+a")
			p.types("7")
			p.press("Return")
		}, map[string]any{"count": 7.0}, "done"},
	}
}

// TestOrders: tasks that a person does in a form are done again in a fresh one, and in one that has changed.
func TestOrders(t *testing.T) {
	w := newWorld(t)
	var all [][]recorded.Step
	for _, task := range orderTasks() {
		app, file := w.orders()
		steps := w.record(app, task.do)
		w.until("the task "+task.name, func() bool { return w.has(file, task.want) })
		w.end(app)
		all = append(all, steps)
	}
	for _, version := range []string{"plain", "changed"} {
		for i, task := range orderTasks() {
			t.Run(version+"/"+task.name, func(t *testing.T) {
				w := w.on(t)
				app, file := w.orders(version)
				defer w.end(app)
				result, err := w.replay(all[i])
				if err != nil {
					t.Fatalf("%v\n%v", err, w.state(file))
				}
				t.Log(result.Text)
				w.until("the state", func() bool { return w.has(file, task.want) })
			})
		}
	}
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
