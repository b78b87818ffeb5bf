package splice

import (
	"bytes"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/pelletier/go-toml/v2"
	"github.com/pelletier/go-toml/v2/unstable"
)

// tomlText implements TOML.
type tomlText struct{}

func (tomlText) read(text []byte) (*tree, error) {
	if err := checkNesting(text, TOML); err != nil {
		return nil, err
	}
	var all map[string]any
	if err := toml.Unmarshal(text, &all); err != nil {
		return nil, tomlFault(err)
	}
	return tomlTree(all), nil
}

func tomlTree(value any) *tree {
	switch v := value.(type) {
	case map[string]any:
		t := &tree{kind: mapKind}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			t.names, t.items = append(t.names, name), append(t.items, tomlTree(v[name]))
		}
		return t
	case []any:
		t := &tree{kind: listKind}
		for _, item := range v {
			t.items = append(t.items, tomlTree(item))
		}
		return t
	case string:
		return &tree{kind: stringKind, scalar: v}
	case bool:
		return &tree{kind: boolKind, scalar: fmt.Sprint(v)}
	case int64:
		return &tree{kind: numberKind, scalar: fmt.Sprint(v)}
	}
	return &tree{kind: otherKind, scalar: fmt.Sprintf("%T %v", value, value)}
}

// A statement is a table header or a key with its value, which may span several lines.
type statement struct {
	from   int // start of its line
	keyEnd int
	table  bool
	path   []string // from the root
}

// statements returns the statements of a valid text.
func statements(text []byte) []statement {
	var p unstable.Parser
	p.Reset(text)
	var all []statement
	var table []string
	for p.NextExpression() {
		e := p.Expression()
		s := statement{table: e.Kind == unstable.Table || e.Kind == unstable.ArrayTable}
		if !s.table && e.Kind != unstable.KeyValue {
			continue
		}
		s.from = -1
		for it := e.Key(); it.Next(); {
			key := it.Node()
			if s.from < 0 {
				s.from = lineStart(text, int(key.Raw.Offset))
			}
			s.path, s.keyEnd = append(s.path, string(key.Data)), int(key.Raw.Offset+key.Raw.Length)
		}
		if s.table {
			table = s.path
		} else {
			s.path = append(slices.Clone(table), s.path...)
		}
		all = append(all, s)
	}
	return all
}

func (tomlText) put(text []byte, p Place, entry []Field, end string) ([][]edit, error) {
	body := tomlTable(p, entry, end)
	head := ""
	if len(text) > 0 {
		if text[len(text)-1] != '\n' {
			head = end
		}
		if !bytes.HasSuffix(text, []byte(end+end)) && !isBlank(text) {
			head += end
		}
	}
	ways := [][]edit{{{len(text), len(text), head + body}}}
	if at, items := tomlInline(text, p.Path); at >= 0 {
		member := p.Name + " = " + tomlObject(entry)
		if len(items) > 0 {
			at, member = items[0].from, member+", "
		}
		ways = append(ways, []edit{{at, at, member}})
	}
	return ways, nil
}

// A keyPosition is the offset of a key.
type keyPosition struct {
	name string
	from int
}

// tomlInline returns the offset inside the inline table at that path, below 0 if there is none,
// and the positions of its keys.
func tomlInline(text []byte, path []string) (begin int, items []keyPosition) {
	var p unstable.Parser
	p.Reset(text)
	for all, i := statements(text), 0; p.NextExpression(); {
		e := p.Expression()
		if e.Kind == unstable.Comment {
			continue
		}
		s := all[i]
		i++
		if s.table || !slices.Equal(s.path, path) || e.Value().Kind != unstable.InlineTable {
			continue
		}
		last := 0 // of the key
		for it := e.Key(); it.Next(); {
			last = int(it.Node().Raw.Offset + it.Node().Raw.Length)
		}
		for it := e.Value().Children(); it.Next(); {
			keys := it.Node().Key()
			keys.Next()
			items = append(items, keyPosition{string(keys.Node().Data), int(keys.Node().Raw.Offset)})
		}
		return last + bytes.IndexByte(text[last:], '{') + 1, items
	}
	return -1, nil
}

// tomlTable formats the entry as a table.
func tomlTable(p Place, entry []Field, end string) string {
	lines := []string{"[" + strings.Join(append(slices.Clone(p.Path), p.Name), ".") + "]"}
	for _, f := range entry {
		lines = append(lines, tomlKey(f.Name)+" = "+written(f.Value, " = ", " "))
	}
	return strings.Join(lines, end) + end
}

// tomlKey returns a key, quoted if necessary.
func tomlKey(name string) string {
	for _, c := range name {
		if !strings.ContainsRune("abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-", c) {
			return quoted(name)
		}
	}
	return name
}

func tomlObject(entry []Field) string {
	var fields []string
	for _, f := range entry {
		fields = append(fields, tomlKey(f.Name)+" = "+written(f.Value, " = ", " "))
	}
	return "{ " + strings.Join(fields, ", ") + " }"
}

func (tomlText) drop(text []byte, p Place) ([][]edit, error) {
	path := append(slices.Clone(p.Path), p.Name)
	var exact, spaced []edit
	all := statements(text)
	for i, s := range all {
		if len(s.path) < len(path) || !slices.Equal(s.path[:len(path)], path) {
			continue
		}
		to := len(text)
		if i+1 < len(all) {
			to = all[i+1].from
		}
		to = tomlEnd(text, s.from, to)
		exact = append(exact, edit{s.from, to, ""})
		if from := s.from; s.table { // with the preceding empty line
			before := text[:from]
			if trimmed := bytes.TrimRight(before, "\r\n"); bytes.Count(before[len(trimmed):], []byte("\n")) > 1 {
				from = lineStart(text, from-1)
			}
			spaced = append(spaced, edit{from, to, ""})
		} else {
			spaced = append(spaced, edit{from, to, ""})
		}
	}
	if len(exact) > 0 {
		return [][]edit{spaced, exact}, nil
	}
	_, items := tomlInline(text, p.Path)
	for i, item := range items {
		if item.name != p.Name {
			continue
		}
		next := -1
		if i+1 < len(items) {
			next = items[i+1].from
		}
		return dropInline(text, item.from, next, i == 0), nil
	}
	return nil, nil
}

// tomlEnd returns the end of a statement. Comments and empty lines after it belong to the next
// one.
func tomlEnd(text []byte, from, to int) int {
	for to > from {
		begin := lineStart(text, to-1)
		line := bytes.TrimSpace(text[begin:to])
		if begin <= from || len(line) > 0 && line[0] != '#' {
			return to
		}
		to = begin
	}
	return to
}
