package msaa

import (
	"strings"
	"unsafe"

	"golang.org/x/sys/windows"

	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/platform/windows/comcall"
	"github.com/gybob/aai-gateway/internal/platform/windows/win32"
)

// The indexes of methods in the table of IAccessible.
const (
	getChildCount    = 8
	getChild         = 9
	getName          = 10
	getValue         = 11
	getDescription   = 12
	getRole          = 13
	getState         = 14
	getDefaultAction = 20
	selectObject     = 21
	getLocation      = 22
	doDefaultAction  = 25
	putValue         = 27
)

// The flags of accSelect.
const (
	takeFocus     = 1
	takeSelection = 2
	addSelection  = 8
)

// A library holds the functions of oleacc.dll.
type library struct {
	*comcall.Memory
	fromWindow, children, windowOf *windows.LazyProc
}

func newLibrary() *library {
	acc := windows.NewLazySystemDLL("oleacc.dll")
	return &library{comcall.NewMemory(), acc.NewProc("AccessibleObjectFromWindow"), acc.NewProc("AccessibleChildren"), acc.NewProc("WindowFromAccessibleObject")}
}

func accessibleID() *windows.GUID {
	return &windows.GUID{Data1: 0x618736e0, Data2: 0x3c3d, Data3: 0x11cf, Data4: [8]byte{0x81, 0x0c, 0x00, 0xaa, 0x00, 0x38, 0x9b, 0x71}}
}

// An object is an element: an IAccessible, or a simple element that one speaks for. The zero object is none.
type object struct {
	accessible unsafe.Pointer // with a reference
	child      int32          // number of a simple element; 0 for the object itself
}

func (o object) release() { comcall.Release(o.accessible) }

// self returns the argument that names the element.
func (o object) self() *comcall.Variant {
	return &comcall.Variant{VT: comcall.Int, Value: uint64(uint32(o.child))}
}

// ofWindow returns the object of a window's content.
func (l *library) ofWindow(window win32.Window) (object, uint32) {
	const client = 0xFFFFFFFC // OBJID_CLIENT
	var o object
	hr := comcall.Call(l.fromWindow, uintptr(window), client, uintptr(unsafe.Pointer(accessibleID())), uintptr(unsafe.Pointer(&o.accessible)))
	if !comcall.Failed(hr) && o.accessible == nil {
		hr = comcall.InvalidWindow
	}
	return o, hr
}

// text returns a text property, "" if there is none.
func (l *library) text(o object, method int) string {
	p, hr := comcall.Object(o.accessible, method, uintptr(unsafe.Pointer(o.self())))
	if hr != 0 {
		l.FreeString(p)
		return ""
	}
	return l.TakeString(p)
}

// shortText is text for a name, of which only the beginning is read.
func (l *library) shortText(o object, method int) string {
	p, hr := comcall.Object(o.accessible, method, uintptr(unsafe.Pointer(o.self())))
	defer l.FreeString(p)
	if hr != 0 {
		return ""
	}
	return comcall.StringOf(p, maxName)
}

// number returns a number property, 0 if there is none. A role may also be a text, for which there is no role here.
func (l *library) number(o object, method int) (uint32, uint32) {
	var v comcall.Variant
	hr := comcall.Invoke(o.accessible, method, uintptr(unsafe.Pointer(o.self())), uintptr(unsafe.Pointer(&v)))
	defer l.Clear(&v)
	if comcall.Failed(hr) || v.VT != comcall.Int {
		return 0, hr
	}
	return uint32(v.Value), hr
}

// facts reads an element. It asks neither a password field nor an invisible element for its value.
func (l *library) facts(o object) (facts, uint32) {
	var f facts
	var hr uint32
	if f.role, hr = l.number(o, getRole); comcall.Failed(hr) {
		return f, hr
	}
	f.state, _ = l.number(o, getState)
	f.name, f.action = l.shortText(o, getName), l.shortText(o, getDefaultAction) != ""
	if f.is(stateInvisible) {
		return f, 0 // nothing else of it is told
	}
	f.description = l.shortText(o, getDescription)
	if !f.is(stateProtected) {
		f.value = strings.ReplaceAll(l.text(o, getValue), "\r\n", "\n")
	}
	r := new([4]int32)
	hr = comcall.Invoke(o.accessible, getLocation, uintptr(unsafe.Pointer(&r[0])), uintptr(unsafe.Pointer(&r[1])), uintptr(unsafe.Pointer(&r[2])),
		uintptr(unsafe.Pointer(&r[3])), uintptr(unsafe.Pointer(o.self())))
	if hr == 0 {
		f.frame = desktop.Rect{X: int(r[0]), Y: int(r[1]), W: max(0, int(r[2])), H: max(0, int(r[3]))}
	}
	return f, 0
}

// count returns the number of children.
func (l *library) count(o object) int {
	var n int32
	if o.child != 0 || comcall.Failed(comcall.Invoke(o.accessible, getChildCount, uintptr(unsafe.Pointer(&n)))) || n < 0 || n > maxIndex {
		return 0
	}
	return int(n)
}

// childrenOf returns count children from an index on. The caller releases them. A child that cannot be had is the zero object.
func (l *library) childrenOf(o object, first, count int) []object {
	if o.child != 0 || count <= 0 {
		return nil
	}
	got := new(int32)
	raw := make([]comcall.Variant, count)
	hr := comcall.Call(l.children, uintptr(o.accessible), uintptr(first), uintptr(count), uintptr(unsafe.Pointer(&raw[0])), uintptr(unsafe.Pointer(got)))
	if comcall.Failed(hr) {
		return nil
	}
	all := make([]object, 0, count)
	for i := range raw[:max(0, min(int(*got), count))] {
		all = append(all, l.take(o, &raw[i]))
	}
	return all
}

// take returns the object of a child and frees the VARIANT.
func (l *library) take(parent object, v *comcall.Variant) object {
	defer l.Clear(v)
	switch v.VT {
	case comcall.Dispatch, comcall.Unknown:
		return object{accessible: comcall.Query(v.At(), accessibleID())}
	case comcall.Int:
		child := object{child: int32(v.Value)}
		if child.child == 0 {
			return object{}
		}
		dispatch, _ := comcall.Object(parent.accessible, getChild, uintptr(unsafe.Pointer(child.self())))
		if dispatch != nil { // it has an object of its own after all
			defer comcall.Release(dispatch)
			return object{accessible: comcall.Query(dispatch, accessibleID())}
		}
		comcall.Hold(parent.accessible)
		child.accessible = parent.accessible
		return child
	}
	return object{}
}

// isWindow reports whether an element is a window of its own inside the one that is read.
func (l *library) isWindow(o object, f *facts, window win32.Window) bool {
	if o.child != 0 || f.role != roleWindow && f.role != roleClient {
		return false
	}
	own := new(uintptr)
	hr := comcall.Call(l.windowOf, uintptr(o.accessible), uintptr(unsafe.Pointer(own)))
	return f.role == roleWindow || hr == 0 && *own != 0 && win32.Window(*own) != window
}
