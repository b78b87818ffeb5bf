package apps

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"

	"github.com/godbus/dbus/v5"
)

// The witness is a client of the accessibility bus by another library than ours. It keeps
// nothing: what it tells is what the program answers then.
type witness struct {
	bus *dbus.Conn
	app string // part of the program's name there
	// lax: GTK 4 tells of nothing but windows that it shows.
	lax bool
}

// listener is another client that wants to know of everything, as a screen reader does.
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
	accessible = "org.a11y.atspi.Accessible"
	many       = 200             // no list is walked beyond so many children
	answerIn   = 5 * time.Second // a program that does not answer in this time hangs, so far
)

// A ref names an element on the bus.
type ref struct {
	Name string
	Path dbus.ObjectPath
}

// A node is what the witness tells of an element.
type node struct {
	ref
	parent int // in what was told; -1 for a window
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

// on reports whether it is checked, pressed or selected.
func (n node) on() bool { return n.is(checked) || n.is(pressed) || n.is(selected) }

// called reports whether a node is meant: "role:name", or "role:" of any name.
func (n node) called(what string) bool {
	role, name, _ := strings.Cut(what, ":")
	return n.role == role && (name == "" || n.name == name)
}

func (w witness) ask(r ref, method string, into any, args ...any) error {
	ctx, cancel := context.WithTimeout(context.Background(), answerIn)
	defer cancel()
	return w.bus.Object(r.Name, r.Path).CallWithContext(ctx, method, 0, args...).Store(into)
}

func (w witness) property(r ref, face, name string) any {
	var v dbus.Variant
	if w.ask(r, "org.freedesktop.DBus.Properties.Get", &v, face, name) != nil {
		return nil
	}
	return v.Value()
}

// children are those of an element that its program tells of.
func (w witness) children(r ref) (found []ref) {
	if n, ok := w.property(r, accessible, "ChildCount").(int32); !ok || n > many {
		for i := range min(n, many) {
			var child ref
			if w.ask(r, accessible+".GetChildAtIndex", &child, i) == nil {
				found = append(found, child)
			}
		}
		return found
	}
	_ = w.ask(r, accessible+".GetChildren", &found)
	return found
}

// one tells of an element; it has no role where it has gone.
func (w witness) one(r ref) (n node) {
	n = node{ref: r, parent: -1}
	var states []uint32
	if w.ask(r, accessible+".GetState", &states) != nil || len(states) < 2 {
		return n
	}
	n.states = uint64(states[1])<<32 | uint64(states[0])
	_ = w.ask(r, accessible+".GetRoleName", &n.role)
	n.name, _ = w.property(r, accessible, "Name").(string)
	if w.lax {
		n.plain()
	}
	var faces []string
	_ = w.ask(r, accessible+".GetInterfaces", &faces)
	if slices.Contains(faces, "org.a11y.atspi.Text") {
		_ = w.ask(r, "org.a11y.atspi.Text.GetText", &n.text, int32(0), cmp.Or(w.length(r), int32(0)))
	}
	if slices.Contains(faces, "org.a11y.atspi.Value") {
		n.value, _ = w.property(r, "org.a11y.atspi.Value", "CurrentValue").(float64)
	}
	return n
}

// plain gives what GTK 4 tells the words of the others: it says a button's name twice, and
// the name of its class where there is none.
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

func (w witness) length(r ref) int32 {
	n, _ := w.property(r, "org.a11y.atspi.Text", "CharacterCount").(int32)
	return min(n, 20_000)
}

// tree tells what shows of the program, and with menus what is in its closed menus.
func (w witness) tree(menus bool) (nodes []node) {
	const root = "/org/a11y/atspi/accessible/root"
	for _, app := range w.children(ref{"org.a11y.atspi.Registry", root}) {
		if name, _ := w.property(app, accessible, "Name").(string); strings.Contains(strings.ToLower(name), w.app) {
			for _, window := range w.children(app) {
				nodes = w.walk(nodes, window, -1, menus)
			}
		}
	}
	return nodes
}

func (w witness) walk(nodes []node, r ref, parent int, menus bool) []node {
	n := w.one(r)
	n.parent = parent
	if w.lax && n.is(visible) {
		n.states |= 1 << showing
	}
	inMenu := parent >= 0 && (nodes[parent].role == "menu bar" || nodes[parent].role == "menu")
	if n.role == "" || !n.is(showing) && parent >= 0 && (!menus || !inMenu) {
		return nodes
	}
	nodes = append(nodes, n)
	if n.role == "menu" && inMenu && !menus && !n.is(selected) {
		return nodes
	}
	at := len(nodes) - 1
	for _, child := range w.children(r) {
		nodes = w.walk(nodes, child, at, menus)
	}
	return nodes
}
