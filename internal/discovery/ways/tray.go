package ways

import (
	"context"
	"slices"
	"strings"

	"aai/internal/dbuswire"
)

// The service that knows the icons of the tray, and what icons are.
const (
	watcher     = "org.kde.StatusNotifierWatcher"
	watcherPath = "/StatusNotifierWatcher"
	trayItem    = "org.kde.StatusNotifierItem"
	maxIcons    = 100
)

// icons are the ways to icons of the tray whose programs have no name on the bus: only the
// tray's own watcher knows them. Each is told by the Id that it gives itself.
func (l *busLook) icons(ctx context.Context, running []string) {
	if !slices.Contains(running, watcher) {
		return
	}
	reply, err := l.property(ctx, watcher, watcherPath, watcher, "RegisteredStatusNotifierItems")
	if err != nil {
		return // who is silent was named already
	}
	items, err := variantTexts(reply)
	if err != nil {
		return
	}
	for _, item := range items[:min(len(items), maxIcons)] {
		owner, path, _ := strings.Cut(item, "/")
		if path = "/" + path; path == "/" {
			path = "/StatusNotifierItem"
		}
		if !strings.HasPrefix(owner, ":") || !dbuswire.ValidBusName(owner) || !dbuswire.ValidPath(path) {
			continue // one with a name was asked by it
		}
		reply, err := l.property(ctx, owner, path, trayItem, "Id")
		if late(err) {
			l.found.silent = append(l.found.silent, clean("the tray's icon of "+owner))
			return // the others would have to be waited for
		}
		if err != nil {
			continue
		}
		id, err := variantTexts(reply)
		if err != nil || len(id) != 1 || clean(id[0]) == "" {
			continue
		}
		k := kinds()[kindOf(trayItem)]
		l.found.ways = append(l.found.ways, Way{
			ID: k.name + " " + clean(id[0]), Kind: k.name, App: clean(id[0]), State: Running, Gains: k.gains([]string{trayItem}),
			Get:   "It has no name on the bus that a descriptor could call: use its windows (the app desktop).",
			Where: []string{clean(owner + " " + path + " " + trayItem)},
		})
	}
}

// property asks for the value of a property.
func (l *busLook) property(ctx context.Context, destination, path, iface, name string) (*dbuswire.Message, error) {
	e := dbuswire.Encoder{}
	e.Str(iface)
	e.Str(name)
	return l.ask(ctx, &dbuswire.Message{
		Destination: destination, Path: path, Interface: dbuswire.BusName + ".Properties", Member: "Get", Signature: "ss", Body: e.Bytes(),
	})
}

// variantTexts reads a variant of a text or of a list of texts.
func variantTexts(m *dbuswire.Message) (all []string, err error) {
	if m.Signature != "v" {
		return nil, errRefused
	}
	d := m.Decoder()
	switch d.Variant() {
	case "s":
		all = append(all, d.Str())
	case "as":
		d.Array(4, func() { all = append(all, d.Str()) })
	default:
		return nil, errRefused
	}
	return all, d.Err()
}
