// Package splice inserts an entry into a JSON, TOML or YAML text and removes it. The text belongs
// to a person: all other bytes stay as they are, with comments, order, indentation and line ends.
// In JSON and TOML it also edits single values. It does not interpret entries.
//
// The package never regenerates a text from parsed data. The parser provides byte offsets, and
// edits apply there. The result is parsed again, and is returned only if it equals the old data
// plus the entry.
package splice

import (
	"bytes"
	"fmt"
	"slices"
	"unicode/utf8"
)

// A Format is a file format.
type Format string

// Formats. JSON may have comments and trailing commas.
const (
	JSON Format = "JSON"
	TOML Format = "TOML"
	YAML Format = "YAML"
)

// A Place identifies an entry by the file's format, the keys that lead to its container, and its name.
// The entry need not exist.
type Place struct {
	Format Format
	// Path is the keys that lead to the container of the entries.
	Path []string
	// Name is the name of the entry.
	Name string
	// List means that the entries are a list, each with its name under "name", instead of a map.
	// Only YAML supports it.
	List bool
}

// A Field is a field of an entry: a string, a number, a boolean or a list of strings, or a value
// that Find returned.
type Field struct {
	Name  string
	Value any // string, int, bool or []string; also map[string]any, []any and numbers from Find
}

// An edit replaces the bytes from one offset to another with text.
type edit struct {
	from, to int
	text     string
}

// A syntax implements a format for texts without a byte order mark.
type syntax interface {
	// read parses the text.
	read(text []byte) (*tree, error)
	// put returns alternative edits that add a missing entry, the best first. Lines end with end.
	put(text []byte, p Place, entry []Field, end string) ([][]edit, error)
	// drop returns alternative edits that remove an existing entry, the best first.
	drop(text []byte, p Place) ([][]edit, error)
}

func syntaxOf(p Place, text []byte) syntax {
	switch p.Format {
	case TOML:
		return tomlText{}
	case YAML:
		if trimmed := bytes.TrimSpace(text); len(trimmed) > 0 && trimmed[0] == '{' && !p.List {
			if _, err := parseJSON(text); err == nil {
				return jsonText{} // which is YAML too
			}
		}
		return yamlText{}
	case JSON:
	}
	return jsonText{}
}

const byteOrderMark = "\ufeff"

// parts splits a text into its byte order mark and the rest.
func parts(text []byte) (mark string, rest []byte, err error) {
	rest, marked := bytes.CutPrefix(text, []byte(byteOrderMark))
	if marked {
		mark = byteOrderMark
	}
	if at := invalidAt(rest); at >= 0 {
		line, column := position(rest, at)
		return "", nil, &Fault{line, column, "a byte that is no UTF-8; expected a text in UTF-8"}
	}
	return mark, rest, nil
}

func invalidAt(text []byte) int {
	for i := 0; i < len(text); {
		r, n := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && n <= 1 || r == 0 {
			return i
		}
		i += n
	}
	return -1
}

// position returns the line and column of a byte, both from 1; the column counts characters.
func position(text []byte, at int) (line, column int) {
	at = min(at, len(text))
	begin := bytes.LastIndexByte(text[:at], '\n') + 1
	return 1 + bytes.Count(text[:at], []byte("\n")), 1 + utf8.RuneCount(text[begin:at])
}

// Find returns the fields of the entry, and whether the entry exists. fields is nil if it is no object. The error is
// a *Fault.
func Find(text []byte, p Place) (fields map[string]any, there bool, err error) {
	_, rest, err := parts(text)
	if err != nil {
		return nil, false, err
	}
	all, err := syntaxOf(p, rest).read(rest)
	if err != nil {
		return nil, false, err
	}
	entry := all.entry(p)
	if entry == nil {
		return nil, false, nil
	}
	fields, _ = entry.goValue().(map[string]any)
	return fields, true, nil
}

// Others returns the other entries of the place's container, by name. Names may be empty; an entry that is not an
// object is nil. The result is empty for an unreadable text.
func Others(text []byte, p Place) map[string]map[string]any {
	others := make(map[string]map[string]any)
	_, rest, err := parts(text)
	if err != nil {
		return others
	}
	all, err := syntaxOf(p, rest).read(rest)
	if err != nil {
		return others
	}
	holder := all.holder(p)
	if holder == nil {
		return others
	}
	for i, item := range holder.items {
		name := ""
		if !p.List && i < len(holder.names) {
			name = holder.names[i]
		} else if named := item.at("name"); named != nil {
			name = named.scalar
		}
		if name != p.Name {
			fields, _ := item.goValue().(map[string]any)
			others[name] = fields
		}
	}
	return others
}

// Keys returns the keys of a text at all levels, or none if it cannot be read. It uses only p's format.
func Keys(text []byte, p Place) map[string]bool {
	names := make(map[string]bool)
	if _, rest, err := parts(text); err == nil {
		if all, err := syntaxOf(p, rest).read(rest); err == nil {
			all.collect(names)
		}
	}
	return names
}

// Contains reports whether fields, as returned by Find, contain all fields of an entry with equal
// values.
func Contains(fields map[string]any, entry []Field) bool {
	for _, f := range entry {
		if !treeOf(f.Value).equal(treeOf(fields[f.Name])) {
			return false
		}
	}
	return true
}

// Put returns the text with the entry, which replaces an existing one of its name. The error is a *Fault.
func Put(text []byte, p Place, entry []Field) ([]byte, error) {
	mark, rest, err := parts(text)
	if err != nil {
		return nil, err
	}
	s := syntaxOf(p, rest)
	before, err := s.read(rest)
	if err != nil {
		return nil, err
	}
	end := lineEnd(rest)
	if before.entry(p) != nil {
		if rest, err = dropFrom(s, rest, before, p); err != nil {
			return nil, err
		}
	}
	want := before.without(p)
	ways, err := s.put(rest, p, entry, end)
	if err != nil {
		return nil, err
	}
	for _, way := range ways {
		after := apply(rest, way)
		got, err := s.read(after)
		if after == nil || err != nil || !got.without(p).equal(want) {
			continue
		}
		if found := got.entry(p); found != nil {
			if has, ok := found.goValue().(map[string]any); ok && Contains(has, entry) {
				return append([]byte(mark), after...), nil
			}
		}
	}
	return nil, &Fault{Problem: fmt.Sprintf("it is %s of a shape that this program does not know how to add to", p.Format)}
}

// Drop returns the text without the entry, or unchanged if there is none. A container that held
// only this entry stays, empty. The error is a *Fault.
func Drop(text []byte, p Place) ([]byte, error) {
	mark, rest, err := parts(text)
	if err != nil {
		return nil, err
	}
	s := syntaxOf(p, rest)
	before, err := s.read(rest)
	if err != nil {
		return nil, err
	}
	if before.entry(p) == nil {
		return text, nil
	}
	after, err := dropFrom(s, rest, before, p)
	if err != nil {
		return nil, err
	}
	return append([]byte(mark), after...), nil
}

func dropFrom(s syntax, text []byte, before *tree, p Place) ([]byte, error) {
	want := before.without(p)
	ways, err := s.drop(text, p)
	if err != nil {
		return nil, err
	}
	for _, way := range ways {
		after := apply(text, way)
		if got, err := s.read(after); after != nil && err == nil && got.entry(p) == nil && got.without(p).equal(want) {
			return after, nil
		}
	}
	return nil,
		&Fault{
			Problem: fmt.Sprintf("it is %s of a shape that this program does not know how to take %q out of", p.Format, p.Name),
		}
}

// apply returns the text with the edits applied, or nil if they are invalid: parsers count lines
// differently if there are unusual line ends.
func apply(text []byte, edits []edit) []byte {
	edits = slices.Clone(edits)
	slices.SortStableFunc(edits, func(a, b edit) int { return a.from - b.from })
	out := []byte{}
	at := 0
	for _, e := range edits {
		if e.from < at || e.to < e.from || e.to > len(text) {
			return nil
		}
		out = append(append(out, text[at:e.from]...), e.text...)
		at = e.to
	}
	return append(out, text[at:]...)
}

// dropInline returns alternative edits that remove an item at offset from that shares its line
// with the next one. A negative next means that it is the last.
func dropInline(text []byte, from, next int, first bool) [][]edit {
	if next >= 0 {
		return [][]edit{{{from, next, ""}}}
	}
	begin := from
	if comma := bytes.LastIndexByte(text[:from], ','); !first && comma >= 0 {
		begin = comma
	}
	const tries = 20
	var ways [][]edit
	for i := from; i < len(text) && len(ways) < 2*tries; i++ { // the first closing braces may belong to the item
		if c := text[i]; c == '}' || c == ']' {
			ways = append(ways, []edit{{begin, i, ""}}, []edit{{begin, i + 1, ""}})
		}
	}
	return ways
}

// lineEnd returns the line end of most lines of a text.
func lineEnd(text []byte) string {
	if crlf := bytes.Count(text, []byte("\r\n")); crlf > 0 && 2*crlf >= bytes.Count(text, []byte("\n")) {
		return "\r\n"
	}
	return "\n"
}

// lineStart returns the offset of the beginning of a byte's line.
func lineStart(text []byte, at int) int { return bytes.LastIndexByte(text[:at], '\n') + 1 }

// lineAfter returns the offset of the next line, or the length of the text.
func lineAfter(text []byte, at int) int {
	if i := bytes.IndexByte(text[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(text)
}

// indentOf returns the indentation of a byte's line, and whether only white space precedes the
// byte.
func indentOf(text []byte, at int) (indent string, alone bool) {
	line := text[lineStart(text, at):at]
	rest := bytes.TrimLeft(line, " \t")
	return string(line[:len(line)-len(rest)]), len(rest) == 0
}

// isBlank reports whether a text is only white space.
func isBlank(text []byte) bool { return len(bytes.TrimSpace(text)) == 0 }
