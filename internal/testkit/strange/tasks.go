package strange

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strconv"
	"strings"
)

// A Task is one thing that an agent is asked to do, as one call of a tool after the steps that
// show the control.
type Task struct {
	ID     string         `json:"id"` // of the control
	Node   *Node          `json:"-"`
	Above  []*Node        `json:"-"`
	Text   string         `json:"text"`            // for people
	Tool   string         `json:"tool"`            // such as "ax_click"
	Params map[string]any `json:"params"`          // without "app"
	Value  any            `json:"value,omitempty"` // the value of the control after it; nil if there is none
	Part   string         `json:"part,omitempty"`  // of the control that has the value, such as "3/1" for a cell; "" for the control
	Event  string         `json:"event,omitempty"` // that must happen once; "" for none
	Reads  string         `json:"reads,omitempty"` // the value to read; "" if the task does not read
	// Refusable is the reason why the window offers no honest way, so that a refusal is right too;
	// "" if there is a way.
	Refusable string `json:"refusable,omitempty"`
	// Silent means that the window shows no count of events.
	Silent bool   `json:"silent,omitempty"`
	Steps  []Step `json:"steps,omitempty"`
}

// Tasks returns up to n tasks for the window, drawn with its seed.
func Tasks(w *Window, n int) []Task {
	random := rand.New(rand.NewPCG(w.Seed, 44)) //nolint:gosec // reproducible, and no secret
	count := nameCounts(w)
	var all []Task
	w.Walk(func(node *Node, above []*Node) {
		d := drawer{random, w.Toolkit, node}
		t, ok := d.draw()
		if !ok || t.Params["query"] == "" {
			return
		}
		if name, _ := t.Params["query"].(string); w.Toolkit == Qt6 && node.Kind == Menu && count[strings.ToLower(name)] > 1 {
			return // the item is in no tree, and the other thing of this name is
		}
		t.ID, t.Node, t.Above, t.Silent = node.ID, node, above, !w.Status
		t.Steps = append(stepsTo(node, above), t.Steps...)
		for i := range t.Steps {
			if t.Steps[i].Node == nil {
				t.Steps[i].Node = node
			}
			t.Steps[i].ID = t.Steps[i].Node.ID
		}
		inPopup := slices.ContainsFunc(above, func(a *Node) bool { return a.Kind == Popover }) || node.Kind == Menu ||
			slices.ContainsFunc(t.Steps, func(s Step) bool { return s.Params["click_type"] == "right" })
		switch {
		case t.Refusable != "":
		case w.Toolkit == Qt6 && inPopup:
			t.Refusable = "the toolkit tells accessibility of no popups"
		default:
			t.Refusable = refusable(&t, count)
		}
		all = append(all, t)
	})
	random.Shuffle(len(all), func(i, j int) { all[i], all[j] = all[j], all[i] })
	return all[:min(n, len(all))]
}

// A drawer draws a task for a control.
type drawer struct {
	random  *rand.Rand
	toolkit Toolkit
	n       *Node
}

// query returns the name of the control as it is shown at the start.
func (d drawer) query() string {
	switch n := d.n; {
	case n.Habits.Rename && n.Kind == Slider:
		return fmt.Sprintf("%s: %v", n.Name, n.Value)
	case n.Habits.Rename && n.Kind == Check && n.Value == true:
		return n.Name + ": on"
	case n.Habits.Rename && n.Kind == Check:
		return n.Name + ": off"
	default:
		return n.Name
	}
}

func (d drawer) set(value string, want any) Task {
	return Task{Text: fmt.Sprintf("set %q to %q", d.n.Name, value), Tool: "ax_set_value", Params: map[string]any{"query": d.query(), "value": value}, Value: want}
}

func (d drawer) click(query string, want any) Task {
	return Task{Text: fmt.Sprintf("click %q", query), Tool: "ax_click", Params: map[string]any{"query": query}, Value: want}
}

func (d drawer) event(query, event string) Task {
	t := d.click(query, nil)
	t.Event = event
	return t
}

// draw returns a task for the control.
func (d drawer) draw() (t Task, ok bool) {
	n := d.n
	if text, isText := n.Value.(string); isText && text != "" && d.random.IntN(8) == 0 && slices.Contains([]Kind{Entry, ReadOnly, Text, EditCombo, Combo}, n.Kind) {
		return Task{Text: fmt.Sprintf("read %q", n.Name), Tool: "ax_get_value", Params: map[string]any{"query": d.query()}, Reads: text}, true
	}
	switch n.Kind { //nolint:exhaustive // other kinds follow
	case Entry, EditCombo, Password, Text, ReadOnly:
		return d.write(), true
	case Combo:
		option := pick(d.random, n.Items[1:]...)
		return d.set(option, option), true
	case Spin, Slider:
		number := (n.Value.(int) + 1 + d.random.IntN(n.Max)) % (n.Max + 1)
		return d.set(strconv.Itoa(number), float64(number)), true
	case Date, Calendar:
		day := fmt.Sprintf("2026-%02d-%02d", 1+d.random.IntN(12), 1+d.random.IntN(28))
		t = d.set(day, day)
		if n.Kind == Calendar {
			t.Refusable = "its days are drawn"
		}
		return t, day != n.Value
	case Switch, Check:
		value := !n.Value.(bool)
		if d.random.IntN(2) == 0 {
			return d.set(strconv.FormatBool(value), value), true
		}
		return d.click(d.query(), value), true
	case Radio:
		option := pick(d.random, n.Items[1:]...)
		return d.click(option, option), true
	case Button:
		t = d.event(n.Name, "clicked")
		if n.Labelling == Tooltip && d.toolkit == GTK3 {
			t.Refusable = "its icon gives it another name"
		}
		return t, n.Labelling != Nameless
	case Link:
		return d.event(n.Name, "clicked"), true
	case Notebook, Stack:
		i := 1 + d.random.IntN(len(n.Items)-1)
		return d.click(n.Items[i], float64(i)), true
	case Wizard:
		return d.click("Next", float64(1)), true
	case Expander:
		return d.click(n.Name, n.Value == nil), true
	case Popover, Dialog:
		return d.click(n.Name, true), true
	}
	return d.drawRow()
}

// write returns a task that changes the text of a field.
func (d drawer) write() Task {
	n := d.n
	text := strings.ToLower(pick(d.random, words()...)) + " " + strconv.Itoa(d.random.IntN(1000))
	refusable := ""
	switch {
	case n.Kind == ReadOnly:
		refusable = "it is read-only"
	case n.Habits.Accepts == "digits":
		text = strconv.Itoa(100 + d.random.IntN(90000))
	case n.Habits.Accepts == "mask":
		text = fmt.Sprintf("%d-%d-%d", 10+d.random.IntN(90), 10+d.random.IntN(90), 10+d.random.IntN(90))
	case n.Max > 0 && d.random.IntN(2) == 0:
		text = text[:4]
	case n.Max > 0:
		refusable = "the text is too long for it"
	}
	want := text
	if n.Habits.Normalise == "upper" {
		want = strings.ToUpper(text)
	}
	t := d.set(text, want)
	if n.Kind != Text && d.random.IntN(3) == 0 {
		t = Task{Text: fmt.Sprintf("type %q into %q", text, n.Name), Tool: "ax_type", Params: map[string]any{"query": d.query(), "text": text, "clear_first": true}, Value: want}
	}
	t.Refusable = refusable
	return t
}

// drawRow returns a task for a row, a cell or an item.
func (d drawer) drawRow() (t Task, ok bool) {
	n := d.n
	switch n.Kind { //nolint:exhaustive // others have no rows
	case List, Table:
		row := d.random.IntN(len(n.Items))
		if n.Habits.Recycle && row > 4 && (d.toolkit == GTK4 || d.toolkit.IsBrowser()) {
			t.Refusable = "the row is not made before it is scrolled to"
		}
		if n.Kind == Table && n.Habits.Custom == "old" {
			t.Refusable = "the toolkit tells accessibility of no rows"
		}
		refusable := t.Refusable
		if len(n.Choices) > 0 && d.random.IntN(2) == 0 {
			t = d.choose(n.Items[row])
		} else {
			t = d.click(n.Items[row], n.Items[row])
		}
		t.Refusable = refusable
		return t, true
	case CheckList:
		row := d.random.IntN(len(n.Items))
		t = Task{Text: fmt.Sprintf("tick %q", n.Items[row]), Tool: "ax_set_value", Params: map[string]any{"query": n.Items[row], "value": "true"}, Value: true, Part: strconv.Itoa(row)}
		return t, true
	case Sheet:
		row, column := d.random.IntN(len(n.Items)), 1+d.random.IntN(len(n.Columns)-1)
		text := "cell " + strconv.Itoa(d.random.IntN(1000))
		const placed = 10 // rows beyond these have no place in GTK 4 before they are scrolled to
		t = Task{Text: fmt.Sprintf("write %q into the cell %q", text, n.cell(row, column)), Tool: "ax_set_value", Params: map[string]any{"query": n.cell(row, column), "value": text}}
		t.Value, t.Part = text, fmt.Sprintf("%d/%d", row, column)
		if d.toolkit == GTK4 && row >= placed {
			t.Refusable = "the row is not placed before it is scrolled to"
		}
		return t, true
	case Tree:
		i := d.random.IntN(len(n.Items))
		leaf := pick(d.random, n.Leaves[i]...)
		t = d.click(leaf, leaf)
		t.Steps = []Step{d.expand(i)}
		return t, true
	case Menu:
		item := pick(d.random, n.Items...)
		t = d.event(item, item)
		t.Steps = []Step{{Tool: "ax_click", Params: map[string]any{"query": n.Name}}}
		return t, true
	case MenuBar:
		i := d.random.IntN(len(n.Items))
		item := pick(d.random, n.Leaves[i]...)
		t = d.event(item, item)
		t.Steps = []Step{{Tool: "ax_click", Params: map[string]any{"query": n.Items[i]}}}
		return t, true
	case Drawn:
		t = d.event(n.Items[0], n.Items[0])
		t.Refusable = "it is drawn, without an element"
		return t, true
	}
	return t, false
}

// choose returns a task for the context menu of a row.
func (d drawer) choose(row string) Task {
	item := pick(d.random, d.n.Choices...)
	t := d.event(item, row+": "+item)
	t.Text = fmt.Sprintf("choose %q in the context menu of %q", item, row)
	t.Steps = []Step{{Tool: "ax_click", Params: map[string]any{"query": row, "click_type": "right"}, Opens: row}}
	return t
}

// expand returns the step that opens a row of a tree.
func (d drawer) expand(i int) Step {
	s := Step{Part: strconv.Itoa(i), Value: true, Tool: "ax_set_value", Params: map[string]any{"query": d.n.Items[i], "value": "expanded"}}
	if d.toolkit.IsBrowser() {
		s.Tool, s.Params = "ax_click", map[string]any{"query": d.n.Items[i]}
	}
	return s
}

// stepsTo returns the steps that show the control in the pages, expanders and dialogs above it.
func stepsTo(n *Node, above []*Node) []Step {
	var steps []Step
	for i, a := range above {
		child := n
		if i+1 < len(above) {
			child = above[i+1]
		}
		page := slices.Index(a.Children, child)
		step := Step{Node: a, Tool: "ax_click"}
		query := a.Name
		switch a.Kind { //nolint:exhaustive // other containers hide nothing
		case Notebook, Stack:
			query, step.Value = a.Items[page], float64(page)
		case Wizard:
			query, step.Back = "Next", "Back"
			for k := 1; k < page; k++ {
				steps = append(steps, Step{Node: a, Tool: "ax_click", Params: map[string]any{"query": "Next"}, Value: float64(k), Back: "Back"})
			}
			step.Value = float64(page)
		case Expander, Popover, Dialog:
			step.Value = true
		default:
			continue
		}
		step.Params = map[string]any{"query": query}
		steps = append(steps, step)
	}
	return steps
}

// nameCounts returns the number of things with each name, in lower case.
func nameCounts(w *Window) map[string]int {
	count := map[string]int{"dismiss": 1, "understood": 1}
	add := func(names ...string) {
		for _, name := range names {
			count[strings.ToLower(name)]++
		}
	}
	w.Walk(func(n *Node, _ []*Node) {
		if n.Name != "" {
			add(n.Name)
		}
		add(n.Items...)
		add(n.Choices...)
		add(n.Columns...)
		add(slices.Concat(n.Leaves...)...)
		for row := range n.Items {
			for column := 1; column < len(n.Columns); column++ {
				add(n.cell(row, column))
			}
		}
	})
	return count
}

// refusable returns the reason why a refusal of the task is right.
func refusable(t *Task, count map[string]int) string {
	name, _ := t.Params["query"].(string)
	several := func(name string) bool { return count[strings.ToLower(name)] > 1 }
	switch n := t.Node; {
	case n.Disabled:
		return "it is disabled"
	case slices.ContainsFunc(t.Above, func(a *Node) bool { return a.Disabled }):
		return "its container is disabled"
	case n.Hidden:
		return "it is hidden"
	case n.Covered:
		return "it is covered"
	case several(name), name != n.Name && several(n.Name):
		return "several things have this name"
	case slices.ContainsFunc(t.Steps, func(s Step) bool { q, _ := s.Params["query"].(string); return several(q) }):
		return "a step before it has the name of several things"
	case n.Labelling == Nameless && name == n.Name:
		return "it has no name"
	case n.Labelling == After && name == n.Name:
		return "a label after a field can be another field's"
	}
	return ""
}
