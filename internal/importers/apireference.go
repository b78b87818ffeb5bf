package importers

import (
	"fmt"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/schema/jsontree"
)

// reference returns a reference to a shared value of the kind. A reference to another place of the
// document leads to a copy. One that leads nowhere costs what uses it.
func (r *repairer) reference(n, ref *node, kind string) (any, bool) {
	target := r.target(n, ref.Text, kind)
	if target == nil {
		return r.dangling(ref, kind)
	}
	if kind == "path" {
		if r.inlined++; r.inlined > maxOperations {
			return nil, false
		}
		object := r.object(&node{Kind: jsontree.Object, Name: n.Name, Parent: n.Parent, First: target.First}, kind)
		return object, true
	}
	place := r.places[kind]
	if name, plain := strings.CutPrefix(ref.Text, place); !plain || strings.ContainsAny(name, "/%") {
		name := r.hoisted[target]
		if name == "" {
			name = fmt.Sprintf("aai-copy-%d", len(r.hoisted)+1)
			r.hoisted[target] = name
			current := r.current
			if v, ok := r.value(target, kind); ok {
				r.shared[place+name] = v
			} else {
				r.shared[place+name] = map[string]any{}
			}
			r.current = current
		}
		return map[string]any{"$ref": place + name}, true
	}
	return map[string]any{"$ref": ref.Text}, true
}

// target returns the value that a reference leads to, or nil: a ring of references leads nowhere,
// nor does a reference to a value of another kind.
func (r *repairer) target(n *node, ref, kind string) *node {
	at := r.find(n, ref)
	for i := 0; ; i++ {
		if at == nil || i > 100 || at.Kind != jsontree.Object && (kind != "schema" || !at.IsBool()) {
			return nil
		}
		next := at.Member("$ref")
		if next == nil || next.Kind != jsontree.Text || kind == "schema" && r.find(at, next.Text) == nil {
			break // in a schema, the fault is there
		}
		at = r.find(at, next.Text)
	}
	return r.find(n, ref)
}

// find returns the value at a reference: of the document, else of the definitions in a schema around
// it, as generators of JSON Schema write them.
func (r *repairer) find(n *node, ref string) *node {
	if at := r.root.ResolveRef(ref); at != nil {
		return at
	}
	if strings.HasPrefix(ref, "#/$defs/") || strings.HasPrefix(ref, "#/definitions/") {
		for ; n != nil; n = n.Parent {
			if at := n.ResolveRef(ref); at != nil {
				return at
			}
		}
	}
	return nil
}

// dangling records a reference that leads nowhere, and returns what stands for it.
func (r *repairer) dangling(ref *node, kind string) (any, bool) {
	problem := "leads nowhere, to " + quotedField(ref.Text)
	if !strings.HasPrefix(ref.Text, "#") {
		problem = "leads out of the document, to " + quotedField(ref.Text) +
			"; nothing else is opened for an import (bundle the document, for example by redocly bundle)"
	}
	switch kind {
	case "schema":
		r.fault(ref, problem+"; any value is accepted there")
		return map[string]any{}, true
	case "body":
		r.fault(ref, problem+"; the operations with this body are left out")
		if r.broken[r.current] == "" {
			r.broken[r.current] = fmt.Sprintf("its body, in line %d, %s", ref.Line(), aai.CleanText(problem, maxPlace))
		}
	default:
		r.fault(ref, problem+"; it is left out")
	}
	return nil, false
}
