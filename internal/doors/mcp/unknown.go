package mcp

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"

	"github.com/gybob/aai-gateway"
)

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
	if app := d.appOfTool(name); app != "" && !d.onlyDirect {
		e.Message += fmt.Sprintf("; it is a tool of the app %q: call %s with {\"app\": %q, \"tool\": %q, \"args\": {…}}", app, exec, app, name)
		return &e
	}
	if near := aai.Nearest(name, d.listedNames(), 3); len(near) > 0 {
		e.Message += "; the nearest names are " + strings.Join(near, ", ")
	} else {
		e.Message += "; tools/list has the names"
	}
	if !d.onlyDirect {
		e.Message += fmt.Sprintf(". Call the tools of apps with %s, as the app's guide shows", exec)
	}
	return &e
}

// appOfTool returns the id of the app that has a tool of that name: the desktop if it has
// one, else the only such app. It returns "" if there is none or more than one.
func (d *Door) appOfTool(name string) string {
	found := ""
	for _, app := range d.gateway.Catalog.Apps() {
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
	if !d.onlyDirect {
		names = append(names, d.toolName(execID))
	}
	if d.canSearch() {
		names = append(names, d.toolName(searchID))
	}
	d.sync.Lock()
	defer d.sync.Unlock()
	return slices.Sorted(slices.Values(slices.AppendSeq(slices.AppendSeq(names, maps.Keys(d.guides)), maps.Keys(d.listedTools))))
}
