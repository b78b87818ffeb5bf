package form

import (
	"bytes"
	"encoding/json"
	"slices"
	"strconv"
	"strings"

	"aai"
	"aai/internal/hygiene"
	"aai/internal/jsontree"
)

type (
	none struct{}
	node = jsontree.Node[none]
)

// A view looks into a schema that was found right.
type view struct{ root *node }

// maxRefs is how many references are followed; the reader of schemas refuses those that
// recurse.
const maxRefs = 32

// follow is the schema that a reference leads to, or the one that is none.
func (v view) follow(n *node) *node {
	for range maxRefs {
		ref := n.Member("$ref")
		if ref == nil || ref.Kind != jsontree.Text {
			break
		}
		target := v.root.Refer(ref.Text)
		if target == nil {
			break
		}
		n = target
	}
	return n
}

func (v view) field(p *node, secret bool) Field {
	n := v.follow(p)
	f := Field{name: p.Name, Name: shownName(p.Name), Secret: secret}
	f.About = aai.CleanText(v.text(p, n, "description"), maxAbout)
	if title := aai.CleanLabel(v.text(p, n, "title"), maxLabel); title != "" && f.About == "" {
		f.About = title
	}
	if d := v.either(p, n, "default"); d != nil && !secret {
		f.Standard = shown(d)
	}
	f.Kind, f.Type = v.kind(n)
	if f.Kind == Choice {
		if f.Options = options(n); f.Options == nil {
			f.Kind = JSON
		}
	}
	if secret && f.Kind == Text {
		f.Kind = Line // which can be hidden
	}
	f.Limits = limits(n)
	return f
}

func (v view) either(p, n *node, key string) *node {
	if m := p.Member(key); m != nil {
		return m
	}
	return n.Member(key)
}

func (v view) text(p, n *node, key string) string {
	if m := v.either(p, n, key); m != nil && m.Kind == jsontree.Text {
		return m.Text
	}
	return ""
}

// kind is what is typed for a schema, and the type of what comes of it.
func (v view) kind(n *node) (Kind, string) {
	types := typesOf(n)
	is := strings.Join(types, " or ")
	if n.Member("enum") != nil || n.Member("const") != nil {
		return Choice, is
	}
	types = slices.DeleteFunc(slices.Clone(types), func(t string) bool { return t == "null" })
	if len(types) != 1 {
		return JSON, is
	}
	switch types[0] {
	case "integer", "number":
		return Number, is
	case "boolean":
		return Bool, is
	case "string":
		if oneLine(n) {
			return Line, is
		}
		return Text, is
	case "array":
		items := n.Member("items")
		if items == nil || items.Kind != jsontree.Object {
			return JSON, "list"
		}
		items = v.follow(items)
		if of := typesOf(items); len(of) == 1 {
			if of[0] == "string" {
				return Lines, "list of string"
			}
			return JSON, "list of " + of[0]
		}
		return JSON, "list"
	}
	return JSON, is
}

// typesOf are the types that a schema names, those that there are.
func typesOf(n *node) []string {
	t := n.Member("type")
	if t == nil {
		return nil
	}
	var types []string
	add := func(t *node) {
		switch t.Text {
		case "string", "number", "integer", "boolean", "object", "array", "null":
			types = append(types, t.Text)
		}
	}
	if t.Kind == jsontree.Text {
		add(t)
		return types
	}
	for item := range t.Items() {
		add(item)
	}
	return types
}

// oneLine reports whether a text of that schema has a line at most.
func oneLine(n *node) bool {
	if n.Member("format") != nil || n.Member("pattern") != nil {
		return true
	}
	most := n.Member("maxLength")
	if most == nil {
		return false
	}
	long, err := strconv.ParseFloat(most.Text, 64)
	return err == nil && long <= maxLabel
}

// options are the values of an enum or a const; nil where they are too many, or cannot be
// shown so that one is told from the other.
func options(n *node) []Option {
	values := []*node{n.Member("const")}
	if values[0] == nil {
		enum := n.Member("enum")
		if enum.Count() > maxOptions {
			return nil
		}
		values = slices.Collect(enum.Items())
	}
	var all []Option
	for i, value := range values {
		if value.Kind == jsontree.Object || value.Kind == jsontree.List || len(value.Raw()) > maxShown {
			return nil
		}
		o := Option{Value: strconv.Itoa(i), Shown: shown(value), json: slices.Clone(value.Raw())}
		if slices.ContainsFunc(all, func(other Option) bool { return other.Shown == o.Shown }) {
			o.Shown = hygiene.EscapeUnseen(string(value.JSON()))
		}
		all = append(all, o)
	}
	return all
}

func limits(n *node) []Limit {
	var all []Limit
	for _, key := range []string{
		"minimum", "exclusiveMinimum", "maximum", "exclusiveMaximum", "multipleOf",
		"minLength", "maxLength", "pattern", "format", "minItems", "maxItems", "minProperties", "maxProperties",
	} {
		if m := n.Member(key); m != nil && (m.Kind == jsontree.Number || m.Kind == jsontree.Text) {
			all = append(all, Limit{key, shown(m)})
		}
	}
	return all
}

// shownName is a name as it is, or in quotation marks where that would not show all of it.
func shownName(name string) string {
	if name != "" && aai.CleanLabel(name, maxLabel) == name {
		return name
	}
	return cut(escaped(name))
}

// shown is a value as people read it: a text as it is where all of it shows, else JSON.
func shown(n *node) string {
	if n.Kind == jsontree.Text && n.Text != "" && aai.CleanLabel(n.Text, maxShown) == n.Text {
		return n.Text
	}
	var b bytes.Buffer
	if json.Compact(&b, n.JSON()) != nil {
		return n.Words()
	}
	return cut(hygiene.EscapeUnseen(b.String()))
}

// escaped is a text as JSON in which all shows.
func escaped(s string) string {
	text, err := json.Marshal(s)
	if err != nil {
		return ""
	}
	return hygiene.EscapeUnseen(string(text))
}

func cut(s string) string { return aai.CleanLabel(s, maxShown) }
