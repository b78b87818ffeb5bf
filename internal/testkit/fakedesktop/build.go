package fakedesktop

import (
	"fmt"
	"strconv"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// rowHeight is the height of most controls in pixels.
const rowHeight = 20

// add appends a new element to x. The caller holds the desktop's lock.
func (x *Element) add(e desktop.Element, states desktop.State) *Element {
	x.d.ids++
	e.ID = desktop.ID("/fake/" + strconv.Itoa(x.d.ids))
	e.States |= desktop.Enabled | states
	c := &Element{d: x.d, program: x.program, window: x.window, parent: x, e: e}
	x.children = append(x.children, c)
	return c
}

// Add appends a new enabled element of any kind to x.
func (x *Element) Add(e desktop.Element) *Element { return x.adding(e, 0, nil) }

func (x *Element) adding(e desktop.Element, states desktop.State, more func(*Element)) *Element {
	x.d.mu.Lock()
	defer x.d.mu.Unlock()
	c := x.add(e, states)
	if more != nil {
		more(c)
	}
	x.program.emit(desktop.ChildrenChanged, x.e.ID, "")
	return c
}

// Group adds a group for other controls. A group without a name is generic.
func (x *Element) Group(name string) *Element {
	role := desktop.Group
	if name == "" {
		role = desktop.Generic
	}
	return x.adding(desktop.Element{Role: role, Name: name}, 0, nil)
}

// Text adds a static text.
func (x *Element) Text(words string) *Element {
	return x.adding(desktop.Element{Role: desktop.Text, Name: words}, 0, nil)
}

// Button adds a button that calls f.
func (x *Element) Button(name string, f func()) *Element {
	e := desktop.Element{Role: desktop.Button, Name: name, Actions: []string{"click"}}
	return x.adding(e, desktop.Focusable, func(c *Element) { c.press = f })
}

// Checkbox adds an unchecked check box.
func (x *Element) Checkbox(name string) *Element {
	e := desktop.Element{Role: desktop.Checkbox, Name: name, Actions: []string{"toggle"}}
	return x.adding(e, desktop.Focusable|desktop.Checkable, nil)
}

// Textbox adds a single-line text box, preceded by its label.
func (x *Element) Textbox(name string) *Element {
	x.adding(desktop.Element{Role: desktop.Label, Name: name}, 0, nil)
	return x.textbox(name, 0)
}

// Password adds a password field.
func (x *Element) Password(name string) *Element { return x.textbox(name, desktop.Protected) }

// TextArea adds a multi-line text box.
func (x *Element) TextArea(name string) *Element { return x.textbox(name, desktop.Multiline) }

func (x *Element) textbox(name string, states desktop.State) *Element {
	e := desktop.Element{Role: desktop.Textbox, Name: name, Actions: []string{"activate"}}
	return x.adding(e, desktop.Focusable|desktop.Editable|states, nil)
}

// Slider adds a slider.
func (x *Element) Slider(name string, least, most, now float64) *Element {
	e := desktop.Element{Role: desktop.Slider, Name: name, Min: least, Max: most, Value: fmt.Sprint(now)}
	return x.adding(e, desktop.Focusable, nil)
}

// Spinner adds a number field that can be edited and stepped.
func (x *Element) Spinner(name string, least, most, now float64) *Element {
	e := desktop.Element{Role: desktop.Spinbutton, Name: name, Min: least, Max: most, Value: fmt.Sprint(now)}
	return x.adding(e, desktop.Focusable|desktop.Editable, nil)
}

// Choice adds a combo box with the first of the options selected. The options show only after a press.
func (x *Element) Choice(name string, options ...string) *Element {
	e := desktop.Element{Role: desktop.Combobox, Name: name, Value: options[0], Actions: []string{"press"}}
	return x.adding(e, desktop.Focusable|desktop.Expandable|desktop.HasPopup, func(c *Element) {
		c.folded = true
		for i, option := range options {
			o := c.add(desktop.Element{Role: desktop.Option, Name: option, Actions: []string{"click"}}, desktop.Selectable)
			if i == 0 {
				o.e.States |= desktop.Selected
			}
		}
	})
}

// Tabs adds tabs, and returns their panels. The first tab is selected.
func (x *Element) Tabs(names ...string) []*Element {
	x.d.mu.Lock()
	defer x.d.mu.Unlock()
	holder := x.add(desktop.Element{Role: desktop.Generic}, 0)
	strip := holder.add(desktop.Element{Role: desktop.Tablist}, 0)
	var panels []*Element
	for i, name := range names {
		tab := strip.add(desktop.Element{Role: desktop.Tab, Name: name, Actions: []string{"click"}}, desktop.Selectable)
		panel := holder.add(desktop.Element{Role: desktop.Tabpanel, Name: name}, 0)
		if i == 0 {
			tab.e.States |= desktop.Selected
		}
		panel.hidden = i > 0
		panels = append(panels, panel)
	}
	strip.change = func() {
		for i, panel := range panels {
			panel.setHidden(!strip.children[i].Has(desktop.Selected))
		}
	}
	x.program.emit(desktop.ChildrenChanged, x.e.ID, "")
	return panels
}

// List adds a list that shows the given number of rows at once and has a scroll bar; with zero rows it
// shows all items.
func (x *Element) List(name string, rows int, items ...string) *Element {
	x.d.mu.Lock()
	defer x.d.mu.Unlock()
	holder := x.add(desktop.Element{Role: desktop.Generic}, 0)
	list := holder.add(desktop.Element{Role: desktop.Listbox, Name: name}, desktop.Focusable)
	list.rows = rows
	if rows > 0 {
		bar := holder.add(desktop.Element{Role: desktop.Scrollbar, Value: "0"}, desktop.Vertical)
		bar.change = func() { list.scrollTo(int(bar.Number()) / rowHeight) }
	}
	list.rerender(items)
	return list
}

// rerender creates the items of a list. The caller holds the desktop's lock.
func (x *Element) rerender(names []string) {
	for _, c := range x.children {
		c.remove()
	}
	x.children, x.offset = nil, 0
	for _, name := range names {
		x.add(desktop.Element{Role: desktop.Option, Name: name, Actions: []string{"click"}}, desktop.Selectable|desktop.Focusable)
	}
	if bar := x.bar(); bar != nil {
		bar.e.Max, bar.e.Value = float64(max(0, len(names)-x.rows)*rowHeight), "0"
	}
	x.program.emit(desktop.ChildrenChanged, x.e.ID, "")
}

// bar returns the scroll bar beside a list, or nil.
func (x *Element) bar() *Element {
	if x.rows == 0 {
		return nil
	}
	for _, c := range x.parent.children {
		if c.e.Role == desktop.Scrollbar {
			return c
		}
	}
	return nil
}

// Menu adds a closed menu. It calls f with the chosen item.
func (x *Element) Menu(name string, f func(item string), items ...string) *Element {
	e := desktop.Element{Role: desktop.Menu, Name: name, Actions: []string{"click"}}
	return x.adding(e, desktop.Expandable|desktop.HasPopup, func(c *Element) {
		c.folded = true
		for _, item := range items {
			entry := desktop.Element{Role: desktop.MenuItem, Name: item, Actions: []string{"click"}}
			c.add(entry, desktop.Selectable).press = func() { f(item) }
		}
	})
}

// Canvas adds an area that reacts only to a pointer.
func (x *Element) Canvas(name string) *Element {
	return x.adding(desktop.Element{Role: desktop.Canvas, Name: name}, 0, func(c *Element) { c.height = 60 })
}

// HugeTable adds a table with the given number of rows. Snapshots contain only the first shown rows; row returns the
// name of a row.
func (x *Element) HugeTable(name string, shown, rows int, row func(i int) string) *Element {
	return x.adding(desktop.Element{Role: desktop.Table, Name: name, UnreadChildren: rows - shown}, desktop.Virtual, func(c *Element) {
		c.huge = row
		for i := range shown {
			c.add(desktop.Element{Role: desktop.Row, Name: row(i)}, 0)
		}
	})
}
