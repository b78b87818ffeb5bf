package com

import (
	"encoding/json"
	"math/big"
	"strconv"
	"strings"
)

// A VT is the type of a VARIANT, as in Windows's wtypes.h.
type VT uint16

// The types of VARIANTs that have a JSON form.
const (
	VTEmpty    VT = 0
	VTNull     VT = 1
	VTI2       VT = 2
	VTI4       VT = 3
	VTR4       VT = 4
	VTR8       VT = 5
	VTCurrency VT = 6
	VTDate     VT = 7
	VTString   VT = 8
	VTDispatch VT = 9
	VTError    VT = 10
	VTBool     VT = 11
	VTVariant  VT = 12
	VTUnknown  VT = 13
	VTDecimal  VT = 14
	VTI1       VT = 16
	VTUI1      VT = 17
	VTUI2      VT = 18
	VTUI4      VT = 19
	VTI8       VT = 20
	VTUI8      VT = 21
	VTInt      VT = 22
	VTUInt     VT = 23
	VTArray    VT = 0x2000 // added to the type of the items
	VTByRef    VT = 0x4000 // added to the type of the value that a pointer leads to
)

// omitted is the error that stands for an omitted argument, DISP_E_PARAMNOTFOUND.
const omitted = 0x80020004

// A Variant is the content of a VARIANT without its memory.
type Variant struct {
	VT VT
	// Bits hold a number of at most 64 bits: an integer with its sign extended, a float by IEEE 754, a currency in ten-thousandths,
	// a date as a float, 0xFFFF for true, an error, or the lower 64 bits of a decimal.
	Bits uint64
	// High holds the rest of a decimal: 32 bits of the number, then 8 bits of its scale, then 1 of its sign.
	High  uint64
	Text  string    // a string, or the type of an object
	Bytes []byte    // an array of VTUI1 with one dimension
	Items []Variant // of an array, the last dimension varies fastest
	Sizes []int     // of an array's dimensions
	// Names makes Items the members of a JSON object. No VARIANT has them; List returns such values.
	Names []string
}

// IsObject reports whether v is a pointer to an object.
func (v *Variant) IsObject() bool { return v.VT == VTDispatch || v.VT == VTUnknown }

// Omitted returns the value of an omitted argument.
func Omitted() Variant { return Variant{VT: VTError, Bits: omitted} }

// typeNames returns the names of types in {"type": NAME, "value": …}.
func typeNames() map[string]VT {
	return map[string]VT{
		"empty": VTEmpty, "null": VTNull, "i1": VTI1, "i2": VTI2, "i4": VTI4, "i8": VTI8, "ui1": VTUI1, "ui2": VTUI2, "ui4": VTUI4,
		"ui8": VTUI8, "int": VTInt, "uint": VTUInt, "r4": VTR4, "r8": VTR8, "currency": VTCurrency, "decimal": VTDecimal,
		"date": VTDate, "string": VTString, "bool": VTBool, "error": VTError, "variant": VTVariant,
	}
}

// bitsOf returns the size of an integer type and whether it has a sign; zero for other types.
func bitsOf(t VT) (size uint, signed bool) {
	switch t {
	case VTI1:
		return 8, true
	case VTI2:
		return 16, true
	case VTI4, VTInt:
		return 32, true
	case VTI8:
		return 64, true
	case VTUI1:
		return 8, false
	case VTUI2:
		return 16, false
	case VTUI4, VTUInt, VTError:
		return 32, false
	case VTUI8:
		return 64, false
	default:
		return 0, false
	}
}

// maxExponent limits the exponent of a JSON number, so that its digits stay few.
const maxExponent = 400

// A decimal is the exact number coefficient / 10^scale.
type decimal struct {
	coefficient *big.Int
	scale       int // not negative
}

// decimalOf reads a JSON number.
func decimalOf(text string) (d decimal, ok bool) {
	mantissa, exponent, scientific := strings.Cut(strings.ToLower(text), "e")
	shift := 0
	if scientific {
		n, err := strconv.Atoi(exponent)
		if err != nil || n > maxExponent || n < -maxExponent {
			return d, false
		}
		shift = n
	}
	whole, fraction, _ := strings.Cut(mantissa, ".")
	if len(whole)+len(fraction) > 2*maxExponent {
		return d, false
	}
	d.scale = len(fraction) - shift
	if d.coefficient, ok = new(big.Int).SetString(whole+fraction, 10); !ok {
		return d, false
	}
	if d.scale < 0 {
		d.coefficient.Mul(d.coefficient, powerOfTen(-d.scale))
		d.scale = 0
	}
	return d, true
}

func powerOfTen(n int) *big.Int { return new(big.Int).Exp(big.NewInt(10), big.NewInt(int64(n)), nil) }

// rescaled returns the coefficient of the same number at another scale. ok is false if that is no whole number.
func (d decimal) rescaled(scale int) (n *big.Int, ok bool) {
	if scale >= d.scale {
		return new(big.Int).Mul(d.coefficient, powerOfTen(scale-d.scale)), true
	}
	n, rest := new(big.Int).QuoRem(d.coefficient, powerOfTen(d.scale-scale), new(big.Int))
	return n, rest.Sign() == 0
}

// number returns the decimal as a JSON number with all digits of its scale.
func (d decimal) number() json.Number {
	digits := new(big.Int).Abs(d.coefficient).String()
	if missing := d.scale + 1 - len(digits); missing > 0 {
		digits = strings.Repeat("0", missing) + digits
	}
	text := digits[:len(digits)-d.scale]
	if d.scale > 0 {
		text += "." + digits[len(digits)-d.scale:]
	}
	if d.coefficient.Sign() < 0 {
		text = "-" + text
	}
	return json.Number(text)
}
