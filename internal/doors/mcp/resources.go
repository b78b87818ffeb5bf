package mcp

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/url"
	"regexp"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/gateway"
)

// A Resource is data that clients may read and, if it has a Watch, subscribe to. To read it
// is a call like any other, with checks, limits and a record in the journal.
type Resource struct {
	// URI names it, such as "axterminator://apps", or is a template of RFC 6570 with
	// variables {name} or {+name}, such as "axterminator://app/{name}/tree".
	URI                            string
	Name, Title, Description, MIME string
	AudienceUser, AudienceModel    bool    // the audience annotation; both false: user and assistant
	Priority                       float64 // from 0 to 1; 0: none

	// Call returns the call that reads the resource, given the template's variables. The content is the
	// result's Text. It is Data if Text is empty, or if MIME is JSON and Text is not. For an image MIME it
	// is the first image.
	Call func(values map[string]string) *aai.Call
	// Check returns a cheaper call with the permission of Call; nil: Call itself. It is used for subscribers if
	// IsEachChangeNews.
	Check func(values map[string]string) *aai.Call
	// Watch calls changed, which does not block, whenever the resource may have changed, until stop. Watch
	// is called once for all subscribers of a URI.
	Watch func(values map[string]string, changed func()) (stop func(), err error)
	// Debounce is the shortest time between two notifications. The first change is reported immediately.
	Debounce time.Duration
	// IsEachChangeNews reports that the content differs after each call of changed. Otherwise the resource is read
	// again, and clients are notified if its content differs.
	IsEachChangeNews bool
	// IsPersonal means that reading never asks the person in a window, since clients read resources in advance. The
	// error is CONSENT_REQUIRED, and a tool for the same has to be called first.
	IsPersonal bool
	// CompleteVariable returns suggestions for a variable, given the others; nil: none.
	CompleteVariable func(variable string, said map[string]string) []string
}

// A listedResource is a resource with its parsed template.
type listedResource struct {
	Resource
	template uriTemplate
}

// The resources of apps.
const (
	guidePrefix        = "guide:"
	descriptorTemplate = appPrefix + "{+id}"
	guideTemplate      = guidePrefix + "{+id}"
)

// descriptorPriority is low: the guide has the information that a model needs.
const descriptorPriority = 0.3

// descriptorDebounce collects the file operations of an editor that saves a file.
const descriptorDebounce = 100 * time.Millisecond

// addResources lists the resources that do not depend on the installed apps.
func (d *Door) addResources(more []Resource) {
	if !d.cfg.OnlyDirect {
		d.addResource(Resource{
			URI: descriptorTemplate, Name: "descriptor", Title: "Descriptor of an app", MIME: "application/json",
			Description: "The aai.json of an app, by its id or alias: its part for this platform", AudienceModel: true, Priority: descriptorPriority,
			Call: d.readingApp(descriptorTool), Watch: d.watchApp, Debounce: descriptorDebounce, CompleteVariable: d.completeApp(hasDescriptor),
		})
		d.addResource(d.eventsResource())
		d.addResource(d.serverResource())
		d.addResource(Resource{
			URI: guideTemplate, Name: "guide", Title: "Guide of an app", MIME: "text/markdown",
			Description: "An app's tools and how to call them", AudienceModel: true, Priority: 0.6,
			Call: d.readingApp(guideTool), Watch: d.watchApp, Debounce: descriptorDebounce, CompleteVariable: d.completeApp((*aai.App).IsRunnable),
		})
	}
	for _, r := range more {
		d.addResource(r)
	}
}

// addResource lists a resource. It omits one with an invalid URI.
func (d *Door) addResource(r Resource) {
	defer d.recoverList()
	template, err := parseTemplate(r.URI)
	if err != nil {
		d.cfg.Log.Error("a resource cannot be listed", "uri", r.URI, "cause", err)
		return
	}
	o := &listedResource{r, template}
	annotations := &mcp.Annotations{Audience: r.audience(), Priority: r.Priority}
	if len(template.names) > 0 {
		d.server.AddResourceTemplate(&mcp.ResourceTemplate{
			URITemplate: r.URI, Name: r.Name, Title: r.Title, Description: r.Description, MIMEType: r.MIME, Annotations: annotations,
		}, d.read)
	} else {
		d.server.AddResource(&mcp.Resource{
			URI: r.URI, Name: r.Name, Title: r.Title, Description: r.Description, MIMEType: r.MIME, Annotations: annotations,
		}, d.read)
	}
	d.resources = append(d.resources, o)
}

func (r Resource) audience() []mcp.Role {
	switch {
	case r.AudienceUser == r.AudienceModel:
		return []mcp.Role{"user", "assistant"}
	case r.AudienceUser:
		return []mcp.Role{"user"}
	}
	return []mcp.Role{"assistant"}
}

// findResource finds the resource of a URI, and its variables. Of several templates that match the longest one counts.
func (d *Door) findResource(uri string) (found *listedResource, variables map[string]string) {
	for _, o := range d.resources {
		if values, ok := o.template.values(uri); ok && (found == nil || len(o.URI) > len(found.URI)) {
			found, variables = o, values
		}
	}
	return found, variables
}

// read implements mcp.ResourceHandler for all resources.
func (d *Door) read(ctx context.Context, req *mcp.ReadResourceRequest) (*mcp.ReadResourceResult, error) {
	uri := req.Params.URI
	o, values := d.findResource(uri)
	if o == nil {
		return nil, mcp.ResourceNotFoundError(uri)
	}
	contents, err := d.contents(ctx, d.cfg.Gateway, o, values, d.caller(ctx, req.Session, req.ClientInfo()))
	if err != nil {
		return nil, readError(uri, err)
	}
	contents.URI = uri
	return &mcp.ReadResourceResult{Contents: []*mcp.ResourceContents{contents}}, nil
}

// contents reads a resource for a caller.
func (d *Door) contents(ctx context.Context, g *gateway.Gateway, o *listedResource, values map[string]string, caller aai.Caller) (*mcp.ResourceContents, error) {
	call := o.Call(values)
	call.Caller = caller
	if o.IsPersonal {
		ctx = aai.NonInteractive(ctx)
	}
	result, err := g.Do(ctx, call)
	if err != nil {
		return nil, err
	}
	c := &mcp.ResourceContents{MIMEType: o.MIME, Text: result.Text}
	switch {
	case strings.HasPrefix(o.MIME, "image/"):
		if len(result.Images) == 0 {
			return nil, aai.Errorf(aai.AutomationFailed, "%s gave no picture", call.Tool)
		}
		c.Text, c.MIMEType, c.Blob = "", result.Images[0].MIME, result.Images[0].Data
	case result.Data != nil && (c.Text == "" || strings.HasSuffix(o.MIME, "json") && !json.Valid([]byte(c.Text))):
		b, err := json.Marshal(result.Data)
		if err != nil {
			return nil, &aai.Error{Code: aai.Internal, Message: "the content is no JSON value", Err: err}
		}
		c.Text = string(b)
	}
	return c, nil
}

// readError converts an error of reading to a protocol error.
func readError(uri string, err error) error {
	if e := aai.AsError(err); e.Code != aai.AppNotFound {
		return protocolError(e)
	}
	return mcp.ResourceNotFoundError(uri)
}

// readingApp returns a function that makes a call of one of the gateway's own tools about an app.
func (d *Door) readingApp(tool string) func(map[string]string) *aai.Call {
	return func(values map[string]string) *aai.Call {
		call := &aai.Call{App: aai.BuiltinApp, Tool: tool, Args: map[string]any{"app": values["id"]}}
		if tool == descriptorTool {
			call.Args["platform"] = true // tools of other platforms cannot be called, and cost as many tokens
		}
		// An app that cannot run here is not listed, so it is not found either.
		if app := d.cachedApp(values["id"]); app != nil && !app.IsRunnable() {
			call.RequestError = aai.Errorf(aai.AppNotFound, "%s cannot run on this computer", app.ID)
		}
		return call
	}
}

func (d *Door) watchApp(_ map[string]string, changed func()) (func(), error) {
	return d.cfg.Gateway.Catalog.OnChange(changed), nil
}

func hasDescriptor(app *aai.App) bool { return app.Descriptor.Raw != nil && app.IsRunnable() }

// completeApp returns a function that suggests the ids of the apps for which of is true.
func (d *Door) completeApp(of func(*aai.App) bool) func(string, map[string]string) []string {
	return func(string, map[string]string) []string {
		var ids []string
		for _, app := range d.cfg.Gateway.Catalog.Apps() {
			if app.ID != aai.BuiltinApp && of(app) {
				ids = append(ids, app.ID)
			}
		}
		return ids
	}
}

// completerOf returns the function that suggests values for a variable of a template. It
// returns nil for a resource without suggestions or without variables.
func (d *Door) completerOf(template, variable string) (func(said map[string]string) []string, error) {
	i := slices.IndexFunc(d.resources, func(o *listedResource) bool { return o.URI == template })
	if i < 0 {
		if o, _ := d.findResource(template); o != nil {
			return nil, nil // it is complete already
		}
		return nil, invalid("ref: there is no template %q", aai.CleanLabel(template, 100))
	}
	o := d.resources[i]
	if !slices.Contains(o.template.names, variable) {
		return nil, invalid("argument: the template has no %q, but %s", aai.CleanLabel(variable, 60), cmp.Or(strings.Join(o.template.names, ", "), "no variables"))
	}
	if o.CompleteVariable == nil {
		return nil, nil
	}
	return func(said map[string]string) []string { return o.CompleteVariable(variable, said) }, nil
}

// errNotSubscribable reports a resource without Watch.
var errNotSubscribable = errors.New("this resource has no subscription; read it again when you need it")

// A uriTemplate is a URI with variables (RFC 6570): {name} matches one part of a path, and
// {+name} matches anything. A template without variables matches itself.
type uriTemplate struct {
	names []string
	match *regexp.Regexp
}

func parseTemplate(template string) (uriTemplate, error) {
	var t uriTemplate
	pattern := "^"
	for rest := template; rest != ""; {
		literal, after, found := strings.Cut(rest, "{")
		pattern += regexp.QuoteMeta(literal)
		if !found {
			break
		}
		name, after, closed := strings.Cut(after, "}")
		value := `([\pL\pN._~%-]+)`
		if reserved, ok := strings.CutPrefix(name, "+"); ok {
			name, value = reserved, `(.+)`
		}
		if !closed || name == "" || slices.Contains(t.names, name) || strings.Trim(name, "abcdefghijklmnopqrstuvwxyz_") != "" {
			return t, fmt.Errorf("the template %q has a variable that is not {name} or {+name}", template)
		}
		t.names, pattern, rest = append(t.names, name), pattern+value, after
	}
	var err error
	t.match, err = regexp.Compile(pattern + "$")
	return t, err
}

// values returns the values of the variables in uri, if it matches.
func (t uriTemplate) values(uri string) (map[string]string, bool) {
	found := t.match.FindStringSubmatch(uri)
	if found == nil {
		return nil, false
	}
	values := make(map[string]string, len(t.names))
	for i, name := range t.names {
		value, err := url.PathUnescape(found[i+1])
		if err != nil {
			return nil, false
		}
		values[name] = value
	}
	return values, true
}
