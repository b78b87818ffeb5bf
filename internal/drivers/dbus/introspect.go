package dbus

import (
	"context"
	"encoding/xml"
	"errors"
	"io"
	"strings"
	"sync"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/dbus/wire"
)

// Limits on an object's introspection data.
const (
	maxIntrospection  = 1 << 20
	maxElementDepth   = 32
	maxCachedObjects  = 4096
	introspectable    = wire.BusName + ".Introspectable"
	propertyInterface = wire.BusName + ".Properties"
)

// object is the introspection data of an object. It is immutable. An object without interfaces had
// no usable data.
type object struct {
	interfaces map[string]*objectInterface
}

type objectInterface struct {
	methods    map[string][]*method // by name; several have different arguments
	properties map[string]property
}

// method holds a method's arguments, in wire order. It is malformed if an argument has an invalid
// type.
type method struct {
	ins, outs []argument
	malformed bool
}

// signature returns the signature of the method's arguments.
func (m *method) signature() string {
	var b strings.Builder
	for _, in := range m.ins {
		b.WriteString(in.typ.Sig)
	}
	return b.String()
}

type argument struct {
	name string
	typ  *wire.Type
}

type property struct {
	typ      *wire.Type
	writable bool
}

type objectKey struct{ owner, path string }

// objectCache caches introspection data until the owner leaves the bus or an error shows the data
// to be outdated. It is safe for concurrent use.
type objectCache struct {
	mu      sync.RWMutex
	objects map[objectKey]*object
}

func newObjectCache() *objectCache {
	return &objectCache{objects: map[objectKey]*object{}}
}

func (c *objectCache) get(owner, path string) *object {
	c.mu.RLock()
	defer c.mu.RUnlock()
	return c.objects[objectKey{owner, path}]
}

func (c *objectCache) put(owner, path string, o *object) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if len(c.objects) >= maxCachedObjects {
		clear(c.objects)
	}
	c.objects[objectKey{owner, path}] = o
}

func (c *objectCache) drop(owner, path string) {
	c.mu.Lock()
	delete(c.objects, objectKey{owner, path})
	c.mu.Unlock()
}

func (c *objectCache) dropOwner(owner string) {
	c.mu.Lock()
	defer c.mu.Unlock()
	for key := range c.objects {
		if key.owner == owner {
			delete(c.objects, key)
		}
	}
}

// introspect returns the object's introspection data and whether it came from the cache. An object
// that rejects introspection, or returns unusable data, has no interfaces.
func (p *peer) introspect(ctx context.Context) (o *object, remembered bool, f *failure) {
	if o := p.link.objects.get(p.owner, p.path); o != nil {
		return o, true, nil
	}
	o = &object{}
	reply, f := p.call(ctx, &wire.Message{Interface: introspectable, Member: "Introspect"})
	switch {
	case f == nil:
		o = readIntrospection(reply)
	case f.err.Delivery != aai.Delivered && f.err.Code != aai.PermissionDenied:
		// Neither the object nor the bus's policy rejected the call.
		return nil, false, f
	}
	p.link.objects.put(p.owner, p.path, o)
	return o, false, nil
}

// readIntrospection decodes the reply to Introspect.
func readIntrospection(reply *wire.Message) *object {
	if len(reply.Body) > maxIntrospection+16 {
		return &object{}
	}
	texts, err := textsOf(reply, 1)
	if err != nil {
		return &object{}
	}
	o, err := parseIntrospection(strings.NewReader(texts[0]))
	if err != nil {
		return &object{}
	}
	return o
}

// parseIntrospection reads the interfaces of the outermost node. Interfaces of its children belong
// to other objects.
func parseIntrospection(in io.Reader) (*object, error) {
	r := introspectionReader{object: &object{interfaces: map[string]*objectInterface{}}}
	tokens := xml.NewDecoder(in)
	for {
		token, err := tokens.Token()
		if errors.Is(err, io.EOF) {
			return r.object, nil
		}
		if err != nil {
			return nil, err
		}
		switch token := token.(type) {
		case xml.StartElement:
			if len(r.path) == maxElementDepth {
				return nil, errors.New("nested too deep")
			}
			r.path = append(r.path, token.Name.Local)
			r.element(strings.Join(r.path, "/"), token.Attr)
		case xml.EndElement:
			r.path = r.path[:len(r.path)-1]
		}
	}
}

type introspectionReader struct {
	object *object
	path   []string // names of the open elements
	iface  *objectInterface
	method *method
}

func (r *introspectionReader) element(path string, attributes []xml.Attr) {
	get := func(name string) string {
		for _, a := range attributes {
			if a.Name.Local == name {
				return a.Value
			}
		}
		return ""
	}
	switch path {
	case "node/interface":
		r.iface = &objectInterface{methods: map[string][]*method{}, properties: map[string]property{}}
		r.object.interfaces[get("name")] = r.iface
	case "node/interface/method":
		r.method = &method{}
		r.iface.methods[get("name")] = append(r.iface.methods[get("name")], r.method)
	case "node/interface/method/arg":
		r.argument(get("name"), get("type"), get("direction"))
	case "node/interface/property":
		if t, err := wire.ParseType(get("type")); err == nil {
			r.iface.properties[get("name")] = property{typ: t, writable: get("access") != "read"}
		}
	}
}

// argument adds an argument to the method. The direction defaults to "in".
func (r *introspectionReader) argument(name, signature, direction string) {
	t, err := wire.ParseType(signature)
	if err != nil {
		r.method.malformed = true
		return
	}
	if direction == "out" {
		r.method.outs = append(r.method.outs, argument{name, t})
	} else {
		r.method.ins = append(r.method.ins, argument{name, t})
	}
}
