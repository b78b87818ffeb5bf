package discovery

import (
	"cmp"
	"context"
	"encoding/xml"
	"errors"
	"io"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway/internal/dbus/wire"
)

// Limits on the introspection of one program.
const (
	maxObjects       = 64
	maxDepth         = 8
	maxIntrospection = 512 << 10 // bytes, of one object
	maxElements      = 20_000    // of XML, of one object
	maxListings      = 8         // objects queried for their action names
)

const introspectable = wire.BusName + ".Introspectable"

// A busObject is an interface of an object of a program.
type busObject struct{ path, iface string }

// A capability holds the objects of one kind of integration that a program offers.
type capability struct {
	objects []busObject
	listed  []string // names that the objects list
}

// queryOwner introspects a program's objects and adds its integrations.
func (l *busScan) queryOwner(ctx context.Context, owner string, names []string) {
	defer func() {
		if e := recover(); e != nil {
			l.addNote("the gateway failed to introspect %s: %v", names[0], e)
		}
	}()
	if l.isDenied(names) {
		l.addUnqueried(names[0], "it was not asked", DeniedHowTo)
		return
	}
	if l.system && l.isNeverCalled(names[0], "") {
		l.addUnqueried(names[0], "it was not asked", NeverCalledHowTo)
		return
	}
	ctx, cancel := context.WithTimeout(ctx, l.ownerTimeout())
	defer cancel()
	things, whole := l.walk(ctx, owner, names)
	offers := make(map[int]*capability)
	for _, t := range things {
		i := kindOf(t.iface)
		if offers[i] == nil {
			offers[i] = &capability{}
		}
		offers[i].objects = append(offers[i].objects, t)
	}
	for _, o := range offers {
		o.listed = interfacesOf(o.objects)
	}
	if actions := offers[kindOf("org.gtk.Actions")]; actions != nil {
		actions.listed, whole = l.actions(ctx, owner, actions.objects, whole)
	}
	ways := l.integrationsOf(names, offers)
	l.mu.Lock()
	defer l.mu.Unlock()
	l.found.integrations = append(l.found.integrations, ways...)
	if !whole {
		l.found.silent = append(l.found.silent, cleanName(names[0]))
	}
}

// interfacesOf returns the names of interfaces, those of portals without their common prefix.
func interfacesOf(things []busObject) []string {
	var all []string
	for _, t := range things {
		all = append(all, cleanName(strings.TrimPrefix(t.iface, "org.freedesktop.portal.")))
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// walk finds the objects of a program, usual paths first. It stops at the first timeout; whole is
// then false.
func (l *busScan) walk(ctx context.Context, owner string, names []string) (found []busObject, whole bool) {
	queue, asked := usualPaths(names), make(map[string]bool)
	for len(queue) > 0 && len(asked) < maxObjects {
		path := queue[0]
		queue = queue[1:]
		if asked[path] {
			continue
		}
		asked[path] = true
		reply, err := l.call(ctx, &wire.Message{Destination: owner, Path: path, Interface: introspectable,
			Member: "Introspect"})
		if isTimeout(err) {
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
			found = append(found, busObject{path, iface})
		}
		if strings.Count(path, "/") < maxDepth {
			for _, child := range children {
				if below := strings.TrimSuffix(path, "/") + "/" + child; wire.ValidPath(below) && len(below) <= wire.MaxName {
					queue = append(queue, below)
				}
			}
		}
	}
	if len(queue) > 0 && len(asked) == maxObjects {
		l.addNote("%s has more objects than the %d that were looked at", names[0], maxObjects)
	}
	return found, true
}

// usualPaths returns the paths where programs with these names usually have objects.
func usualPaths(names []string) []string {
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
		if path := "/" + strings.ReplaceAll(strings.ReplaceAll(stableName(name), ".", "/"), "-", "_"); wire.ValidPath(path) {
			paths = append(paths, path)
		}
	}
	return append(paths, "/")
}

// readNode parses introspection data: the interfaces, without the standard ones, and the names of
// the children. It ignores the rest of invalid data.
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
			case t.Name.Local == "interface" && wire.ValidInterface(name) && !isToolkitInternal(name):
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

// actions reads the names of objects' actions. These calls have no effect.
func (l *busScan) actions(ctx context.Context, owner string, things []busObject, whole bool) ([]string, bool) {
	var all []string
	for _, t := range things[:min(len(things), maxListings)] {
		reply, err := l.call(ctx, &wire.Message{Destination: owner, Path: t.path, Interface: t.iface, Member: "List"})
		if isTimeout(err) {
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
			if name = cleanName(name); name != "" {
				all = append(all, name)
			}
		}
	}
	slices.Sort(all)
	return slices.Compact(all), whole
}

// integrationsOf returns one integration for each kind that a program offers.
func (l *busScan) integrationsOf(names []string, offers map[int]*capability) []Integration {
	var ways []Integration
	for i, k := range integrationKinds() {
		o := offers[i]
		if o == nil {
			continue
		}
		name := nameFor(k, names)
		w := l.newIntegration(k.name, name, StateRunning)
		w.Benefit, w.HowTo = k.benefit(o.listed), l.howTo(name, o.objects, k.call)
		for _, t := range o.objects[:min(len(o.objects), 3)] {
			w.Locations = append(w.Locations, cleanName(t.path+" "+t.iface))
		}
		ways = append(ways, w)
	}
	return ways
}

// nameFor selects one name of a program that has several.
func nameFor(k integrationKind, names []string) string {
	for _, name := range names {
		if k.name != kindService && k.matches(name) {
			return name
		}
	}
	i := slices.IndexFunc(names, func(name string) bool {
		return !namedInterfaces("org.mpris.MediaPlayer2", "org.kde.StatusNotifierItem", "org.freedesktop.impl")(name)
	})
	return names[max(i, 0)]
}

// howTo returns how to use a service: by a descriptor that calls its members.
func (l *busScan) howTo(service string, things []busObject, call string) string {
	usable := slices.DeleteFunc(slices.Clone(things), func(t busObject) bool { return l.isNeverCalled(service, t.iface) })
	if l.isNeverCalled(service, "") || len(usable) == 0 {
		return NeverCalledHowTo
	}
	i := slices.IndexFunc(usable, func(t busObject) bool { return call != "" && strings.HasPrefix(call, t.iface+".") })
	if i < 0 {
		i, call = 0, usable[0].iface
	}
	return descriptorFor(l.busFlag()+service, cmp.Or(call, usable[i].iface), usable[i].path)
}

func (l *busScan) isNeverCalled(service, iface string) bool {
	return l.cfg.NeverCalled != nil && l.cfg.NeverCalled(service, iface)
}

// isDenied reports whether the policy denies the program to all tools, by one of its bus names or
// the last part of one.
func (r *Scanner) isDenied(names []string) bool {
	if r.cfg.Denied == nil {
		return false
	}
	all := slices.Clone(names)
	for _, name := range names {
		short := stableName(name)
		all = append(all, short, short[strings.LastIndex(short, ".")+1:])
	}
	return r.cfg.Denied(all)
}

// startable returns the integration of a service that the bus can start.
func (l *busScan) startable(name string) Integration {
	k := integrationKinds()[kindOf(name)]
	if k.name != "mpris" && k.name != "portal" {
		k = integrationKind{name: kindService, benefit: constantBenefit("unknown until it runs; it was not started")}
	}
	w := l.newIntegration(k.name, name, StateStartable)
	w.Benefit = k.benefit(nil)
	w.HowTo = "Its methods are known once it runs: aai-gateway generate --start " + l.busFlag() +
		cleanName(stableName(name)) + " starts it, and makes tools of them."
	switch {
	case l.isDenied([]string{name}):
		w.HowTo = DeniedHowTo
	case l.isNeverCalled(name, "") || l.isNeverCalled(name, name):
		w.HowTo = NeverCalledHowTo
	case l.isNotAllowed():
		l.markNotAllowed(&w)
	}
	return w
}
