package schema

import (
	"encoding/json"
	"math"
	"math/big"
	"strconv"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/schema/jsontree"
)

// maxValueDepth is the limit for the nesting of a value. A Go value can even contain itself.
const maxValueDepth = 128

// copyValue copies a JSON value, so that the caller's value is never changed. It converts Go's
// own numbers, string slices and string maps to the types of encoding/json.
func copyValue(value any) (any, error) { return copyBelow(value, nil) }

func copyBelow(value any, at path) (any, error) {
	if len(at) > maxValueDepth {
		return nil, aai.Errorf(aai.InvalidParams, "%sthe value is nested more than %d deep", prefix(at[:3]), maxValueDepth)
	}
	switch v := value.(type) {
	case nil, bool, string, int64, aai.Placeholder:
		return v, nil
	case map[string]any:
		object := make(map[string]any, len(v))
		for name, member := range v {
			copied, err := copyBelow(member, append(at, name))
			if err != nil {
				return nil, err
			}
			object[name] = copied
		}
		return object, nil
	case []any:
		array := make([]any, len(v))
		for i, item := range v {
			copied, err := copyBelow(item, append(at, i))
			if err != nil {
				return nil, err
			}
			array[i] = copied
		}
		return array, nil
	case map[string]string:
		object := make(map[string]any, len(v))
		for name, member := range v {
			object[name] = member
		}
		return object, nil
	case []string:
		array := make([]any, len(v))
		for i, item := range v {
			array[i] = item
		}
		return array, nil
	}
	return copyNumber(value, at)
}

func copyNumber(value any, at path) (any, error) {
	switch n := value.(type) {
	case json.Number:
		if !isNumber(string(n)) {
			return nil, aai.Errorf(aai.InvalidParams, "%sexpected a number, got something that is none", prefix(at))
		}
		if !jsontree.IsCheapNumber(string(n), maxDigits) {
			return nil, aai.Errorf(aai.InvalidParams, "%sthe number is too long or its exponent is too large", prefix(at))
		}
		return n, nil
	case float64:
		if math.IsNaN(n) || math.IsInf(n, 0) {
			return nil, aai.Errorf(aai.InvalidParams, "%sexpected a finite number, got %v", prefix(at), n)
		}
		return n, nil
	case float32:
		return copyNumber(float64(n), at)
	case int:
		return int64(n), nil
	case int8:
		return int64(n), nil
	case int16:
		return int64(n), nil
	case int32:
		return int64(n), nil
	case uint:
		return fromUnsigned(uint64(n)), nil
	case uint8:
		return int64(n), nil
	case uint16:
		return int64(n), nil
	case uint32:
		return int64(n), nil
	case uint64:
		return fromUnsigned(n), nil
	}
	return nil, aai.Errorf(aai.InvalidParams, "%sexpected a JSON value, got a Go %T", prefix(at), value)
}

func fromUnsigned(n uint64) any {
	if n > math.MaxInt64 {
		return json.Number(strconv.FormatUint(n, 10))
	}
	return int64(n)
}

// isNumber reports whether the text is a number by the grammar of JSON.
func isNumber(text string) bool {
	return text != "" && (text[0] == '-' || '0' <= text[0] && text[0] <= '9') && json.Valid([]byte(text))
}

// jsonCopy copies a value of the schema, such as a default, with the types of encoding/json:
// numbers are float64, except integers that do not fit.
func jsonCopy(value any) any {
	switch v := value.(type) {
	case map[string]any:
		object := make(map[string]any, len(v))
		for name, member := range v {
			object[name] = jsonCopy(member)
		}
		return object
	case []any:
		array := make([]any, len(v))
		for i, item := range v {
			array[i] = jsonCopy(item)
		}
		return array
	case json.Number:
		f, err := v.Float64()
		if r := rational(v.String()); err != nil || r.IsInt() && r.Cmp(new(big.Rat).SetFloat64(f)) != 0 {
			return v
		}
		return f
	}
	return value
}

// prefix returns the place as the beginning of a message.
func prefix(at path) string {
	if len(at) == 0 {
		return ""
	}
	return at.String() + ": "
}
