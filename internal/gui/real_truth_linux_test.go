package gui_test

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/godbus/dbus/v5"
	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// The truth about a window is the result of a plain walk over the accessibility bus, with a library
// and rules that are independent of the gateway: one request after another, and no cache.

// fact is an element on the screen that people can act on.
type fact struct {
	role  uint32
	name  string
	frame desktop.Rect // on the screen, or in the window if the toolkit knows no more
	path  string       // the names of its containers, for people who search for missed elements
}

// String implements fmt.Stringer.
func (f fact) String() string {
	return fmt.Sprintf("role %d %q at %v in %s", f.role, f.name, f.frame, f.path)
}

// truth is the collected state of a program's windows.
type truth struct {
	t     testing.TB
	conn  *dbus.Conn
	owner string
	// veil is the state that marks visible elements.
	veil  uint
	facts []fact
	seen  int // number of objects
	huge  int // objects with too many children to read
}

// States and interfaces: atspi-constants.h of at-spi2-core.
const (
	a11yEditable   = 7
	a11yExpandable = 9
	a11yFocusable  = 11
	a11ySelectable = 22
	a11yShowing    = 25
	a11yVisible    = 30

	a11yAccessible = "org.a11y.atspi.Accessible"
	a11yComponent  = "org.a11y.atspi.Component"
	a11yRoot       = dbus.ObjectPath("/org/a11y/atspi/accessible/root")

	// a11yHuge is the number of children from which they are not read: a spreadsheet would try to
	// create them all.
	a11yHuge = 2000
)

// a11yRef is an object on the accessibility bus.
type a11yRef struct {
	Owner string
	Path  dbus.ObjectPath
}

// truthOf walks the windows of the process.
func (w *realWorld) truthOf(pid int) *truth {
	w.Helper()
	conn, err := dbus.Connect(w.A11yAddress(w.T))
	assert.NilError(w, err)
	defer func() { _ = conn.Close() }()
	x := &truth{t: w.T, conn: conn}
	root := x.program(pid)
	x.owner = root.Owner
	x.veil = a11yShowing
	windows := x.children(root)
	if len(windows) > 0 && !x.anyShows(windows) {
		x.veil = a11yVisible // GTK 4.8 reports SHOWING only for windows
	}
	for _, window := range windows {
		if x.states(window)&(1<<a11yShowing) != 0 {
			frame := x.extents(window)
			x.walk(window, 0, frame, x.name(window))
		}
	}
	return x
}

// program returns the tree of the process with the most windows.
func (x *truth) program(pid int) a11yRef {
	x.t.Helper()
	registry := a11yRef{"org.a11y.atspi.Registry", a11yRoot}
	var found a11yRef
	most := -1
	for _, app := range x.children(registry) {
		var owner uint32
		if err := x.conn.BusObject().Call("org.freedesktop.DBus.GetConnectionUnixProcessID", 0, app.Owner).Store(&owner); err != nil || int(owner) != pid {
			continue
		}
		if n := len(x.children(app)); n > most {
			found, most = app, n
		}
	}
	assert.Assert(x.t, most >= 0, "process %d is not on the accessibility bus", pid)
	return found
}

// anyShows reports whether any object within the windows has SHOWING.
func (x *truth) anyShows(windows []a11yRef) bool {
	for _, w := range windows {
		for _, child := range x.children(w) {
			if x.states(child)&(1<<a11yShowing) != 0 {
				return true
			}
		}
	}
	return false
}

// walk visits the children of an object, as far as they are visible within the view.
func (x *truth) walk(in a11yRef, inRole uint32, view desktop.Rect, path string) {
	children := x.firstInView(in, view)
	if len(children) == 0 {
		children = x.children(in)
	}
	for _, r := range children {
		if r.Owner != x.owner {
			continue
		}
		x.seen++
		states := x.states(r)
		if states&(1<<x.veil) == 0 {
			continue
		}
		role, frame := x.role(r), x.extents(r)
		inner := view
		if !frame.Empty() {
			seen := frame.Intersect(view)
			if seen.Empty() && x.veil != a11yVisible || seen.Empty() && frame.W > 1 {
				continue // it was scrolled out of view
			}
			if scrolls(role) && !seen.Empty() {
				inner = seen
			}
		}
		name, before := x.name(r), len(x.facts)
		x.walk(r, role, inner, path+" > "+fmt.Sprintf("%d %q", role, name))
		if people(role, inRole, states) && !frame.Empty() && !x.holdsButton(role, before) {
			x.facts = append(x.facts, fact{role, own(role, name), frame, path})
		}
	}
}

// firstInView returns the first children of an object with too many of them, as long as they are in
// view.
func (x *truth) firstInView(in a11yRef, view desktop.Rect) (children []a11yRef) {
	if x.count(in) <= a11yHuge {
		return nil
	}
	x.huge++
	for i := int32(0); ; i++ {
		var r a11yRef
		if err := x.object(in).Call(a11yAccessible+".GetChildAtIndex", 0, i).Store(&r); err != nil || x.extents(r).Intersect(view).Empty() {
			return children
		}
		children = append(children, r)
	}
}

// holdsButton reports whether a button of the role contains another one, among the facts from index
// first: then the inner one counts, with this frame.
func (x *truth) holdsButton(role uint32, first int) bool {
	const pushButton = 43
	return role == pushButton && slices.ContainsFunc(x.facts[first:], func(f fact) bool { return f.role == pushButton || f.role == 62 })
}

// className matches GTK 4.8's report for an object without a name.
var className = regexp.MustCompile(`^(Gtk|Adw)[A-Z]\w*$`)

// own returns the object's own name: a Qt combo box reports its value instead.
func own(role uint32, name string) string {
	const comboBox = 11
	if role == comboBox || className.MatchString(name) {
		return ""
	}
	return name
}

// scrolls reports whether the children of an object of the role are visible only within its frame:
// scroll panes, viewports, lists, tables, trees.
func scrolls(role uint32) bool { return slices.Contains([]uint32{49, 68, 31, 98, 55, 65, 66}, role) }

// people reports whether people can act on an object, by its role, its parent's role, and its
// states.
func people(role, in uint32, states uint64) bool {
	is := func(state uint) bool { return states&(1<<state) != 0 }
	switch role {
	case 7, 8, 11, 35, 37, 40, 43, 44, 45, 51, 52, 60, 62, 79, 88, 91, 129:
		// check box, check menu item, combo box, menu item, page tab, password,
		// push button, radio button, radio menu item, slider, spin button, terminal,
		// toggle button, entry, link, tree item, push button with a menu
		return true
	case 33: // menu
		return in == 34 // in a menu bar
	case 61: // text
		return is(a11yEditable) || is(a11yFocusable)
	case 32, 56, 90: // list item, table cell, table row
		return is(a11ySelectable) || is(a11yExpandable) || is(a11yFocusable)
	}
	return is(a11yEditable)
}

func (x *truth) object(r a11yRef) dbus.BusObject { return x.conn.Object(r.Owner, r.Path) }

func (x *truth) children(r a11yRef) (children []a11yRef) {
	if x.count(r) > a11yHuge {
		return nil
	}
	_ = x.object(r).Call(a11yAccessible+".GetChildren", 0).Store(&children) // an object that is gone has none
	return children
}

func (x *truth) count(r a11yRef) int {
	v, err := x.object(r).GetProperty(a11yAccessible + ".ChildCount")
	n, _ := v.Value().(int32)
	if err != nil {
		return 0
	}
	return int(n)
}

func (x *truth) name(r a11yRef) string {
	v, err := x.object(r).GetProperty(a11yAccessible + ".Name")
	name, _ := v.Value().(string)
	if err != nil {
		return ""
	}
	return strings.TrimSpace(name)
}

func (x *truth) role(r a11yRef) (role uint32) {
	_ = x.object(r).Call(a11yAccessible+".GetRole", 0).Store(&role)
	return role
}

func (x *truth) states(r a11yRef) uint64 {
	var words []uint32
	if err := x.object(r).Call(a11yAccessible+".GetState", 0).Store(&words); err != nil || len(words) != 2 {
		return 0
	}
	return uint64(words[1])<<32 | uint64(words[0])
}

// extents returns the object's rectangle on the screen, or an empty one if it has none.
func (x *truth) extents(r a11yRef) desktop.Rect {
	var at struct{ X, Y, W, H int32 }
	const ofScreen = uint32(0)
	if err := x.object(r).Call(a11yComponent+".GetExtents", 0, ofScreen).Store(&at); err != nil || at.X < -1<<30 {
		return desktop.Rect{}
	}
	return desktop.Rect{X: int(at.X), Y: int(at.Y), W: int(at.W), H: int(at.H)}
}
