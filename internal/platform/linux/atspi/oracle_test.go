//go:build linux

package atspi_test

import (
	"fmt"
	"strings"
	"testing"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/platform/linux/atspi"
	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"

	"github.com/godbus/dbus/v5"
	"github.com/google/go-cmp/cmp"
)

// An oracle reads apps through godbus, one call at a time.
type oracle struct {
	conn *dbus.Conn
	kind linuxtest.Kind
}

// walk reads an object's descendants.
func (o *oracle) walk(t *testing.T, at objectRef) (all []atspi.Raw) {
	t.Helper()
	var children []objectRef
	assert.NilError(t, o.conn.Object(at.Name, at.Path).Call("org.a11y.atspi.Accessible.GetChildren", 0).Store(&children), at)
	for _, child := range children {
		raw := o.read(t, child)
		raw.Parent = string(at.Path)
		all = append(append(all, raw), o.walk(t, child)...)
	}
	return all
}

// read reads one object.
func (o *oracle) read(t *testing.T, at objectRef) atspi.Raw {
	t.Helper()
	object := o.conn.Object(at.Name, at.Path)
	raw := atspi.Raw{Sender: at.Name, Path: string(at.Path), Name: o.text(object, "Name"), Description: o.text(object, "Description")}
	var states []uint32
	for call, into := range map[string]any{"GetRole": &raw.Role, "GetState": &states} {
		assert.NilError(t, object.Call("org.a11y.atspi.Accessible."+call, 0).Store(into), "%s %v", call, at)
	}
	raw.States = uint64(states[0]) | uint64(states[1])<<32
	var interfaces []string
	assert.NilError(t, object.Call("org.a11y.atspi.Accessible.GetInterfaces", 0).Store(&interfaces))
	raw.Component = strings.Contains(fmt.Sprint(interfaces), "org.a11y.atspi.Component")
	var r struct{ X, Y, W, H int32 }
	coordinates := uint32(0) // screen
	if o.kind == linuxtest.GTK4 {
		coordinates = 1 // window
	}
	if object.Call("org.a11y.atspi.Component.GetExtents", 0, coordinates).Store(&r) == nil && r.X > -1<<30 {
		raw.Frame = desktop.Rect{X: int(r.X), Y: int(r.Y), W: int(r.W), H: int(r.H)}
	}
	if v, err := object.GetProperty("org.a11y.atspi.Value.CurrentValue"); err == nil {
		raw.Number, raw.Numeric = v.Value().(float64)
	}
	return raw
}

// text reads a property and removes toolkit artifacts.
func (o *oracle) text(object dbus.BusObject, name string) string {
	v, err := object.GetProperty("org.a11y.atspi.Accessible." + name)
	s, _ := v.Value().(string)
	if err != nil || o.kind == linuxtest.GTK4 && strings.HasPrefix(s, "Gtk") {
		return ""
	}
	return strings.TrimSpace(strings.ReplaceAll(s, "\uFFFC", ""))
}

// TestOracle checks for each toolkit that reading by lists, by levels and in batches has the same result as
// single plain calls of another D-Bus library.
func TestOracle(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for _, kind := range linuxtest.Kinds() {
		t.Run(string(kind), func(t *testing.T) {
			_, app := w.fixture(t, kind)
			w.shows(t, app, desktop.Button, "Press")
			conn, err := dbus.Connect(w.A11yAddress(t))
			assert.NilError(t, err)
			defer func() { _ = conn.Close() }()
			o := &oracle{conn, kind}
			sender, path, _ := strings.Cut(app.Key, "/")
			var difference string
			assert.Check(t, within(patience, func() bool {
				w.warm(t, app)
				ours, err := atspi.Raws(t.Context(), w.bus, app)
				if err != nil {
					t.Fatal(err)
				}
				theirs := o.walk(t, objectRef{sender, dbus.ObjectPath("/" + path)})
				difference = cmp.Diff(theirs, alike(ours, theirs))
				return difference == ""
			}), "we read something else (-godbus +ours):\n%s", difference)
		})
	}
}

// roleOfWords is ATSPI_ROLE_STATIC.
const roleOfWords = 116

// alike copies the properties that are not always read from the other reading: hidden nodes have no frame,
// nodes that are not controls no description, and only input controls a number.
func alike(ours, theirs []atspi.Raw) []atspi.Raw {
	others := map[string]*atspi.Raw{}
	for i := range theirs {
		theirs[i].Showing = false
		others[theirs[i].Path] = &theirs[i]
	}
	for i := range ours {
		n := &ours[i]
		o := others[n.Path]
		if o == nil {
			continue
		}
		if !n.Showing {
			n.Frame, n.Component = o.Frame, o.Component
		}
		if o.Role == roleOfWords && n.Frame.Empty() {
			n.Frame = o.Frame // its frame is its parent's
		}
		if n.Description == "" {
			n.Description = o.Description
		}
		if !n.Numeric {
			n.Number, n.Numeric = o.Number, o.Numeric
		}
		n.Showing = false
	}
	return ours
}
