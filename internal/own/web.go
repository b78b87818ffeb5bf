package own

import (
	"context"
	"net/url"

	"aai"
	"aai/internal/catalog"
	"aai/internal/site"
)

// The names of the tools about web sites.
const (
	Discover = "discover"
	NameSite = "discover_name"
)

// A Web finds apps on the web.
type Web interface {
	// Discover returns the app of the site at an address, or under a name that the
	// person gave it; its error is an *aai.Error.
	Discover(ctx context.Context, address string) (*aai.App, error)
	// Name gives the site at an address a name.
	Name(name, address string) error
}

const (
	oneSite   = `{"type": "object", "properties": {"url": {"type": "string", "description": "Address, domain or known name"}}, "required": ["url"], "additionalProperties": false}`
	namedSite = `{"type": "object", "properties": {"name": {"type": "string"}, "url": {"type": "string"}}, "required": ["name", "url"], "additionalProperties": false}`
)

// webTools are the tools about web sites.
type webTools struct{ web Web }

// tools are none where there is no web.
func (t webTools) tools() []*aai.Tool {
	if t.web == nil {
		return nil
	}
	return []*aai.Tool{
		read(Discover, "Say what a web site's app can do", oneSite, t.discover),
		change(NameSite, "Give a web site a name", namedSite, t.name),
	}
}

// discover asks the site, or the cache. Nothing goes out but the name of the host,
// so it is open to agents, within the limits of the room that does it.
func (t webTools) discover(ctx context.Context, call *aai.Call) (*aai.Result, error) {
	app, err := t.web.Discover(ctx, text(call, "url"))
	if err != nil {
		return nil, err
	}
	return &aai.Result{Text: catalog.Guide(app), Data: catalog.GuideData(app), Foreign: originOf(app)}, nil
}

// originOf is the site whose words an app's guide holds.
func originOf(app *aai.App) string {
	u, err := url.Parse(app.Source)
	if err != nil {
		return app.ID
	}
	return site.Origin(u)
}

func (t webTools) name(_ context.Context, call *aai.Call) (*aai.Result, error) {
	name, address := text(call, "name"), text(call, "url")
	if err := t.web.Name(name, address); err != nil {
		return nil, err
	}
	return &aai.Result{Data: map[string]any{"name": name, "url": address}}, nil
}
