package uiaprovider

import (
	"sync"
	"sync/atomic"
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/testkit/windowstest/comwindow"
)

// The results of methods.
const (
	ok               = 0
	noInterface      = 0x80004002
	invalidArgument  = 0x80070057
	notAvailable     = 0x80040201 // UIA_E_ELEMENTNOTAVAILABLE
	notEnabled       = 0x80040200 // UIA_E_ELEMENTNOTENABLED
	invalidOperation = 0x80131509 // UIA_E_INVALIDOPERATION
)

// A kind is an interface of a provider.
type kind int

const (
	simple kind = iota
	fragment
	fragmentRoot
	invokeKind
	valueKind
	rangeKind
	toggleKind
	selectionItemKind
	expandKind
	scrollItemKind
	windowKind
	kinds
)

// interfaceIDs returns the first numbers of the ids of the interfaces, which tell them apart.
func interfaceIDs() map[uint32]kind {
	return map[uint32]kind{
		0: simple, 0xd6dd68d1: simple, 0xf7063da8: fragment, 0x620ce2a5: fragmentRoot, 0x54fcb24b: invokeKind, 0xc7935180: valueKind,
		0x36dc7aef: rangeKind, 0x56d00bd0: toggleKind, 0x2acad808: selectionItemKind, 0xd847d3a5: expandKind, 0x2360c714: scrollItemKind, 0x987df77b: windowKind,
		// The interfaces of clients, whose first methods are the same.
		0xfb377fbe: invokeKind, 0xa94cd8b1: valueKind, 0x59213f4f: rangeKind, 0x94cf8058: toggleKind, 0xa8efa66a: selectionItemKind, 0x619be086: expandKind, 0xb488300f: scrollItemKind,
	}
}

// patterns returns the kinds of the patterns by their ids.
func patterns() map[int32]kind {
	return map[int32]kind{
		10000: invokeKind, 10002: valueKind, 10003: rangeKind, 10005: expandKind, 10009: windowKind, 10010: selectionItemKind, 10015: toggleKind, 10017: scrollItemKind,
	}
}

// A face is one interface of an object, as clients point to it. Methods give it out as a number: Go would look at the pointer that a caller's
// memory held before, which may be anything.
type face struct {
	table *[12]uintptr
	owner *object
}

// An object is a provider of one element.
type object struct {
	faces [kinds]face
	refs  atomic.Int32
	id    desktop.ID
	root  bool
	loop  int // of a bad provider: the number of the element that it invents
}

// A server makes the objects of a program.
type server struct {
	*comwindow.Program
	tables                   [kinds]*[12]uintptr
	live                     sync.Map // objects with references, which the garbage collector must keep
	alloc, newArray, setItem *windows.LazyProc
	hostProvider, answer     *windows.LazyProc
	ids                      map[uint32]kind
	patterns                 map[int32]kind
}

// New returns the answer of a window for UI Automation.
func New(p *comwindow.Program) comwindow.Answer {
	s := newServer(p)
	return func(p *comwindow.Program, wParam, lParam uintptr) (uintptr, bool) {
		const rootObject = -25 // UiaRootObjectId
		elements := p.Elements()
		if int32(lParam) != rootObject || len(elements) == 0 {
			return 0, false
		}
		o := s.newObject(elements[0].ID, true)
		defer s.release(&o.faces[simple])
		result, _, _ := s.answer.Call(p.Window, wParam, lParam, uintptr(unsafe.Pointer(&o.faces[simple])))
		return result, true
	}
}

func newServer(p *comwindow.Program) *server {
	aut, uia := windows.NewLazySystemDLL("oleaut32.dll"), windows.NewLazySystemDLL("uiautomationcore.dll")
	s := &server{
		Program: p, ids: interfaceIDs(), patterns: patterns(),
		alloc: aut.NewProc("SysAllocStringLen"), newArray: aut.NewProc("SafeArrayCreateVector"), setItem: aut.NewProc("SafeArrayPutElement"),
		hostProvider: uia.NewProc("UiaHostProviderFromHwnd"), answer: uia.NewProc("UiaReturnRawElementProvider"),
	}
	s.fill()
	return s
}

// newObject returns an object with one reference.
func (s *server) newObject(id desktop.ID, root bool) *object {
	o := &object{id: id, root: root}
	for k := range o.faces {
		o.faces[k] = face{s.tables[k], o}
	}
	o.refs.Store(1)
	s.live.Store(o, true)
	s.Live.Add(1)
	return o
}

func (s *server) query(f *face, iid *windows.GUID, out *uintptr) uintptr {
	k, known := s.ids[iid.Data1]
	if !known || k == fragmentRoot && !f.owner.root || k >= invokeKind && !s.offers(f.owner, k) {
		*out = 0
		return noInterface
	}
	f.owner.refs.Add(1)
	*out = uintptr(unsafe.Pointer(&f.owner.faces[k]))
	return ok
}

func (s *server) release(f *face) uintptr {
	n := f.owner.refs.Add(-1)
	if n == 0 {
		s.live.Delete(f.owner)
		s.Live.Add(-1)
	}
	return uintptr(n)
}

// fill makes the tables of functions.
func (s *server) fill() {
	query, hold, release := syscall.NewCallback(s.query), syscall.NewCallback(func(f *face) uintptr { return uintptr(f.owner.refs.Add(1)) }), syscall.NewCallback(s.release)
	empty := syscall.NewCallback(func(_ *face, out *uintptr) uintptr { *out = 0; return ok })
	for k := range s.tables {
		s.tables[k] = &[12]uintptr{query, hold, release}
	}
	set := func(k kind, functions ...any) {
		for i, f := range functions {
			if address, is := f.(uintptr); is {
				s.tables[k][3+i] = address
				continue
			}
			s.tables[k][3+i] = syscall.NewCallback(f)
		}
	}
	set(simple, func(_ *face, out *int32) uintptr { *out = 2; return ok }, s.patternOf, s.property, s.host)
	set(fragment, s.navigate, s.runtimeID, s.frame, empty, s.takeFocus, s.rootOf)
	set(fragmentRoot, func(_ *face, _, _ uintptr, out *uintptr) uintptr { *out = 0; return ok }, empty)
	set(invokeKind, s.act(desktop.Press))
	set(valueKind, s.setValue, s.text(30045), s.number(30046))
	set(rangeKind, s.setNumber, s.float(30047), s.number(30048), s.float(30050), s.float(30049), s.float(30051), s.float(30052))
	set(toggleKind, s.act(desktop.Press), s.number(30086))
	set(selectionItemKind, s.act(desktop.SelectItem), s.addToSelection, s.act("none"), s.number(30079), empty)
	set(expandKind, s.act(desktop.Press), s.act(desktop.Press), s.number(30070))
	set(scrollItemKind, s.act(desktop.ScrollTo))
	set(windowKind, s.act("none"), s.act("none"), s.act("none"), s.number(0), s.number(0), s.number(30077), s.number(0), s.number(0), s.number(0))
}
