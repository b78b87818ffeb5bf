package host

import (
	"fmt"
	"unsafe"

	"github.com/gybob/aai-gateway/internal/drivers/com"
	"github.com/gybob/aai-gateway/internal/platform/windows/comcall"
)

// vtOf returns the type of a VARIANT.
func vtOf(m *comcall.Variant) com.VT { return com.VT(m.VT) }

// maxArray limits the items of an array that is read.
const maxArray = 1 << 20

// write makes the VARIANT of a value. The caller clears it.
func (l *library) write(v *com.Variant) (comcall.Variant, error) {
	m := comcall.Variant{VT: uint16(v.VT), Value: v.Bits}
	switch {
	case v.VT == com.VTString:
		m.SetPointer(l.NewString(v.Text))
	case v.VT == com.VTDecimal:
		m.High, m.Scale, m.Sign = uint32(v.High), uint8(v.High>>32), uint8(v.High>>40)<<7
	case v.VT&com.VTArray != 0:
		array, err := l.writeArray(v)
		m.SetPointer(array)
		return m, err
	}
	return m, nil
}

type bound struct {
	count uint32
	_     int32 // the lowest index
}

func (l *library) writeArray(v *com.Variant) (unsafe.Pointer, error) {
	bounds := make([]bound, len(v.Sizes))
	for i, n := range v.Sizes {
		bounds[i].count = uint32(n)
	}
	t := v.VT &^ com.VTArray
	address, _, _ := l.arrayCreate.Call(uintptr(t), uintptr(len(bounds)), addressOf(&bounds[0]))
	array := comcall.Pointer(address)
	if array == nil {
		return nil, fmt.Errorf("an array of %v items cannot be made", v.Sizes)
	}
	if v.Bytes != nil {
		l.bytes(array, len(v.Bytes), func(b []byte) { copy(b, v.Bytes) })
	}
	index := make([]int32, len(v.Sizes))
	for i := range v.Items {
		m, err := l.write(&v.Items[i])
		if err != nil {
			return array, err
		}
		item := addressOf(&m.Value)
		switch t {
		case com.VTVariant, com.VTDecimal:
			item = addressOf(&m)
		case com.VTString:
			item = uintptr(m.At())
		}
		hr := comcall.Call(l.arrayPut, address, addressOf(&index[0]), item)
		l.Clear(&m)
		if comcall.Failed(hr) {
			return array, fmt.Errorf("an array does not take its item %d (error 0x%08X)", i, hr)
		}
		next(index, v.Sizes)
	}
	return array, nil
}

// next increments an index, the last dimension first.
func next(index []int32, sizes []int) {
	for d := len(index) - 1; d >= 0; d-- {
		if index[d]++; int(index[d]) < sizes[d] {
			return
		}
		index[d] = 0
	}
}

// bytes calls f with the memory of an array of bytes.
func (l *library) bytes(array unsafe.Pointer, size int, f func([]byte)) {
	var data unsafe.Pointer
	if size == 0 || comcall.Failed(comcall.Call(l.arrayAccess, uintptr(array), addressOf(&data))) {
		return
	}
	f(unsafe.Slice((*byte)(data), size))
	comcall.Call(l.arrayUnaccess, uintptr(array))
}

// read returns the value of a VARIANT, with the types of objects in the place of these. It frees nothing.
func (l *library) read(m *comcall.Variant) (com.Variant, error) {
	if vtOf(m)&com.VTByRef != 0 {
		var direct comcall.Variant
		if hr := comcall.Call(l.copyInd, addressOf(&direct), addressOf(m)); comcall.Failed(hr) {
			return com.Variant{}, fmt.Errorf("a reference of type %d cannot be read (error 0x%08X)", vtOf(m), hr)
		}
		defer l.Clear(&direct)
		return l.read(&direct)
	}
	v := com.Variant{VT: vtOf(m)}
	switch {
	case vtOf(m)&com.VTArray != 0:
		return l.readArray(m.At(), vtOf(m)&^com.VTArray)
	case vtOf(m) == com.VTString:
		v.Text = comcall.StringOf(m.At(), -1)
	case vtOf(m) == com.VTDecimal:
		v.Bits, v.High = m.Value, uint64(m.High)|uint64(m.Scale)<<32|uint64(m.Sign>>7)<<40
	case v.IsObject():
		v.Text = l.typeName(m.At())
	default:
		v.Bits = number(vtOf(m), m.Value)
	}
	return v, nil
}

// number returns the bits of a number that are in use, with its sign extended.
func number(t com.VT, bits uint64) uint64 {
	switch t { //nolint:exhaustive // the others have 64 bits
	case com.VTI1:
		return uint64(int64(int8(bits)))
	case com.VTI2:
		return uint64(int64(int16(bits)))
	case com.VTI4, com.VTInt:
		return uint64(int64(int32(bits)))
	case com.VTUI1:
		return bits & 0xFF
	case com.VTUI2, com.VTBool:
		return bits & 0xFFFF
	case com.VTUI4, com.VTUInt, com.VTError, com.VTR4:
		return bits & 0xFFFFFFFF
	case com.VTEmpty, com.VTNull:
		return 0
	}
	return bits
}

func (l *library) readArray(array unsafe.Pointer, t com.VT) (com.Variant, error) {
	v := com.Variant{VT: com.VTArray | t}
	if array == nil {
		v.Sizes = []int{0}
		return v, nil
	}
	dims, _, _ := l.arrayDim.Call(uintptr(array))
	low, all := make([]int32, dims), 1
	for d := range low {
		var high int32
		comcall.Call(l.arrayLow, uintptr(array), uintptr(d+1), addressOf(&low[d]))
		comcall.Call(l.arrayHigh, uintptr(array), uintptr(d+1), addressOf(&high))
		size := max(int(high)-int(low[d])+1, 0)
		v.Sizes = append(v.Sizes, size)
		if all *= size; all > maxArray && t != com.VTUI1 || all > 16*maxArray {
			return v, fmt.Errorf("an array has more than %d items", maxArray)
		}
	}
	if t == com.VTUI1 && dims == 1 {
		v.Bytes = []byte{}
		l.bytes(array, all, func(b []byte) { v.Bytes = append(v.Bytes, b...) })
		return v, nil
	}
	index := make([]int32, dims)
	for range all {
		at := make([]int32, dims)
		for d := range at {
			at[d] = low[d] + index[d]
		}
		item, err := l.readItem(array, t, &at[0])
		if err != nil {
			return v, err
		}
		v.Items = append(v.Items, item)
		next(index, v.Sizes)
	}
	return v, nil
}

func (l *library) readItem(array unsafe.Pointer, t com.VT, index *int32) (com.Variant, error) {
	m := comcall.Variant{VT: uint16(t)}
	place := addressOf(&m.Value)
	if t == com.VTVariant || t == com.VTDecimal {
		m.VT = uint16(com.VTEmpty)
		place = addressOf(&m)
	}
	if hr := comcall.Call(l.arrayGet, uintptr(array), addressOf(index), place); comcall.Failed(hr) {
		return com.Variant{}, fmt.Errorf("an item of an array cannot be read (error 0x%08X)", hr)
	}
	if t == com.VTDecimal {
		m.VT = uint16(t)
	}
	defer l.Clear(&m)
	return l.read(&m)
}
