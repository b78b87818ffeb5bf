package apps

import (
	"context"
	"slices"
	"strings"
	"time"

	"github.com/godbus/dbus/v5"
)

// atspiWitness is a client of the accessibility bus in another library. It caches nothing: its
// data are the program's current answers.
type atspiWitness struct {
	bus *dbus.Conn
	app string // part of the program's name on the bus
	// onlyShownEvents: GTK 4 sends events only for visible windows.
	onlyShownEvents bool
}

// listener is another client that subscribes to all events, as a screen reader does.
const listener = `
import gi
gi.require_version("Atspi", "2.0")
from gi.repository import Atspi
heard = Atspi.EventListener.new(lambda event: None)
for kind in ("object", "window", "focus"):
    heard.register(kind)
Atspi.event_main()
`

// Interfaces and limits of the witness.
const (
	accessible      = "org.a11y.atspi.Accessible"
	textFace        = "org.a11y.atspi.Text"
	valueFace       = "org.a11y.atspi.Value"
	maxChildren     = 200             // of a longer list
	sampledChildren = 60              // so many are looked at
	maxTextLength   = 20_000          // longer texts are cut
	answerTimeout   = 5 * time.Second // a program without an answer within this time counts as hanging
)

// ref refers to an element on the bus.
type ref struct {
	Name string
	Path dbus.ObjectPath
}

// node is the witness's data about an element.
type node struct {
	ref
	parent int // index in the list; -1 for a window
	role   string
	name   string
	states uint64
	text   string
	value  float64
}

// States, by atspi-constants.h.
const (
	active    = 1
	checked   = 4
	editable  = 7
	enabled   = 8
	pressed   = 20
	selected  = 23
	sensitive = 24
	showing   = 25
	visible   = 30
)

func (n node) is(state int) bool { return n.states>>state&1 == 1 }

// on reports whether the element is checked, pressed or selected.
func (n node) on() bool { return n.is(checked) || n.is(pressed) || n.is(selected) }

// called reports whether the node matches: "role:name", or "role:" for any name.
func (n node) called(what string) bool {
	role, name, _ := strings.Cut(what, ":")
	return n.role == role && (name == "" || n.name == name)
}

// put sends a query without waiting for the answer.
func (w atspiWitness) put(ctx context.Context, r ref, method string, args ...any) *dbus.Call {
	return w.bus.Object(r.Name, r.Path).GoWithContext(ctx, method, 0, make(chan *dbus.Call, 1), args...)
}

func (w atspiWitness) wants(ctx context.Context, r ref, face, name string) *dbus.Call {
	return w.put(ctx, r, "org.freedesktop.DBus.Properties.Get", face, name)
}

// answer waits for the answer of a query; ok is false without one.
func answer[T any](c *dbus.Call) (value T, ok bool) {
	if c == nil {
		return value, false
	}
	<-c.Done
	return value, c.Store(&value) == nil
}

// property is answer for a property.
func property[T any](c *dbus.Call) (value T) {
	v, _ := answer[dbus.Variant](c)
	value, _ = v.Value().(T)
	return value
}

func (w atspiWitness) property(r ref, face, name string) any {
	ctx, cancel := context.WithTimeout(context.Background(), answerTimeout)
	defer cancel()
	return property[any](w.wants(ctx, r, face, name))
}

// children returns the children of each element.
func (w atspiWitness) children(of []ref) [][]ref {
	ctx, cancel := context.WithTimeout(context.Background(), answerTimeout)
	defer cancel()
	counts, lists, found := make([]*dbus.Call, len(of)), make([][]*dbus.Call, len(of)), make([][]ref, len(of))
	for i, r := range of {
		counts[i] = w.wants(ctx, r, accessible, "ChildCount")
	}
	for i, r := range of {
		n := property[int32](counts[i])
		if 0 < n && n <= maxChildren {
			lists[i] = []*dbus.Call{w.put(ctx, r, accessible+".GetChildren")}
			continue
		}
		for at := range min(n, sampledChildren) {
			lists[i] = append(lists[i], w.put(ctx, r, accessible+".GetChildAtIndex", at))
		}
	}
	for i, calls := range lists {
		for _, c := range calls {
			if c.Method == accessible+".GetChildren" {
				found[i], _ = answer[[]ref](c)
			} else if child, ok := answer[ref](c); ok {
				found[i] = append(found[i], child)
			}
		}
	}
	return found
}

// several returns the data of elements; a deleted one has no role.
func (w atspiWitness) several(refs []ref) []node {
	ctx, cancel := context.WithTimeout(context.Background(), answerTimeout)
	defer cancel()
	nodes, first, second := make([]node, len(refs)), make([][4]*dbus.Call, len(refs)), make([][3]*dbus.Call, len(refs))
	for i, r := range refs {
		first[i] = [4]*dbus.Call{w.put(ctx, r, accessible+".GetState"), w.put(ctx, r, accessible+".GetRoleName"),
			w.wants(ctx, r, accessible, "Name"), w.put(ctx, r, accessible+".GetInterfaces")}
	}
	for i, r := range refs {
		states, _ := answer[[]uint32](first[i][0])
		faces, _ := answer[[]string](first[i][3])
		n := node{ref: r, parent: -1, name: property[string](first[i][2])}
		if len(states) > 1 {
			n.states = uint64(states[1])<<32 | uint64(states[0])
			n.role, _ = answer[string](first[i][1])
		}
		if w.onlyShownEvents {
			n.plain()
		}
		if nodes[i] = n; slices.Contains(faces, textFace) {
			second[i][0], second[i][1] = w.put(ctx, r, textFace+".GetText", int32(0), int32(maxTextLength)), w.wants(ctx, r, textFace, "CharacterCount")
		}
		if slices.Contains(faces, valueFace) {
			second[i][2] = w.wants(ctx, r, valueFace, "CurrentValue")
		}
	}
	for i := range nodes {
		nodes[i].text, _ = answer[string](second[i][0])
		nodes[i].value = property[float64](second[i][2])
	}
	w.whole(ctx, nodes, second)
	return nodes
}

// whole repeats queries for the texts of elements that reject a range beyond the end.
func (w atspiWitness) whole(ctx context.Context, nodes []node, asked [][3]*dbus.Call) {
	again := make([]*dbus.Call, len(nodes))
	for i, n := range nodes {
		if count := property[int32](asked[i][1]); n.text == "" && count > 0 {
			again[i] = w.put(ctx, n.ref, textFace+".GetText", int32(0), min(count, maxTextLength))
		}
	}
	for i := range nodes {
		if text, ok := answer[string](again[i]); ok {
			nodes[i].text = text
		}
	}
}

// plain converts GTK 4's data to the form of the others: it repeats a button's name, and reports
// the class name instead of an empty name.
func (n *node) plain() {
	if role, other := map[string]string{"button": "push button", "text box": "text", "window": "frame", "checkbox": "check box", "tab": "page tab"}[n.role]; other {
		n.role = role
	}
	if half := len(n.name) / 2; len(n.name)%2 == 1 && n.name[:half] == n.name[half+1:] {
		n.name = n.name[:half]
	}
	if strings.HasPrefix(n.name, "Gtk") || strings.HasPrefix(n.name, "Adw") {
		n.name = ""
	}
}

// windows returns the windows of the program.
func (w atspiWitness) windows() (windows []ref) {
	const root = "/org/a11y/atspi/accessible/root"
	for _, app := range w.children([]ref{{"org.a11y.atspi.Registry", root}})[0] {
		if name, _ := w.property(app, accessible, "Name").(string); strings.Contains(strings.ToLower(name), w.app) {
			windows = append(windows, w.children([]ref{app})[0]...)
		}
	}
	return windows
}

// tree returns the visible elements of the program, and with menus those in its closed menus;
// parents come first.
func (w atspiWitness) tree(menus bool) (nodes []node) {
	at := w.windows()
	parents := make([]int, len(at))
	for i := range parents {
		parents[i] = -1
	}
	for len(at) > 0 {
		var deeper []ref
		var of []int
		for i, n := range w.several(at) {
			n.parent = parents[i]
			if w.onlyShownEvents && n.is(visible) {
				n.states |= 1 << showing
			}
			inMenu := n.parent >= 0 && (nodes[n.parent].role == "menu bar" || nodes[n.parent].role == "menu")
			if n.role == "" || !n.is(showing) && n.parent >= 0 && (!menus || !inMenu) {
				continue
			}
			if nodes = append(nodes, n); n.role != "menu" || !inMenu || menus || n.is(selected) {
				deeper, of = append(deeper, n.ref), append(of, len(nodes)-1)
			}
		}
		at, parents = nil, nil
		for i, children := range w.children(deeper) {
			at = append(at, children...)
			parents = append(parents, slices.Repeat([]int{of[i]}, len(children))...)
		}
	}
	return nodes
}
