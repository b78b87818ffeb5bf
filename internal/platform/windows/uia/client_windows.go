package uia

import (
	"context"
	"math"
	"unsafe"

	"golang.org/x/sys/windows"

	"github.com/gybob/aai-gateway/internal/platform/windows/comcall"
	"github.com/gybob/aai-gateway/internal/platform/windows/win32"
)

// The indexes of methods in the tables of UIAutomationClient.h.
const (
	autoElementFromHandle      = 6 // IUIAutomation
	autoElementFromHandleCache = 10
	autoTreeWalker             = 13
	autoControlView            = 18
	autoCacheRequest           = 20
	autoTrueCondition          = 21
	autoPropertyCondition      = 23
	autoAndCondition           = 25
	autoSetAutoFocus           = 59 // IUIAutomation2
	autoSetConnectionTimeout   = 61
	autoSetTransactionTimeout  = 63

	requestAddProperty = 3 // IUIAutomationCacheRequest
	requestSetScope    = 7
	requestSetFilter   = 9

	walkerParent      = 3 // IUIAutomationTreeWalker
	walkerFirstChild  = 10
	walkerNextSibling = 12

	arrayLength = 3 // IUIAutomationElementArray
	arrayItem   = 4

	elementSetFocus       = 3 // IUIAutomationElement
	elementRuntimeID      = 4
	elementFindFirst      = 5
	elementFindAllCache   = 8
	elementUpdatedCache   = 9
	elementCurrentValue   = 11
	elementCachedValue    = 13
	elementCurrentPattern = 16
	elementCachedChildren = 19
)

// The scopes of requests.
const (
	scopeElement  = 1
	scopeChildren = 2
	scopeSubtree  = 7
)

const notImplemented = 0x80004001 // E_NOTIMPL

// The time-outs of the system for programs that do not answer, in milliseconds. The caller's deadline is usually earlier.
const (
	connectionTimeout  = 2000
	transactionTimeout = 10000
)

// A client holds the objects with which all reads are made. They are never released.
type client struct {
	*comcall.Memory
	automation unsafe.Pointer
	controls   unsafe.Pointer // the condition of the control view, or of all elements where the system caches no trees
	walker     unsafe.Pointer
	one        unsafe.Pointer // the request for an element alone
	all        unsafe.Pointer // the request for an element and its descendants; nil where the system caches no trees
	values     unsafe.Pointer // the request for values
	readable   unsafe.Pointer // the condition of elements with a value that are no password fields; nil with all
	properties []int
}

// createAutomation returns the object of UI Automation, or nil. Newer systems have time-outs and do not focus elements at each act.
func createAutomation() unsafe.Pointer {
	create := windows.NewLazySystemDLL("ole32.dll").NewProc("CoCreateInstance")
	const inProcess = 1
	for _, ids := range [][2]windows.GUID{{
		{Data1: 0xe22ad333, Data2: 0xb25f, Data3: 0x460c, Data4: [8]byte{0x83, 0xd0, 0x05, 0x81, 0x10, 0x73, 0x95, 0xc9}},
		{Data1: 0x34723aff, Data2: 0x0c9d, Data3: 0x49d0, Data4: [8]byte{0x98, 0x96, 0x7a, 0xb5, 0x2d, 0xf8, 0xcd, 0x8a}},
	}, {
		{Data1: 0xff48dba4, Data2: 0x60ef, Data3: 0x4201, Data4: [8]byte{0xaa, 0x87, 0x54, 0x10, 0x3e, 0xef, 0x59, 0x4e}},
		{Data1: 0x30cbe57d, Data2: 0xd9d0, Data3: 0x452a, Data4: [8]byte{0xab, 0x13, 0x7a, 0xc5, 0xac, 0x48, 0x25, 0xee}},
	}} {
		var automation unsafe.Pointer
		hr := comcall.Call(create, uintptr(unsafe.Pointer(&ids[0])), 0, inProcess, uintptr(unsafe.Pointer(&ids[1])), uintptr(unsafe.Pointer(&automation)))
		if !comcall.Failed(hr) && automation != nil {
			if ids[0].Data1 == 0xe22ad333 {
				comcall.Invoke(automation, autoSetAutoFocus, 0)
				comcall.Invoke(automation, autoSetConnectionTimeout, connectionTimeout)
				comcall.Invoke(automation, autoSetTransactionTimeout, transactionTimeout)
			}
			return automation
		}
	}
	return nil
}

// newClient makes the requests and conditions; nil if the system lacks one that is always needed.
func newClient(automation unsafe.Pointer) *client {
	c := &client{Memory: comcall.NewMemory(), automation: automation, properties: requested()}
	if automation == nil {
		return nil
	}
	c.controls = c.object(automation, autoControlView)
	if c.one, c.all = c.request(scopeElement, c.properties), c.request(scopeSubtree, c.properties); c.controls == nil || c.one == nil {
		return nil
	}
	if c.all == nil { // Wine cannot test the condition of the control view
		comcall.Release(c.controls)
		if c.controls = c.object(automation, autoTrueCondition); c.controls == nil {
			return nil
		}
	}
	if c.walker = c.object(automation, autoTreeWalker, uintptr(c.controls)); c.walker == nil {
		return nil
	}
	if c.all == nil {
		return c
	}
	c.values = c.request(scopeElement, []int{propRuntimeID, propValue})
	open := c.condition(propPassword, comcall.Variant{VT: comcall.Bool})
	valued := c.condition(propHasValue, comcall.Variant{VT: comcall.Bool, Value: 0xFFFF})
	if open == nil || valued == nil || c.values == nil {
		return nil
	}
	both := c.object(automation, autoAndCondition, uintptr(open), uintptr(valued))
	if both == nil {
		return nil
	}
	c.readable = c.object(automation, autoAndCondition, uintptr(both), uintptr(c.controls))
	return c
}

// object is try without the result.
//
//go:uintptrescapes
func (c *client) object(of unsafe.Pointer, method int, args ...uintptr) unsafe.Pointer {
	object, _ := comcall.Object(of, method, args...)
	return object
}

// try calls a method with an object as the last, returned argument, and returns that or nil.
//
//go:uintptrescapes
func (*client) try(of unsafe.Pointer, method int, args ...uintptr) (unsafe.Pointer, uint32) {
	return comcall.Object(of, method, args...)
}

// request returns a request for the properties of elements in a scope, or nil.
func (c *client) request(scope uintptr, properties []int) unsafe.Pointer {
	r := c.object(c.automation, autoCacheRequest)
	if r == nil {
		return nil
	}
	hr := comcall.Invoke(r, requestSetScope, scope)
	if !comcall.Failed(hr) {
		hr = comcall.Invoke(r, requestSetFilter, uintptr(c.controls))
	}
	if comcall.Failed(hr) {
		comcall.Release(r)
		return nil
	}
	for _, id := range properties {
		comcall.Invoke(r, requestAddProperty, uintptr(id)) // an old system does not know the newest ones
	}
	return r
}

// condition returns the condition that a property has a value, or nil. A VARIANT argument is the address of a copy.
func (c *client) condition(property int, value comcall.Variant) unsafe.Pointer {
	return c.object(c.automation, autoPropertyCondition, uintptr(property), uintptr(unsafe.Pointer(&value)))
}

// read returns the cached properties of an element.
func (c *client) read(element unsafe.Pointer) properties {
	p := make(properties, len(c.properties))
	for _, id := range c.properties {
		if value := c.property(element, elementCachedValue, id, math.MaxInt); value != nil {
			p[id] = value
		}
	}
	if !p.has(propRuntimeID) {
		p[propRuntimeID] = c.runtimeID(element)
	}
	return p
}

// runtimeID returns the runtime ID of an element, or nil.
func (c *client) runtimeID(element unsafe.Pointer) []int32 {
	if id, ok := c.property(element, elementCachedValue, propRuntimeID, 0).([]int32); ok {
		return id
	}
	v := comcall.Variant{VT: comcall.Array | comcall.Int}
	v.SetPointer(c.object(element, elementRuntimeID))
	defer c.Clear(&v)
	return v.Ints()
}

// property returns a property as a value of Go, or nil if the element does not support it. A text is cut after some units of 16 bits.
func (c *client) property(element unsafe.Pointer, method, id, units int) any {
	const ignoreDefault = 1
	var v comcall.Variant
	hr := comcall.Invoke(element, method, uintptr(id), ignoreDefault, uintptr(unsafe.Pointer(&v)))
	defer c.Clear(&v)
	if comcall.Failed(hr) {
		return nil
	}
	if id != propValue {
		units = min(units, maxName)
	}
	switch v.VT {
	case comcall.Bool:
		return uint16(v.Value) != 0
	case comcall.Int:
		return int(int32(v.Value))
	case comcall.Float:
		return math.Float64frombits(v.Value)
	case comcall.Text:
		return comcall.StringOf(v.At(), units)
	case comcall.Array | comcall.Int:
		return v.Ints()
	case comcall.Array | comcall.Float:
		return v.Floats()
	}
	return nil
}

// each calls f with the items of an array of elements from an index on, until f returns false. f owns the element. It returns the number
// of items in the array, and releases the array.
func (c *client) each(array unsafe.Pointer, first int, f func(element unsafe.Pointer) bool) int {
	if array == nil {
		return 0
	}
	defer comcall.Release(array)
	var n int32
	if comcall.Failed(comcall.Invoke(array, arrayLength, uintptr(unsafe.Pointer(&n)))) {
		return 0
	}
	for i := first; i < int(n); i++ {
		if element := c.object(array, arrayItem, uintptr(i)); element != nil && !f(element) {
			break
		}
	}
	return max(0, int(n))
}

// find returns the element of a window with a runtime ID. The caller releases it.
func (c *client) find(window win32.Window, runtimeID []int32) (unsafe.Pointer, uint32) {
	top, hr := c.try(c.automation, autoElementFromHandle, uintptr(window))
	if top == nil {
		return nil, hr
	}
	defer comcall.Release(top)
	array := comcall.NewInts(runtimeID)
	id := comcall.Variant{VT: comcall.Array | comcall.Int}
	id.SetPointer(array)
	defer c.Clear(&id)
	same := c.condition(propRuntimeID, id)
	if same == nil {
		return nil, notImplemented
	}
	defer comcall.Release(same)
	return c.try(top, elementFindFirst, scopeSubtree, uintptr(same))
}

// refresh returns the element with its current properties cached. The caller releases it.
func (c *client) refresh(element unsafe.Pointer) (unsafe.Pointer, uint32) {
	return c.try(element, elementUpdatedCache, uintptr(c.one))
}

// ended returns an error if the context has ended.
func ended(ctx context.Context) error {
	if ctx.Err() != nil {
		return win32.NotAnswered(ctx)
	}
	return nil
}
