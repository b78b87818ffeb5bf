package fakedesktop

import (
	"fmt"
	"strings"
	"sync"
	"time"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// A Fixture is a program with one control of every kind, named as in the real fixtures of
// internal/testkit/linuxtest, so that one suite passes on all.
type Fixture struct {
	*Program
	Main   *Window
	Fruits *Element

	mu       sync.Mutex
	counts   map[string]int
	words    map[string]string
	hidden   bool
	clicks   []any
	drags    []any
	name     *Element
	password *Element
	notes    *Element
	agree    *Element
	volume   *Element
	count    *Element
	colour   *Element
}

// slow is the delay of the effect of the button Slow.
const slow = 150 * time.Millisecond

// Fixture starts a Fixture with the given program name, and opens its window in front.
func (d *Desktop) Fixture(name string) *Fixture {
	p := d.Program(name)
	f := &Fixture{
		Program: p, Main: p.Window(name),
		counts: map[string]int{"presses": 0, "second": 0, "shuffled": 0, "ghost": 0, "slow": 0, "twin": 0},
		words:  map[string]string{"tab": "First", "fruit": "", "dialog": "", "menu": ""},
	}
	bar := f.Main.Add(desktop.Element{Role: desktop.Menubar})
	bar.Menu("File", func(item string) { f.say("menu", item) }, "New", "Quit-not")
	f.buttons()
	f.fields()
	f.lists()
	canvas := f.Main.Canvas("Canvas")
	canvas.OnClick(func(c Click) {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.clicks = append(f.clicks, map[string]any{
			"button": float64(c.Button), "count": float64(c.Count), "x": float64(c.At.X), "y": float64(c.At.Y),
		})
	})
	canvas.OnDrag(func(from, to desktop.Point) {
		f.mu.Lock()
		defer f.mu.Unlock()
		f.drags = append(f.drags, map[string]any{"button": 1.0, "from": pair(from), "to": pair(to)})
	})
	f.Main.Text("Status: ready")
	return f
}

func pair(p desktop.Point) []any { return []any{float64(p.X), float64(p.Y)} }

func (f *Fixture) buttons() {
	box := f.Main.Group("")
	label := box.Text("Pressed 0 times")
	box.Button("Press", func() { label.Rename(fmt.Sprintf("Pressed %d times", f.add("presses"))) })
	box.Button("Disabled", func() { f.add("disabled") }).RemoveState(desktop.Enabled)
	box.Button("Twin", func() { f.set("twin", 1) })
	box.Button("Twin", func() { f.set("twin", 2) })
	ghost := box.Button("Ghost", func() { f.add("ghost") })
	box.Button("Hide", func() {
		f.mu.Lock()
		f.hidden = true
		f.mu.Unlock()
		ghost.Hide()
	})
	late := box.Text("Slow 0 times")
	box.Button("Slow", func() {
		f.After(slow, func() { late.Rename(fmt.Sprintf("Slow %d times", f.add("slow"))) })
	})
	box.Button("Dead", func() {})
	box.Button("Open dialog", f.ask)
}

func (f *Fixture) ask() {
	f.say("dialog", "open")
	dialog := f.Dialog("Really?")
	for _, answer := range []string{"Yes", "No"} {
		dialog.Button(answer, func() {
			f.say("dialog", strings.ToLower(answer))
			dialog.Close()
		})
	}
}

func (f *Fixture) fields() {
	box := f.Main.Group("")
	f.agree = box.Checkbox("Agree")
	f.name = box.Textbox("Full name")
	f.password = box.Password("Password")
	f.notes = box.TextArea("Notes")
	f.volume = box.Slider("Volume", 0, 100, 30)
	f.count = box.Spinner("Count", 0, 100, 5)
	f.colour = box.Choice("Colour", "Red", "Green", "Blue")
}

func (f *Fixture) lists() {
	panels := f.Main.Tabs("First", "Second")
	second := panels[1]
	strip := second.parent.children[0]
	switchPanels := strip.change
	strip.OnChange(func() {
		switchPanels()
		f.say("tab", strip.Selected())
	})
	second.Button("On second", func() { f.add("second") })
	var names, reverse []string
	for i := 1; i <= 40; i++ {
		names = append(names, fmt.Sprintf("Fruit %d", i))
		reverse = append(reverse, fmt.Sprintf("Fruit %d", 41-i))
	}
	f.Fruits = f.Main.List("Fruits", 6, names...)
	f.Fruits.OnChange(func() { f.say("fruit", f.Fruits.Selected()) })
	f.Main.Button("Shuffle", func() {
		if f.add("shuffled")%2 == 1 {
			f.Fruits.Rerender(reverse...)
		} else {
			f.Fruits.Rerender(names...)
		}
	})
}

func (f *Fixture) add(key string) int {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.counts[key]++
	return f.counts[key]
}

func (f *Fixture) set(key string, n int) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.counts[key] = n
}

func (f *Fixture) say(key, word string) {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.words[key] = word
}

// State returns the state of the program with the keys and values of the real fixtures, as encoding/json reads them.
func (f *Fixture) State() map[string]any {
	keys := []any{}
	for _, chord := range f.Main.Keys() {
		keys = append(keys, chord.Key)
	}
	state := map[string]any{
		"name": f.name.Value(), "password": f.password.Value(), "notes": f.notes.Value(),
		"agree": f.agree.Has(desktop.Checked), "volume": f.volume.Number(), "count": f.count.Number(),
		"colour": f.colour.Value(), "scroll": float64(f.Fruits.Offset() * rowHeight),
		"focused": f.Main.Has(desktop.Active), "keys": keys,
	}
	f.mu.Lock()
	defer f.mu.Unlock()
	for key, n := range f.counts {
		state[key] = float64(n)
	}
	for key, word := range f.words {
		state[key] = word
	}
	state["hidden"], state["clicks"], state["drags"] = f.hidden, f.clicks, f.drags
	return state
}
