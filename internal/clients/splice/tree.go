package splice

import (
	"fmt"
	"maps"
	"slices"
)

// A kind is the kind of a tree.
type kind byte

const (
	stringKind kind = 's'
	numberKind kind = 'n'
	boolKind   kind = 'b'
	nullKind   kind = '0'
	mapKind    kind = 'm'
	listKind   kind = 'l'
	otherKind  kind = 'o' // such as a date: compared, never interpreted
)

// A tree is the data of a text, independent of its format.
type tree struct {
	kind   kind
	scalar string
	names  []string // of a map: one for each item
	items  []*tree
}

// equal reports whether both have the same data in the same order.
func (t *tree) equal(u *tree) bool {
	return t.kind == u.kind && t.scalar == u.scalar && slices.Equal(t.names, u.names) &&
		slices.EqualFunc(t.items, u.items, (*tree).equal)
}

func (t *tree) at(name string) *tree {
	if t == nil || t.kind != mapKind {
		return nil
	}
	if i := slices.Index(t.names, name); i >= 0 {
		return t.items[i]
	}
	return nil
}

// collect adds all keys of the tree to names.
func (t *tree) collect(names map[string]bool) {
	for _, name := range t.names {
		names[name] = true
	}
	for _, item := range t.items {
		item.collect(names)
	}
}

// holder returns the container of the entries, or nil.
func (t *tree) holder(p Place) *tree {
	for _, key := range p.Path {
		t = t.at(key)
	}
	return t
}

// entry returns the entry at the place, or nil.
func (t *tree) entry(p Place) *tree {
	holder := t.holder(p)
	if holder == nil {
		return nil
	}
	if i := holder.index(p); i >= 0 {
		return holder.items[i]
	}
	return nil
}

// index returns the index of the entry in its container, or -1.
func (t *tree) index(p Place) int {
	if !p.List {
		return slices.Index(t.names, p.Name)
	}
	if t.kind != listKind {
		return -1
	}
	return slices.IndexFunc(t.items, func(item *tree) bool {
		name := item.at("name")
		return name != nil && name.kind == stringKind && name.scalar == p.Name
	})
}

// without returns the tree without the entry, and without containers that are empty as a result.
func (t *tree) without(p Place) *tree { return t.withoutAt(p, p.Path) }

func (t *tree) withoutAt(p Place, path []string) *tree {
	if t.kind != mapKind && (len(path) > 0 || !p.List || t.kind != listKind) {
		return t
	}
	cut := *t
	if len(path) == 0 {
		if i := t.index(p); i >= 0 {
			cut.items = slices.Delete(slices.Clone(t.items), i, i+1)
			if !p.List {
				cut.names = slices.Delete(slices.Clone(t.names), i, i+1)
			}
		}
		return &cut
	}
	i := slices.Index(t.names, path[0])
	if i < 0 {
		return t
	}
	cut.items, cut.names = slices.Clone(t.items), slices.Clone(t.names)
	below := t.items[i].withoutAt(p, path[1:])
	cut.items[i] = below
	if below.kind == nullKind || (below.kind == mapKind || below.kind == listKind) && len(below.items) == 0 {
		cut.items, cut.names = slices.Delete(cut.items, i, i+1), slices.Delete(cut.names, i, i+1)
	}
	return &cut
}

// goValue converts the tree to map[string]any, []any, string, bool and number, which keeps a
// number's spelling.
func (t *tree) goValue() any {
	switch t.kind {
	case mapKind:
		m := make(map[string]any, len(t.items))
		for i, name := range t.names {
			m[name] = t.items[i].goValue()
		}
		return m
	case listKind:
		l := make([]any, len(t.items))
		for i, item := range t.items {
			l[i] = item.goValue()
		}
		return l
	case boolKind:
		return t.scalar == "true"
	case numberKind:
		return number(t.scalar)
	case stringKind:
		return t.scalar
	case otherKind:
		return opaqueValue(t.scalar)
	case nullKind:
	}
	return nil
}

// An opaqueValue is compared but not interpreted, such as an alias.
type opaqueValue string

// A number is the spelling of a number.
type number string

// treeOf converts a field's value, or a result of goValue, to a tree.
func treeOf(value any) *tree {
	switch v := value.(type) {
	case string:
		return &tree{kind: stringKind, scalar: v}
	case bool:
		return &tree{kind: boolKind, scalar: fmt.Sprint(v)}
	case int:
		return &tree{kind: numberKind, scalar: fmt.Sprint(v)}
	case opaqueValue:
		return &tree{kind: otherKind, scalar: string(v)}
	case number:
		return &tree{kind: numberKind, scalar: string(v)}
	case []string:
		l := &tree{kind: listKind}
		for _, s := range v {
			l.items = append(l.items, treeOf(s))
		}
		return l
	case []any:
		l := &tree{kind: listKind}
		for _, s := range v {
			l.items = append(l.items, treeOf(s))
		}
		return l
	case map[string]any:
		m := &tree{kind: mapKind}
		for _, name := range slices.Sorted(maps.Keys(v)) {
			m.names, m.items = append(m.names, name), append(m.items, treeOf(v[name]))
		}
		return m
	}
	return &tree{kind: nullKind}
}
