package mcp

import (
	"context"
	"encoding/json"
	"fmt"
	"slices"
	"strconv"
	"strings"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/gateway"
)

// maxCompletions limits the values of a completion (the protocol's limit).
const maxCompletions = 100

// complete suggests values for an argument of a prompt or a variable of a resource
// template.
func (d *Door) complete(ctx context.Context, req *mcp.CompleteRequest) (*mcp.CompleteResult, error) {
	ref, asked := req.Params.Ref, req.Params.Argument
	var values []string
	switch ref.Type {
	case "ref/prompt":
		i := slices.IndexFunc(guidedPrompts(), func(p guidedPrompt) bool { return p.name == ref.Name && d.listsPrompt(p.name) })
		if i < 0 {
			return nil, invalid("ref: there is no prompt %q", aai.CleanLabel(ref.Name, 60))
		}
		p := guidedPrompts()[i]
		a, known := p.argument(asked.Name)
		if !known {
			return nil, invalid("argument: the prompt %s has no %q, but %s", p.name, aai.CleanLabel(asked.Name, 60), p.argumentNames())
		}
		values = d.completeArgument(ctx, req, p, a)
	case "ref/resource":
		if ref.URI == outputTemplate && asked.Name == "id" {
			values = bestCompletions(asked.Value, d.outputs.ids(d.caller(ctx, req.Session, req.ClientInfo()).Conversation()))
			break
		}
		if values = d.completeDesktop(ctx, req); values != nil {
			break
		}
		complete, err := d.completerOf(ref.URI, asked.Name)
		if err != nil {
			return nil, err
		}
		if complete != nil {
			values = bestCompletions(asked.Value, complete(otherArguments(req)))
		}
	default:
		return nil, invalid("ref: expected one of the type ref/prompt or ref/resource")
	}
	details := mcp.CompletionResultDetails{Total: len(values), Values: values[:min(len(values), maxCompletions)]}
	details.HasMore = len(values) > maxCompletions
	if details.Values == nil {
		details.Values = []string{}
	}
	return &mcp.CompleteResult{Completion: details}, nil
}

func invalid(format string, args ...any) error {
	return &jsonrpc.Error{Code: jsonrpc.CodeInvalidParams, Message: fmt.Sprintf(format, args...)}
}

func (d *Door) listsPrompt(name string) bool {
	d.lists.mu.Lock()
	defer d.lists.mu.Unlock()
	return d.lists.prompts[name]
}

// completeArgument suggests values for an argument of a prompt, given the other arguments.
func (d *Door) completeArgument(ctx context.Context, req *mcp.CompleteRequest, p guidedPrompt, a argument) []string {
	value := req.Params.Argument.Value
	switch a.kind {
	case choice:
		return bestCompletions(value, a.choices)
	case area:
		state := d.programState(ctx, d.caller(ctx, req.Session, req.ClientInfo()), otherArguments(req)["app_name"])
		if len(state.Areas) > 0 {
			return bestCompletions(value, state.Areas)
		}
		return bestCompletions(value, areaSuggestions())
	case program:
		return bestCompletions(value, without(d.programNames(ctx, req), p.otherPrograms(a, req)))
	case programs:
		before, last := "", value
		if i := strings.LastIndex(value, ","); i >= 0 {
			before, last = value[:i+1], value[i+1:]
		}
		names := bestCompletions(strings.TrimSpace(last), without(d.programNames(ctx, req), strings.Split(before, ",")))
		for i := range names {
			names[i] = strings.TrimLeft(before+" ", " ") + names[i]
		}
		return names
	case free:
	}
	return nil
}

// areaSuggestions are parts that many windows have.
func areaSuggestions() []string {
	return []string{"toolbar", "menu bar", "sidebar", "tab bar", "main content", "status bar", "dialogs", "settings", "search"}
}

// otherPrograms returns the programs that other arguments of the prompt name.
func (p guidedPrompt) otherPrograms(than argument, req *mcp.CompleteRequest) []string {
	var names []string
	said := otherArguments(req)
	for _, a := range p.arguments {
		if a.kind == program && a.name != than.name {
			names = append(names, said[a.name])
		}
	}
	return names
}

// without removes names from all, ignoring case and surrounding space.
func without(all, names []string) []string {
	return slices.DeleteFunc(all, func(name string) bool {
		return slices.ContainsFunc(names, func(other string) bool { return strings.EqualFold(strings.TrimSpace(other), name) })
	})
}

// otherArguments returns the values that the client has for the other arguments of the prompt or
// template.
func otherArguments(req *mcp.CompleteRequest) map[string]string {
	if req.Params.Context == nil {
		return nil
	}
	return req.Params.Context.Arguments
}

// bestCompletions returns the names that complete the typed text: first names that begin with it, then
// names that contain it. If there are none, it returns similar names. An empty text matches all.
func bestCompletions(typed string, names []string) []string {
	lower := strings.ToLower(aai.CleanLabel(typed, 200))
	var begin, hold, rest []string
	for _, name := range names {
		switch at := strings.Index(strings.ToLower(name), lower); {
		case at == 0:
			begin = append(begin, name)
		case at > 0:
			hold = append(hold, name)
		default:
			rest = append(rest, name)
		}
	}
	if len(begin)+len(hold) == 0 {
		return aai.Nearest(lower, rest, 5)
	}
	return append(begin, hold...)
}

// The tools that list the running programs, and the windows of one.
const (
	listAppsTool    = "ax_list_apps"
	listWindowsTool = "ax_list_windows"
)

// Limits of the cached program names. Completions need a cache: they come with every key
// that the person presses.
const (
	programsTTL     = 10 * time.Second
	maxProgramLists = 200 // conversations
)

// programCache holds the names of running programs for a short time. It is safe for concurrent use.
type programCache struct {
	mu sync.Mutex
	of map[string]programNames // by conversation: not every caller may see them
}

type programNames struct {
	at    time.Time
	names []string
}

// nonInteractive returns the gateway for calls without a waiting caller, such as
// completions: it refuses calls that need a question.
func (d *Door) nonInteractive() *gateway.Gateway {
	return &gateway.Gateway{Catalog: d.cfg.Gateway.Catalog, Gates: d.cfg.Gateway.Gates, Journal: d.cfg.Gateway.Journal}
}

// readDesktop reads the data of a desktop tool into the struct, as far as the caller may have it without a question. A
// failure leaves the struct as it is.
func (d *Door) readDesktop(ctx context.Context, caller aai.Caller, tool string, args map[string]any, into any) {
	result, err := d.nonInteractive().Do(ctx, &aai.Call{Caller: caller, App: aai.DesktopApp, Tool: tool, Args: args})
	if err != nil {
		return
	}
	data, err := json.Marshal(result.Data)
	if err == nil {
		err = json.Unmarshal(data, into)
	}
	if err != nil {
		d.cfg.Log.Info("a result of the desktop is not as expected", "tool", tool, "cause", err)
	}
}

// programNames returns the running programs that the caller may see without a question, and
// the listed apps.
func (d *Door) programNames(ctx context.Context, req *mcp.CompleteRequest) []string {
	names := d.runningPrograms(ctx, d.caller(ctx, req.Session, req.ClientInfo()))
	for _, app := range d.cfg.Gateway.Catalog.Apps() {
		name := displayName(app)
		if app.ID != aai.BuiltinApp && app.ID != aai.DesktopApp && app.IsRunnable() && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}

func (d *Door) runningPrograms(ctx context.Context, caller aai.Caller) []string {
	key := caller.Conversation()
	d.programs.mu.Lock()
	known, ok := d.programs.of[key]
	d.programs.mu.Unlock()
	if ok && time.Since(known.at) < programsTTL {
		return slices.Clone(known.names)
	}
	var listed struct{ Apps []struct{ Name string } }
	d.readDesktop(ctx, caller, listAppsTool, nil, &listed)
	names := []string{}
	for _, app := range listed.Apps {
		if name := aai.CleanLabel(app.Name, 60); name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	d.programs.mu.Lock()
	defer d.programs.mu.Unlock()
	if d.programs.of == nil || len(d.programs.of) >= maxProgramLists {
		d.programs.of = make(map[string]programNames) // another call is cheap
	}
	d.programs.of[key] = programNames{time.Now(), names}
	return slices.Clone(names)
}

// completeDesktop suggests the running programs and their windows for a variable of a personal resource, as far as the
// caller may see them without a question; nil for any other resource.
func (d *Door) completeDesktop(ctx context.Context, req *mcp.CompleteRequest) []string {
	i := slices.IndexFunc(d.resources, func(o *listedResource) bool {
		return o.URI == req.Params.Ref.URI && o.IsPersonal && o.CompleteVariable == nil
	})
	if i < 0 || !slices.Contains(d.resources[i].template.names, req.Params.Argument.Name) {
		return nil
	}
	caller, typed := d.caller(ctx, req.Session, req.ClientInfo()), req.Params.Argument.Value
	if req.Params.Argument.Name == "name" {
		return append([]string{}, bestCompletions(typed, d.runningPrograms(ctx, caller))...)
	}
	var listed struct{ Windows []any }
	d.readDesktop(ctx, caller, listWindowsTool, map[string]any{"app": otherArguments(req)["name"]}, &listed)
	indexes := []string{}
	for n := range listed.Windows {
		indexes = append(indexes, strconv.Itoa(n))
	}
	return append([]string{}, bestCompletions(typed, indexes)...)
}
