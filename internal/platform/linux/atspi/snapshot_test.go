//go:build linux

package atspi_test

import (
	"os"
	"strconv"
	"strings"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

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
		assert.Assert(t, !seen[e.ID], "element %d: the id %q is there twice", i, e.ID)
		assert.Assert(t, e.ID != "", "element %d: the id %q is there twice", i, e.ID)
		seen[e.ID] = true
		assert.Check(t, e.Parent < i, "element %d: parent %d, end %d", i, e.Parent, e.End)
		assert.Check(t, e.Parent >= -1, "element %d: parent %d, end %d", i, e.Parent, e.End)
		assert.Check(t, e.End > i, "element %d: parent %d, end %d", i, e.Parent, e.End)
		assert.Check(t, e.End <= len(s.Elements), "element %d: parent %d, end %d", i, e.Parent, e.End)
		assert.Check(t, len(e.Value) <= desktop.MaxValue, "element %d: the value has %d bytes", i, len(e.Value))
		assert.Check(t, !e.States.Has(desktop.Protected) || e.Value == "" && e.End == i+1, "a password has the value %q and %d parts", e.Value, e.End-i-1)
		assert.Check(t, e.States.Has(desktop.Showing) || e.Frame.Empty(), "the %s %q does not show, at %v", e.Role, e.Name, e.Frame)
		assert.Assert(t, !strings.ContainsRune(e.Name+e.Value, '\uFFFC'), "the %s is called %q, with the value %q", e.Role, e.Name, e.Value)
		assert.Assert(t, !strings.HasPrefix(e.Name, "Gtk"), "the %s is called %q, with the value %q", e.Role, e.Name, e.Value)
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
		assert.Check(t, is.Equal(e.Value, want.value), "%s %q", e.Role, e.Name)
		assert.Check(t, is.Equal(e.Min, want.min), "%s %q", e.Role, e.Name)
		assert.Check(t, is.Equal(e.Max, want.max), "%s %q", e.Role, e.Name)
		if !e.States.Has(want.has) || e.States.HasAny(want.not) {
			t.Errorf("the %s %q is %v", e.Role, e.Name, e.States.Words())
		}
	}
	twins := matches(s, desktop.Button, "Twin")
	assert.Check(t, is.Len(twins, 2), "%d buttons are called Twin", len(twins))
	first := find(t, s, desktop.Option, "Fruit 1")
	assert.Check(t, is.Equal(first.Pos, 1))
	assert.Check(t, is.Equal(first.Size, 40))
	if kind == linuxtest.Chromium {
		e := find(t, s, desktop.Button, "Press")
		assert.Check(t, is.Equal(e.Identifier, "press"), "the button has the identifier %q", e.Identifier)
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
			assert.Assert(t, !e.Frame.Empty(), "the %s %q is at %v, and the fixture says %v", role, name, e.Frame, place)
			assert.Assert(t, max(c.X-x, x-c.X, c.Y-y, y-c.Y) <= near, "the %s %q is at %v, and the fixture says %v", role, name, e.Frame, place)
		}
	}
}

// hasHidden checks that scrolled-away elements and those in another tab are present but not showing.
func hasHidden(t *testing.T, s *desktop.Snapshot) {
	for _, name := range []string{"On second", "Fruit 40", "New"} {
		for i, e := range s.Elements {
			assert.Check(t, e.Name != name || !s.IsVisible(i), "the %s %q shows, at %v", e.Role, name, e.Frame)
		}
	}
	fruits := 0
	for _, e := range s.Elements {
		if e.Role == desktop.Option && strings.HasPrefix(e.Name, "Fruit ") {
			fruits++
		}
	}
	assert.Check(t, is.Equal(fruits, 40), "%d fruits are in the tree", fruits)
}
