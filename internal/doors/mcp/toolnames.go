package mcp

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway"
)

// listedName converts any name of a tool to its listed name, and the arguments with it.
func (d *Door) listedName(name string, args json.RawMessage) (string, json.RawMessage) {
	for _, id := range []string{execID, discoverID, searchID} {
		if name == id || name == aai.WireName(id) {
			return d.toolName(id), args
		}
	}
	prefix, tool, found := strings.Cut(name, ":")
	if site, id, foreign := strings.Cut(name, "/"); foreign && prefix+":" != appPrefix {
		prefix, tool, found = strings.Cut(id, ":") // the host may have a port
		prefix = site + "/" + prefix
	}
	switch {
	case found && prefix+":" == appPrefix:
		return d.toolName(name), args
	case found && slices.Contains(d.direct, prefix):
		return tool, args
	case found && (strings.Contains(prefix, ".") || prefix == aai.DesktopApp):
		// An unlisted tool of an app: aai_exec can run it.
		if len(args) == 0 {
			args = json.RawMessage("{}")
		}
		wrapped, err := json.Marshal(execArgs{App: prefix, Tool: tool, Args: args})
		if err != nil {
			return name, args
		}
		return d.toolName(execID), wrapped
	case !found && d.canonical:
		return d.canonicalOf(name), args
	}
	return name, args
}

// cachedApp finds an app without a lookup on the network: looking up a site is part of a
// recorded call. It returns nil for an unknown app.
func (d *Door) cachedApp(name string) *aai.App {
	for _, app := range d.gateway.Catalog.Apps() {
		if app.HasName(name) {
			return app
		}
		site := strings.TrimRight(name, "/") + "/"
		if strings.Contains(app.ID, "/") && (strings.HasPrefix(app.Source, site) || strings.HasPrefix(app.Source, "https://"+site)) {
			return app
		}
	}
	return nil
}

// canonicalOf returns the canonical id of the listed app with this wire name, or wire if there is none.
func (d *Door) canonicalOf(wire string) string {
	d.sync.Lock()
	defer d.sync.Unlock()
	for _, l := range d.listed {
		if aai.WireName(l.tool) == wire {
			return l.tool
		}
	}
	return wire
}
