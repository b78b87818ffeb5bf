package schema

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/gybob/aai-gateway"
)

// maxUnchecked is the number of parts that Schema.Unchecked names.
const maxUnchecked = 5

// ReadLenient is [Reader.Read] for the schema of a program that checks its arguments itself, such
// as an MCP server. The dialect is 2020-12; forms of drafts 04 to 07 mean the same as there.
//
// A part that cannot be checked is left out of the check and named in Schema.Unchecked: a pattern
// that RE2 does not support, a reference that leads nowhere, a keyword in a wrong form. The check
// never rejects a value for such a part. Recursive references are followed. Formats are not
// asserted, and defaults are not inserted. A schema beyond the budget is not checked at all.
func (r *Reader) ReadLenient(source []byte) Facts {
	document, err := r.inspect(source, true)
	if err != nil {
		c := &checker{lenient: true, source: bytes.Clone(source)}
		f := Facts{Schema: aai.Schema{Check: c.check, Unchecked: []string{"the whole schema: " + faultMessage(err)}}}
		if len(source) <= maxSource && json.Valid(source) {
			f.Schema.Source = c.source
		}
		return f
	}
	f := Facts{Schema: document.schema(source), SecretNames: document.secrets().names}
	if is := document.root.node.Member("type"); is != nil && !is.Mark.left {
		f.Type = aai.CleanLabel(string(is.Raw()), maxLabel)
	}
	return f
}

// faultMessage returns the message of a fault without its path, which may be long.
func faultMessage(err error) string {
	if fault, ok := errors.AsType[*Fault](err); ok {
		return fault.Message
	}
	return aai.CleanLabel(err.Error(), maxPhrase)
}

// isChecked reports whether a keyword is part of a lenient check. The library sees no others, except
// those that hold the target of a reference.
func isChecked(keyword string) bool {
	switch keyword {
	case "$ref", "$defs", "definitions", "type", "enum", "const", "multipleOf", "maximum", "exclusiveMaximum", "minimum",
		"exclusiveMinimum", "maxLength", "minLength", "pattern", "maxItems", "minItems", "uniqueItems", "maxContains",
		"minContains", "maxProperties", "minProperties", "required", "dependentRequired", "allOf", "anyOf", "oneOf", "not",
		"if", "then", "else", "dependentSchemas", "dependencies", "prefixItems", "items", "additionalItems",
		"contains", "properties", "patternProperties", "additionalProperties", "propertyNames", "unevaluatedItems", "unevaluatedProperties":
		return true
	}
	return false
}

// omits reports whether the library does not see a member of a lenient document.
func (d *document) omits(member *node) bool {
	s := member.Parent.Mark.schema
	switch {
	case member.Mark.left:
		return true
	case s == nil || member.Mark.holds:
		return false
	case s.target != nil && d.ignoresSiblings:
		return member.Name != "$ref"
	}
	return member.Name != "description" && !isChecked(member.Name)
}

// readDraft04 converts "exclusiveMinimum" and "exclusiveMaximum" of draft 04, which are true or false.
func readDraft04(k *node) {
	var limit *node
	switch k.Name {
	case "exclusiveMinimum":
		limit = k.Parent.Member("minimum")
	case "exclusiveMaximum":
		limit = k.Parent.Member("maximum")
	default:
		return
	}
	if k.Kind == 't' && limit != nil && limit.Kind == '0' {
		k.Kind, k.Text, limit.Mark.left = '0', limit.Text, true
	} else if k.Kind == 'f' {
		k.Mark.left = true
	}
}

// renameItems gives the keywords of a tuple their names of draft 2020-12.
func renameItems(s *node) {
	items := s.Member("items")
	if items == nil || items.Kind != '[' || s.Member("prefixItems") != nil {
		return
	}
	items.Name = "prefixItems"
	if others := s.Member("additionalItems"); others != nil {
		others.Name = "items"
	}
}

// laterKeyword checks a member that draft-07 does not define.
func (d *document) laterKeyword(s *subschema, k *node) error {
	switch k.Name {
	case "$defs", "dependentSchemas":
		return d.schemasByName(s, k)
	case "prefixItems":
		return d.schemaList(s, k)
	case "unevaluatedItems", "unevaluatedProperties":
		return d.below(s, k, k)
	case "minContains", "maxContains":
		return count(k)
	case "dependentRequired":
		for names := k.First; names != nil; names = names.Next {
			if err := s.names(names); err != nil {
				return err
			}
		}
		if k.Kind != '{' {
			return faultAt(k, "expected an object of lists of names, got %s", describeNode(k))
		}
	case "$dynamicRef", "$recursiveRef":
		return faultAt(k, "references of this kind are not supported")
	case "nullable": // of OpenAPI 3.0
		if types := s.node.Member("type"); k.Kind == 't' && types != nil {
			d.leaveOut(s, types, faultAt(types, "it may be null too"))
		}
	}
	return nil
}

// leaveOut leaves a member of a schema out of the check.
func (d *document) leaveOut(s *subschema, k *node, reason error) {
	k.Mark.left = true
	if !isChecked(k.Name) && k.Name != "$dynamicRef" && k.Name != "$recursiveRef" && k.Parent == s.node {
		return // a note, such as a title
	}
	s.loosened = true
	s.secret = s.secret || mentionsSecret(k)
	d.unchecked = append(d.unchecked, reason.Error())
}

// leaveOutRef leaves the reference of a schema out of the check.
func (d *document) leaveOutRef(s *subschema, reason error) {
	d.leaveOut(s, s.ref, reason)
	s.ref, s.target = nil, nil
}

// acceptAll makes a schema of a value that is none.
func (d *document) acceptAll(s *subschema, reason error) {
	s.secret, s.loosened = mentionsSecret(s.node), true
	s.node.Kind, s.node.First = 't', nil
	d.unchecked = append(d.unchecked, reason.Error())
}

// mentionsSecret reports whether a part that was left out may have described a secret.
func mentionsSecret(n *node) bool {
	found := false
	n.Walk(func(n *node) {
		found = found || isSecretProperty(n.Name, n) || n.Name == "writeOnly" || n.Name == "format" && n.Text == "password"
	})
	return found
}

// named returns the schema with an "$id" or "$anchor" that a reference names, or nil. It searches
// the schemas found so far.
func (d *document) named(ref string) *node {
	if strings.HasPrefix(ref, "#/") || ref == "#" {
		return nil
	}
	for _, s := range d.schemas {
		for _, k := range []*node{s.node.Member("$id"), s.node.Member("$anchor")} {
			if k != nil && k.Text != "" && k.Text == strings.TrimPrefix(ref, "#") {
				return s.node
			}
		}
	}
	return nil
}

// unroll leaves out the references by which a schema applies to a value because it applies to it.
func (d *document) unroll(s *subschema) {
	if s.unrolled == visited {
		return
	}
	s.unrolled = visiting
	d.path = append(d.path, s)
	for _, e := range d.edges(s) {
		switch {
		case !e.inPlace():
		case e.to.unrolled == visiting:
			if last := d.lastReference(); last.ref != nil {
				d.leaveOutRef(last, faultAt(last.ref, "%s leads back to itself", quote(last.ref.Text)))
			}
		default:
			d.unroll(e.to)
		}
	}
	d.path = d.path[:len(d.path)-1]
	s.unrolled = visited
}

// loosen leaves out the keywords that reject more values where a schema in them accepts more. It
// makes references pointers to the places of their targets, and shortens the list of parts.
func (d *document) loosen() {
	for changed := true; changed; {
		changed = false
		for _, s := range slices.Backward(d.schemas) {
			for _, e := range d.edges(s) {
				loosened, secret := s.loosened || e.to.loosened, s.secret || e.to.secret
				changed = changed || loosened != s.loosened || secret != s.secret
				s.loosened, s.secret = loosened, secret
			}
			for k := s.node.First; k != nil; k = k.Next {
				if !k.Mark.left && s.rejectsMore(k) {
					d.leaveOut(s, k, faultAt(k, "a part of it is not checked"))
					changed = true
				}
			}
		}
	}
	for _, s := range d.schemas {
		renameItems(s.node)
	}
	for _, s := range d.schemas {
		if s.target == nil {
			continue
		}
		s.ref.Text = "#" + (&url.URL{Path: pointerTo(s.target.node)}).EscapedPath()
		for n := s.target.node; n != nil; n = n.Parent {
			n.Mark.holds = true
		}
	}
	if more := len(d.unchecked) - maxUnchecked; more > 0 {
		d.unchecked = append(d.unchecked[:maxUnchecked:maxUnchecked], fmt.Sprintf("and %d more", more))
	}
}

// rejectsMore reports whether a keyword may reject values because another part was left out.
func (s *subschema) rejectsMore(k *node) bool {
	left := func(keyword string) bool {
		n := s.node.Member(keyword)
		return n != nil && (n.Mark.left || keyword == "patternProperties" && slices.ContainsFunc(slices.Collect(n.Items()),
			func(member *node) bool { return member.Mark.left }))
	}
	switch k.Name {
	case "not", "if":
		return k.Mark.schema != nil && k.Mark.schema.loosened
	case "oneOf":
		return slices.ContainsFunc(slices.Collect(k.Items()), func(n *node) bool { return n.Mark.schema.loosened })
	case "maxContains":
		n := s.node.Member("contains")
		return n != nil && n.Mark.schema != nil && n.Mark.schema.loosened
	case "unevaluatedItems", "unevaluatedProperties":
		return s.loosened
	case "additionalProperties":
		return left("properties") || left("patternProperties")
	case "items":
		return left("prefixItems")
	case "additionalItems":
		return left("items")
	}
	return false
}

// pointerTo returns the JSON pointer of a node.
func pointerTo(n *node) string {
	if n.Parent == nil {
		return ""
	}
	token := strings.ReplaceAll(strings.ReplaceAll(n.Name, "~", "~0"), "/", "~1")
	if i := n.Index(); i >= 0 {
		token = strconv.Itoa(i)
	}
	return pointerTo(n.Parent) + "/" + token
}
