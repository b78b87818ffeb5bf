package host

import (
	"unsafe"

	"golang.org/x/sys/windows"

	"github.com/gybob/aai-gateway/internal/platform/windows/comcall"
)

// locale is English of the United States: numbers and dates in texts, and names of members, are then the same for every person.
const locale = 0x409

// library holds the functions of COM. Each process has one.
type library struct {
	*comcall.Memory
	initialize, createInstance, classID, activeObject, taskFree           *windows.LazyProc
	copyInd                                                               *windows.LazyProc
	arrayCreate, arrayDestroy, arrayDim, arrayLow, arrayHigh, arrayType   *windows.LazyProc
	arrayGet, arrayPut, arrayAccess, arrayUnaccess                        *windows.LazyProc
	loadRegistered, waitMessages, peekMessage, translate, dispatchMessage *windows.LazyProc
}

func newLibrary() *library {
	ole, aut, user := windows.NewLazySystemDLL("ole32.dll"), windows.NewLazySystemDLL("oleaut32.dll"), windows.NewLazySystemDLL("user32.dll")
	return &library{
		initialize: ole.NewProc("CoInitializeEx"), createInstance: ole.NewProc("CoCreateInstance"), classID: ole.NewProc("CLSIDFromProgID"),
		taskFree: ole.NewProc("CoTaskMemFree"), activeObject: aut.NewProc("GetActiveObject"),
		Memory: comcall.NewMemory(), copyInd: aut.NewProc("VariantCopyInd"),
		arrayCreate: aut.NewProc("SafeArrayCreate"), arrayDestroy: aut.NewProc("SafeArrayDestroy"), arrayDim: aut.NewProc("SafeArrayGetDim"),
		arrayLow: aut.NewProc("SafeArrayGetLBound"), arrayHigh: aut.NewProc("SafeArrayGetUBound"), arrayType: aut.NewProc("SafeArrayGetVartype"),
		arrayGet: aut.NewProc("SafeArrayGetElement"), arrayPut: aut.NewProc("SafeArrayPutElement"),
		arrayAccess: aut.NewProc("SafeArrayAccessData"), arrayUnaccess: aut.NewProc("SafeArrayUnaccessData"),
		loadRegistered: aut.NewProc("LoadRegTypeLib"),
		waitMessages:   user.NewProc("MsgWaitForMultipleObjectsEx"), peekMessage: user.NewProc("PeekMessageW"), translate: user.NewProc("TranslateMessage"),
		dispatchMessage: user.NewProc("DispatchMessageW"),
	}
}

// addressOf returns the address of Go memory as an argument.
func addressOf[T any](p *T) uintptr { return uintptr(unsafe.Pointer(p)) }

// The indexes of methods in the table of IDispatch.
const (
	getTypeInfo   = 4
	getIDsOfNames = 5
	invokeMethod  = 6
)

// The ids of interfaces.
func iidDispatch() *windows.GUID { return automationID(0x20400) }
func iidEnum() *windows.GUID     { return automationID(0x20404) }

func automationID(n uint32) *windows.GUID {
	return &windows.GUID{Data1: n, Data4: [8]byte{0xC0, 0, 0, 0, 0, 0, 0, 0x46}}
}
