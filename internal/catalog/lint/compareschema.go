package lint

import (
	"encoding/json"
	"maps"
	"math/big"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway/internal/answer"
	"github.com/gybob/aai-gateway/internal/catalog"
	"github.com/gybob/aai-gateway/internal/sanitize"
)

// schemaDifference compares the schemas of a tool's arguments, or of its results. A wider schema
// is compatible for arguments, and a narrower one for results.
type schemaDifference struct {
	*difference
	given         bool // the schema is of arguments
	before, after any  // the roots
	visits        int  // schemas compared so far
}

// maxVisits limits the compared schemas; the rest counts as different. References may use one
// schema very many times.
const maxVisits = 20_000

func (s *schemaDifference) root(path string) {
	switch {
	case s.before == nil && s.after == nil:
	case s.before == nil && s.given:
		s.objects(path, map[string]any{}, asObject(s.after), 0)
	case s.after == nil && s.given:
		s.objects(path, asObject(s.before), map[string]any{}, 0)
	case s.before == nil:
		s.record(answer.Minor, path, "is new")
	case s.after == nil:
		s.record(answer.Major, path, "was removed: the result has no schema any more")
	default:
		s.schemas(path, s.before, s.after, 0)
	}
}

func asObject(v any) map[string]any {
	o, _ := v.(map[string]any)
	return o
}

// narrows returns the bump for a change that allows fewer values, and widens for one that allows
// more: existing arguments must stay valid, and results as promised.
func (s *schemaDifference) narrows() answer.Bump {
	if s.given {
		return answer.Major
	}
	return answer.Minor
}

func (s *schemaDifference) widens() answer.Bump {
	if s.given {
		return answer.Minor
	}
	return answer.Major
}

// schemas compares two schemas for the same value.
func (s *schemaDifference) schemas(path string, a, b any, depth int) {
	s.visits++
	x, isX := a.(map[string]any)
	y, isY := b.(map[string]any)
	switch {
	case sameValue(a, b) && sameValue(s.before, s.after):
	case !isX || !isY || depth > maxDepth || s.visits > maxVisits:
		if !sameValue(a, b) {
			s.record(answer.Major, path, "is another schema")
		}
	default:
		s.objects(path, resolve(s.before, x), resolve(s.after, y), depth)
	}
}

// resolve follows references within the document.
func resolve(root any, schema map[string]any) map[string]any {
	for range maxDepth {
		ref, ok := schema["$ref"].(string)
		pointer, local := strings.CutPrefix(ref, "#")
		if !ok || !local {
			break
		}
		at := root
		for name := range strings.SplitSeq(strings.TrimPrefix(pointer, "/"), "/") {
			if name != "" {
				at = asObject(at)[strings.ReplaceAll(strings.ReplaceAll(name, "~1", "/"), "~0", "~")]
			}
		}
		target := asObject(at)
		if target == nil {
			break
		}
		schema = target
	}
	return schema
}

func (s *schemaDifference) objects(path string, a, b map[string]any, depth int) {
	keywords := make(map[string]bool)
	for k := range a {
		keywords[k] = true
	}
	for k := range b {
		keywords[k] = true
	}
	for _, k := range slices.Sorted(maps.Keys(keywords)) {
		if k == "properties" || k == "required" || !sameValue(a[k], b[k]) || k == "items" {
			s.keyword(path, k, a, b, depth)
		}
	}
}

// keyword compares one keyword that differs, or that holds schemas.
func (s *schemaDifference) keyword(path, k string, a, b map[string]any, depth int) {
	switch k {
	case "properties":
		s.properties(path, a, b, depth)
	case "required":
		s.required(path, a, b)
	case "items":
		if a[k] == nil || b[k] == nil {
			s.record(answer.Major, path, "has another type of elements")
			return
		}
		s.schemas(catalog.JoinPath(path, k, -1), a[k], b[k], depth+1)
	case "type":
		s.record(answer.Major, path, "has another type")
	case "description", "title", "examples", "$comment", "$schema", "$id", "definitions", "$defs", "contentMediaType",
		"contentEncoding":
		if k != "definitions" && k != "$defs" { // they count at their uses
			s.record(answer.Patch, path, "is described in other words")
		}
	case "default":
		s.record(answer.Minor, path, "has another default")
	case "enum":
		s.enum(path, a[k], b[k])
	case "minimum", "exclusiveMinimum", "minLength", "minItems", "minProperties":
		s.bound(path, k, a[k], b[k], 1)
	case "maximum", "exclusiveMaximum", "maxLength", "maxItems", "maxProperties":
		s.bound(path, k, a[k], b[k], -1)
	case "pattern", "format", "const", "uniqueItems", "multipleOf":
		switch {
		case b[k] == nil:
			s.record(s.widens(), path, "is not bound by %s any more", k)
		case a[k] == nil:
			s.record(s.narrows(), path, "is bound by %s", k)
		default:
			s.record(answer.Major, path, "has another %s", k)
		}
	case "additionalProperties":
		if b[k] == nil || b[k] == true {
			s.record(s.widens(), path, "may have other members")
			return
		}
		s.record(s.narrows(), path, "may have no other members, or fewer")
	default:
		s.record(answer.Major, path, "has another %s", sanitize.Quote(k, 60))
	}
}

func (s *schemaDifference) properties(path string, a, b map[string]any, depth int) {
	x, y := asObject(a["properties"]), asObject(b["properties"])
	for _, name := range slices.Sorted(maps.Keys(x)) {
		if _, kept := y[name]; kept {
			s.schemas(catalog.JoinPath(catalog.JoinPath(path, "properties", -1), name, -1), x[name], y[name], depth+1)
			continue
		}
		s.record(answer.Major, path, "lost %s", sanitize.Quote(name, 60))
	}
	for _, name := range slices.Sorted(maps.Keys(y)) {
		if _, known := x[name]; known {
			continue
		}
		if s.given && listContains(b["required"], name) {
			s.record(answer.Major, path, "requires %s, which is new", sanitize.Quote(name, 60))
		} else {
			s.record(answer.Minor, path, "may have %s, which is new", sanitize.Quote(name, 60))
		}
	}
}

func listContains(v any, name string) bool {
	names, _ := v.([]any)
	return slices.Contains(names, any(name))
}

// required records the properties in both versions that became required or optional.
func (s *schemaDifference) required(path string, a, b map[string]any) {
	for _, name := range slices.Sorted(maps.Keys(asObject(a["properties"]))) {
		if asObject(b["properties"])[name] == nil {
			continue
		}
		switch was, is := listContains(a["required"], name), listContains(b["required"], name); {
		case is && !was:
			s.record(s.narrows(), path, "requires %s, which was optional", sanitize.Quote(name, 60))
		case was && !is:
			s.record(s.widens(), path, "does not require %s any more", sanitize.Quote(name, 60))
		}
	}
}

func (s *schemaDifference) enum(path string, a, b any) {
	before, hadEnum := a.([]any)
	after, hasEnum := b.([]any)
	within := func(v any, all []any) bool {
		return slices.ContainsFunc(all, func(o any) bool { return sameValue(v, o) })
	}
	fewer := !hadEnum || slices.ContainsFunc(before, func(v any) bool { return hasEnum && !within(v, after) })
	more := !hasEnum || slices.ContainsFunc(after, func(v any) bool { return hadEnum && !within(v, before) })
	if fewer {
		s.record(s.narrows(), path, "has fewer values")
	}
	if more {
		s.record(s.widens(), path, "has more values")
	}
	if !fewer && !more {
		s.record(answer.Patch, path, "has its values in another order")
	}
}

// bound compares a limit: direction is 1 for a lower limit, where a larger one is narrower, and
// -1 for an upper one.
func (s *schemaDifference) bound(path, k string, a, b any, direction int) {
	x, okX := number(a)
	y, okY := number(b)
	switch {
	case okX && okY && x.Cmp(y) == 0:
	case !okY, okX && y.Cmp(x)*direction < 0:
		s.record(s.widens(), path, "is less bound by %s", k)
	default:
		s.record(s.narrows(), path, "is more bound by %s", k)
	}
}

func number(v any) (*big.Rat, bool) {
	n, ok := v.(json.Number)
	if !ok || len(n) > 40 || strings.ContainsAny(string(n), "eE") && len(n) > 6 {
		return nil, false
	}
	return new(big.Rat).SetString(string(n))
}
