// Package params decodes the arguments of desktop tool calls. It reads only the arguments, and no
// program.
package params

import (
	"encoding/json"
	"math"
	"strconv"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
)

// Arguments are validated against the tool's schema before; an argument of another type counts as
// absent.

// String returns a string argument, or "".
func String(call *aai.Call, name string) string {
	s, _ := call.Args[name].(string)
	return s
}

// Has reports whether the call has the argument.
func Has(call *aai.Call, name string) bool {
	_, ok := call.Args[name]
	return ok
}

// Bool returns a boolean argument, or false.
func Bool(call *aai.Call, name string) bool {
	b, _ := call.Args[name].(bool)
	return b
}

// Int returns an integer argument; otherwise is the result if it is absent.
func Int(call *aai.Call, name string, otherwise int) int {
	return ToInt(call.Args[name], otherwise)
}

// ToInt converts a number to an int, floats clamped to 32 bits; otherwise is the result for other values.
func ToInt(v any, otherwise int) int {
	switch n := v.(type) {
	case float64:
		return int(math.Max(math.MinInt32, math.Min(math.MaxInt32, n)))
	case int:
		return n
	case int64:
		return int(n)
	case json.Number:
		if f, err := strconv.ParseFloat(string(n), 64); err == nil {
			return ToInt(f, otherwise)
		}
	}
	return otherwise
}

// TakesFocus reports whether the call may take the focus and pointer of the person: by mode, or to activate a window.
func TakesFocus(call *aai.Call) bool { return String(call, "mode") == "focus" || activates(call) }

// AppParam is the parameter that names the program.
const AppParam = "app"

// Region returns the part of the screen in the argument region; false without one.
func Region(call *aai.Call) (desktop.Rect, bool) {
	region, ok := call.Args["region"].(map[string]any)
	if !ok {
		return desktop.Rect{}, false
	}
	n := func(name string) int { return ToInt(region[name], 0) }
	return desktop.Rect{X: n("x"), Y: n("y"), W: n("w"), H: n("h")}, true
}
