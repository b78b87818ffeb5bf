package splice

import (
	"bytes"
	"fmt"
	"math"
	"slices"
	"strconv"
)

// A valueSyntax is a format that supports edits of single values.
type valueSyntax interface {
	syntax
	// span returns the bytes of the value at path, and the offset of its key. from is below 0 if
	// the value is absent, or if its form requires removing and inserting it.
	span(text []byte, path []string) (key, from, to int, err error)
	// insert returns alternative edits that add a missing value, the best first.
	insert(text []byte, path []string, value any, end string) ([][]edit, error)
	// alone returns a text that contains only the value.
	alone(path []string, value any) []byte
}

func valueSyntaxOf(f Format) (valueSyntax, error) {
	switch f {
	case JSON:
		return jsonText{}, nil
	case TOML:
		return tomlText{}, nil
	case YAML:
	}
	return nil, &Fault{Problem: fmt.Sprintf("single values of %s are not changed", f)}
}

// placeOf returns the place of a value.
func placeOf(f Format, path []string) Place {
	return Place{Format: f, Path: path[:len(path)-1], Name: path[len(path)-1]}
}

// Line returns the line of a key in JSON or TOML, from 1, or 0 if the key is absent or the text is unreadable. The
// path leads from the root to the key.
func Line(text []byte, f Format, path []string) int {
	s, err := valueSyntaxOf(f)
	mark, rest, err2 := parts(text)
	if err != nil || err2 != nil || mark != "" && f == TOML {
		return 0
	}
	all, err := s.read(rest)
	if err != nil || all.entry(placeOf(f, path)) == nil {
		return 0
	}
	key, _, _, err := s.span(rest, path)
	if err != nil || key < 0 {
		return 0
	}
	line, _ := position(rest, key)
	return line
}

// Set returns a JSON or TOML text with the value at the path, and all other bytes unchanged. The value may be any
// JSON value except null. The error is a *Fault.
func Set(text []byte, f Format, path []string, value any) ([]byte, error) {
	s, err := valueSyntaxOf(f)
	if err != nil {
		return nil, err
	}
	mark, rest, err := parts(text)
	if err != nil {
		return nil, err
	}
	before, err := s.read(rest)
	if err != nil {
		return nil, err
	}
	value, end, p := plainNumbers(value), lineEnd(rest), placeOf(f, path)
	want, err := s.read(s.alone(path, value))
	if err != nil {
		return nil, err
	}
	others, is := before.without(p), want.entry(p)
	if before.entry(p) != nil {
		_, from, to, err := s.span(rest, path)
		if err != nil {
			return nil, err
		}
		if from >= 0 {
			after := apply(rest, []edit{{from, to, jsonOrTOML(f, value)}})
			if got, err := s.read(after); err == nil && got.without(p).equal(others) && got.entry(p).equal(is) {
				return append([]byte(mark), after...), nil
			}
		}
		if rest, err = dropFrom(s, rest, before, p); err != nil {
			return nil, err
		}
	}
	ways, err := s.insert(rest, path, value, end)
	if err != nil {
		return nil, err
	}
	for _, way := range ways {
		after := apply(rest, way)
		got, err := s.read(after)
		if after == nil || err != nil || !got.without(p).equal(others) {
			continue
		}
		if found := got.entry(p); found != nil && found.equal(is) {
			return append([]byte(mark), after...), nil
		}
	}
	return nil,
		&Fault{Problem: fmt.Sprintf("it is %s of a shape that this program does not know how to write %q into", f, p.Name)}
}

// Unset returns a JSON or TOML text without the key at the path, or unchanged if there is none.
func Unset(text []byte, f Format, path []string) ([]byte, error) {
	if _, err := valueSyntaxOf(f); err != nil {
		return nil, err
	}
	return Drop(text, placeOf(f, path))
}

// jsonOrTOML formats a value in the format.
func jsonOrTOML(f Format, value any) string {
	if f == TOML {
		return written(value, " = ", " ")
	}
	return jsonValue(value, " ")
}

// plainNumbers returns a value with its numbers in decimal notation.
func plainNumbers(value any) any {
	switch v := value.(type) {
	case float64:
		if v == math.Trunc(v) && math.Abs(v) < 1<<53 {
			return int(v)
		}
		return number(strconv.FormatFloat(v, 'f', -1, 64))
	case []any:
		list := make([]any, len(v))
		for i, item := range v {
			list[i] = plainNumbers(item)
		}
		return list
	case map[string]any:
		object := make(map[string]any, len(v))
		for name, item := range v {
			object[name] = plainNumbers(item)
		}
		return object
	}
	return value
}

// bareValue is a single value as content.
type bareValue struct{ value any }

func (b bareValue) jsonLines(string, string, string) string { return jsonValue(b.value, " ") }
func (b bareValue) jsonInline(space string) string          { return jsonValue(b.value, space) }

func (jsonText) span(text []byte, path []string) (key, from, to int, err error) {
	h, err := holderOf(text, placeOf(JSON, path))
	if err != nil || len(h.missing) > 0 || h.nullValue != nil {
		return -1, -1, -1, err
	}
	i, err := h.member(path[len(path)-1])
	if err != nil || i < 0 {
		return -1, -1, -1, err
	}
	m := h.Members[i]
	return m.Name.StartOffset, m.Value.StartOffset, m.Value.EndOffset, nil
}

func (jsonText) insert(text []byte, path []string, value any, end string) ([][]edit, error) {
	return jsonPut(text, placeOf(JSON, path), bareValue{value}, end)
}

func (jsonText) alone(path []string, value any) []byte {
	return []byte("{" + jsonInline(path, bareValue{value}, " ") + "}")
}

func (tomlText) alone(path []string, value any) []byte {
	return []byte(tomlPath(path) + " = " + jsonOrTOML(TOML, value) + "\n")
}

// tomlPath returns a dotted key.
func tomlPath(path []string) string {
	var b bytes.Buffer
	for i, name := range path {
		if i > 0 {
			b.WriteByte('.')
		}
		b.WriteString(tomlKey(name))
	}
	return b.String()
}

func (tomlText) span(text []byte, path []string) (key, from, to int, err error) {
	all := statements(text)
	for i, s := range all {
		if s.table || !slices.Equal(s.path, path) {
			continue
		}
		end := len(text)
		if i+1 < len(all) {
			end = all[i+1].from
		}
		end = tomlEnd(text, s.from, end)
		from, to = tomlValue(text[s.keyEnd:end])
		if from < 0 {
			return s.from, -1, -1, nil
		}
		return s.from, s.keyEnd + from, s.keyEnd + to, nil
	}
	if _, items := tomlInline(text, path[:len(path)-1]); len(path) > 1 {
		for _, item := range items {
			if item.name == path[len(path)-1] {
				return item.from, -1, -1, nil
			}
		}
	}
	return -1, -1, -1, nil
}

// tomlValue returns the position of the value after a statement's key: the shortest text that
// parses as a value. A comment may follow it.
func tomlValue(rest []byte) (from, to int) {
	equals := bytes.IndexByte(rest, '=')
	if equals < 0 {
		return -1, -1
	}
	from = equals + 1
	from += len(rest[from:]) - len(bytes.TrimLeft(rest[from:], " \t"))
	trimmed := bytes.TrimRight(rest, " \t\r\n")
	last := lineStart(trimmed, len(trimmed))
	for i := max(last, from); i <= len(trimmed); i++ {
		if i < len(trimmed) && trimmed[i] != '#' {
			continue
		}
		value := bytes.TrimRight(trimmed[from:i], " \t")
		if _, err := (tomlText{}).read(append([]byte("x = "), value...)); err == nil && len(value) > 0 {
			return from, from + len(value)
		}
	}
	return -1, -1
}

func (tomlText) insert(text []byte, path []string, value any, end string) ([][]edit, error) {
	all, written := statements(text), jsonOrTOML(TOML, value)
	after := func(i int) int { // the end of the statement
		to := len(text)
		if i+1 < len(all) {
			to = all[i+1].from
		}
		return tomlEnd(text, all[i].from, to)
	}
	line := func(at int, names []string) []edit {
		head := ""
		if at > 0 && text[at-1] != '\n' {
			head = end
		}
		return []edit{{at, at, head + tomlPath(names) + " = " + written + end}}
	}
	var ways [][]edit
	group, name := path[:len(path)-1], path[len(path)-1:]
	var table []string // of the statement
	for i, s := range all {
		if s.table {
			table = s.path
		}
		ends := i+1 == len(all) || all[i+1].table
		if ends && len(group) > 0 && slices.Equal(table, group) {
			ways = append(ways, line(after(i), name))
		}
		if dotted := !s.table && len(s.path) > len(group) && slices.Equal(s.path[:len(group)], group); dotted &&
			len(table) == 0 {
			ways = append(ways, line(after(i), path))
		}
	}
	if at, items := tomlInline(text, group); at >= 0 {
		member := tomlPath(name) + " = " + written
		if len(items) > 0 {
			at, member = items[0].from, member+", "
		}
		ways = append(ways, []edit{{at, at, member}})
	}
	slices.Reverse(ways) // after the last of its kind
	if len(group) > 0 {
		head := ""
		if len(text) > 0 && text[len(text)-1] != '\n' {
			head = end
		}
		if !isBlank(text) {
			head += end
		}
		return append(ways, []edit{
			{len(text), len(text), head + "[" + tomlPath(group) + "]" + end + tomlPath(name) + " = " + written + end},
		}), nil
	}
	return append(ways, line(topOf(text, all), name)), nil
}

// topOf returns the offset for a new key of the root: before the first table and the comments
// above it.
func topOf(text []byte, all []statement) int {
	if len(all) == 0 {
		return len(text)
	}
	at := all[0].from
	for at > 0 {
		begin := lineStart(text, at-1)
		if above := bytes.TrimSpace(text[begin:at]); len(above) == 0 || above[0] != '#' {
			break
		}
		at = begin
	}
	return at
}
