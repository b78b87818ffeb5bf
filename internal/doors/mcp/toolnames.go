package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gybob/aai-gateway"
)

// canonicalNames accepts every name of a tool: as listed, the canonical id
// ("app:org.gnome.Calculator", "aai:exec"), the wire name where canonical ids are listed,
// and "<app id>:<tool>" for unlisted tools.
func (d *Door) canonicalNames(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		if call, ok := req.(*mcp.CallToolRequest); ok && call.Params != nil {
			params := *call.Params
			params.Name, params.Arguments = d.listedName(params.Name, params.Arguments)
			if app, ok := d.guideOf(params.Name); ok {
				ctx = context.WithValue(ctx, guideKey{}, app)
				params.Name = guideHandlerName
			}
			renamed := *call
			renamed.Params = &params
			return d.recordUnlistedCall(ctx, &renamed, next)
		}
		return next(ctx, method, req)
	}
}

// recordUnlistedCall also records the call of a tool that is not listed. The SDK answers it
// with a protocol error, as MCP requires; every other failure of a call is a result.
func (d *Door) recordUnlistedCall(ctx context.Context, req *mcp.CallToolRequest, next mcp.MethodHandler) (mcp.Result, error) {
	name := req.Params.Name
	if len(name) > maxName {
		name = ""
		req.Params.Name = tooLongName // the SDK repeats it in its error
	}
	result, err := next(ctx, "tools/call", req)
	if err == nil {
		return result, nil
	}
	_, _ = d.gateway.Do(ctx, &aai.Call{ // Do refuses it; the call only serves the record
		Caller: d.caller(ctx, req.Session, clientOf(req)), Tool: name,
		RequestError: aai.Errorf(aai.ToolNotFound, "no tool of that name is listed"),
	})
	if coded, ok := errors.AsType[*jsonrpc.Error](err); ok && strings.HasPrefix(coded.Message, "unknown tool ") {
		return nil, d.unknownTool(coded, name)
	}
	return nil, err
}

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
