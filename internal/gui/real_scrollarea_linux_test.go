package gui_test

import (
	"fmt"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/testkit/strange"
)

// TestRealScrollAreas operates controls in a scroll area within the window's own: the tools bring
// them into view.
func TestRealScrollAreas(t *testing.T) {
	for _, toolkit := range []strange.Toolkit{strange.GTK3, strange.GTK4, strange.Qt6} {
		t.Run(string(toolkit), func(t *testing.T) {
			s := newStrangeRun(t, toolkit)
			s.show(scrollAreas(toolkit))
			app := s.app
			for _, step := range []struct{ key, name string }{{"f25", "Inner 25"}, {"f3", "Outer 3"}, {"f29", "Inner 29"}, {"f40", "Page 40"}, {"f0", "Outer 0"}} {
				s.ok("ax_set_value", params{"app": app, "query": step.name, "value": "of " + step.name})
				s.eventually(step.name+" is set", func() bool { return s.state().Values[step.key] == "of "+step.name })
			}
			s.ok("ax_click", params{"app": app, "query": "Row 120"})
			s.eventually("row 120 is chosen", func() bool { return s.state().Values["rows"] == "Row 120" })
			assert.Check(t, s.refused(aai.ElementNotFound, "ax_click", params{"app": app, "query": "Hidden page 41"}).Hint != "", "no hint leads to a field of a closed page")
		})
	}
}

// scrollAreas returns a window with a scroll area below the edge of the window.
func scrollAreas(toolkit strange.Toolkit) *strange.Window {
	outer := &strange.Node{ID: "outer", Kind: strange.Column}
	inner := &strange.Node{ID: "inner", Kind: strange.Column}
	field := func(name string, n int) *strange.Node {
		return &strange.Node{ID: fmt.Sprintf("f%d", n), Kind: strange.Entry, Name: fmt.Sprintf("%s %d", name, n), Labelling: strange.Own, Value: ""}
	}
	for i := range 30 {
		if i < 20 {
			outer.Children = append(outer.Children, field("Outer", i))
		} else {
			inner.Children = append(inner.Children, field("Inner", i))
		}
	}
	rows := &strange.Node{ID: "rows", Kind: strange.List, Name: "Rows", Labelling: strange.Own}
	for i := range 300 {
		rows.Items = append(rows.Items, fmt.Sprintf("Row %d", i))
	}
	book := &strange.Node{ID: "book", Kind: strange.Notebook, Items: []string{"First", "Second"}, Children: []*strange.Node{
		{ID: "page1", Kind: strange.Column, Children: []*strange.Node{field("Page", 40)}},
		{ID: "page2", Kind: strange.Column, Children: []*strange.Node{field("Hidden page", 41)}},
	}}
	outer.Children = append(outer.Children,
		&strange.Node{ID: "scrolled", Kind: strange.Scrolled, Children: []*strange.Node{inner}}, book,
		rows)
	return &strange.Window{Title: "Scroll areas", Toolkit: toolkit, Width: 500, Height: 300, Root: outer}
}

// TestRealWithoutActions operates controls for which Qt 6 or GTK 4 report no action, or one that only sets the focus.
func TestRealWithoutActions(t *testing.T) {
	for _, toolkit := range []strange.Toolkit{strange.GTK4, strange.Qt6} {
		t.Run(string(toolkit), func(t *testing.T) {
			s := newStrangeRun(t, toolkit)
			table := &strange.Node{ID: "table", Kind: strange.Table, Name: "Rows", Labelling: strange.Own, Columns: []string{"Item", "Other"}}
			for i := range 40 {
				table.Items = append(table.Items, fmt.Sprintf("Row %d", i))
			}
			s.show(&strange.Window{Title: "Without actions", Toolkit: toolkit, Width: 500, Height: 500, Root: &strange.Node{ID: "root", Kind: strange.Column, Children: []*strange.Node{
				{ID: "check", Kind: strange.Check, Name: "Early", Value: false}, table,
				{ID: "combo", Kind: strange.Combo, Name: "Fruit", Labelling: strange.Relation, Items: []string{"Apple", "Banana", "Cherry", "Date"}, Value: "Apple"},
				{ID: "link", Kind: strange.Link, Name: "Terms"},
			}}})
			app := s.app
			becomes := func(key string, want any) {
				t.Helper()
				s.eventually(fmt.Sprintf("%s is %v", key, want), func() bool { return s.state().Values[key] == want })
			}
			s.ok("ax_click", params{"app": app, "query": "Early"})
			becomes("check", true)
			s.ok("ax_set_value", params{"app": app, "query": "Early", "value": "false"})
			becomes("check", false)
			s.ok("ax_click", params{"app": app, "query": "Terms"})
			s.eventually("the link is opened once", func() bool { return len(s.state().Events) == 1 })
			if toolkit == strange.GTK4 { // its list opens only with the person's keyboard
				s.ok("ax_click", params{"app": app, "query": "combobox Fruit", "mode": "focus"})
				s.ok("ax_click", params{"app": app, "query": "option Cherry", "mode": "focus"})
				becomes("combo", "Cherry")
				return
			}
			s.ok("ax_click", params{"app": app, "query": "Row 30"})
			becomes("table", "Row 30")
			s.ok("ax_set_value", params{"app": app, "query": "Fruit", "value": "Cherry"})
			becomes("combo", "Cherry")
			becomes("table", "Row 30")
			s.ok("ax_click", params{"app": app, "query": "Terms"})
			s.eventually("the link is opened again", func() bool { return len(s.state().Events) == 2 })
		})
	}
}
