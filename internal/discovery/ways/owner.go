package ways

import (
	"cmp"
	"context"
	"encoding/xml"
	"errors"
	"io"
	"slices"
	"strings"

	"aai/internal/dbuswire"
)

// What of one program is looked at.
const (
	maxObjects       = 64
	maxDepth         = 8
	maxIntrospection = 512 << 10 // bytes, of one object
	maxElements      = 20_000    // of XML, of one object
	maxListings      = 8         // objects that are asked for the names of their actions
)

const introspectable = dbuswire.BusName + ".Introspectable"

// A thing is an object of a program, by one of its interfaces.
type thing struct{ path, iface string }

// An offer is what a program has of one kind.
type offer struct {
	things []thing
	listed []string // the names of what it lists
}

// askOwner walks through what a program says of its objects, and makes ways of it.
func (l *busLook) askOwner(ctx context.Context, owner string, names []string) {
	defer func() {
		if e := recover(); e != nil {
			l.note("the gateway failed at reading what %s says of itself: %v", names[0], e)
		}
	}()
	if l.refuses(names) {
		l.tell(names[0], "it was not asked", Refused)
		return
	}
	if l.system && l.never(names[0], "") {
		l.tell(names[0], "it was not asked", NeverCalled)
		return
	}
	ctx, cancel := context.WithTimeout(ctx, l.ownerClock())
	defer cancel()
	things, whole := l.walk(ctx, owner, names)
	offers := make(map[int]*offer)
	for _, t := range things {
		i := kindOf(t.iface)
		if offers[i] == nil {
			offers[i] = &offer{}
		}
		offers[i].things = append(offers[i].things, t)
	}
	for _, o := range offers {
		o.listed = interfacesOf(o.things)
	}
	if actions := offers[kindOf("org.gtk.Actions")]; actions != nil {
		actions.listed, whole = l.actions(ctx, owner, actions.things, whole)
	}
	ways := l.waysOf(names, offers)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.found.ways = append(l.found.ways, ways...)
	if !whole {
		l.found.silent = append(l.found.silent, clean(names[0]))
	}
}

// interfacesOf are the names of interfaces, those of portals without what all have.
func interfacesOf(things []thing) []string {
	var all []string
	for _, t := range things {
		all = append(all, clean(strings.TrimPrefix(t.iface, "org.freedesktop.portal.")))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// walk finds the objects of a program, those first that have the places that such objects
// usually have. It stops where a question is not answered in time, and says so.
func (l *busLook) walk(ctx context.Context, owner string, names []string) (found []thing, whole bool) {
	queue, asked := seeds(names), make(map[string]bool)
	for len(queue) > 0 && len(asked) < maxObjects {
		path := queue[0]
		queue = queue[1:]
		if asked[path] {
			continue
		}
		asked[path] = true
		reply, err := l.ask(ctx, &dbuswire.Message{Destination: owner, Path: path, Interface: introspectable, Member: "Introspect"})
		if late(err) {
			return found, false
		}
		if err != nil || reply.Signature != "s" || len(reply.Body) > maxIntrospection {
			continue
		}
		d := reply.Decoder()
		interfaces, children := readNode(d.Str())
		if d.Err() != nil {
			continue
		}
		for _, iface := range interfaces {
			found = append(found, thing{path, iface})
		}
		if strings.Count(path, "/") < maxDepth {
			for _, child := range children {
				if below := strings.TrimSuffix(path, "/") + "/" + child; dbuswire.ValidPath(below) && len(below) <= dbuswire.MaxName {
					queue = append(queue, below)
				}
			}
		}
	}
	if len(queue) > 0 && len(asked) == maxObjects {
		l.note("%s has more objects than the %d that were looked at", names[0], maxObjects)
	}
	return found, true
}

// seeds are where objects usually are.
func seeds(names []string) []string {
	var paths []string
	for _, name := range names {
		switch {
		case strings.HasPrefix(name, "org.mpris.MediaPlayer2."):
			paths = append(paths, "/org/mpris/MediaPlayer2")
		case strings.HasPrefix(name, "org.kde.StatusNotifierItem"):
			paths = append(paths, "/StatusNotifierItem", "/MenuBar")
		case strings.HasPrefix(name, "org.freedesktop.portal."):
			paths = append(paths, "/org/freedesktop/portal/desktop", "/org/freedesktop/portal/documents")
		}
		if path := "/" + strings.ReplaceAll(strings.ReplaceAll(lasting(name), ".", "/"), "-", "_"); dbuswire.ValidPath(path) {
			paths = append(paths, path)
		}
	}
	return append(paths, "/")
}

// readNode reads what an object says of itself: the interfaces, without those that all have,
// and the names of its children. What cannot be read any further is left out.
func readNode(text string) (interfaces, children []string) {
	tokens, depth := xml.NewDecoder(strings.NewReader(text)), 0
	for range maxElements {
		token, err := tokens.Token()
		if err != nil {
			if !errors.Is(err, io.EOF) && depth == 0 {
				return nil, nil
			}
			break
		}
		switch t := token.(type) {
		case xml.StartElement:
			if depth++; depth != 2 {
				continue
			}
			switch name := attribute(t, "name"); {
			case t.Name.Local == "interface" && dbuswire.ValidInterface(name) && !tellsNothing(name):
				interfaces = append(interfaces, name)
			case t.Name.Local == "node" && name != "":
				children = append(children, name)
			}
		case xml.EndElement:
			depth--
		}
	}
	return interfaces, children
}

func attribute(e xml.StartElement, name string) string {
	for _, a := range e.Attr {
		if a.Name.Local == name {
			return a.Value
		}
	}
	return ""
}

// actions asks objects for the names of their actions, which reads and does nothing.
func (l *busLook) actions(ctx context.Context, owner string, things []thing, whole bool) ([]string, bool) {
	var all []string
	for _, t := range things[:min(len(things), maxListings)] {
		reply, err := l.ask(ctx, &dbuswire.Message{Destination: owner, Path: t.path, Interface: t.iface, Member: "List"})
		if late(err) {
			return all, false
		}
		if err != nil {
			continue
		}
		names, err := textList(reply)
		if err != nil {
			continue
		}
		for _, name := range names[:min(len(names), maxListed)] {
			if name = clean(name); name != "" {
				all = append(all, name)
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all), whole
}

// waysOf makes ways of what a program offers, one for each kind.
func (l *busLook) waysOf(names []string, offers map[int]*offer) []Way {
	var ways []Way
	for i, k := range kinds() {
		o := offers[i]
		if o == nil {
			continue
		}
		name := nameFor(k, names)
		w := l.way(k.name, name, Running)
		w.Gains, w.Get = k.gains(o.listed), l.get(name, o.things, k.call)
		for _, t := range o.things[:min(len(o.things), 3)] {
			w.Where = append(w.Where, clean(t.path+" "+t.iface))
		}
		ways = append(ways, w)
	}
	return ways
}

// nameFor is the name by which a program is told that has several.
func nameFor(k kind, names []string) string {
	for _, name := range names {
		if k.name != kindService && k.of(name) {
			return name
		}
	}
	i := slices.IndexFunc(names, func(name string) bool {
		return !named("org.mpris.MediaPlayer2", "org.kde.StatusNotifierItem", "org.freedesktop.impl")(name)
	})
	return names[max(i, 0)]
}

// get is how one gets a way to a service: by a descriptor that calls what is there.
func (l *busLook) get(service string, things []thing, call string) string {
	usable := slices.DeleteFunc(slices.Clone(things), func(t thing) bool { return l.never(service, t.iface) })
	if l.never(service, "") || len(usable) == 0 {
		return NeverCalled
	}
	i := slices.IndexFunc(usable, func(t thing) bool { return call != "" && strings.HasPrefix(call, t.iface+".") })
	if i < 0 {
		i, call = 0, usable[0].iface
	}
	return descriptorFor(l.option()+service, cmp.Or(call, usable[i].iface), usable[i].path)
}

func (l *busLook) never(service, iface string) bool {
	return l.cfg.Never != nil && l.cfg.Never(service, iface)
}

// refuses reports whether the person keeps the program from every tool, by one of its names on the
// bus or what that ends with.
func (r *Room) refuses(names []string) bool {
	if r.cfg.Refuses == nil {
		return false
	}
	all := slices.Clone(names)
	for _, name := range names {
		short := lasting(name)
		all = append(all, short, short[strings.LastIndex(short, ".")+1:])
	}
	return r.cfg.Refuses(all)
}

// startable is the way to a service that the bus would start.
func (l *busLook) startable(name string) Way {
	k := kinds()[kindOf(name)]
	if k.name != "mpris" && k.name != "portal" {
		k = kind{name: kindService, gains: says("what it offers it says once it runs; nothing was started to ask")}
	}
	w := l.way(k.name, name, Startable)
	w.Gains = k.gains(nil)
	w.Get = "Whether it has anything to call is known once it runs: aai-gateway generate --start " + l.option() + clean(lasting(name)) + " starts it, and makes tools of what it has."
	switch {
	case l.refuses([]string{name}):
		w.Get = Refused
	case l.never(name, "") || l.never(name, name):
		w.Get = NeverCalled
	case l.closed():
		l.close(&w)
	}
	return w
}
