//go:build linux

package atspi_test

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// parentOf returns the parent of a process, 0 if it has none.
func parentOf(pid int) int {
	stat, err := os.ReadFile("/proc/" + strconv.Itoa(pid) + "/stat")
	if err != nil {
		return 0
	}
	_, rest, _ := strings.Cut(string(stat), ") ")
	fields := strings.Fields(rest)
	if len(fields) < 2 {
		return 0
	}
	parent, _ := strconv.Atoi(fields[1])
	return parent
}

// TestFixtureSnapshots checks that every toolkit's window results in the same snapshot, despite different
// names in the toolkits.
func TestFixtureSnapshots(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, kind := range linuxtest.Kinds() {
		t.Run(string(kind), func(t *testing.T) {
			f, app := w.fixture(t, kind)
			w.shows(t, app, desktop.Button, "Press")
			s := w.snapshot(t, app)
			wellFormed(t, s)
			t.Run("elements", func(t *testing.T) { hasElements(t, kind, s) })
			t.Run("frames", func(t *testing.T) { hasFrames(t, f, s) })
			t.Run("hidden", func(t *testing.T) { hasHidden(t, s) })
		})
	}
}

// wellFormed checks the invariants of a snapshot.
func wellFormed(t *testing.T, s *desktop.Snapshot) {
	t.Helper()
	seen := map[desktop.ID]bool{}
	for i, e := range s.Elements {
		if seen[e.ID] || e.ID == "" {
			t.Errorf("element %d: the id %q is there twice", i, e.ID)
		}
		seen[e.ID] = true
		if e.Parent >= i || e.Parent < -1 || e.End <= i || e.End > len(s.Elements) {
			t.Errorf("element %d: parent %d, end %d", i, e.Parent, e.End)
		}
		if len(e.Value) > desktop.MaxValue {
			t.Errorf("element %d: the value has %d bytes", i, len(e.Value))
		}
		if e.States.Has(desktop.Protected) && (e.Value != "" || e.End != i+1) {
			t.Errorf("a password has the value %q and %d parts", e.Value, e.End-i-1)
		}
		if !e.States.Has(desktop.Showing) && !e.Frame.Empty() {
			t.Errorf("the %s %q does not show, at %v", e.Role, e.Name, e.Frame)
		}
		if strings.ContainsRune(e.Name+e.Value, '\uFFFC') || strings.HasPrefix(e.Name, "Gtk") {
			t.Errorf("the %s is called %q, with the value %q", e.Role, e.Name, e.Value)
		}
	}
}

func hasElements(t *testing.T, kind linuxtest.Kind, s *desktop.Snapshot) {
	const on = desktop.Showing | desktop.Enabled
	wants := []struct {
		role    desktop.Role
		name    string
		value   string
		has     desktop.State
		not     desktop.State
		min     float64
		max     float64
		missing linuxtest.Kind
	}{
		{role: desktop.Button, name: "Press", has: on | desktop.Focusable},
		{role: desktop.Button, name: "Disabled", has: desktop.Showing, not: desktop.Enabled},
		{role: desktop.Checkbox, name: "Agree", has: on | desktop.Checkable, not: desktop.Checked},
		{role: desktop.Textbox, name: "Full name", has: on | desktop.Editable, not: desktop.Multiline | desktop.Protected | desktop.ReadOnly},
		{role: desktop.Textbox, name: "Password", has: on | desktop.Editable | desktop.Protected},
		{role: desktop.Textbox, name: "Notes", has: on | desktop.Editable | desktop.Multiline},
		{role: desktop.Slider, name: "Volume", value: "30", has: on, max: 100},
		{role: desktop.Spinbutton, name: "Count", value: "5", has: on, not: desktop.ReadOnly, max: 100},
		{role: desktop.Combobox, name: "Colour", value: "Red", has: on, missing: linuxtest.GTK4},
		{role: desktop.Tab, name: "First", has: on | desktop.Selected},
		{role: desktop.Tab, name: "Second", has: on, not: desktop.Selected},
		{role: desktop.MenuItem, name: "File", has: on},
		{role: desktop.Listbox, name: "Fruits", has: on},
		{role: desktop.Option, name: "Fruit 1", has: on | desktop.Selectable, not: desktop.Selected},
	}
	for _, want := range wants {
		found := matches(s, want.role, want.name)
		if len(found) != 1 {
			t.Errorf("%d elements are a %s %q", len(found), want.role, want.name)
			continue
		}
		e := found[0]
		if want.missing == kind {
			want.value = "" // the toolkit does not expose it
		}
		if e.Value != want.value || e.Min != want.min || e.Max != want.max {
			t.Errorf("the %s %q has the value %q from %v to %v", e.Role, e.Name, e.Value, e.Min, e.Max)
		}
		if !e.States.Has(want.has) || e.States.HasAny(want.not) {
			t.Errorf("the %s %q is %v", e.Role, e.Name, e.States.Words())
		}
	}
	if twins := matches(s, desktop.Button, "Twin"); len(twins) != 2 {
		t.Errorf("%d buttons are called Twin", len(twins))
	}
	first := find(t, s, desktop.Option, "Fruit 1")
	if first.Pos != 1 || first.Size != 40 {
		t.Errorf("Fruit 1 is %d of %d", first.Pos, first.Size)
	}
	if kind == linuxtest.Chromium {
		if e := find(t, s, desktop.Button, "Press"); e.Identifier != "press" {
			t.Errorf("the button has the identifier %q", e.Identifier)
		}
	}
	if t.Failed() {
		t.Log(outline(s))
	}
}

// hasFrames compares the frames with the fixture's own layout.
func hasFrames(t *testing.T, f *linuxtest.Fixture, s *desktop.Snapshot) {
	const near = 12 // some toolkits include a widget's border
	for role, names := range map[desktop.Role][]string{
		desktop.Button:   {"Press", "Slow", "Dead", "Shuffle", "Open dialog", "Hide"},
		desktop.Checkbox: {"Agree"},
		desktop.Textbox:  {"Full name", "Notes"},
		desktop.Slider:   {"Volume"},
	} {
		for _, name := range names {
			e, place := find(t, s, role, name), f.ControlRect(t, name)
			x, y := place.Centre()
			c := e.Frame.Center()
			if e.Frame.Empty() || max(c.X-x, x-c.X, c.Y-y, y-c.Y) > near {
				t.Errorf("the %s %q is at %v, and the fixture says %v", role, name, e.Frame, place)
			}
		}
	}
}

// hasHidden checks that scrolled-away elements and those in another tab are present but not showing.
func hasHidden(t *testing.T, s *desktop.Snapshot) {
	for _, name := range []string{"On second", "Fruit 40", "New"} {
		for i, e := range s.Elements {
			if e.Name == name && s.IsVisible(i) {
				t.Errorf("the %s %q shows, at %v", e.Role, name, e.Frame)
			}
		}
	}
	fruits := 0
	for _, e := range s.Elements {
		if e.Role == desktop.Option && strings.HasPrefix(e.Name, "Fruit ") {
			fruits++
		}
	}
	if fruits != 40 {
		t.Errorf("%d fruits are in the tree", fruits)
	}
}
