package host

import (
	"syscall"
	"unicode/utf16"
	"unsafe"

	"golang.org/x/sys/windows"
)

// locale is English of the United States: numbers and dates in texts, and names of members, are then the same for every person.
const locale = 0x409

// library holds the functions of COM. Each process has one.
type library struct {
	initialize, createInstance, classID, activeObject, taskFree           *windows.LazyProc
	allocString, freeString, clear, copyInd                               *windows.LazyProc
	arrayCreate, arrayDestroy, arrayDim, arrayLow, arrayHigh, arrayType   *windows.LazyProc
	arrayGet, arrayPut, arrayAccess, arrayUnaccess                        *windows.LazyProc
	loadRegistered, waitMessages, peekMessage, translate, dispatchMessage *windows.LazyProc
}

func newLibrary() *library {
	ole, aut, user := windows.NewLazySystemDLL("ole32.dll"), windows.NewLazySystemDLL("oleaut32.dll"), windows.NewLazySystemDLL("user32.dll")
	return &library{
		initialize: ole.NewProc("CoInitializeEx"), createInstance: ole.NewProc("CoCreateInstance"), classID: ole.NewProc("CLSIDFromProgID"),
		taskFree: ole.NewProc("CoTaskMemFree"), activeObject: aut.NewProc("GetActiveObject"),
		allocString: aut.NewProc("SysAllocStringLen"), freeString: aut.NewProc("SysFreeString"), clear: aut.NewProc("VariantClear"), copyInd: aut.NewProc("VariantCopyInd"),
		arrayCreate: aut.NewProc("SafeArrayCreate"), arrayDestroy: aut.NewProc("SafeArrayDestroy"), arrayDim: aut.NewProc("SafeArrayGetDim"),
		arrayLow: aut.NewProc("SafeArrayGetLBound"), arrayHigh: aut.NewProc("SafeArrayGetUBound"), arrayType: aut.NewProc("SafeArrayGetVartype"),
		arrayGet: aut.NewProc("SafeArrayGetElement"), arrayPut: aut.NewProc("SafeArrayPutElement"),
		arrayAccess: aut.NewProc("SafeArrayAccessData"), arrayUnaccess: aut.NewProc("SafeArrayUnaccessData"),
		loadRegistered: aut.NewProc("LoadRegTypeLib"),
		waitMessages:   user.NewProc("MsgWaitForMultipleObjectsEx"), peekMessage: user.NewProc("PeekMessageW"), translate: user.NewProc("TranslateMessage"),
		dispatchMessage: user.NewProc("DispatchMessageW"),
	}
}

// call calls a function that returns an HRESULT.
//
//go:uintptrescapes
func call(p *windows.LazyProc, args ...uintptr) uint32 {
	hr, _, _ := p.Call(args...)
	return uint32(hr)
}

// invokeAt calls the method at an index of an object's table of functions.
//
//go:uintptrescapes
func invokeAt(object unsafe.Pointer, index int, args ...uintptr) uint32 {
	table := *(**[128]uintptr)(object)
	all := append([]uintptr{uintptr(object)}, args...)
	hr, _, _ := syscall.SyscallN(table[index], all...)
	return uint32(hr)
}

// addressOf returns the address of Go memory as an argument.
func addressOf[T any](p *T) uintptr { return uintptr(unsafe.Pointer(p)) }

// The indexes of methods in the tables of IUnknown and IDispatch.
const (
	queryInterface = 0
	addReference   = 1
	release        = 2
	getTypeInfo    = 4
	getIDsOfNames  = 5
	invokeMethod   = 6
)

// The ids of interfaces.
func iidDispatch() *windows.GUID { return automationID(0x20400) }
func iidEnum() *windows.GUID     { return automationID(0x20404) }

func automationID(n uint32) *windows.GUID {
	return &windows.GUID{Data1: n, Data4: [8]byte{0xC0, 0, 0, 0, 0, 0, 0, 0x46}}
}

func failed(hr uint32) bool { return hr&0x80000000 != 0 }

// query returns another interface of an object, or nil.
func query(object unsafe.Pointer, iid *windows.GUID) unsafe.Pointer {
	var other unsafe.Pointer
	if object == nil || failed(invokeAt(object, queryInterface, addressOf(iid), addressOf(&other))) {
		return nil
	}
	return other
}

// newString returns a new BSTR.
func (l *library) newString(text string) unsafe.Pointer {
	units := utf16.Encode([]rune(text))
	units = append(units, 0)
	p, _, _ := l.allocString.Call(addressOf(&units[0]), uintptr(len(units)-1))
	return pointer(p)
}

// pointer converts the address of memory that is not Go's.
func pointer(address uintptr) unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&address)) }

// stringOf returns the text of a BSTR. Units that are no UTF-16 become U+FFFD.
func stringOf(p unsafe.Pointer) string {
	if p == nil {
		return ""
	}
	size := *(*uint32)(unsafe.Add(p, -4))
	return string(utf16.Decode(unsafe.Slice((*uint16)(p), size/2)))
}

// takeString returns the text of a BSTR and frees it.
func (l *library) takeString(p unsafe.Pointer) string {
	text := stringOf(p)
	if p != nil {
		_, _, _ = l.freeString.Call(uintptr(p))
	}
	return text
}
