package mcp

import (
	"context"
	"net/url"
	"path/filepath"
	"runtime"
	"slices"
	"strings"
	"sync/atomic"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gybob/aai-gateway"
)

// withAssistant adds the client's capabilities to the context of a tool. Clients of
// stateless versions, in which servers send no requests, can only answer questions, list
// their roots and ask their model, in further rounds.
func (d *Door) withAssistant(ctx context.Context, req *mcp.CallToolRequest, call *aai.Call) (context.Context, *asking) {
	session := req.Session
	a := aai.ClientCapabilities{
		CanAsk: capabilitiesOf(req).forms, Subscriptions: func() int { return d.subscriptions.count(session) },
	}
	if d.cfg.ProjectFolder != "" && !capabilitiesOf(req).roots {
		a.Roots = func(context.Context) ([]aai.Root, error) { return d.rootsOr(nil), nil }
	}
	init := session.InitializeParams()
	if isModern(req) {
		return d.withRoundsAssistant(ctx, a, req, call)
	}
	if a.CanAsk {
		a.Elicit = func(ctx context.Context, form aai.Form) (*aai.FormAnswer, error) { return elicit(ctx, session, form) }
	}
	if init.Capabilities == nil {
		return aai.WithClientCapabilities(ctx, a), &asking{}
	}
	if can := init.Capabilities.Sampling; can != nil {
		a.SampleTools = can.Tools != nil
		a.Sample = func(ctx context.Context, ask aai.SamplingRequest) (*aai.SamplingResult, error) {
			return sample(ctx, session, ask, a.SampleTools)
		}
	}
	if init.Capabilities.RootsV2 != nil {
		a.Roots = func(ctx context.Context) ([]aai.Root, error) { return d.roots(ctx, session) }
	}
	return aai.WithClientCapabilities(ctx, a), &asking{}
}

// elicit asks the client to show the person a form.
func elicit(ctx context.Context, session *mcp.ServerSession, form aai.Form) (*aai.FormAnswer, error) {
	ctx, cancel := context.WithTimeout(ctx, askTimeout)
	defer cancel()
	result, err := session.Elicit(ctx, &mcp.ElicitParams{Mode: "form", Message: form.Message, RequestedSchema: form.Fields})
	if err != nil {
		e := aai.Errorf(aai.AutomationFailed, "the client did not show the form to the person: %w", err)
		if ctx.Err() != nil {
			e.Code = aai.AsError(ctx.Err()).Code
		}
		return nil, e
	}
	return &aai.FormAnswer{Action: result.Action, Values: result.Content}, nil
}

// maxRoots limits the roots of a client that are used.
const maxRoots = 100

// roots returns the client's roots. They are requested once, and again after the client
// reports a change.
func (d *Door) roots(ctx context.Context, session *mcp.ServerSession) ([]aai.Root, error) {
	g := d.clientStateOf(session)
	g.mu.Lock()
	known, version := g.roots, g.rootsVersion
	g.mu.Unlock()
	if known != nil {
		return slices.Clone(known), nil
	}
	listed, err := session.ListRoots(ctx, nil)
	if err != nil {
		e := aai.Errorf(aai.AutomationFailed, "the client did not return its list of roots: %w", err)
		e.Delivery = aai.NotDelivered
		return nil, e
	}
	roots := d.rootsOr(localRoots(listed))
	g.mu.Lock()
	if g.rootsVersion == version { // else they have changed meanwhile
		g.roots = roots
	}
	g.mu.Unlock()
	return slices.Clone(roots), nil
}

// rootsOr returns the roots of the client, or the configured one if there is none.
func (d *Door) rootsOr(roots []aai.Root) []aai.Root {
	if len(roots) == 0 && d.cfg.ProjectFolder != "" {
		return []aai.Root{{Path: d.cfg.ProjectFolder, Name: filepath.Base(d.cfg.ProjectFolder)}}
	}
	return roots
}

// localRoots returns the client's roots that are on this computer.
func localRoots(listed *mcp.ListRootsResult) []aai.Root {
	roots := []aai.Root{}
	for _, r := range listed.Roots[:min(len(listed.Roots), maxRoots)] {
		if r == nil {
			continue
		}
		if path, ok := localPath(r.URI, runtime.GOOS); ok {
			roots = append(roots, aai.Root{Path: path, Name: aai.CleanLabel(r.Name, 100)})
		}
	}
	return roots
}

// localPath returns the folder of a file URI, and false for a URI of another kind or computer. On
// Windows the path of "file:///C:/work" begins with a drive, and not with a slash.
func localPath(uri, system string) (string, bool) {
	u, err := url.Parse(uri)
	if err != nil || u.Scheme != "file" || u.Host != "" && u.Host != "localhost" {
		return "", false
	}
	path := u.Path
	if system == "windows" {
		path = strings.TrimPrefix(path, "/")
	}
	path = filepath.Clean(filepath.FromSlash(path))
	return path, u.Path != "" && filepath.IsAbs(path)
}

func (d *Door) rootsChanged(_ context.Context, req *mcp.RootsListChangedRequest) {
	if g := d.existingClientState(req.Session); g != nil {
		g.mu.Lock()
		defer g.mu.Unlock()
		g.roots = nil
		g.rootsVersion++
	}
}

// asking records the requests that a call has for a client of a stateless version, in which
// servers send no requests. The call ends with the request, and the client repeats it with
// the answer.
type asking struct {
	roots  atomic.Bool
	sample atomic.Pointer[mcp.InputRequestMap]
}

// required returns the result that asks the client, or nil if the call asks nothing.
func (a *asking) required() *mcp.CallToolResult {
	requests := mcp.InputRequestMap{rootsRequest: &mcp.ListRootsParams{}}
	if !a.roots.Load() {
		ask := a.sample.Load()
		if ask == nil {
			return nil
		}
		requests = *ask
	}
	return &mcp.CallToolResult{Content: []mcp.Content{}, InputRequests: requests}
}

// withRoundsAssistant gives the gateway's own tools access to the client's roots, and some of the desktop's to its model.
// Those tools only read, so running them twice is harmless. The gateway's own need no consent, which another round would
// lose. Other tools are not run twice, so they get no roots.
func (d *Door) withRoundsAssistant(ctx context.Context, a aai.ClientCapabilities, req *mcp.CallToolRequest, call *aai.Call) (context.Context, *asking) {
	needs := &asking{}
	a.Sample = sampleInRounds(req, call, needs)
	if call.App != aai.BuiltinApp || !capabilitiesOf(req).roots {
		return aai.WithClientCapabilities(ctx, a), needs
	}
	answer, answered := req.Params.InputResponses[rootsRequest]
	a.Roots = func(context.Context) ([]aai.Root, error) {
		if listed, ok := answer.(*mcp.ListRootsResult); ok && listed != nil {
			return d.rootsOr(localRoots(listed)), nil
		}
		e := aai.Errorf(aai.AutomationFailed, "the client did not return its list of roots")
		e.Delivery = aai.NotDelivered
		if !answered {
			e.Message = "the client is asked for its roots; it repeats the call with the answer"
			needs.roots.Store(true)
		}
		return nil, e
	}
	return aai.WithClientCapabilities(ctx, a), needs
}
