//go:build darwin || axdouble

package native

import (
	"fmt"
	"reflect"
	"sync"
	"unsafe"

	"github.com/ebitengine/purego"
)

// A Ref is an object of CoreFoundation or of a framework that builds on it; 0 is none.
type Ref uintptr

// A Range is CFRange.
type Range struct{ Location, Length int }

// A Point is CGPoint, in points from the top left of the main display.
type Point struct{ X, Y float64 }

// A Size is CGSize.
type Size struct{ W, H float64 }

// A Rect is CGRect.
type Rect struct {
	Origin Point
	Size   Size
}

// A Functions holds the C functions. Each field has the name of its function. A field with the tag `optional` is nil where the system
// has no such function.
type Functions struct {
	CoreFoundation
	Accessibility
	Quartz
	System
}

// CoreFoundation are the functions of that framework.
type CoreFoundation struct {
	CFRetain                    func(Ref) Ref
	CFRelease                   func(Ref)
	CFEqual                     func(a, b Ref) bool
	CFHash                      func(Ref) uintptr
	CFGetTypeID                 func(Ref) uintptr
	CFStringGetTypeID           func() uintptr
	CFNumberGetTypeID           func() uintptr
	CFBooleanGetTypeID          func() uintptr
	CFArrayGetTypeID            func() uintptr
	CFDictionaryGetTypeID       func() uintptr
	CFURLGetTypeID              func() uintptr
	CFAttributedStringGetTypeID func() uintptr
	CFStringCreateWithBytes     func(allocator uintptr, bytes *byte, count int, encoding uint32, external bool) Ref
	CFStringGetLength           func(Ref) int
	CFStringGetBytes            func(text Ref, part Range, encoding uint32, loss byte, external bool, buffer *byte, size int, used *int) int
	CFNumberCreate              func(allocator uintptr, kind int, value *float64) Ref
	CFNumberGetValue            func(number Ref, kind int, value *float64) bool
	CFBooleanGetValue           func(Ref) bool
	CFArrayCreate               func(allocator uintptr, values *Ref, count int, callbacks uintptr) Ref
	CFArrayGetCount             func(Ref) int
	CFArrayGetValueAtIndex      func(Ref, int) Ref
	CFDictionaryGetValue        func(dictionary, key Ref) Ref
	CFURLGetString              func(Ref) Ref
	CFAttributedStringGetString func(Ref) Ref
	CFRunLoopGetCurrent         func() Ref
	CFRunLoopAddSource          func(loop, source, mode Ref)
	CFRunLoopRemoveSource       func(loop, source, mode Ref)
	CFRunLoopRunInMode          func(mode Ref, seconds float64, once bool) int32
	CFRunLoopStop               func(loop Ref)
}

// Accessibility are the functions of ApplicationServices for other programs' elements.
type Accessibility struct {
	AXIsProcessTrusted                     func() bool
	AXUIElementGetTypeID                   func() uintptr
	AXUIElementCreateApplication           func(pid int32) Ref
	AXUIElementCreateSystemWide            func() Ref
	AXUIElementSetMessagingTimeout         func(element Ref, seconds float32) AXError
	AXUIElementCopyAttributeValue          func(element, name Ref, value *Ref) AXError
	AXUIElementCopyMultipleAttributeValues func(element, names Ref, options uint32, values *Ref) AXError
	AXUIElementGetAttributeValueCount      func(element, name Ref, count *int) AXError
	AXUIElementCopyAttributeValues         func(element, name Ref, first, count int, values *Ref) AXError
	AXUIElementIsAttributeSettable         func(element, name Ref, is *byte) AXError
	AXUIElementSetAttributeValue           func(element, name, value Ref) AXError
	AXUIElementCopyActionNames             func(element Ref, names *Ref) AXError
	AXUIElementPerformAction               func(element, name Ref) AXError
	AXValueGetTypeID                       func() uintptr
	AXValueGetType                         func(Ref) uint32
	AXValueGetValue                        func(value Ref, kind uint32, result *[4]float64) bool
	AXObserverCreate                       func(pid int32, callback uintptr, observer *Ref) AXError
	AXObserverAddNotification              func(observer, element, name Ref, context uintptr) AXError
	AXObserverGetRunLoopSource             func(observer Ref) Ref
	// The next function is not documented, though many programs for windows use it.
	UIElementGetWindow func(element Ref, window *uint32) AXError `symbol:"_AXUIElementGetWindow" optional:"true"`
}

// System are the functions about processes.
type System struct {
	ProcPIDPath func(pid int32, buffer *byte, size uint32) int32                                      `symbol:"proc_pidpath"`
	ProcPIDInfo func(pid, kind int32, argument uint64, buffer *byte, size int32) int32                `symbol:"proc_pidinfo"`
	Csops       func(pid int32, operation uint32, result *byte, size uintptr) int32                   `symbol:"csops" optional:"true"`
	Sysctl      func(name *int32, count uint32, old *byte, size *uintptr, new, newSize uintptr) int32 `symbol:"sysctl"`
}

// An API calls the functions and converts their values. It is safe for concurrent use.
type API struct {
	Functions

	arrayCallbacks   uintptr // kCFTypeArrayCallBacks
	true, false      Ref
	types            map[uintptr]Type
	mu               sync.Mutex
	names            map[string]Ref
	observerCallback uintptr
	observers        map[uintptr]func(element Ref, notification string)
	nextObserver     uintptr
}

// Open loads the functions.
func Open() (*API, error) {
	handles, err := libraries()
	if err != nil {
		return nil, err
	}
	a := &API{names: make(map[string]Ref), observers: make(map[uintptr]func(Ref, string))}
	for _, group := range []any{&a.CoreFoundation, &a.Accessibility, &a.Quartz, &a.System} {
		if err := register(group, handles); err != nil {
			return nil, err
		}
	}
	for name, value := range map[string]*Ref{"kCFBooleanTrue": &a.true, "kCFBooleanFalse": &a.false} {
		address, err := symbol(handles, name)
		if err != nil {
			return nil, err
		}
		*value = **(**Ref)(unsafe.Pointer(&address)) //nolint:gosec // the address of a variable of the library
	}
	if a.arrayCallbacks, err = symbol(handles, "kCFTypeArrayCallBacks"); err != nil {
		return nil, err
	}
	a.types = map[uintptr]Type{
		a.CFStringGetTypeID(): Text, a.CFNumberGetTypeID(): Number, a.CFBooleanGetTypeID(): Boolean, a.CFArrayGetTypeID(): Array,
		a.CFDictionaryGetTypeID(): Dictionary, a.CFURLGetTypeID(): URL, a.CFAttributedStringGetTypeID(): AttributedText,
		a.AXUIElementGetTypeID(): Element, a.AXValueGetTypeID(): Structure,
	}
	a.observerCallback = purego.NewCallback(a.observed)
	return a, nil
}

// register sets the fields of a struct to the functions of their names.
func register(group any, handles []uintptr) error {
	fields := reflect.ValueOf(group).Elem()
	for i := range fields.NumField() {
		kind := fields.Type().Field(i)
		name := kind.Tag.Get("symbol")
		if name == "" {
			name = kind.Name
		}
		address, err := symbol(handles, name)
		switch {
		case err == nil:
			purego.RegisterFunc(fields.Field(i).Addr().Interface(), address)
		case kind.Tag.Get("optional") == "":
			return err
		}
	}
	return nil
}

// symbol returns the address of a function or variable.
func symbol(handles []uintptr, name string) (uintptr, error) {
	for _, handle := range handles {
		if address, err := purego.Dlsym(handle, name); err == nil && address != 0 {
			return address, nil
		}
	}
	return 0, fmt.Errorf("this system has no function %s", name)
}

// open loads the libraries of the paths.
func open(paths ...string) ([]uintptr, error) {
	handles := make([]uintptr, len(paths))
	for i, path := range paths {
		handle, err := purego.Dlopen(path, purego.RTLD_LAZY|purego.RTLD_GLOBAL)
		if err != nil {
			return nil, fmt.Errorf("the library %s cannot be loaded: %w", path, err)
		}
		handles[i] = handle
	}
	return handles, nil
}
