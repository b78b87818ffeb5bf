package uiaprovider

import (
	"strings"

	"golang.org/x/sys/windows"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// The faults of bad providers.
const (
	NoNames  = "names"    // every name is null
	Cycle    = "cycle"    // the first child of a button is the window
	OwnChild = "self"     // a button is its own child
	Endless  = "siblings" // the last element has ever more siblings
	Long     = "long"     // the name of a button has 10 MB
	Broken   = "utf16"    // every name is half a character
	Dies     = "dies"     // the process ends in the middle of a read
)

// misreport returns a property as a bad provider does. Every provider here gives away the content of password fields, and counts that.
func (s *server) misreport(e *desktop.Element, id int32) any {
	value := Property(e, id)
	if id == 30045 && e.States.Has(desktop.Protected) {
		s.Secrets.Add(1)
		return s.Fixture.State()["password"]
	}
	if id != 30005 {
		return value
	}
	switch s.Fault {
	case NoNames:
		return nil
	case Long:
		if value == "Press" {
			return strings.Repeat("long ", 1<<20)
		}
	case Broken:
		return []uint16{0xD83D, 'x', 0xDE42}
	case Dies:
		if value == "Full name" {
			_ = windows.TerminateProcess(windows.CurrentProcess(), 3)
		}
	}
	return value
}

// invent answers for the elements that a bad provider makes up.
func (s *server) invent(o *object, direction int32) (*object, bool) {
	e, found := s.read(o)
	switch {
	case !found:
	case s.Fault == Cycle && e.Name == "Press" && direction == firstChild:
		return s.newObject(s.Elements()[0].ID, true), true
	case s.Fault == OwnChild && e.Name == "Press" && direction == firstChild:
		return s.newObject(o.id, false), true
	case s.Fault == Endless && (e.Name == "Press" || o.loop > 0) && direction == next:
		sibling := s.newObject(o.id, false)
		sibling.loop = o.loop + 1
		return sibling, true
	case o.loop > 0 && direction != parent:
		return nil, true
	}
	return nil, false
}
