package mcp

import (
	"encoding/json"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

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
	case found && slices.Contains(d.cfg.DirectApps, prefix):
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
	case !found && d.cfg.UseCanonicalNames:
		return d.canonicalOf(name), args
	}
	return name, args
}

// cachedApp finds an app without a lookup on the network: looking up a site is part of a
// recorded call. It returns nil for an unknown app.
func (d *Door) cachedApp(name string) *aai.App {
	for _, app := range d.cfg.Gateway.Catalog.Apps() {
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
	d.lists.mu.Lock()
	defer d.lists.mu.Unlock()
	for _, l := range d.lists.apps {
		if aai.WireName(l.tool) == wire {
			return l.tool
		}
	}
	return wire
}

// maxName limits the name of an app or a tool, in bytes.
const maxName = 1 << 10

// tooLongName replaces a name that is too long; no tool has it.
const tooLongName = "a name of more than 1 KiB"

// unknownTool returns the error for a tool that is not listed, with the calls to make instead.
func (d *Door) unknownTool(sdks *jsonrpc.Error, name string) error {
	e := *sdks
	if name == "" {
		e.Message = "the tool's name is empty, or longer than 1 KiB; tools/list has the names"
		return &e
	}
	said := aai.CleanLabel(name, 100)
	e.Message = fmt.Sprintf("unknown tool %q", said)
	exec := d.toolName(execID)
	if app := d.appOfTool(name); app != "" && !d.cfg.OnlyDirect {
		e.Message += fmt.Sprintf("; it is a tool of the app %q: call %s with {\"app\": %q, \"tool\": %q, \"args\": {…}}", app, exec, app, name)
		return &e
	}
	if near := aai.Nearest(name, d.listedNames(), 3); len(near) > 0 {
		e.Message += "; the nearest names are " + strings.Join(near, ", ")
	} else {
		e.Message += "; tools/list has the names"
	}
	if !d.cfg.OnlyDirect {
		e.Message += fmt.Sprintf(". Call the tools of apps with %s, as the app's guide shows", exec)
	}
	return &e
}

// appOfTool returns the id of the app that has a tool of that name: the desktop if it has
// one, else the only such app. It returns "" if there is none or more than one.
func (d *Door) appOfTool(name string) string {
	found := ""
	for _, app := range d.cfg.Gateway.Catalog.Apps() {
		switch {
		case app.ID == aai.BuiltinApp || !app.IsRunnable() || app.Tool(name) == nil:
		case app.ID == aai.DesktopApp:
			return app.ID
		case found != "":
			return ""
		default:
			found = app.ID
		}
	}
	return found
}

// listedNames returns the names of the listed tools.
func (d *Door) listedNames() []string {
	var names []string
	if !d.cfg.OnlyDirect {
		names = append(names, d.toolName(execID))
	}
	if d.canSearch() {
		names = append(names, d.toolName(searchID))
	}
	d.lists.mu.Lock()
	defer d.lists.mu.Unlock()
	return slices.Sorted(slices.Values(slices.AppendSeq(slices.AppendSeq(names, maps.Keys(d.lists.guides)), maps.Keys(d.lists.tools))))
}
