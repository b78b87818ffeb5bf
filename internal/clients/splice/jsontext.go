package splice

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tailscale/hujson"
)

// jsonText is JSON, optionally with comments and trailing commas.
type jsonText struct{}

func (jsonText) read(text []byte) (*tree, error) {
	if isBlank(text) {
		return &tree{kind: mapKind}, nil
	}
	root, err := parseJSON(text)
	if err != nil {
		return nil, err
	}
	return jsonTree(root.Value), nil
}

func parseJSON(text []byte) (*hujson.Value, error) {
	if err := checkNesting(text, JSON); err != nil {
		return nil, err
	}
	root, err := hujson.Parse(append(bytes.Clone(text), '\n')) // a comment may be the last line
	if err != nil {
		return nil, jsonFault(err)
	}
	if _, ok := root.Value.(*hujson.Object); !ok {
		line, column := position(text, root.StartOffset)
		return nil, &Fault{line, column, "expected an object, which begins with {"}
	}
	return &root, nil
}

func jsonTree(v hujson.ValueTrimmed) *tree {
	switch v := v.(type) {
	case *hujson.Object:
		t := &tree{kind: mapKind}
		for _, m := range v.Members {
			t.names, t.items = append(t.names, nameOf(m)), append(t.items, jsonTree(m.Value.Value))
		}
		return t
	case *hujson.Array:
		t := &tree{kind: listKind}
		for _, e := range v.Elements {
			t.items = append(t.items, jsonTree(e.Value))
		}
		return t
	case hujson.Literal:
		switch v.Kind() {
		case '"':
			return &tree{kind: stringKind, scalar: v.String()}
		case 't', 'f':
			return &tree{kind: boolKind, scalar: string(v)}
		case '0':
			return &tree{kind: numberKind, scalar: string(v)}
		}
	}
	return &tree{kind: nullKind}
}

func nameOf(m hujson.ObjectMember) string {
	name, _ := m.Name.Value.(hujson.Literal)
	return name.String()
}

// A jsonHolder is the object that contains the entries, or its deepest existing ancestor.
type jsonHolder struct {
	text  []byte
	value *hujson.Value
	*hujson.Object
	missing []string // the keys that do not exist
	// nullValue is the null at the last existing key, if any: the missing keys replace it.
	nullValue *hujson.Value
}

// holderOf follows the path as far as it exists.
func holderOf(text []byte, p Place) (*jsonHolder, error) {
	root, err := parseJSON(text)
	if err != nil {
		return nil, err
	}
	h := &jsonHolder{text: text, value: root, Object: root.Value.(*hujson.Object)}
	for i, key := range p.Path {
		at, err := h.member(key)
		if err != nil {
			return nil, err
		}
		if at < 0 {
			h.missing = p.Path[i:]
			return h, nil
		}
		value := &h.Members[at].Value
		if literal, ok := value.Value.(hujson.Literal); ok && literal.Kind() == 'n' {
			h.nullValue, h.missing = value, p.Path[i+1:]
			return h, nil
		}
		object, ok := value.Value.(*hujson.Object)
		if !ok {
			line, column := position(text, value.StartOffset)
			return nil, &Fault{line, column, fmt.Sprintf("%q is no object; expected one, which begins with {", key)}
		}
		h.value, h.Object = value, object
	}
	return h, nil
}

// member returns the index of a member, or -1. A duplicate is an error, because programs differ
// in which of two they use.
func (h *jsonHolder) member(name string) (int, error) {
	found := -1
	for i, m := range h.Members {
		if nameOf(m) != name {
			continue
		}
		if found >= 0 {
			line, column := position(h.text, m.Name.StartOffset)
			return -1, &Fault{line, column, fmt.Sprintf("%q is there for the second time; expected it once", name)}
		}
		found = i
	}
	return found, nil
}

func (jsonText) put(text []byte, p Place, entry []Field, end string) ([][]edit, error) {
	return jsonPut(text, p, fields(entry), end)
}

// jsonPut returns alternative edits that add a missing entry.
func jsonPut(text []byte, p Place, entry content, end string) ([][]edit, error) {
	if isBlank(text) {
		body := jsonMember(append(p.Path, p.Name), entry, "  ", "  ", end)
		return [][]edit{{{0, len(text), "{" + end + "  " + body + end + "}" + end}}}, nil
	}
	h, err := holderOf(text, p)
	if err != nil {
		return nil, err
	}
	names := append(append([]string(nil), h.missing...), p.Name)
	if h.nullValue != nil {
		return [][]edit{h.fill(names, entry, end)}, nil
	}
	if _, err := h.member(p.Name); err != nil {
		return nil, err
	}
	return [][]edit{h.add(names, entry, end)}, nil
}

// fill replaces null with a member, in the style of the text around it.
func (h *jsonHolder) fill(names []string, entry content, end string) []edit {
	from, to := h.nullValue.StartOffset, h.nullValue.EndOffset
	if h.minified() {
		return []edit{{from, to, "{" + jsonInline(names, entry, "") + "}"}}
	}
	indent, _ := indentOf(h.text, from)
	inner := indent + h.unit()
	return []edit{{from, to, "{" + end + inner + jsonMember(names, entry, inner, h.unit(), end) + end + indent + "}"}}
}

// add appends a member in the style of the other members.
func (h *jsonHolder) add(names []string, entry content, end string) []edit {
	text, closing := h.text, h.value.EndOffset-1
	begin, comma := h.value.StartOffset+1, ""
	var edits []edit
	var indent string
	alone := true
	if n := len(h.Members); n > 0 {
		last := h.Members[n-1]
		begin = last.Value.EndOffset
		if trailing := begin + len(last.Value.AfterExtra); text[trailing] == ',' {
			begin, comma = trailing+1, ","
		} else {
			edits = []edit{{begin, begin, ","}}
		}
		indent, alone = indentOf(text, last.Name.StartOffset)
	} else if !h.minified() {
		around, _ := indentOf(text, h.value.StartOffset)
		indent = around + h.unit()
	} else {
		alone = false
	}
	at := begin + len(bytes.TrimRight(text[begin:closing], " \t\r\n")) // after comments
	if !alone && !bytes.Contains(text[begin:at], []byte("//")) {
		space := " "
		if h.minified() {
			space = ""
		}
		gap := space
		if len(h.Members) == 0 {
			gap = ""
		}
		return append(edits, edit{at, at, gap + jsonInline(names, entry, space) + comma})
	}
	member := end + indent + jsonMember(names, entry, indent, h.unit(), end) + comma
	if !bytes.Contains(text[at:closing], []byte("\n")) && len(h.Members) == 0 {
		member += end + strings.TrimSuffix(indent, h.unit())
	}
	return append(edits, edit{at, at, member})
}

// minified reports whether the text is not empty and has only one line.
func (h *jsonHolder) minified() bool {
	text := bytes.TrimSpace(h.text)
	return len(text) > 2 && !bytes.Contains(text, []byte("\n"))
}

// unit returns the text's unit of indentation.
func (h *jsonHolder) unit() string {
	for line := range bytes.Lines(h.text) {
		rest := bytes.TrimLeft(line, " \t")
		if len(rest) > 0 && rest[0] == '"' && len(line) > len(rest) {
			return string(line[:len(line)-len(rest)])
		}
	}
	return "  "
}

// FormatValue formats a field's value as JSON on one line, with a space after each comma and colon.
// Strings, numbers, booleans and lists are also valid in TOML and YAML.
func FormatValue(value any) string { return jsonValue(value, " ") }

// content is an entry or a value to insert into JSON.
type content interface {
	jsonLines(indent, unit, end string) string
	jsonInline(space string) string
}

// fields is an entry as JSON content.
type fields []Field

// jsonMember formats a member over several lines: the last of the names is the entry's, the
// others are its enclosing objects.
func jsonMember(names []string, entry content, indent, unit, end string) string {
	name := quoted(names[0]) + ": "
	inner := indent + unit
	if len(names) > 1 {
		return name + "{" + end + inner + jsonMember(names[1:], entry, inner, unit, end) + end + indent + "}"
	}
	return name + entry.jsonLines(indent, unit, end)
}

// jsonLines formats an entry over several lines.
func (e fields) jsonLines(indent, unit, end string) string {
	var lines []string
	for _, f := range e {
		lines = append(lines, indent+unit+quoted(f.Name)+": "+jsonValue(f.Value, " "))
	}
	return "{" + end + strings.Join(lines, ","+end) + end + indent + "}"
}

// jsonInline formats a member in one line.
func jsonInline(names []string, entry content, space string) string {
	name := quoted(names[0]) + ":" + space
	if len(names) > 1 {
		return name + "{" + jsonInline(names[1:], entry, space) + "}"
	}
	return name + entry.jsonInline(space)
}

// jsonInline formats an entry in one line.
func (e fields) jsonInline(space string) string {
	var all []string
	for _, f := range e {
		all = append(all, quoted(f.Name)+":"+space+jsonValue(f.Value, space))
	}
	return "{" + strings.Join(all, ","+space) + "}"
}

func jsonValue(value any, space string) string { return written(value, ":"+space, space) }

// written formats a value in the notation common to JSON, TOML and YAML, except for between, the
// separator of a key and its value.
func written(value any, between, space string) string {
	switch v := value.(type) {
	case nil:
		return "null"
	case string:
		return quoted(v)
	case []any:
		var all []string
		for _, item := range v {
			all = append(all, written(item, between, space))
		}
		return "[" + strings.Join(all, ","+space) + "]"
	case map[string]any:
		var all []string
		for _, name := range slices.Sorted(maps.Keys(v)) {
			all = append(all, quoted(name)+between+written(v[name], between, space))
		}
		return "{" + strings.Join(all, ","+space) + "}"
	case []string:
		var all []string
		for _, s := range v {
			all = append(all, quoted(s))
		}
		return "[" + strings.Join(all, ","+space) + "]"
	}
	return fmt.Sprint(value)
}

// quoted returns a string in double quotation marks, valid in JSON, TOML and YAML.
func quoted(s string) string {
	var b strings.Builder
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	_ = e.Encode(s) // encoding a string does not fail
	return strings.TrimSuffix(b.String(), "\n")
}

func (jsonText) drop(text []byte, p Place) ([][]edit, error) {
	h, err := holderOf(text, p)
	if err != nil {
		return nil, err
	}
	at, err := h.member(p.Name)
	if err != nil || at < 0 {
		return nil, err
	}
	return [][]edit{h.remove(at)}, nil
}

// remove deletes a member and the comma that becomes superfluous.
func (h *jsonHolder) remove(i int) []edit {
	text, m := h.text, h.Members[i]
	from, to := m.Name.StartOffset, m.Value.EndOffset
	comma := -1 // after it
	if at := to + len(m.Value.AfterExtra); text[at] == ',' {
		comma = at
	}
	_, alone := indentOf(text, from)
	if alone { // with the preceding line break
		from = max(lineStart(text, from)-1, h.value.StartOffset+1)
		if from > 0 && text[from-1] == '\r' && text[from] == '\n' {
			from--
		}
	}
	var edits []edit
	switch {
	case comma >= 0 && isBlank(text[to:comma]):
		to = comma + 1
	case comma >= 0:
		edits = append(edits, edit{comma, comma + 1, ""})
	case i > 0: // the last one: the preceding comma
		before := h.Members[i-1].Value
		at := before.EndOffset + len(before.AfterExtra)
		edits = append(edits, edit{at, at + 1, ""})
	}
	if !alone && i == 0 {
		to += len(text[to:]) - len(bytes.TrimLeft(text[to:], " ")) // the spaces before the next one
	} else if !alone {
		from -= len(text[:from]) - len(bytes.TrimRight(text[:from], " "))
	}
	return append(edits, edit{from, to, ""})
}
