package catalog

import (
	"context"
	"net/http"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/events"
)

const notesWithEvents = `{"schema_version": "1.0", "appId": "org.example.Notes", "name": "Notes", "description": "Notes.", "version": "1.0.0",
  "platforms": {"linux": {"automation": "dbus", "service": "org.example.Notes", "object": "/org/example/Notes", "interface": "org.example.Notes",
    "tools": [{"name": "add", "description": "Add a note", "method": "Add", "parameters": {"type": "object"}}],
    "events": [
      {"name": "added", "description": "A note was added", "signal": "Added", "fields": ["id", "title"]},
      {"name": "synced", "description": "All is saved", "signal": "Synced", "object": "/org/example/Sync", "interface": "org.example.Sync"}
    ]}}}`

// eventDriver keeps the recipes of events.
type eventDriver struct{ recipes []*aai.Recipe }

func (d *eventDriver) Compile(*aai.Recipe) (aai.Action, error) {
	return func(context.Context, *aai.Call) (*aai.Result, error) { return &aai.Result{}, nil }, nil
}

func (d *eventDriver) CompileEvents(recipes []*aai.Recipe) (aai.EventSource, error) {
	d.recipes = recipes
	return func(ctx context.Context, ready func(), report func(aai.Event)) error {
		ready()
		report(aai.Event{Type: "added", Fields: map[string]any{"id": 1}})
		<-ctx.Done()
		return nil
	}, nil
}

func TestEventsAreATool(t *testing.T) {
	driver := &eventDriver{}
	o := Options{HostPlatform: "linux", Drivers: map[string]aai.Driver{"dbus": driver}, Events: new(events.Recorders)}
	d, err := Parse([]byte(notesWithEvents), o)
	assert.NilError(t, err)
	assert.Check(t, is.Len(d.Warnings, 0))
	tool := d.App.Tool("events")
	assert.Assert(t, tool != nil, "there is no tool")
	assert.Check(t, is.Equal(tool.Effect, aai.Reads), "its effect is %s", tool.Effect)
	assert.Check(t, is.Contains(tool.Description, "added (id, title): A note was added; synced: All is saved"), "it says %q", tool.Description)
	assert.Check(t, is.Equal(tool.Implementation.Summary, "listens to D-Bus signal org.example.Notes.Added of org.example.Notes, D-Bus signal org.example.Sync.Synced of org.example.Notes /org/example/Sync"))
	b := driver.recipes[0].DBus
	assert.Check(t, is.Equal(b.Object, ""), "%+v", b)
	assert.Check(t, is.Equal(b.Service, "org.example.Notes"), "%+v", b)
	assert.Check(t, is.Equal(b.Signal, "Added"), "%+v", b)
	result, err := tool.Run(t.Context(), &aai.Call{Args: map[string]any{}})
	assert.NilError(t, err)
	assert.Assert(t, is.Contains(result.Text, `1 `))
	assert.Assert(t, is.Contains(result.Text, `added {"id":1}`))
	same, err := Parse([]byte(notesWithEvents), o)
	assert.NilError(t, err)
	again, err := same.App.Tool("events").Run(t.Context(), &aai.Call{Args: map[string]any{}})
	assert.NilError(t, err)
	view, _ := again.Data.(events.View)
	assert.Check(t, view.Last == 1, "after another scan the log is %+v", view)
}

// webWithEvents has two events of one stream, and one of another.
const webWithEvents = `{"schema_version": "1.0", "version": "1.0.0", "platform": "web", "app": {"id": "org.example.Mail", "name": "Mail", "description": "Mail."},
  "execution": {"type": "http", "base_url": "https://mail.example.org/v1"}, "auth": {"type": "bearer"},
  "tools": [{"name": "list", "description": "List mail", "parameters": {"type": "object"}, "execution": {"method": "GET", "path": "/mail"}}],
  "events": [
    {"name": "new_mail", "description": "Mail has arrived", "execution": {"path": "/events", "event": "mail", "query": {"all": "1"}}},
    {"name": "deleted", "description": "Mail is gone", "execution": {"path": "/events", "query": {"all": "1"}, "public": true}}]}`

func TestEventsOfTheWeb(t *testing.T) {
	d, err := Parse([]byte(webWithEvents), Options{})
	assert.NilError(t, err)
	assert.Check(t, is.Len(d.Warnings, 0))
	list := d.Document.Sections[0].Events
	h := list[0].Recipe.HTTP
	assert.Check(t, is.Equal(h.Method, http.MethodGet), "%+v", h)
	assert.Check(t, is.Equal(h.Event, "mail"), "%+v", h)
	assert.Check(t, h.Auth != nil, "the first event is %+v", h)
	h = list[1].Recipe.HTTP
	assert.Check(t, is.Equal(h.Event, "deleted"), "%+v", h)
	assert.Check(t, h.Auth == nil, "the second event is %+v", h)
	assert.Check(t, is.Equal(d.App.Tool("events").Implementation.Summary, "listens to GET https://mail.example.org/v1/events?all=1"))
}
