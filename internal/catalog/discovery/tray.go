package discovery

import (
	"context"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway/internal/dbus/wire"
)

// Names of the tray's watcher and items.
const (
	watcher     = "org.kde.StatusNotifierWatcher"
	watcherPath = "/StatusNotifierWatcher"
	trayItem    = "org.kde.StatusNotifierItem"
	maxIcons    = 100
)

// icons adds tray icons of programs without a bus name, which only the tray's watcher lists. Each
// is named by its Id property.
func (l *busScan) icons(ctx context.Context, running []string) {
	if !slices.Contains(running, watcher) {
		return
	}
	reply, err := l.property(ctx, watcher, watcherPath, watcher, "RegisteredStatusNotifierItems")
	if err != nil {
		return // timeouts were reported before
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
		if !strings.HasPrefix(owner, ":") || !wire.ValidBusName(owner) || !wire.ValidPath(path) {
			continue // items with a bus name are found by it
		}
		reply, err := l.property(ctx, owner, path, trayItem, "Id")
		if isTimeout(err) {
			l.found.silent = append(l.found.silent, cleanName("the tray's icon of "+owner))
			return // further calls could time out too
		}
		if err != nil {
			continue
		}
		id, err := variantTexts(reply)
		if err != nil || len(id) != 1 || cleanName(id[0]) == "" {
			continue
		}
		k := integrationKinds()[kindOf(trayItem)]
		l.found.integrations = append(l.found.integrations, Integration{
			ID: k.name + " " + cleanName(id[0]), Kind: k.name, App: cleanName(id[0]), State: StateRunning,
			Benefit:   k.benefit([]string{trayItem}),
			HowTo:     "It has no name on the bus that a descriptor could call: use its windows (the app desktop).",
			Locations: []string{cleanName(owner + " " + path + " " + trayItem)},
		})
	}
}

// property requests a D-Bus property of an object.
func (l *busScan) property(ctx context.Context, destination, path, iface, name string) (*wire.Message, error) {
	e := wire.Encoder{}
	e.Str(iface)
	e.Str(name)
	return l.call(ctx, &wire.Message{
		Destination: destination, Path: path, Interface: wire.BusName + ".Properties", Member: "Get",
		Signature: "ss", Body: e.Bytes(),
	})
}

// variantTexts decodes a variant of a string or of a list of strings.
func variantTexts(m *wire.Message) (all []string, err error) {
	if m.Signature != "v" {
		return nil, errErrorReply
	}
	d := m.Decoder()
	switch d.Variant() {
	case "s":
		all = append(all, d.Str())
	case "as":
		d.Array(4, func() { all = append(all, d.Str()) })
	default:
		return nil, errErrorReply
	}
	return all, d.Err()
}
