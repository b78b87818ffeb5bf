package com

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"math"
	"math/big"
	"strconv"
	"time"
)

// Decode returns the JSON value of a VARIANT: integers as int64 or uint64, VT_R8 as float64, VT_R4, currencies and decimals as
// exact json.Number, NaN and the infinities as strings, dates as local time without a zone, bytes as {"base64": …}, objects as
// {"object": "type"}, errors as {"type": "error", "value": …}. Empty and null are nil.
func Decode(v Variant) (any, error) {
	switch {
	case v.Names != nil:
		return decodeMembers(v)
	case v.VT&VTArray != 0:
		return decodeArray(v)
	}
	if size, signed := bitsOf(v.VT); size > 0 && v.VT != VTError {
		if signed {
			return int64(v.Bits), nil
		}
		if v.Bits <= math.MaxInt64 {
			return int64(v.Bits), nil
		}
		return v.Bits, nil
	}
	switch v.VT {
	case VTEmpty, VTNull:
		return nil, nil
	case VTBool:
		return v.Bits != 0, nil
	case VTString:
		return v.Text, nil
	case VTR4:
		return decodeFloat(float64(math.Float32frombits(uint32(v.Bits))), 32), nil
	case VTR8:
		return decodeFloat(math.Float64frombits(v.Bits), 64), nil
	case VTCurrency:
		return decimal{big.NewInt(int64(v.Bits)), 4}.number(), nil
	case VTDecimal:
		n := new(big.Int).SetUint64(v.High & math.MaxUint32)
		n.Or(n.Lsh(n, 64), new(big.Int).SetUint64(v.Bits))
		if v.High>>40 != 0 {
			n.Neg(n)
		}
		return decimal{n, min(int(v.High>>32&0xFF), 28)}.number(), nil
	case VTDate:
		return decodeDate(math.Float64frombits(v.Bits))
	case VTError:
		return map[string]any{"type": "error", "value": int64(v.Bits & math.MaxUint32)}, nil
	case VTDispatch, VTUnknown:
		if v.Text == "" {
			return nil, nil
		}
		return map[string]any{"object": v.Text}, nil
	}
	return nil, fmt.Errorf("a value of COM's type %d has no form in JSON", v.VT)
}

func decodeFloat(f float64, size int) any {
	switch {
	case math.IsNaN(f):
		return "NaN"
	case math.IsInf(f, 1):
		return "Infinity"
	case math.IsInf(f, -1):
		return "-Infinity"
	case size == 32:
		return json.Number(strconv.FormatFloat(f, 'g', -1, 32))
	}
	return f
}

func decodeDate(f float64) (any, error) {
	days, part := math.Modf(f)
	if math.IsNaN(f) || math.Abs(f) > 4_000_000 {
		return nil, fmt.Errorf("the date %v is none", f)
	}
	when := dateEpoch().AddDate(0, 0, int(days)).Add(time.Duration(math.Round(math.Abs(part)*dayMillis)) * time.Millisecond)
	return when.Format("2006-01-02T15:04:05.999"), nil
}

func decodeArray(v Variant) (any, error) {
	if v.VT == VTArray|VTUI1 && len(v.Sizes) == 1 {
		return map[string]any{"base64": base64.StdEncoding.EncodeToString(v.Bytes)}, nil
	}
	all := 1
	for _, n := range v.Sizes {
		all *= n
	}
	if len(v.Sizes) == 0 || all != len(v.Items) {
		return nil, fmt.Errorf("an array has %d items in dimensions of %v", len(v.Items), v.Sizes)
	}
	rest := v.Items
	var read func(dimension int) ([]any, error)
	read = func(dimension int) ([]any, error) {
		list := make([]any, v.Sizes[dimension])
		for i := range list {
			if dimension+1 < len(v.Sizes) {
				inner, err := read(dimension + 1)
				if err != nil {
					return nil, err
				}
				list[i] = inner
				continue
			}
			item, err := Decode(rest[0])
			if err != nil {
				return nil, err
			}
			list[i], rest = item, rest[1:]
		}
		return list, nil
	}
	return read(0)
}

func decodeMembers(v Variant) (any, error) {
	object := make(map[string]any, len(v.Names))
	for i, name := range v.Names {
		if i >= len(v.Items) {
			break
		}
		value, err := Decode(v.Items[i])
		if err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		object[name] = value
	}
	return object, nil
}
