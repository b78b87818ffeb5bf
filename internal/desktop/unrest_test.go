package desktop_test

import (
	"testing"
	"time"

	"aai/internal/desktop"
)

// shotAt is a window with a clock, and a list with rows, at a second.
func shotAt(second int, clock string, rows ...string) *desktop.Snapshot {
	s := &desktop.Snapshot{Version: uint64(second), Taken: time.Unix(int64(second), 0)}
	add := func(e desktop.Element) {
		e.States = desktop.Showing | desktop.Enabled
		e.End = len(s.Elements) + 1
		for p := e.Parent; p >= 0; p = s.Elements[p].Parent {
			s.Elements[p].End = e.End
		}
		s.Elements = append(s.Elements, e)
	}
	add(desktop.Element{ID: "window", Role: desktop.Window, Parent: -1})
	add(desktop.Element{ID: "clock", Role: desktop.Text, Name: clock, Parent: 0})
	add(desktop.Element{ID: "list", Role: desktop.List, Parent: 0})
	for _, row := range rows {
		add(desktop.Element{ID: desktop.ID("row " + row), Role: desktop.ListItem, Name: row, Parent: 2})
	}
	return s
}

func TestUnrest(t *testing.T) {
	type look struct {
		shot  *desktop.Snapshot
		acted bool
	}
	tests := []struct {
		name        string
		looks       []look
		clock, list bool
	}{
		{"nothing known", nil, false, false},
		{"one look", []look{{shotAt(1, "a", "x"), false}}, false, false},
		{"nobody acted", []look{{shotAt(1, "a", "x"), false}, {shotAt(2, "b", "x"), false}}, true, false},
		{"an action", []look{{shotAt(1, "a", "x"), false}, {shotAt(2, "b", "x"), true}}, false, false},
		{"its late effect", []look{{shotAt(1, "a", "x"), true}, {shotAt(2, "b", "x"), false}}, false, false},
		{"twice soon after one", []look{{shotAt(1, "a"), true}, {shotAt(2, "b"), false}, {shotAt(3, "c"), false}}, true, false},
		{"once long after one", []look{{shotAt(1, "a"), true}, {shotAt(30, "b"), false}}, true, false},
		{"rows come", []look{{shotAt(1, "a", "x"), false}, {shotAt(2, "a", "x", "y"), false}}, false, true},
		{"rows go", []look{{shotAt(1, "a", "x", "y"), false}, {shotAt(2, "a", "x"), false}}, false, true},
		{"a row for a row", []look{{shotAt(1, "a", "x"), false}, {shotAt(2, "a", "y"), false}}, false, true},
		{"long ago", []look{{shotAt(1, "a"), false}, {shotAt(2, "b"), false}, {shotAt(1000, "b", "x"), false}}, false, true},
	}
	for _, test := range tests {
		var u desktop.Unrest
		for _, l := range test.looks {
			if l.acted {
				u.Acted(l.shot)
			} else {
				u.Saw(l.shot)
			}
		}
		if u.Has("clock") != test.clock || u.Has("list") != test.list || u.Has("window") {
			t.Errorf("%s: clock %v, list %v, window %v", test.name, u.Has("clock"), u.Has("list"), u.Has("window"))
		}
	}
}

// TestRestlessComesLast: what is known to change by itself is told, as that, after
// all that may be the effect of an action.
func TestRestlessComesLast(t *testing.T) {
	before, after := shotAt(1, "a", "x"), shotAt(2, "b", "x", "y")
	after.Elements[2].Name = "Messages"
	for _, restless := range []desktop.ID{"clock", "list", "window", "row y"} {
		d := desktop.Diff(before, after, desktop.DiffOptions{Restless: func(id desktop.ID) bool { return id == restless }})
		if len(d.Changes) != 3 {
			t.Fatalf("%q: %q", restless, d.Text)
		}
		rested := true
		for _, c := range d.Changes {
			if !c.Restless && !rested {
				t.Errorf("%q: %q", restless, d.Text)
			}
			rested = !c.Restless
			want := restless == "clock" && c.Text == `~ text "a" → "b"` || restless == "list" && c.Text != `~ text "a" → "b"`
			if c.Restless != want {
				t.Errorf("%q: %q is restless: %v", restless, c.Text, c.Restless)
			}
		}
	}
}
