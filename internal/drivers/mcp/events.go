package mcp

import (
	"context"
	"errors"
	"sync"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/events"
)

// The types of a server's events.
const (
	eventLog       = "log"
	eventTools     = "tools_changed"
	eventPrompts   = "prompts_changed"
	eventResources = "resources_changed"
	eventUpdated   = "resource_updated"
)

// logLevel is the least severe level of the log messages that a server is asked for.
const logLevel = "info"

// notices passes the notifications of a session to receivers. The zero notices has none. It is safe for concurrent use.
type notices struct {
	mu  sync.Mutex
	all map[*func(aai.Event)]struct{}
}

// add adds a receiver until remove.
func (n *notices) add(report func(aai.Event)) (remove func()) {
	n.mu.Lock()
	defer n.mu.Unlock()
	if n.all == nil {
		n.all = make(map[*func(aai.Event)]struct{})
	}
	n.all[&report] = struct{}{}
	return func() {
		n.mu.Lock()
		defer n.mu.Unlock()
		delete(n.all, &report)
	}
}

// report passes an event to the receivers, one event at a time.
func (n *notices) report(e aai.Event) {
	n.mu.Lock()
	defer n.mu.Unlock()
	for report := range n.all {
		(*report)(e)
	}
}

// dropped reports that notifications of a flood were dropped.
func (n *notices) dropped() {
	if n == nil {
		return
	}
	n.report(aai.Event{Type: events.Lost, Detail: "the server sends too many messages; some were dropped"})
}

// handleNotices sets the handlers of notifications.
func (s *server) handleNotices(options *sdk.ClientOptions, live *session) {
	options.ToolListChangedHandler = func(context.Context, *sdk.ToolListChangedRequest) {
		s.listingChanged(live)
		live.notices.report(aai.Event{Type: eventTools})
	}
	options.PromptListChangedHandler = func(context.Context, *sdk.PromptListChangedRequest) {
		live.notices.report(aai.Event{Type: eventPrompts})
	}
	options.ResourceListChangedHandler = func(context.Context, *sdk.ResourceListChangedRequest) {
		live.notices.report(aai.Event{Type: eventResources})
	}
	options.ResourceUpdatedHandler = func(_ context.Context, r *sdk.ResourceUpdatedNotificationRequest) {
		live.notices.report(aai.Event{Type: eventUpdated, Fields: live.secrets.RedactValue(map[string]any{"uri": r.Params.URI})})
	}
	options.LoggingMessageHandler = func(_ context.Context, r *sdk.LoggingMessageRequest) {
		fields := map[string]any{"level": string(r.Params.Level), "data": r.Params.Data}
		if r.Params.Logger != "" {
			fields["logger"] = r.Params.Logger
		}
		live.notices.report(aai.Event{Type: eventLog, Fields: live.secrets.RedactValue(fields)})
	}
}

// receive receives the server's notifications, as an [aai.EventSource]. The server runs as long as it is read. begin
// makes a new session send them.
func (s *server) receive(ctx context.Context, begin func(context.Context, *session) error, ready func(), report func(aai.Event)) error {
	live, failure := s.acquire(aai.NonInteractive(ctx))
	if failure != nil {
		return failure
	}
	defer s.release()
	defer live.notices.add(report)()
	if err := begin(ctx, live); err != nil {
		return err
	}
	ready()
	select {
	case <-ctx.Done():
		return nil
	case <-live.ended:
		return aai.Errorf(aai.AppNotRunning, "the MCP server of %s has ended", s.recipe.App)
	}
}

// beginLog makes the server send log messages if it has any.
func beginLog(ctx context.Context, live *session) error {
	if r := live.client.InitializeResult(); r != nil && r.Capabilities != nil && r.Capabilities.Logging != nil {
		ctx, cancel := context.WithTimeout(ctx, maxRelist)
		defer cancel()
		_ = live.client.SetLoggingLevel(ctx, &sdk.SetLoggingLevelParams{Level: logLevel}) // other events come all the same
	}
	return nil
}

// followResource receives the updates of a resource, as an [aai.EventSource].
func (s *server) followResource(ctx context.Context, uri string, ready func(), report func(aai.Event)) error {
	subscribe := func(ctx context.Context, live *session) error {
		if r := live.client.InitializeResult(); r == nil || r.Capabilities == nil || r.Capabilities.Resources == nil || !r.Capabilities.Resources.Subscribe {
			return errors.New("the server of " + s.recipe.App + " reports no changes of its resources; read them again when you need them")
		}
		begin, cancel := context.WithTimeout(ctx, maxRelist)
		defer cancel()
		if err := live.client.Subscribe(begin, &sdk.SubscribeParams{URI: uri}); err != nil {
			return live.requestError(ctx, err)
		}
		context.AfterFunc(ctx, func() {
			ctx, cancel := context.WithTimeout(context.WithoutCancel(ctx), maxRelist)
			defer cancel()
			_ = live.client.Unsubscribe(ctx, &sdk.UnsubscribeParams{URI: uri}) // an update without a subscriber is ignored
		})
		return nil
	}
	return s.receive(ctx, subscribe, ready, func(e aai.Event) {
		fields, _ := e.Fields.(map[string]any)
		if e.Type == events.Lost || e.Type == eventUpdated && fields["uri"] == uri {
			report(e)
		}
	})
}

// eventsTool returns the tool that reads the server's notifications. It takes no place in guides.
func (m *toolMaker) eventsTool() *aai.Tool {
	recipe, key := m.recipe, "mcp "+m.recipe.App+" "+recipeDigest(m.recipe)
	source := func(ctx context.Context, ready func(), report func(aai.Event)) error {
		return m.driver.serverOf(recipe).receive(ctx, beginLog, ready, report)
	}
	tool := m.builtinTool(aai.EventsTool, aai.Reads, "List the notifications of the server, numbered, since the first such call", noParams, nil)
	made := m.driver.config.Events.Tool(events.Feed{
		App: m.app.ID, Description: tool.Description, Key: func() string { return key }, From: "the MCP server of " + m.app.ID, Source: source,
		Types: []string{eventLog, eventTools, eventPrompts, eventResources, eventUpdated},
	})
	made.Assess, made.Limits.Unlisted = tool.Assess, true
	made.Implementation.Summary, made.Implementation.Digest = tool.Implementation.Summary, tool.Implementation.Digest
	return made
}

// watchResource implements the Watch of the tool that reads a resource.
func (m *toolMaker) watchResource(args map[string]any, changed func()) (stop func(), err error) {
	uri, _ := args["uri"].(string)
	source := func(ctx context.Context, ready func(), report func(aai.Event)) error {
		return m.driver.serverOf(m.recipe).followResource(ctx, uri, ready, report)
	}
	return m.driver.config.Events.Watch("mcp "+m.recipe.App+" "+recipeDigest(m.recipe)+" "+uri, source, changed)
}
