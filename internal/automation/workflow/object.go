package workflow

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway"
)

// documentObject is a JSON object of a document during parsing. It keeps the first fault.
type documentObject struct {
	place   string
	members map[string]any
	fault   *aai.Error
}

// documentError returns the error for a place in a document.
func documentError(place, member, what string) *aai.Error {
	at := place
	if member != "" {
		at += ", " + member
	}
	e := aai.Errorf(aai.InvalidParams, "%s: %s; nothing was run", at, what)
	e.Hint = "Correct this step and call again."
	e.Delivery = aai.NotDelivered
	return e
}

func (o *documentObject) fail(member, what string) {
	if o.fault == nil {
		o.fault = documentError(o.place, member, what)
	}
}

func (o *documentObject) err() error {
	if o.fault != nil {
		return o.fault
	}
	return nil
}

// text returns a string member, or "" if it is missing.
func (o *documentObject) text(name string, most int) string {
	value, given := o.members[name]
	s, ok := value.(string)
	switch {
	case given && !ok:
		o.fail(name, "expected a text")
	case len(s) > most:
		o.fail(name, fmt.Sprintf("expected at most %d bytes", most))
	}
	return s
}

// list returns a list member, or nil if it is missing.
func (o *documentObject) list(name string) []any {
	value, given := o.members[name]
	list, ok := value.([]any)
	if given && !ok {
		o.fail(name, "expected a list")
	}
	return list
}

// count returns a member that is a non-negative whole number, or 0 if it is missing.
func (o *documentObject) count(name string, most int) int {
	value, given := o.members[name]
	if !given {
		return 0
	}
	n, ok := aai.WholeNumber(value)
	if !ok || n < 0 || n > most {
		o.fail(name, fmt.Sprintf("expected a whole number from 0 to %d", most))
	}
	return n
}

// oneOf returns a member that is one of the words, or the first word if it is missing.
func (o *documentObject) oneOf(name string, words ...string) string {
	word := o.text(name, maxStepName)
	if word == "" {
		return words[0]
	}
	if !slices.Contains(words, word) {
		o.fail(name, "expected "+strings.Join(words, ", "))
	}
	return word
}

// done rejects members outside the names.
func (o *documentObject) done(names ...string) {
	for _, name := range slices.Sorted(maps.Keys(o.members)) {
		if slices.Contains(names, name) {
			continue
		}
		what := "there is no such member; expected " + strings.Join(names, ", ")
		if near := aai.Nearest(name, names, 1); len(near) > 0 {
			what = fmt.Sprintf("there is no such member; %s?", near[0])
		}
		o.fail(aai.CleanLabel(name, maxStepName), what)
	}
}

// compile returns a value with a template for each string that refers to values.
func (o *documentObject) compile(place string, value any, known names) any {
	switch v := value.(type) {
	case string:
		t, err := parseTemplate(v, known)
		if err != nil {
			o.fail(place, err.Error())
		}
		if t != nil {
			return t
		}
	case map[string]any:
		object := make(map[string]any, len(v))
		for _, name := range slices.Sorted(maps.Keys(v)) {
			object[name] = o.compile(place+"."+aai.CleanLabel(name, maxStepName), v[name], known)
		}
		return object
	case []any:
		list := make([]any, len(v))
		for i := range v {
			list[i] = o.compile(fmt.Sprintf("%s.%d", place, i+1), v[i], known)
		}
		return list
	}
	if s, ok := value.(string); ok {
		return unescape(s)
	}
	return value
}

// each returns the values to repeat a step for.
func (o *documentObject) each(value any, known names) any {
	switch v := value.(type) {
	case []any:
		if len(v) > maxItems {
			o.fail("for_each", fmt.Sprintf("expected at most %d values", maxItems))
		}
		return o.compile("for_each", v, known)
	case string:
		if t, _ := o.compile("for_each", v, known).(*template); t != nil && t.soleReference() != nil {
			return t
		}
	}
	o.fail("for_each", "expected a list, or the values of an earlier step, such as {{step_1.rows}}")
	return nil
}
