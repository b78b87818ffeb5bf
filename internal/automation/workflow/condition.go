package workflow

import (
	"encoding/json"
	"reflect"
	"strings"
)

// condition tests a value of an earlier step.
type condition struct {
	ref      *reference
	equals   any
	contains any
	kind     string // "equals", "exists" or "contains"
	exists   bool
}

// condition parses a condition, such as {"value": "{{step_1.checked}}", "equals": true}.
func (o *documentObject) condition(value any, known names) *condition {
	members, ok := value.(map[string]any)
	in := &documentObject{place: o.place + ", when", members: members}
	if !ok {
		o.fail("when", `expected an object such as {"value": "{{step_1.title}}", "equals": "Done"}`)
		return nil
	}
	c := &condition{}
	if t, _ := in.compile("value", members["value"], known).(*template); t != nil {
		c.ref = t.soleReference()
	}
	in.done("value", "equals", "exists", "contains")
	if c.ref == nil {
		in.fail("value", "expected a value of an earlier step, such as {{step_1.title}}")
	}
	tests := 0
	for _, kind := range []string{"equals", "exists", "contains"} {
		if given, there := members[kind]; there {
			tests++
			c.kind = kind
			switch kind {
			case "equals":
				c.equals = given
			case "exists":
				if c.exists, ok = given.(bool); !ok {
					in.fail(kind, "expected true or false")
				}
			case "contains":
				c.contains = given
			}
		}
	}
	if tests != 1 {
		in.fail("", "expected one of equals, exists, contains")
	}
	if o.fault == nil {
		o.fault = in.fault
	}
	return c
}

// holds reports whether the condition is true. A missing value satisfies only "exists": false.
func (c *condition) holds(v stepValues) bool {
	value, err := v.lookUp(c.ref)
	there := err == nil && value != nil
	switch c.kind {
	case "exists":
		return there == c.exists
	case "equals":
		return err == nil && jsonEqual(value, c.equals)
	}
	switch in := value.(type) {
	case string:
		part, ok := c.contains.(string)
		return ok && strings.Contains(in, part)
	case []any:
		for _, item := range in {
			if jsonEqual(item, c.contains) {
				return true
			}
		}
	case map[string]any:
		name, ok := c.contains.(string)
		_, has := in[name]
		return ok && has
	}
	return false
}

// jsonEqual compares JSON values, numbers by their value.
func jsonEqual(a, b any) bool { return reflect.DeepEqual(plainNumbers(a), plainNumbers(b)) }

func plainNumbers(value any) any {
	switch v := value.(type) {
	case json.Number:
		if f, err := v.Float64(); err == nil {
			return f
		}
	case int64:
		return float64(v)
	case int:
		return float64(v)
	case map[string]any:
		object := make(map[string]any, len(v))
		for name, member := range v {
			object[name] = plainNumbers(member)
		}
		return object
	case []any:
		list := make([]any, len(v))
		for i, item := range v {
			list[i] = plainNumbers(item)
		}
		return list
	}
	return value
}
