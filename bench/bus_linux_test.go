package bench

import (
	"strings"
	"testing"
	"time"

	godbus "github.com/godbus/dbus/v5"
	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway/internal/testkit/linuxtest"
)

// Names of at-spi2-core: xml/Accessible.xml, Action.xml, Event.xml, Registry.xml.
const (
	registryName = "org.a11y.atspi.Registry"
	registryPath = "/org/a11y/atspi/registry"
	rootPath     = "/org/a11y/atspi/accessible/root"
	accessible   = "org.a11y.atspi.Accessible"
	doAction     = "org.a11y.atspi.Action.DoAction"
	objectEvents = "org.a11y.atspi.Event.Object"
	processOf    = "org.freedesktop.DBus.GetConnectionUnixProcessID"
)

// a11yRef refers to an element on the accessibility bus.
type a11yRef struct {
	Name string
	Path godbus.ObjectPath
}

// bareButton is a fixture's button Press, pressed directly with another library: the baseline of
// every click.
type bareButton struct {
	button        godbus.BusObject
	label, around godbus.ObjectPath // label with "Pressed n times", and its parent
	signals       chan *godbus.Signal
}

// findButton finds the program's button in its tree, and listens to the program's events.
func findButton(b *testing.B, s *linuxtest.Session, pid int) *bareButton {
	b.Helper()
	conn, err := godbus.Connect(s.A11yAddress(b))
	assert.NilError(b, err)
	b.Cleanup(func() { _ = conn.Close() })
	root := a11yRef{programOf(b, conn, pid), rootPath}
	button, _ := search(b, conn, root, "Press")
	label, around := search(b, conn, root, "Pressed 0 times")
	assert.Assert(b, button != nil, "process %d shows no button Press with a label", pid)
	assert.Assert(b, label != nil, "process %d shows no button Press with a label", pid)
	for _, event := range []string{"object:property-change", "object:text-changed", "object:children-changed"} {
		assert.NilError(b, conn.Object(registryName, registryPath).Call(registryName+".RegisterEvent", 0, event, []string{}, "").Err)
	}
	assert.NilError(b, conn.AddMatchSignal(godbus.WithMatchInterface(objectEvents), godbus.WithMatchSender(root.Name)))
	signals := make(chan *godbus.Signal, 1000)
	conn.Signal(signals)
	return &bareButton{conn.Object(root.Name, button.Path), label.Path, around.Path, signals}
}

// programOf returns the unique name of the process's connection.
func programOf(b *testing.B, conn *godbus.Conn, pid int) string {
	b.Helper()
	for _, program := range childrenOf(b, conn, a11yRef{registryName, rootPath}) {
		var of int
		if err := conn.BusObject().Call(processOf, 0, program.Name).Store(&of); err == nil && of == pid {
			return program.Name
		}
	}
	b.Fatalf("process %d is not on the accessibility bus", pid)
	return ""
}

func childrenOf(b *testing.B, conn *godbus.Conn, of a11yRef) []a11yRef {
	b.Helper()
	var children []a11yRef
	assert.NilError(b, conn.Object(of.Name, of.Path).Call(accessible+".GetChildren", 0).Store(&children))
	return children
}

// search returns the first element with the name, and its parent; nil if there is
// none.
func search(b *testing.B, conn *godbus.Conn, from a11yRef, name string) (found, parent *a11yRef) {
	b.Helper()
	for _, child := range childrenOf(b, conn, from) {
		if v, err := conn.Object(child.Name, child.Path).GetProperty(accessible + ".Name"); err == nil && v.Value() == name {
			return &child, &from
		}
		if found, parent := search(b, conn, child, name); found != nil {
			return found, parent
		}
	}
	return nil, nil
}

// press returns the time from the request to the program's event for the changed label.
func (p *bareButton) press(b *testing.B) time.Duration {
	b.Helper()
	for len(p.signals) > 0 {
		<-p.signals
	}
	begun := time.Now()
	call := p.button.Go(doAction, 0, nil, int32(0))
	took := p.awaitLabelChange(b, begun)
	assert.NilError(b, (<-call.Done).Err)
	return took
}

// awaitLabelChange waits for the event.
func (p *bareButton) awaitLabelChange(b *testing.B, begun time.Time) time.Duration {
	b.Helper()
	late := time.After(10 * time.Second)
	for {
		select {
		case signal := <-p.signals:
			if p.isEffect(signal) {
				return time.Since(begun)
			}
		case <-late:
			b.Fatal("the program never told that its label has changed")
		}
	}
}

// isEffect reports whether an event means a changed label: a new name, or, in Chromium, a new text
// in its place.
func (p *bareButton) isEffect(signal *godbus.Signal) bool {
	detail := ""
	if len(signal.Body) > 0 {
		detail, _ = signal.Body[0].(string)
	}
	switch strings.TrimPrefix(signal.Name, objectEvents+".") {
	case "PropertyChange":
		return signal.Path == p.label && detail == "accessible-name"
	case "TextChanged":
		return signal.Path == p.label && detail == "insert"
	case "ChildrenChanged":
		return signal.Path == p.around && detail == "add"
	}
	return false
}
