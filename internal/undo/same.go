package undo

import (
	"encoding/json"
	"fmt"
	"maps"
	"math/big"
	"slices"
	"strconv"

	"aai"
	"aai/internal/hygiene"
)

// maxShown is how much of a value a difference shows, in bytes.
const maxShown = 60

// difference says in which the world differs from what was left, "" for in nothing. Of
// objects the members alone count that left names, at any depth; numbers are compared by
// value; everything else must be the same.
func difference(left, now any) string {
	was, err := aai.Plain(left)
	if err != nil {
		return "what was left cannot be compared"
	}
	is, err := aai.Plain(now)
	if err != nil {
		return "what is there cannot be compared"
	}
	return differs("", was, is)
}

// differs compares what is at a place, which is "" for all of it.
func differs(place string, was, is any) string {
	switch was := was.(type) {
	case map[string]any:
		object, ok := is.(map[string]any)
		if !ok {
			break
		}
		for _, name := range slices.Sorted(maps.Keys(was)) {
			value, there := object[name]
			at := inside(place, name)
			if !there && was[name] != nil {
				return at + " is gone"
			}
			if other := differs(at, was[name], value); other != "" {
				return other
			}
		}
		return ""
	case []any:
		list, ok := is.([]any)
		if !ok || len(list) != len(was) {
			break
		}
		for i := range was {
			if other := differs(inside(place, strconv.Itoa(i+1)), was[i], list[i]); other != "" {
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
		return "it is " + shown(is) + " and not " + shown(was)
	}
	if hygiene.SecretName(place) {
		return place + " is another"
	}
	return place + " is " + shown(is) + " and not " + shown(was)
}

func inside(place, name string) string {
	name = aai.CleanLabel(name, maxShown)
	if place == "" {
		return name
	}
	return place + "." + name
}

// shown is a value for people, short.
func shown(value any) string {
	b, err := json.Marshal(hygiene.ConcealIn(value, func(any) any { return hygiene.Redacted }))
	if err != nil {
		return fmt.Sprintf("%T", value)
	}
	return aai.CleanLabel(string(b), maxShown)
}

// maxDigits is up to how many bytes numbers are compared exactly; a longer one is no count
// of anything, and its exponent could make it fill the memory.
const maxDigits = 40

// sameNumber reports whether both are the same number, however they are written.
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

// As reports whether the world is as it was left; see [aai.Undo].
func As(left, now any) bool { return difference(left, now) == "" }
