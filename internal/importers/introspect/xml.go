package introspect

import (
	"encoding/xml"
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/dbus/wire"
)

// Limits on the introspection of one object. The driver also enforces the first.
const (
	maxIntrospection = 1 << 20
	maxElementDepth  = 32
	maxInterfaces    = 100
	maxMembers       = 500 // of each kind, in one interface
	maxChildren      = 1000
	maxArguments     = 32
	maxDoc           = 600 // bytes of a description
)

// noteList holds notes about omitted introspection data, for the person.
type noteList struct{ list []string }

const maxNotes = 50

func (n *noteList) add(format string, args ...any) {
	note := aai.CleanLabel(fmt.Sprintf(format, args...), 300)
	if len(n.list) < maxNotes && !slices.Contains(n.list, note) {
		n.list = append(n.list, note)
	}
}

// parseObject parses the reply of Introspect: the interfaces of the outermost node, and the names
// of its children. Members without a valid name or type are omitted and noted. The error
// describes invalid XML.
func parseObject(text string, notes *noteList) (*object, error) {
	if len(text) > maxIntrospection {
		return nil, fmt.Errorf("describes itself in %d bytes; expected at most %d", len(text), maxIntrospection)
	}
	r := introspection{notes: notes}
	d := xml.NewDecoder(strings.NewReader(text))
	d.Strict = true
	for {
		token, err := d.Token()
		if errors.Is(err, io.EOF) {
			break
		}
		if err != nil {
			return nil, fmt.Errorf("answers with no XML of a node: %s", aai.CleanLabel(err.Error(), 100))
		}
		switch token := token.(type) {
		case xml.StartElement:
			if len(r.path) == maxElementDepth {
				return nil, fmt.Errorf("has elements more than %d deep", maxElementDepth)
			}
			r.path = append(r.path, token.Name.Local)
			r.begin(strings.Join(r.path, "/"), token.Attr)
		case xml.EndElement:
			r.path = r.path[:len(r.path)-1]
		case xml.CharData:
			r.words(string(token))
		}
	}
	if !r.node {
		return nil, errors.New("answers with no XML of a node")
	}
	return r.finish(), nil
}

// introspection is the parser state for one object.
type introspection struct {
	notes  *noteList
	path   []string
	node   bool
	object object
	doc    *string // of the current element
	kept   bool    // the current interface is kept
	member bool    // the current method or property is kept
	args   int
}

func (r *introspection) begin(path string, attributes []xml.Attr) {
	get := func(name string) string {
		for _, a := range attributes {
			if a.Name.Local == name {
				return a.Value
			}
		}
		return ""
	}
	name := get("name")
	switch path {
	case "node":
		r.node = true
	case "node/node":
		if len(r.object.children) < maxChildren && wire.ValidPath("/"+name) && !strings.Contains(name, "/") {
			r.object.children = append(r.object.children, name)
		}
	case "node/interface":
		r.interfaceOf(name)
	case "node/interface/method":
		r.method(name)
	case "node/interface/property":
		r.property(name, get("type"), get("access"))
	case "node/interface/method/arg":
		r.argument(name, get("type"), get("direction"))
	default:
		if strings.HasSuffix(path, "/annotation") {
			r.annotation(strings.TrimSuffix(path, "/annotation"), name, get("value"))
		}
	}
}

func (r *introspection) interfaceOf(name string) {
	r.kept, r.member = false, false
	switch {
	case !wire.ValidInterface(name):
		r.notes.add("an interface is left out: %q is no valid name", aai.CleanLabel(name, 60))
	case len(r.object.Interfaces) == maxInterfaces:
		r.notes.add("an object has more than %d interfaces; the others are left out", maxInterfaces)
	default:
		r.kept = true
		r.object.Interfaces = append(r.object.Interfaces, iface{Name: name})
		r.doc = &r.last().Doc
	}
}

func (r *introspection) last() *iface { return &r.object.Interfaces[len(r.object.Interfaces)-1] }

func (r *introspection) method(name string) {
	r.member, r.args = false, 0
	if !r.kept || !r.named("method", name, len(r.last().Methods)) {
		return
	}
	r.member = true
	r.last().Methods = append(r.last().Methods, method{Name: name})
	r.doc = &r.last().Methods[len(r.last().Methods)-1].Doc
}

// named reports whether to keep a member: its name is valid, and maxMembers is not reached.
func (r *introspection) named(sort, name string, before int) bool {
	switch {
	case !wire.ValidMember(name):
		r.notes.add("a %s of %s is left out: %q is no valid name", sort, r.last().Name, aai.CleanLabel(name, 60))
	case before == maxMembers:
		r.notes.add("%s has more than %d %s members; the others are left out", r.last().Name, maxMembers, sort)
	default:
		return true
	}
	return false
}

func (r *introspection) property(name, signature, access string) {
	r.member = false
	if !r.kept || !r.named("property", name, len(r.last().Properties)) {
		return
	}
	p := property{Name: name, Type: signature, Readable: access != "write",
		Writable: access == "write" || access == "readwrite"}
	if t, err := wire.ParseType(signature); err != nil {
		p.Type, p.fault = "", "it has no valid type"
	} else if strings.Contains(t.Sig, "h") {
		p.fault = "it is a file descriptor"
	}
	r.member = true
	r.last().Properties = append(r.last().Properties, p)
	r.doc = &r.last().Properties[len(r.last().Properties)-1].Doc
}

func (r *introspection) argument(name, signature, direction string) {
	if !r.kept || !r.member || len(r.last().Methods) == 0 {
		return
	}
	m := &r.last().Methods[len(r.last().Methods)-1]
	t, err := wire.ParseType(signature)
	switch r.args++; {
	case err != nil:
		m.fault = "an argument has no valid type"
		return
	case strings.Contains(t.Sig, "h"):
		m.fault = "it passes file descriptors"
	case r.args > maxArguments:
		m.fault = fmt.Sprintf("it takes more than %d arguments", maxArguments)
		return
	}
	list := &m.Ins
	if direction == "out" {
		list = &m.Outs
	}
	*list = append(*list, argument{Name: name, Type: signature})
	r.doc = &(*list)[len(*list)-1].Doc
}

// annotation reads the annotations of GLib's documentation generators and of the specification.
func (r *introspection) annotation(of, name, value string) {
	if !r.kept || of != "node/interface" && !r.member {
		return
	}
	switch name {
	case "org.gtk.GDBus.DocString", "org.gtk.GDBus.DocString.Short":
		if r.doc != nil && *r.doc == "" {
			*r.doc = value
		}
	case "org.freedesktop.DBus.Deprecated":
		if value != "true" {
			return
		}
		switch l := r.last(); of {
		case "node/interface/method":
			l.Methods[len(l.Methods)-1].Deprecated = true
		case "node/interface/property":
			l.Properties[len(l.Properties)-1].Deprecated = true
		}
	}
}

// words reads documentation elements: telepathy's docstring, and doc:doc of freedesktop's older
// files.
func (r *introspection) words(text string) {
	if !r.kept || r.doc == nil || len(*r.doc) > maxDoc {
		return
	}
	for _, name := range r.path {
		if name == "docstring" || name == "doc" {
			*r.doc += text
			return
		}
	}
}

// finish cleans the parsed data. Of methods with the same name and arguments, and of properties with
// the same name, the last counts, as in the driver.
func (r *introspection) finish() *object {
	o := &r.object
	for i := range o.Interfaces {
		f := &o.Interfaces[i]
		f.Doc = cleanDoc(f.Doc)
		f.Methods = keepLast(f.Methods, func(m method) string { return m.Name + "(" + m.signature() + ")" + m.fault })
		f.Properties = keepLast(f.Properties, func(p property) string { return p.Name })
		for j := range f.Methods {
			m := &f.Methods[j]
			m.Doc = cleanDoc(m.Doc)
			for _, list := range [][]argument{m.Ins, m.Outs} {
				for k := range list {
					list[k].Doc = cleanDoc(list[k].Doc)
				}
			}
		}
		for j := range f.Properties {
			f.Properties[j].Doc = cleanDoc(f.Properties[j].Doc)
		}
	}
	o.Interfaces = keepLast(o.Interfaces, func(f iface) string { return f.Name })
	slices.SortFunc(o.Interfaces, func(a, b iface) int { return strings.Compare(a.Name, b.Name) })
	slices.Sort(o.children)
	o.children = slices.Compact(o.children)
	return o
}

// keepLast keeps the last item of each name.
func keepLast[T any](list []T, name func(T) string) []T {
	at := make(map[string]int, len(list))
	var kept []T
	for _, item := range list {
		if i, ok := at[name(item)]; ok {
			kept[i] = item
			continue
		}
		at[name(item)] = len(kept)
		kept = append(kept, item)
	}
	return kept
}

// cleanDoc converts untrusted documentation to one line.
func cleanDoc(doc string) string {
	return aai.CleanLabel(strings.Join(strings.Fields(doc), " "), maxDoc)
}
