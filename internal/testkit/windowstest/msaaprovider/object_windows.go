package msaaprovider

import (
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"unicode/utf16"
	"unsafe"

	"golang.org/x/sys/windows"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/testkit/windowstest/comwindow"
)

// The results of methods.
const (
	ok              = 0
	none            = 1 // S_FALSE
	noInterface     = 0x80004002
	notImplemented  = 0x80004001
	invalidArgument = 0x80070057
	notConnected    = 0x800401FD
	noMember        = 0x80020003
)

// The faults of bad providers.
const (
	NoNames = "names"    // every name is null
	Cycle   = "cycle"    // the first child of a button is the window, each time another object
	Self    = "self"     // a button is its own child
	Endless = "children" // the window has two billion children
	Long    = "long"     // the name of a button has 10 MB
	Broken  = "utf16"    // every name is half a character
	Dies    = "dies"     // the process ends in the middle of a read
)

// An object is the IAccessible of one element, as clients point to it. Methods give it out as a number: Go would look at the pointer that
// a caller's memory held before, which may be anything.
type object struct {
	table *[28]uintptr
	refs  atomic.Int32
	id    desktop.ID
}

// A variant is a VARIANT of 64-bit Windows.
type variant struct {
	vt    uint16
	_     [3]uint16
	value uint64
	_     uint64
}

type server struct {
	*comwindow.Program
	table         *[28]uintptr
	live          sync.Map // objects with references, which the garbage collector must keep
	alloc, answer *windows.LazyProc
	accessible    windows.GUID
}

// New returns the answer of a window for MSAA.
func New(p *comwindow.Program) comwindow.Answer {
	s := &server{Program: p, alloc: windows.NewLazySystemDLL("oleaut32.dll").NewProc("SysAllocStringLen"), answer: windows.NewLazySystemDLL("oleacc.dll").NewProc("LresultFromObject")}
	s.accessible, _ = windows.GUIDFromString("{618736e0-3c3d-11cf-810c-00aa00389b71}")
	s.fill()
	return func(p *comwindow.Program, wParam, lParam uintptr) (uintptr, bool) {
		const client = -4 // OBJID_CLIENT
		elements := p.Elements()
		if int32(lParam) != client || len(elements) == 0 {
			return 0, false
		}
		o := s.newObject(elements[0].ID)
		defer s.release(o)
		result, _, _ := s.answer.Call(uintptr(unsafe.Pointer(&s.accessible)), wParam, uintptr(unsafe.Pointer(o)))
		return result, true
	}
}

// newObject returns an object with one reference.
func (s *server) newObject(id desktop.ID) *object {
	o := &object{table: s.table, id: id}
	o.refs.Store(1)
	s.live.Store(o, true)
	s.Live.Add(1)
	return o
}

func (s *server) query(o *object, iid *windows.GUID, out *uintptr) uintptr {
	if iid.Data1 != 0 && iid.Data1 != 0x20400 && *iid != s.accessible {
		*out = 0
		return noInterface
	}
	o.refs.Add(1)
	*out = uintptr(unsafe.Pointer(o))
	return ok
}

func (s *server) release(o *object) uintptr {
	n := o.refs.Add(-1)
	if n == 0 {
		s.live.Delete(o)
		s.Live.Add(-1)
	}
	return uintptr(n)
}

func (s *server) fill() {
	missing := syscall.NewCallback(func(*object) uintptr { return notImplemented })
	noText := syscall.NewCallback(func(_ *object, _ *variant, out *uintptr) uintptr { *out = 0; return none })
	t := &[28]uintptr{}
	for i := range t {
		t[i] = missing
	}
	for i, f := range map[int]any{
		0: s.query, 1: func(o *object) uintptr { return uintptr(o.refs.Add(1)) }, 2: s.release, 8: s.childCount, 9: s.child, 10: s.name, 11: s.value,
		13: s.role, 14: s.state, 20: s.action, 21: s.choose, 22: s.location, 25: s.act, 27: s.put,
	} {
		t[i] = syscall.NewCallback(f)
	}
	t[12], t[15], t[17] = noText, noText, noText
	s.table = t
}

// children returns the program's elements and the indexes of an element's children.
func (s *server) children(id desktop.ID) ([]desktop.Element, []int) {
	s.Wait()
	elements := s.Elements()
	own := slices.IndexFunc(elements, func(e desktop.Element) bool { return e.ID == id })
	var all []int
	for i := range elements {
		if own >= 0 && i > 0 && elements[i].Parent == own {
			all = append(all, i)
		}
	}
	return elements, all
}

// target returns the element that a call is about: that of the object, or a child by its number from 1.
func (s *server) target(o *object, child *variant) (*desktop.Element, uintptr) {
	if child.vt != 3 {
		return nil, invalidArgument
	}
	id := o.id
	if n := int(int32(child.value)); n != 0 {
		elements, all := s.children(o.id)
		if n < 0 || n > len(all) {
			return nil, invalidArgument
		}
		id = elements[all[n-1]].ID
	}
	s.Wait()
	e, found := s.Read(id)
	if !found {
		return nil, notConnected
	}
	return &e, ok
}

func (s *server) childCount(o *object, out *int32) uintptr {
	_, all := s.children(o.id)
	*out = int32(len(all))
	if e, _ := s.Read(o.id); (s.Fault == Self || s.Fault == Cycle) && e.Name == "Press" {
		*out = 1
	}
	if s.Fault == Endless && len(all) > 3 {
		*out = 2_000_000_000
	}
	return ok
}

// child returns the object of a child; none for a row of a list, which is simple.
func (s *server) child(o *object, child *variant, out *uintptr) uintptr {
	*out = 0
	elements, all := s.children(o.id)
	e, _ := s.Read(o.id)
	n := int(int32(child.value))
	switch {
	case s.Fault == Self && e.Name == "Press":
		o.refs.Add(1)
		*out = uintptr(unsafe.Pointer(o))
		return ok
	case s.Fault == Cycle && e.Name == "Press":
		*out = uintptr(unsafe.Pointer(s.newObject(elements[0].ID)))
		return ok
	case child.vt != 3 || n <= 0 || n > len(all):
		return invalidArgument
	case elements[all[n-1]].Role == desktop.Option:
		return none
	}
	*out = uintptr(unsafe.Pointer(s.newObject(elements[all[n-1]].ID)))
	return ok
}

// text writes a BSTR.
func (s *server) text(text string, out *uintptr) uintptr {
	return s.units(utf16.Encode([]rune(text)), out)
}

func (s *server) units(units []uint16, out *uintptr) uintptr {
	units = append(slices.Clone(units), 0)
	*out, _, _ = s.alloc.Call(uintptr(unsafe.Pointer(&units[0])), uintptr(len(units)-1))
	return ok
}

func (s *server) name(o *object, child *variant, out *uintptr) uintptr {
	*out = 0
	e, hr := s.target(o, child)
	switch {
	case hr != ok:
		return hr
	case e.Name == "" || s.Fault == NoNames:
		return none
	case s.Fault == Broken:
		return s.units([]uint16{0xD83D, 'x', 0xDE42}, out)
	case s.Fault == Long && e.Name == "Press":
		return s.text(strings.Repeat("long ", 1<<20), out)
	case s.Fault == Dies && e.Name == "Full name":
		_ = windows.TerminateProcess(windows.CurrentProcess(), 3)
	}
	return s.text(e.Name, out)
}

// value gives away the content of password fields too, and counts that.
func (s *server) value(o *object, child *variant, out *uintptr) uintptr {
	*out = 0
	e, hr := s.target(o, child)
	if hr != ok {
		return hr
	}
	if e.States.Has(desktop.Protected) {
		s.Secrets.Add(1)
		secret, _ := s.Fixture.State()["password"].(string)
		return s.text(secret, out)
	}
	if e.Value == "" {
		return none
	}
	return s.text(e.Value, out)
}

func (s *server) action(o *object, child *variant, out *uintptr) uintptr {
	*out = 0
	e, hr := s.target(o, child)
	if hr != ok {
		return hr
	}
	if len(e.Actions) == 0 {
		return none
	}
	return s.text("Drücken", out)
}
