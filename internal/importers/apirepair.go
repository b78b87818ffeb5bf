package importers

import (
	"encoding/json"
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/schema/jsontree"
)

// A repairer copies the members of a document that an import reads, with the types that they must
// have. It reads loose scalars as their member wants, and leaves out a value of a wrong type and a
// reference that leads nowhere, so that a fault costs only the part that has it.
type repairer struct {
	root    *node
	kinds   map[string]map[string]string
	places  map[string]string // by kind: the reference to its shared values
	hoisted map[*node]string  // targets of references to other places, by their new name
	shared  map[string]any    // the values of hoisted, by the reference
	inlined int               // path items
	broken  map[string]string // operations that cannot be used, by "GET /path", with the reason
	current string            // the operation, as in broken
	faults  []string
	isYAML  bool
}

// maxFaults limits the faults that are named.
const maxFaults = 30

// repair returns a copy of the document, and the faults in it.
func repair(root *node, isYAML bool) (document map[string]any, r *repairer) {
	r = &repairer{root: root, isYAML: isYAML, kinds: parseGrammar(), places: sections(), hoisted: make(map[*node]string),
		shared: make(map[string]any), broken: make(map[string]string)}
	kind := "document"
	if isSwagger(root) {
		kind, r.places = "document2", sectionsOfSwagger()
	}
	document = r.object(root, kind)
	for ref, value := range r.shared {
		steps := strings.Split(strings.TrimPrefix(ref, "#/"), "/")
		into := document
		for _, step := range steps[:len(steps)-1] {
			if _, is := into[step].(map[string]any); !is {
				into[step] = make(map[string]any)
			}
			into, _ = into[step].(map[string]any)
		}
		into[steps[len(steps)-1]] = value
	}
	return document, r
}

func isSwagger(root *node) bool {
	return root.Member("swagger") != nil && root.Member("openapi") == nil
}

// fault records a fault at a value.
func (r *repairer) fault(n *node, problem string) {
	if len(r.faults) <= maxFaults {
		r.faults = append(r.faults, fmt.Sprintf("line %d: %s: %s", n.Line(), aai.CleanLabel(n.Path(), maxPlace), problem))
	}
	if len(r.faults) == maxFaults+1 {
		r.faults[maxFaults] = fmt.Sprintf("only the first %d faults of the document are named", maxFaults)
	}
}

// value returns a copy of a value of the kind. It returns false for a value to leave out.
func (r *repairer) value(n *node, kind string) (any, bool) {
	switch {
	case n.Kind == jsontree.Null && kind != "data" || kind == "data":
		return n.Value(nil), kind == "data"
	case strings.HasPrefix(kind, "["):
		return r.list(n, kind[1:len(kind)-1])
	case strings.HasPrefix(kind, "{"):
		return r.entries(n, kind[1:len(kind)-1])
	case kind == "schema" && n.IsBool():
		return n.Kind == jsontree.True, true
	case kind == "types" && n.Kind == jsontree.List:
		return r.list(n, "text")
	case kind == "types":
		kind = "text"
	}
	if r.kinds[kind] == nil {
		return r.scalar(n, kind)
	}
	if n.Kind != jsontree.Object {
		r.fault(n, "is "+n.KindName()+"; expected an object; it is left out")
		return nil, false
	}
	if ref := n.Member("$ref"); ref != nil && ref.Kind == jsontree.Text && r.places[kind] != "" {
		return r.reference(n, ref, kind)
	}
	return r.object(n, kind), true
}

func (r *repairer) list(n *node, kind string) (any, bool) {
	items := n.Items()
	if n.Kind != jsontree.List {
		if r.kinds[kind] != nil || n.Kind == jsontree.Object {
			r.fault(n, "is "+n.KindName()+"; expected a list; it is left out")
			return nil, false
		}
		items = func(yield func(*node) bool) { yield(n) } // a single value for a list of one
	}
	list := []any{}
	for c := range items {
		if v, ok := r.value(c, kind); ok {
			list = append(list, v)
		}
	}
	return list, true
}

func (r *repairer) entries(n *node, kind string) (any, bool) {
	if n.Kind != jsontree.Object {
		r.fault(n, "is "+n.KindName()+"; expected an object; it is left out")
		return nil, false
	}
	entries := make(map[string]any, n.Count())
	for c := range n.Items() {
		if strings.HasPrefix(c.Name, "x-") && (kind == "path" || kind == "path2" || kind == "response" || kind == "response2") {
			continue
		}
		if v, ok := r.value(c, kind); ok {
			entries[c.Name] = v
		}
	}
	return entries, true
}

func (r *repairer) object(n *node, kind string) map[string]any {
	known := r.kinds[kind]
	object := make(map[string]any)
	for c := range n.Items() {
		of := known[c.Name]
		if of == "" {
			of = known["*"]
		}
		if of == "" {
			continue
		}
		if kind == "components" {
			r.current = ""
		}
		if strings.HasPrefix(of, "operation") {
			r.current = strings.ToUpper(c.Name) + " " + n.Name
		}
		if v, ok := r.value(c, of); ok {
			object[c.Name] = v
		}
	}
	if r.isYAML && (kind == "schema" || kind == "parameter2") {
		fitData(object)
	}
	return object
}

// scalar returns a scalar of the kind, also if it is written as another one: YAML and people leave
// out quotation marks, and add them.
func (r *repairer) scalar(n *node, kind string) (any, bool) {
	if n.Kind != jsontree.Object && n.Kind != jsontree.List {
		text := n.Text
		if n.IsBool() {
			text = n.KindName()
		}
		switch lower := strings.ToLower(strings.TrimSpace(text)); kind {
		case "text":
			return text, true
		case "flag", "bound":
			if lower == "true" || lower == "false" {
				return lower == "true", true
			}
			if kind == "flag" {
				break
			}
			fallthrough
		case "number":
			if number, ok := numberIn(lower); ok {
				return number, true
			}
		case "count":
			if number, ok := numberIn(lower); ok {
				if f, err := number.Float64(); err == nil && f >= 0 && f == float64(uint64(f)) {
					return uint64(f), true
				}
			}
		}
	}
	expected := map[string]string{"text": "a string", "flag": "true or false", "bound": "a number, true or false",
		"number": "a number", "count": "a whole number from 0"}[kind]
	r.fault(n, "is "+n.KindName()+"; expected "+expected+"; it is left out")
	return nil, false
}

// numberIn reads a number as JSON or YAML has it.
func numberIn(text string) (json.Number, bool) {
	if json.Valid([]byte(text)) && text != "" && strings.ContainsRune("-0123456789", rune(text[0])) {
		return json.Number(text), true
	}
	plain := strings.ReplaceAll(strings.TrimPrefix(text, "+"), "_", "")
	if trimmed := strings.TrimLeft(plain, "0"); trimmed != "" && strings.Trim(trimmed, "0123456789") == "" {
		return json.Number(trimmed), true // YAML 1.2 has no octal numbers in this form
	}
	if i, ok := new(big.Int).SetString(plain, 0); ok && len(plain) < 100 {
		return json.Number(i.String()), true
	}
	if f, err := strconv.ParseFloat(plain, 64); err == nil {
		if b, err := json.Marshal(f); err == nil {
			return json.Number(b), true
		}
	}
	return "", false
}

// fitData writes the choices and the default of a schema as values of its type, where YAML has read
// a text as a number.
func fitData(schema map[string]any) {
	kind, _ := schema["type"].(string)
	if list, _ := schema["type"].([]any); len(list) == 1 {
		kind, _ = list[0].(string)
	}
	fit := func(v any) any {
		switch v := v.(type) {
		case json.Number:
			if kind == "string" {
				return v.String()
			}
		case bool:
			if kind == "string" {
				return strconv.FormatBool(v)
			}
		case string:
			if number, ok := numberIn(v); ok && (kind == "integer" || kind == "number") {
				return number
			}
			if kind == "boolean" && (v == "true" || v == "false") {
				return v == "true"
			}
		}
		return v
	}
	for _, name := range []string{"default", "const"} {
		if v, given := schema[name]; given {
			schema[name] = fit(v)
		}
	}
	if list, ok := schema["enum"].([]any); ok {
		for i, v := range list {
			list[i] = fit(v)
		}
	}
}
