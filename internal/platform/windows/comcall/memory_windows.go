package comcall

import (
	"unicode/utf16"
	"unsafe"

	"golang.org/x/sys/windows"
)

// The types of a Variant that this package reads.
const (
	Int      = 3
	Float    = 5
	Text     = 8
	Dispatch = 9
	Bool     = 11
	Unknown  = 13
	Array    = 0x2000 // added to the type of the items
)

// A Variant is a VARIANT of 64-bit Windows. A decimal uses the first field for its type, then scale, sign and the upper bits.
type Variant struct {
	VT    uint16
	Scale uint8
	Sign  uint8
	High  uint32
	Value uint64
	_     uint64
}

// At returns the pointer in the value.
func (v *Variant) At() unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&v.Value)) }

// SetPointer makes the pointer the value.
func (v *Variant) SetPointer(p unsafe.Pointer) { v.Value = uint64(uintptr(p)) }

// Memory allocates and frees the memory of COM. Its zero value is not ready; see NewMemory.
type Memory struct{ alloc, free, clear *windows.LazyProc }

// NewMemory returns the functions for the memory of COM.
func NewMemory() *Memory {
	aut := windows.NewLazySystemDLL("oleaut32.dll")
	return &Memory{alloc: aut.NewProc("SysAllocStringLen"), free: aut.NewProc("SysFreeString"), clear: aut.NewProc("VariantClear")}
}

// NewString returns a new BSTR.
func (m *Memory) NewString(text string) unsafe.Pointer {
	units := append(utf16.Encode([]rune(text)), 0)
	p, _, _ := m.alloc.Call(uintptr(unsafe.Pointer(&units[0])), uintptr(len(units)-1))
	return Pointer(p)
}

// FreeString frees a BSTR.
func (m *Memory) FreeString(p unsafe.Pointer) {
	if p != nil {
		_, _, _ = m.free.Call(uintptr(p))
	}
}

// TakeString returns the text of a BSTR and frees it.
func (m *Memory) TakeString(p unsafe.Pointer) string {
	text := StringOf(p, -1)
	m.FreeString(p)
	return text
}

// Clear frees the content of a VARIANT.
func (m *Memory) Clear(v *Variant) {
	switch v.VT {
	case 0, 1, Int, Float, Bool:
		v.VT = 0
	default:
		Call(m.clear, uintptr(unsafe.Pointer(v)))
	}
}

// StringOf returns the text of a BSTR, at most its first units of 16 bits unless units is negative. Units that are no UTF-16 become U+FFFD.
func StringOf(p unsafe.Pointer, units int) string {
	if p == nil {
		return ""
	}
	size := int(*(*uint32)(unsafe.Add(p, -4))) / 2
	if units >= 0 {
		size = min(size, units)
	}
	return string(utf16.Decode(unsafe.Slice((*uint16)(p), size)))
}

// safeArray is a SAFEARRAY with one dimension.
type safeArray struct {
	dims, _     uint16
	itemSize, _ uint32
	data        unsafe.Pointer
	count       uint32
	_           int32 // the lowest index
}

// Ints returns the items of an array of VT_I4, or nil.
func (v *Variant) Ints() []int32 { return items[int32](v, Array|Int) }

// Floats returns the items of an array of VT_R8, or nil.
func (v *Variant) Floats() []float64 { return items[float64](v, Array|Float) }

// items returns a copy of the items of an array with one dimension.
func items[T any](v *Variant, vt uint16) []T {
	a := (*safeArray)(v.At())
	var one T
	if v.VT != vt || a == nil || a.dims != 1 || a.data == nil || uintptr(a.itemSize) != unsafe.Sizeof(one) {
		return nil
	}
	return append([]T(nil), unsafe.Slice((*T)(a.data), a.count)...)
}

// NewInts returns a new SAFEARRAY of VT_I4, or nil.
func NewInts(numbers []int32) unsafe.Pointer {
	p, _, _ := windows.NewLazySystemDLL("oleaut32.dll").NewProc("SafeArrayCreateVector").Call(Int, 0, uintptr(len(numbers)))
	a := (*safeArray)(Pointer(p))
	if a != nil && len(numbers) > 0 {
		copy(unsafe.Slice((*int32)(a.data), len(numbers)), numbers)
	}
	return unsafe.Pointer(a)
}
