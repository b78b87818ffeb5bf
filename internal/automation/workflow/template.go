package workflow

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/gateway"
)

// itemName is the name of the current value of a repeated step.
const itemName = "item"

// template is a string with references to values of earlier steps.
type template struct{ parts []part }

// part is a literal text or a reference.
type part struct {
	text string
	ref  *reference
}

// reference refers to a value: its step, and the path in it.
type reference struct {
	of   string
	path []string
	each string // description of the list of the item
}

// describe describes a value that is not known yet, for display.
func (r *reference) describe() string {
	of := strings.ReplaceAll(r.of, "_", " ")
	if r.each != "" {
		of = "each of " + r.each
	}
	if len(r.path) > 0 {
		of = strings.Join(r.path, ".") + " of " + of
	}
	return of
}

// maxShown limits the description of a template, in bytes. It exceeds the limit for questions, so
// the user never consents to a truncated text.
const maxShown = 4 << 10

// describe describes a template with unknown values, for display.
func (t *template) describe() string {
	var b strings.Builder
	for _, p := range t.parts {
		if b.Len() > maxShown {
			break
		}
		if p.ref == nil {
			b.WriteString(p.text)
		} else {
			b.WriteString("‹" + p.ref.describe() + "›")
		}
	}
	return shortened(b.String())
}

func shortened(text string) string {
	if len(text) <= maxShown {
		return text
	}
	return strings.ToValidUTF8(text[:maxShown], "") + "…"
}

func (r *reference) String() string { return strings.Join(append([]string{r.of}, r.path...), ".") }

// soleReference returns the reference if it is the whole template, or nil.
func (t *template) soleReference() *reference {
	if len(t.parts) == 1 {
		return t.parts[0].ref
	}
	return nil
}

// Delimiters of a reference, and the escaped opening one.
const (
	openMark    = "{{"
	closeMark   = "}}"
	escapedOpen = "{{{{"
)

// secretName begins a reference to a secret of the person, which is left to the gateway.
const secretName = "secret:"

// unescape replaces the escaped opening marks, except that of a reference to a secret, which the gateway replaces.
func unescape(s string) string {
	parts := strings.Split(s, escapedOpen)
	for i, part := range parts[1:] {
		if strings.HasPrefix(part, secretName) {
			parts[i+1] = openMark + part
		}
	}
	return strings.Join(parts, openMark)
}

// isValueName reports whether the name is valid for a step: a letter, and then letters, digits and _.
func isValueName(name string) bool {
	for i, c := range name {
		letter := c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z'
		if !letter && (i == 0 || c != '_' && (c < '0' || c > '9')) {
			return false
		}
	}
	return name != ""
}

// isNumbered reports whether the name is that of a step by its number.
func isNumbered(name string) bool {
	digits, ok := strings.CutPrefix(name, "step_")
	_, err := strconv.Atoi(digits)
	return ok && err == nil
}

// parseTemplate parses a string, and returns nil if it has no references. known has the names of
// available values.
func parseTemplate(s string, known names) (*template, error) {
	t, taken := &template{}, false
	var text strings.Builder
	flush := func() {
		if text.Len() > 0 {
			t.parts = append(t.parts, part{text: text.String()})
			text.Reset()
		}
	}
	for {
		before, after, found := strings.Cut(s, openMark)
		text.WriteString(before)
		if !found {
			break
		}
		if rest, escaped := strings.CutPrefix(after, openMark); escaped {
			if text.WriteString(openMark); strings.HasPrefix(rest, secretName) { // the gateway unescapes it
				text.WriteString(openMark)
			}
			s = rest
			continue
		}
		if strings.HasPrefix(after, secretName) {
			text.WriteString(openMark + secretName)
			s = after[len(secretName):]
			continue
		}
		inner, rest, ended := strings.Cut(after, closeMark)
		if !ended {
			return nil, errors.New("{{ without }}; write {{{{ for the characters themselves")
		}
		ref, err := parseReference(inner, known)
		if err != nil {
			return nil, err
		}
		flush()
		t.parts, taken, s = append(t.parts, part{ref: ref}), true, rest
	}
	if !taken {
		return nil, nil
	}
	flush()
	return t, nil
}

func parseReference(inner string, known names) (*reference, error) {
	path := strings.Split(strings.TrimSpace(inner), ".")
	shown := aai.CleanLabel(inner, maxStepName)
	if !isValueName(path[0]) || slices.Contains(path, "") {
		return nil,
			fmt.Errorf("{{%s}}: expected a step and a field of its result, such as {{step_1.title}}; write {{{{ for the "+
				"characters themselves", shown)
	}
	if !known.given[path[0]] {
		if len(known.given) == 0 {
			return nil, fmt.Errorf("{{%s}}: no earlier step gives a value", shown)
		}
		return nil,
			fmt.Errorf("{{%s}}: no earlier step has this name; there are %s", shown,
				strings.Join(slices.Sorted(maps.Keys(known.given)), ", "))
	}
	ref := &reference{of: path[0], path: path[1:]}
	if ref.of == itemName {
		ref.each = known.each
	}
	return ref, nil
}

// names are the names of available values.
type names struct {
	given map[string]bool
	each  string // description of the list of {{item}}
}

// stepValues are the values of the steps, by name.
type stepValues map[string]any

// textBudget is the remaining number of bytes for text from values: a short reference may stand for a
// long value.
type textBudget int

// maxMade is the budget of one call. It exceeds the limit for arguments.
const maxMade textBudget = 2 << 20

// take subtracts bytes, or returns an error if the budget is exceeded.
func (r *textBudget) take(bytes int) error {
	if *r -= textBudget(bytes); *r < 0 {
		return fmt.Errorf("with its values the call has more than %d MiB", maxMade>>20)
	}
	return nil
}

// resolve replaces the templates of a compiled value with step values. Values are data and are not
// parsed.
func (v stepValues) resolve(value any) (any, error) {
	most := maxMade
	return mapTemplates(value, func(t *template) (any, error) { return v.resolveTemplate(t, &most) })
}

// mapTemplates replaces each template of a compiled value with the result of f.
func mapTemplates(value any, f func(*template) (any, error)) (any, error) {
	return gateway.MapLeaves(value, func(part any) (any, error) {
		if t, is := part.(*template); is {
			return f(t)
		}
		return part, nil
	})
}

// resolveTemplate returns a template's value: its sole value unchanged, or a text of all parts.
func (v stepValues) resolveTemplate(t *template, most *textBudget) (any, error) {
	if ref := t.soleReference(); ref != nil {
		return v.lookUp(ref)
	}
	var b strings.Builder
	for _, p := range t.parts {
		if p.ref == nil {
			b.WriteString(p.text)
			continue
		}
		value, err := v.lookUp(p.ref)
		if err != nil {
			return nil, err
		}
		text, err := asText(value)
		if err == nil {
			err = most.take(len(text))
		}
		if err != nil {
			return nil, err
		}
		b.WriteString(text)
	}
	return b.String(), nil
}

// asText returns a value within a longer text: a string unchanged, nothing for null, otherwise JSON.
func asText(value any) (string, error) {
	switch v := value.(type) {
	case nil:
		return "", nil
	case string:
		return v, nil
	}
	b, err := json.Marshal(value)
	return string(b), err
}

// lookUp returns the value of a reference.
func (v stepValues) lookUp(ref *reference) (any, error) {
	value, given := v[ref.of]
	if !given {
		return nil, fmt.Errorf("{{%s}}: that step was not run", ref)
	}
	for i, name := range ref.path {
		next, there := member(value, name)
		if !there {
			return nil,
				fmt.Errorf("{{%s}}: there is no %q%s", ref, aai.CleanLabel(name, maxStepName), missingReason(value, ref, i))
		}
		value = next
	}
	return value, nil
}

// member returns a member of an object, or an element of a list, from 0.
func member(value any, name string) (any, bool) {
	switch v := value.(type) {
	case map[string]any:
		next, there := v[name]
		return next, there
	case []any:
		if i, err := strconv.Atoi(name); err == nil && i >= 0 && i < len(v) {
			return v[i], true
		}
	}
	return nil, false
}

// missingReason describes the members that exist instead.
func missingReason(value any, ref *reference, depth int) string {
	where := strings.Join(append([]string{ref.of}, ref.path[:depth]...), ".")
	switch v := value.(type) {
	case map[string]any:
		names := slices.Sorted(maps.Keys(v))
		return fmt.Sprintf(" in %s, which has %s", where, aai.CleanLabel(strings.Join(names, ", "), 200))
	case []any:
		return fmt.Sprintf(" in %s, a list of %d", where, len(v))
	}
	return fmt.Sprintf(" in %s, which has no fields", where)
}
