package comcall

import (
	"syscall"
	"unsafe"

	"golang.org/x/sys/windows"
)

// The indexes of the methods of IUnknown, which begin every table.
const (
	QueryInterface = 0
	AddReference   = 1
	ReleaseObject  = 2
)

// Call calls a function that returns an HRESULT. Arguments of the form uintptr(unsafe.Pointer(&x)) stay valid during the call.
//
//go:uintptrescapes
func Call(p *windows.LazyProc, args ...uintptr) uint32 {
	hr, _, _ := p.Call(args...)
	return uint32(hr)
}

// Invoke calls the method at an index of an object's table of functions. Arguments are as in Call.
//
//go:uintptrescapes
func Invoke(object unsafe.Pointer, index int, args ...uintptr) uint32 {
	table := *(**[128]uintptr)(object)
	all := append([]uintptr{uintptr(object)}, args...)
	hr, _, _ := syscall.SyscallN(table[index], all...)
	return uint32(hr)
}

// Object calls a method whose last argument receives an object, and returns that; nil if the method fails. Arguments are as in Call.
//
//go:uintptrescapes
func Object(object unsafe.Pointer, index int, args ...uintptr) (unsafe.Pointer, uint32) {
	out := newPointer()
	hr := Invoke(object, index, append(args, uintptr(unsafe.Pointer(out)))...)
	if Failed(hr) {
		return nil, hr
	}
	return *out, hr
}

// newPointer returns memory that does not move when the method calls back into Go, as memory of a stack may.
//
//go:noinline
func newPointer() *unsafe.Pointer { return new(unsafe.Pointer) }

// Failed reports whether an HRESULT is an error.
func Failed(hr uint32) bool { return hr&0x80000000 != 0 }

// The results of calls to programs that end, or that a person runs as another user.
const (
	AccessDenied  = 0x80070005 // E_ACCESSDENIED
	EndedInCall   = 0x800706BE // the program ended during the call
	DiedInCall    = 0x80010012 // likewise
	unavailable   = 0x800706BA
	died          = 0x80010007
	disconnected  = 0x80010108
	notConnected  = 0x800401FD
	InvalidWindow = 0x80070578
)

// Ended reports whether a result means that the object or its program no longer exists.
func Ended(hr uint32) bool {
	switch hr {
	case EndedInCall, DiedInCall, unavailable, died, disconnected, notConnected, InvalidWindow:
		return true
	}
	return false
}

// Query returns another interface of an object, or nil. The caller releases it.
func Query(object unsafe.Pointer, iid *windows.GUID) unsafe.Pointer {
	var other unsafe.Pointer
	if object == nil || Failed(Invoke(object, QueryInterface, uintptr(unsafe.Pointer(iid)), uintptr(unsafe.Pointer(&other)))) {
		return nil
	}
	return other
}

// Hold adds a reference to an object.
func Hold(object unsafe.Pointer) { Invoke(object, AddReference) }

// Release gives a reference to an object back. It does nothing with nil.
func Release(object unsafe.Pointer) {
	if object != nil {
		Invoke(object, ReleaseObject)
	}
}

// Pointer converts the address of memory that is not Go's.
func Pointer(address uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&address)) }
