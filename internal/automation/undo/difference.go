package undo

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/sanitize"
)

// maxShown is the maximum of bytes of a value that a difference shows.
const maxShown = 60

// difference describes the first difference between left, the expected state, and now, the current one;
// "" for none. It compares numbers by value, and objects with all members. Where form has an object, it
// compares only the members in left.
func difference(form, left, now any) string {
	was, err := aai.ToJSONValue(left)
	if err != nil {
		return "the state after the act cannot be compared"
	}
	is, err := aai.ToJSONValue(now)
	if err != nil {
		return "the current state cannot be compared"
	}
	return valueDifference("", form, was, is)
}

// valueDifference is difference for the values at a place, a path with dots; "" is the root.
func valueDifference(place string, form, was, is any) string {
	switch was := was.(type) {
	case map[string]any:
		object, ok := is.(map[string]any)
		if !ok {
			break
		}
		return memberDifference(place, form, was, object)
	case []any:
		list, ok := is.([]any)
		if !ok || len(list) != len(was) {
			break
		}
		forms, _ := form.([]any)
		for i := range was {
			var of any
			if len(forms) == len(was) {
				of = forms[i]
			}
			if other := valueDifference(joinPlace(place, strconv.Itoa(i+1)), of, was[i], list[i]); other != "" {
				return other
			}
		}
		return ""
	case json.Number:
		if number, ok := is.(json.Number); ok && sameNumber(was, number) {
			return ""
		}
	default:
		if was == is {
			return ""
		}
	}
	if place == "" {
		return "it is " + shortValue(is) + ", expected " + shortValue(was)
	}
	if sanitize.IsSecretName(place) {
		return place + " has changed"
	}
	return place + " is " + shortValue(is) + ", expected " + shortValue(was)
}

// memberDifference is valueDifference for two objects.
func memberDifference(place string, form any, was, is map[string]any) string {
	forms, some := form.(map[string]any)
	for _, name := range slices.Sorted(maps.Keys(was)) {
		value, there := is[name]
		at := joinPlace(place, name)
		if !there && was[name] != nil {
			return at + " is gone"
		}
		if other := valueDifference(at, forms[name], was[name], value); other != "" {
			return other
		}
	}
	for _, name := range slices.Sorted(maps.Keys(is)) {
		if _, listed := was[name]; !some && !listed && is[name] != nil {
			return joinPlace(place, name) + " is new"
		}
	}
	return ""
}

func joinPlace(place, name string) string {
	name = aai.CleanLabel(name, maxShown)
	if place == "" {
		return name
	}
	return place + "." + name
}

// shortValue formats a value for people, in at most maxShown bytes, with secrets redacted.
func shortValue(value any) string {
	b, err := json.Marshal(sanitize.RedactValue(value, func(any) any { return sanitize.Redacted }))
	if err != nil {
		return fmt.Sprintf("%T", value)
	}
	return aai.CleanLabel(string(b), maxShown)
}

// maxDigits is the maximum of bytes for an exact comparison of numbers; the exponent of a longer
// one could exhaust the memory.
const maxDigits = 40

// sameNumber reports whether both are the same number, in any notation.
func sameNumber(a, b json.Number) bool {
	if a == b {
		return true
	}
	if len(a) > maxDigits || len(b) > maxDigits {
		return false
	}
	x, _, err := big.ParseFloat(string(a), 10, 200, big.ToNearestEven)
	if err != nil {
		return false
	}
	y, _, err := big.ParseFloat(string(b), 10, 200, big.ToNearestEven)
	return err == nil && x.Cmp(y) == 0
}

// Matches reports whether now, the current state, equals left, the expected state. For form see
// ExpectedShape of [aai.Undo].
func Matches(form, left, now any) bool { return difference(form, left, now) == "" }
