package mcp

import (
	"context"
	"encoding/json"
	"slices"
	"sync"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/gateway"
)

// listAppsTool lists the running programs.
const listAppsTool = "ax_list_apps"

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
	return &gateway.Gateway{Catalog: d.gateway.Catalog, Gates: d.gateway.Gates, Journal: d.gateway.Journal}
}

// programNames returns the running programs that the caller may see without a question, and
// the listed apps.
func (d *Door) programNames(ctx context.Context, req *mcp.CompleteRequest) []string {
	names := d.runningPrograms(ctx, d.caller(ctx, req.Session, req.ClientInfo()))
	for _, app := range d.gateway.Catalog.Apps() {
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
	names := []string{}
	result, err := d.nonInteractive().Do(ctx, &aai.Call{Caller: caller, App: aai.DesktopApp, Tool: listAppsTool})
	if err == nil {
		names = namesIn(result.Data)
	}
	d.programs.mu.Lock()
	defer d.programs.mu.Unlock()
	if d.programs.of == nil || len(d.programs.of) >= maxProgramLists {
		d.programs.of = make(map[string]programNames) // another call is cheap
	}
	d.programs.of[key] = programNames{time.Now(), names}
	return slices.Clone(names)
}

// namesIn returns the names in the result of ax_list_apps.
func namesIn(data any) []string {
	var listed struct{ Apps []struct{ Name string } }
	b, err := json.Marshal(data)
	if err != nil || json.Unmarshal(b, &listed) != nil {
		return []string{}
	}
	names := []string{}
	for _, app := range listed.Apps {
		if name := aai.CleanLabel(app.Name, 60); name != "" && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	return names
}
