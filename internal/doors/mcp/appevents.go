package mcp

import (
	"context"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/sanitize"
)

// The resources with the events of apps.
const (
	eventsSuffix   = "/events"
	eventsTemplate = appPrefix + "{+id}" + eventsSuffix
)

const (
	eventsLimit   = 1_000                  // events of one reading
	eventsFold    = 100 * time.Millisecond // see Resource.Debounce
	eventsTimeout = 10 * time.Second       // for finding an app
)

func hasEvents(app *aai.App) bool {
	tool := app.Tool(aai.EventsTool)
	return tool != nil && tool.Run != nil && tool.Implementation.Watch != nil
}

// eventsResource returns the resource with the events of an app.
func (d *Door) eventsResource() Resource {
	return Resource{
		URI: eventsTemplate, Name: "events", Title: "Events of an app", MIME: "application/json",
		Description: "What an app reports, numbered, since the first reading. Subscribe for new events.", AudienceModel: true,
		Call: func(values map[string]string) *aai.Call {
			call := &aai.Call{App: values["id"], Tool: aai.EventsTool, Args: map[string]any{"limit": eventsLimit}}
			if app := d.cachedApp(values["id"]); app != nil && !hasEvents(app) {
				call.RequestError = aai.Errorf(aai.AppNotFound, "%s reports no events", app.ID)
			}
			return call
		},
		Watch: d.watchEvents, Debounce: eventsFold, IsEachChangeNews: true, IsPersonal: true, CompleteVariable: d.completeApp(hasEvents),
	}
}

// The resources of apps that are MCP servers.
const (
	resourceTool     = "resource_read"
	resourceTemplate = appPrefix + "{+id}/resource/{uri}"
)

// serverResource returns the resource that passes a resource of an MCP server on.
func (d *Door) serverResource() Resource {
	args := func(values map[string]string) map[string]any { return map[string]any{"uri": values["uri"]} }
	return Resource{
		URI: resourceTemplate, Name: "server-resource", Title: "Resource of an MCP server", MIME: "text/plain",
		Description: "A resource of an app that is an MCP server, by its URI, percent-encoded. Subscribe for its updates.", AudienceModel: true,
		Call: func(values map[string]string) *aai.Call {
			return &aai.Call{App: values["id"], Tool: resourceTool, Args: args(values)}
		},
		Watch: func(values map[string]string, changed func()) (func(), error) {
			tool, err := d.watchedTool(values["id"], resourceTool)
			if err != nil {
				return nil, err
			}
			return tool.Implementation.Watch(args(values), changed)
		},
		Debounce: eventsFold, IsEachChangeNews: true, IsPersonal: true, CompleteVariable: func(variable string, _ map[string]string) []string {
			if variable != "id" {
				return nil
			}
			return d.completeApp(func(app *aai.App) bool { return app.Tool(resourceTool) != nil })(variable, nil)
		},
	}
}

// eventsListing lists the events of an app.
func eventsListing(app *aai.App) *mcp.Resource {
	return &mcp.Resource{
		URI: appPrefix + app.ID + eventsSuffix, Name: displayName(app) + " events", MIMEType: "application/json",
		Description: sanitize.NeutralizeMarkup(app.Tool(aai.EventsTool).Description, maxSummary),
		Annotations: &mcp.Annotations{Audience: []mcp.Role{"assistant"}},
	}
}

// watchedTool returns a tool of an app that reports changes.
func (d *Door) watchedTool(id, name string) (*aai.Tool, error) {
	ctx, cancel := context.WithTimeout(context.Background(), eventsTimeout)
	defer cancel()
	app, err := d.cfg.Gateway.Catalog.Find(ctx, id)
	if err != nil {
		return nil, err
	}
	tool := app.Tool(name)
	if tool == nil || tool.Run == nil || tool.Implementation.Watch == nil {
		return nil, aai.Errorf(aai.AppNotFound, "%s reports no changes", app.ID)
	}
	return tool, nil
}

// watchEvents calls changed after each event of an app until stop, also after its descriptor has changed.
func (d *Door) watchEvents(values map[string]string, changed func()) (stop func(), err error) {
	tool, err := d.watchedTool(values["id"], aai.EventsTool)
	if err != nil {
		return nil, err
	}
	ctx, cancel := context.WithCancel(context.Background())
	news := make(chan struct{}, 1)
	stopCatalog := d.cfg.Gateway.Catalog.OnChange(func() {
		select {
		case news <- struct{}{}:
		default:
		}
	})
	stopTool, err := tool.Implementation.Watch(nil, changed)
	if err != nil {
		cancel()
		stopCatalog()
		return nil, err
	}
	digest := tool.Implementation.Digest()
	go func() {
		defer func() { stopTool() }()
		for {
			select {
			case <-ctx.Done():
				return
			case <-news:
			}
			now, err := d.watchedTool(values["id"], aai.EventsTool)
			if err != nil || now.Implementation.Digest() == digest {
				continue
			}
			if stopNow, err := now.Implementation.Watch(nil, changed); err == nil {
				stopTool()
				stopTool, digest = stopNow, now.Implementation.Digest()
				changed()
			}
		}
	}()
	return func() {
		cancel()
		stopCatalog()
	}, nil
}
