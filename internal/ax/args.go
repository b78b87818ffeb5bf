package ax

import (
	"encoding/json"
	"math"
	"strconv"

	"aai"
)

// The arguments of a call were validated against the tool's schema, so that one
// of another type is one that was not given.

func textArg(call *aai.Call, name string) string {
	s, _ := call.Args[name].(string)
	return s
}

func given(call *aai.Call, name string) bool {
	_, ok := call.Args[name]
	return ok
}

func flagArg(call *aai.Call, name string) bool {
	b, _ := call.Args[name].(bool)
	return b
}

// intArg returns a whole number, or otherwise.
func intArg(call *aai.Call, name string, otherwise int) int {
	return wholeNumber(call.Args[name], otherwise)
}

func wholeNumber(v any, otherwise int) int {
	switch n := v.(type) {
	case float64:
		return int(math.Max(math.MinInt32, math.Min(math.MaxInt32, n)))
	case int:
		return n
	case int64:
		return int(n)
	case json.Number:
		if f, err := strconv.ParseFloat(string(n), 64); err == nil {
			return wholeNumber(f, otherwise)
		}
	}
	return otherwise
}

// inFocus reports whether the call may take the person's focus and pointer.
func inFocus(call *aai.Call) bool { return textArg(call, "mode") == "focus" || activates(call) }
