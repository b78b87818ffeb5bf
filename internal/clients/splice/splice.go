// Package splice puts an entry into a text of JSON, TOML or YAML, and takes it out, where
// the text is a person's: every byte that is not the entry's stays as it is, with its
// comments, order, indentation and line ends. Of JSON and TOML it does so with single
// values. It knows nothing of what an entry is for.
//
// No text is written anew from what was read of it. The parser says at which bytes
// something stands, and text goes in there; what comes of it is read again, and is
// returned only if it says what the old one said and the entry, and nothing else.
package splice

import (
	"bytes"
	"fmt"
	"slices"
	"unicode/utf8"
)

// A Format is how a text is written.
type Format string

// The formats. JSON may have comments and commas at the end of its lists.
const (
	JSON Format = "JSON"
	TOML Format = "TOML"
	YAML Format = "YAML"
)

// A Place is where in a text an entry stands.
type Place struct {
	Format Format
	// Path are the keys that lead to what holds the entries.
	Path []string
	// Name is the entry's.
	Name string
	// List says that the entries are a list, each with its name under "name", and not
	// a map. Only YAML has that.
	List bool
}

// A Field is one of an entry: a text, a number, a truth or a list of texts, or what Find
// returned of one.
type Field struct {
	Name  string
	Value any // string, int, bool or []string; map[string]any, []any and a number of Find's
}

// An edit takes the bytes from one offset to another out, and puts others there.
type edit struct {
	from, to int
	text     string
}

// A syntax is a format at work on a text without a byte order mark.
type syntax interface {
	// read returns what the text says.
	read(text []byte) (*tree, error)
	// put returns ways to bring the entry in, in lines with that end, the best first. It is
	// not there.
	put(text []byte, p Place, entry []Field, end string) ([][]edit, error)
	// drop returns ways to take the entry out, the best first. It is there.
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

// parts are a text without its byte order mark, and that.
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

// position is a byte's line and column, both from 1; the column counts characters.
func position(text []byte, at int) (line, column int) {
	at = min(at, len(text))
	begin := bytes.LastIndexByte(text[:at], '\n') + 1
	return 1 + bytes.Count(text[:at], []byte("\n")), 1 + utf8.RuneCount(text[begin:at])
}

// Find returns the entry's fields, and whether it is there. The error is a *Fault.
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

// Others returns the entries beside that of the place, by their names, which may be empty; one
// that is no object is nil. There are none in a text that cannot be read.
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

// AllNames returns the names of all that is in a text, none if it cannot be read.
func AllNames(text []byte, p Place) map[string]bool {
	names := make(map[string]bool)
	if _, rest, err := parts(text); err == nil {
		if all, err := syntaxOf(p, rest).read(rest); err == nil {
			all.collect(names)
		}
	}
	return names
}

// Contains reports whether fields as Find returns them say what an entry says; what else they
// say does not matter.
func Contains(fields map[string]any, entry []Field) bool {
	for _, f := range entry {
		if !treeOf(f.Value).equal(treeOf(fields[f.Name])) {
			return false
		}
	}
	return true
}

// Put returns the text with the entry, instead of what has its name. The error is a *Fault.
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

// Drop returns the text without the entry, which stays as it is if there is none. What held
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
	return nil, &Fault{Problem: fmt.Sprintf("it is %s of a shape that this program does not know how to take %q out of", p.Format, p.Name)}
}

// apply returns the text with the edits made, nil if they cannot be: a parser counts lines
// in a way of its own where there are line ends of a kind that nobody uses.
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

// dropInline are ways to take an item out that begins at an offset, in a line with the next
// one; that is below 0 if it is the last.
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
	for i := from; i < len(text) && len(ways) < 2*tries; i++ { // one of the closing braces is its own
		if c := text[i]; c == '}' || c == ']' {
			ways = append(ways, []edit{{begin, i, ""}}, []edit{{begin, i + 1, ""}})
		}
	}
	return ways
}

// lineEnd is how most lines of a text end.
func lineEnd(text []byte) string {
	if crlf := bytes.Count(text, []byte("\r\n")); crlf > 0 && 2*crlf >= bytes.Count(text, []byte("\n")) {
		return "\r\n"
	}
	return "\n"
}

// lineStart is where the line of a byte begins.
func lineStart(text []byte, at int) int { return bytes.LastIndexByte(text[:at], '\n') + 1 }

// lineAfter is where the line after that of a byte begins, or the end of the text.
func lineAfter(text []byte, at int) int {
	if i := bytes.IndexByte(text[at:], '\n'); i >= 0 {
		return at + i + 1
	}
	return len(text)
}

// indentOf is the white space that a byte's line begins with, and whether there is nothing
// else before the byte.
func indentOf(text []byte, at int) (indent string, alone bool) {
	line := text[lineStart(text, at):at]
	rest := bytes.TrimLeft(line, " \t")
	return string(line[:len(line)-len(rest)]), len(rest) == 0
}

// isBlank reports whether there is nothing but white space in a text.
func isBlank(text []byte) bool { return len(bytes.TrimSpace(text)) == 0 }
