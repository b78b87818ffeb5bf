package desktoptest

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"unicode/utf8"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/query"
)

// rolesOf returns the possible roles of a control of the fixture: toolkits implement some of them
// differently.
func rolesOf(name string) []desktop.Role {
	switch name {
	case "Agree":
		return []desktop.Role{desktop.Checkbox}
	case "Full name", "Password", "Notes":
		return []desktop.Role{desktop.Textbox}
	case "Volume":
		return []desktop.Role{desktop.Slider}
	case "Count":
		return []desktop.Role{desktop.Spinbutton}
	case "Colour":
		return []desktop.Role{desktop.Combobox}
	case "First", "Second":
		return []desktop.Role{desktop.Tab}
	case "Fruits":
		return []desktop.Role{desktop.Listbox, desktop.List, desktop.Table, desktop.Grid, desktop.TreeView}
	case "File":
		return []desktop.Role{desktop.Menu, desktop.MenuItem, desktop.Button}
	case "New", "Quit-not":
		return []desktop.Role{desktop.MenuItem}
	case "Really?":
		return []desktop.Role{desktop.Dialog, desktop.AlertDialog}
	case "Status: ready":
		return []desktop.Role{desktop.Text, desktop.Label, desktop.Paragraph, desktop.Status}
	}
	if strings.HasPrefix(name, "Fruit ") {
		return []desktop.Role{desktop.Option, desktop.ListItem, desktop.Row, desktop.Cell, desktop.TreeItem}
	}
	return []desktop.Role{desktop.Button}
}

func (u *suite) treeTests() []test {
	return []test{
		{"ready", "", (*suite).isReady}, {"apps", "", (*suite).listedOnce}, {"well-formed", "", (*suite).wellFormed},
		{"controls", "", (*suite).controls}, {"states", "", (*suite).controlStates}, {"read", "", (*suite).readAlike},
		{"version", "", (*suite).version}, {"gone", "", (*suite).neverThere}, {"concurrent", "", (*suite).concurrent},
	}
}

func (u *suite) isReady() {
	r, err := u.Backend.Tree.Ready(u.within())
	if err != nil || !r.Ready || r.Detail == "" {
		u.Errorf("Ready is %+v, %v", r, err)
	}
}

func (u *suite) listedOnce() {
	apps, err := u.Backend.Tree.Apps(u.within())
	if err != nil {
		u.Fatal(err)
	}
	seen := make(map[int]bool)
	for _, a := range apps {
		if seen[a.PID] || a.PID <= 0 {
			u.Errorf("process %d is there twice, or is none", a.PID)
		}
		seen[a.PID] = true
		if a.Name == "" || a.ID == "" {
			u.Errorf("%+v has no name or no id", a)
		}
	}
}

func (u *suite) wellFormed() { WellFormed(u, u.snapshot()) }

// WellFormed reports an error to t for each violated invariant of the snapshot, such as duplicate IDs.
func WellFormed(t testing.TB, shot *desktop.Snapshot) {
	t.Helper()
	ids := make(map[desktop.ID]bool)
	again := slices.Clone(shot.Elements)
	for i := range shot.Elements {
		e := &shot.Elements[i]
		for _, wrong := range flaws(e) {
			t.Errorf("element %d, %s: %s", i, desktop.Describe(e), wrong)
		}
		if e.ID == "" || ids[e.ID] {
			t.Errorf("element %d, %s: the id %q is empty or there already", i, desktop.Describe(e), e.ID)
		}
		ids[e.ID] = true
		if e.Parent < -1 || e.Parent >= i {
			t.Errorf("element %d has the parent %d, want one before it", i, e.Parent)
			return
		}
		again[i].End = 0
	}
	desktop.SetEnds(again)
	for i := range again {
		if again[i].End != shot.Elements[i].End {
			t.Errorf("element %d ends before %d, but its content before %d", i, shot.Elements[i].End, again[i].End)
		}
		if p := again[i].Parent; p >= 0 && i >= again[p].End {
			t.Errorf("element %d is not in the walk through its parent %d", i, p)
		}
	}
	if shot.Taken.IsZero() {
		t.Error("the time of the snapshot is missing")
	}
}

// flaws lists the violated invariants of an element.
func flaws(e *desktop.Element) []string {
	var wrong []string
	if _, err := query.Parse(string(e.Role), query.ByRole); err != nil || e.Role == "" {
		wrong = append(wrong, fmt.Sprintf("there is no role %q", e.Role))
	}
	if len(e.Value) > desktop.MaxValue {
		wrong = append(wrong, fmt.Sprintf("the value has %d bytes", len(e.Value)))
	}
	if e.States.Has(desktop.Protected) && e.Value != "" {
		wrong = append(wrong, "a password field holds something that can be read")
	}
	for _, text := range []string{e.Name, e.Value, e.Description, e.Identifier} {
		if !utf8.ValidString(text) {
			wrong = append(wrong, fmt.Sprintf("%q is not UTF-8", text))
		}
	}
	if !e.States.Has(desktop.Showing) && e.Frame != (desktop.Rect{}) {
		wrong = append(wrong, fmt.Sprintf("it is not showing, but is at %v", e.Frame))
	}
	if e.Frame.W < 0 || e.Frame.H < 0 || e.Min > e.Max || e.Pos < 0 || e.Pos > e.Size || e.UnreadChildren < 0 {
		wrong = append(wrong, fmt.Sprintf("numbers cannot be: %+v", *e))
	}
	return wrong
}

func (u *suite) controls() {
	for _, name := range []string{
		"Press", "Disabled", "Agree", "Full name", "Password", "Notes", "Volume", "Count", "Colour", "First", "Second",
		"Fruits", "Fruit 1", "Shuffle", "Open dialog", "Hide", "Ghost", "Slow", "Dead", "File", "Status: ready",
	} {
		e := u.control(name)
		if e.Role.IsInteractive() {
			u.onScreen(e)
		}
	}
	if twins := all(u.snapshot(), "Twin", rolesOf("Twin")); len(twins) != 2 {
		u.Errorf("%d Twins are showing, want two", len(twins))
	}
	if hidden := all(u.snapshot(), "On second", rolesOf("")); len(hidden) != 0 {
		u.Errorf("the button of the tab that is not selected is showing")
	}
}

// onScreen checks that an element lies in the visible part of the screen.
func (u *suite) onScreen(e desktop.Element) {
	u.Helper()
	if e.Frame.Empty() {
		u.Errorf("%s is showing, but has no place", desktop.Describe(&e))
		return
	}
	if u.Backend.Screen == nil {
		return
	}
	monitors, err := u.Backend.Screen.Monitors(u.within())
	if err != nil {
		u.Fatal(err)
	}
	if !slices.ContainsFunc(monitors, func(m desktop.Monitor) bool { return e.Frame.Intersect(m.Frame) == e.Frame }) {
		u.Errorf("%s is at %v, which is not on the screen", desktop.Describe(&e), e.Frame)
	}
}

func (u *suite) controlStates() {
	for name, want := range map[string]desktop.State{
		"Press": desktop.Enabled, "Agree": desktop.Checkable, "Full name": desktop.Editable,
		"Password": desktop.Protected, "Notes": desktop.Multiline, "First": desktop.Selected,
	} {
		if e := u.control(name); !e.States.Has(want) && u.isReported(want.Words()[0]+" "+name) {
			u.Errorf("%s is %q, want also %q", name, e.States.Words(), want.Words())
		}
	}
	if e := u.control("Disabled"); e.States.Has(desktop.Enabled) {
		u.Error("the disabled button is enabled")
	}
	if e := u.control("Agree"); e.States.Has(desktop.Checked) {
		u.Error("the check box is checked")
	}
	if e := u.control("Colour"); e.Value != "Red" && u.isReported("value Colour") {
		u.Errorf("the combo box has the value %q", e.Value)
	}
	for name, want := range map[string]float64{"Volume": 30, "Count": 5} {
		e := u.control(name)
		if n, err := strconv.ParseFloat(e.Value, 64); err != nil || n != want || (e.Min != 0 || e.Max != 100) && u.isReported("bounds "+name) {
			u.Errorf("%s has the value %q from %v to %v, want %v from 0 to 100", name, e.Value, e.Min, e.Max, want)
		}
	}
}

// isReported reports whether the program's toolkit exposes the property.
func (u *suite) isReported(what string) bool { return !slices.Contains(u.Unreported, what) }

// readAlike checks that Read returns the same element as a snapshot.
func (u *suite) readAlike() {
	shot := u.snapshot()
	for i, e := range shot.Elements {
		if !shot.IsVisible(i) || !e.Role.IsInteractive() {
			continue
		}
		alone, err := u.Backend.Tree.Read(u.within(), u.app, e.ID)
		if err != nil {
			u.Errorf("%s: %v", desktop.Describe(&e), err)
			continue
		}
		e.Parent, e.End = 0, 0
		if got, want := fmt.Sprintf("%+v", alone), fmt.Sprintf("%+v", e); got != want {
			u.Errorf("Read gives\n%s, but the snapshot has\n%s", got, want)
		}
	}
}

func (u *suite) version() {
	u.until(func() error { // effects of the start may still appear
		first, second := u.snapshot(), u.snapshot()
		if first.Version != second.Version {
			return fmt.Errorf("nothing happens, but the versions are %d and %d", first.Version, second.Version)
		}
		return nil
	})
}

func (u *suite) neverThere() {
	_, err := u.Backend.Tree.Read(u.within(), u.app, "/no/such/element")
	u.coded(err, aai.StaleRef)
	_, err = u.Backend.Tree.Children(u.within(), u.app, "/no/such/element", 0, 1)
	u.coded(err, aai.StaleRef)
}

// concurrent reads from many goroutines at once.
func (u *suite) concurrent() {
	id := u.control("Press").ID
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() {
			for range 5 {
				shot, err := u.Backend.Tree.Snapshot(u.within(), u.app)
				if err != nil {
					u.Error(err)
					return
				}
				WellFormed(u, shot)
				if _, err := u.Backend.Tree.Read(u.within(), u.app, id); err != nil {
					u.Error(err)
				}
				if _, err := u.Backend.Tree.Apps(u.within()); err != nil {
					u.Error(err)
				}
			}
		})
	}
	wg.Wait()
}
