package host

import (
	"fmt"
	"unsafe"

	"github.com/gybob/aai-gateway/internal/drivers/com"
)

// variant is a VARIANT of 64-bit Windows. A decimal uses the first field for its type, then scale, sign and the upper bits.
type variant struct {
	vt    com.VT
	scale uint8
	sign  uint8
	high  uint32
	value uint64
	_     uint64
}

// at returns the pointer in the value.
func (v *variant) at() unsafe.Pointer { return *(*unsafe.Pointer)(unsafe.Pointer(&v.value)) }

func (v *variant) setPointer(p unsafe.Pointer) { v.value = uint64(uintptr(p)) }

// maxArray limits the items of an array that is read.
const maxArray = 1 << 20

// write makes the VARIANT of a value. The caller clears it.
func (l *library) write(v *com.Variant) (variant, error) {
	m := variant{vt: v.VT, value: v.Bits}
	switch {
	case v.VT == com.VTString:
		m.setPointer(l.newString(v.Text))
	case v.VT == com.VTDecimal:
		m.high, m.scale, m.sign = uint32(v.High), uint8(v.High>>32), uint8(v.High>>40)<<7
	case v.VT&com.VTArray != 0:
		array, err := l.writeArray(v)
		m.setPointer(array)
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
	array := pointer(address)
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
		item := addressOf(&m.value)
		switch t {
		case com.VTVariant, com.VTDecimal:
			item = addressOf(&m)
		case com.VTString:
			item = uintptr(m.at())
		}
		hr := call(l.arrayPut, address, addressOf(&index[0]), item)
		l.release(&m)
		if failed(hr) {
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
	if size == 0 || failed(call(l.arrayAccess, uintptr(array), addressOf(&data))) {
		return
	}
	f(unsafe.Slice((*byte)(data), size))
	call(l.arrayUnaccess, uintptr(array))
}

// release frees the memory of a VARIANT.
func (l *library) release(m *variant) { call(l.clear, addressOf(m)) }

// read returns the value of a VARIANT, with the types of objects in the place of these. It frees nothing.
func (l *library) read(m *variant) (com.Variant, error) {
	if m.vt&com.VTByRef != 0 {
		var direct variant
		if hr := call(l.copyInd, addressOf(&direct), addressOf(m)); failed(hr) {
			return com.Variant{}, fmt.Errorf("a reference of type %d cannot be read (error 0x%08X)", m.vt, hr)
		}
		defer l.release(&direct)
		return l.read(&direct)
	}
	v := com.Variant{VT: m.vt}
	switch {
	case m.vt&com.VTArray != 0:
		return l.readArray(m.at(), m.vt&^com.VTArray)
	case m.vt == com.VTString:
		v.Text = stringOf(m.at())
	case m.vt == com.VTDecimal:
		v.Bits, v.High = m.value, uint64(m.high)|uint64(m.scale)<<32|uint64(m.sign>>7)<<40
	case v.IsObject():
		v.Text = l.typeName(m.at())
	default:
		v.Bits = number(m.vt, m.value)
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
		call(l.arrayLow, uintptr(array), uintptr(d+1), addressOf(&low[d]))
		call(l.arrayHigh, uintptr(array), uintptr(d+1), addressOf(&high))
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
	m := variant{vt: t}
	place := addressOf(&m.value)
	if t == com.VTVariant || t == com.VTDecimal {
		m.vt = com.VTEmpty
		place = addressOf(&m)
	}
	if hr := call(l.arrayGet, uintptr(array), addressOf(index), place); failed(hr) {
		return com.Variant{}, fmt.Errorf("an item of an array cannot be read (error 0x%08X)", hr)
	}
	if t == com.VTDecimal {
		m.vt = t
	}
	defer l.release(&m)
	return l.read(&m)
}
