package builtin

import (
	"context"
	"encoding/json"
	"net/url"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/catalog"
	"github.com/gybob/aai-gateway/internal/netguard"
	"github.com/gybob/aai-gateway/internal/policy"
	"github.com/gybob/aai-gateway/internal/schema"
)

// Names of the discovery tools.
const (
	Discover = "discover"
	NameSite = "discover_name"
)

// A Web finds apps on the web.
type Web interface {
	// Discover returns the app of the site at a URL, or under a name that AddName saved. Its
	// error is an *aai.Error.
	Discover(ctx context.Context, address string) (*aai.App, error)
	// AddName saves a name for the site at a URL.
	AddName(name, address string) error
}

const (
	discoverParams = `{"type": "object", "properties": {"url": {"type": "string", "minLength": 1, "description": "Address, domain or known name of a web site; without it: the ways into the apps of this computer"},
		"hints": {"type": "boolean", "description": "Also what else the site publishes for programs; at a terminal"}}, "additionalProperties": false}`
	nameSiteParams = `{"type": "object", "properties": {"name": {"type": "string"}, "url": {"type": "string"}}, "required": ["name", "url"], "additionalProperties": false}`
)

// LocalSource is the UntrustedSource of the integrations found on this computer: installed programs choose their own
// text.
const LocalSource = "the programs of this computer"

// IsLocalDiscovery reports whether a request asks the builtin app for all integrations of this
// computer, beyond the installed descriptors. This needs consent, like reading any other app.
func IsLocalDiscovery(r *aai.Request) bool {
	return r.App.ID == aai.BuiltinApp && r.Tool.Name == Discover && text(r.Call, "url") == ""
}

// webTools are the discovery tools.
type webTools struct {
	web           Web
	discoverLocal func(ctx context.Context) (any, error) // may be nil
	// hints returns further machine-readable resources of a site; may be nil.
	hints func(ctx context.Context, address string) (words string, data any, err error)
	modes *policy.ModeGate
}

// tools returns the tools Discover and NameSite, or none if web is nil.
func (t webTools) tools() []*aai.Tool {
	if t.web == nil {
		return nil
	}
	find := &aai.Tool{
		Name: Discover, Description: "List the ways into the apps of this computer; with url, say what a web site's app can do",
		Params: schema.MustParse(discoverParams), Effect: aai.Reads, Run: t.discover,
	}
	return []*aai.Tool{find, changeTool(NameSite, "Give a web site a name", nameSiteParams, t.name)}
}

// discover reads the site or the cache. Only the name of the host leaves this computer, so agents
// may call it, within the limits of Web. Without a URL it lists the integrations of this
// computer.
func (t webTools) discover(ctx context.Context, call *aai.Call) (*aai.Result, error) {
	address := text(call, "url")
	if address == "" {
		return t.discoverComputer(ctx)
	}
	wanted, _ := call.Args["hints"].(bool)
	if wanted && call.Caller.Door != aai.DoorCLI {
		e := aai.Errorf(aai.PermissionDenied, "hints: a site is asked for more than its app where the person names it, at a terminal")
		e.Hint = "Leave hints out; or ask the person to run aai-gateway discover with the address."
		return nil, e
	}
	app, err := t.web.Discover(ctx, address)
	if wanted && t.hints != nil {
		return t.withHints(ctx, address, app, err)
	}
	if err != nil {
		return nil, err
	}
	return guideOf(t.modes.Visible(app)), nil
}

func guideOf(app *aai.App) *aai.Result {
	return &aai.Result{Text: catalog.Guide(app), Data: catalog.GuideData(app), UntrustedSource: originOf(app)}
}

// discoverComputer returns the integrations found on this computer.
func (t webTools) discoverComputer(ctx context.Context) (*aai.Result, error) {
	if t.discoverLocal == nil {
		e := aai.Errorf(aai.InvalidParams, "url: is absent; expected the address of a site, since this gateway does not look through its computer")
		e.Hint = "Give a site's address, such as https://example.com."
		return nil, e
	}
	found, err := t.discoverLocal(ctx)
	if err != nil {
		return nil, err
	}
	return &aai.Result{Data: found, UntrustedSource: LocalSource}, nil
}

// withHints adds the hints of a site. An app without hints is returned unchanged. A site that
// could not be reached at all is not asked again.
func (t webTools) withHints(ctx context.Context, address string, app *aai.App, failed error) (*aai.Result, error) {
	if failed != nil && aai.AsError(failed).Code != aai.AppNotFound {
		return nil, failed
	}
	words, data, err := t.hints(ctx, address)
	switch {
	case failed != nil && (err != nil || data == nil):
		return nil, failed
	case failed != nil:
		return &aai.Result{Text: words, Data: map[string]any{"hints": data}, UntrustedSource: aai.CleanLabel(address, 200), Warning: aai.AsError(failed).Message}, nil
	}
	result := guideOf(t.modes.Visible(app))
	switch {
	case err != nil:
		result.Warning = "what else the site publishes is not known: " + aai.AsError(err).Message
		err = nil
	case data != nil:
		result.Text += "\n\n" + words
		result.Data, err = mergeHints(result.Data, data)
	}
	return result, err
}

// mergeHints returns the guide's data with hints as an additional member.
func mergeHints(guide, hints any) (map[string]any, error) {
	var all map[string]any
	text, err := json.Marshal(guide)
	if err == nil {
		err = json.Unmarshal(text, &all)
	}
	if err != nil {
		return nil, aai.Errorf(aai.Internal, "the guide cannot be written as JSON: %w", err)
	}
	all["hints"] = hints
	return all, nil
}

// originOf returns the origin of the site that an app's guide comes from.
func originOf(app *aai.App) string {
	u, err := url.Parse(app.Source)
	if err != nil {
		return app.ID
	}
	return netguard.Origin(u)
}

func (t webTools) name(_ context.Context, call *aai.Call) (*aai.Result, error) {
	name, address := text(call, "name"), text(call, "url")
	if err := t.web.AddName(name, address); err != nil {
		return nil, err
	}
	return &aai.Result{Data: map[string]any{"name": name, "url": address}}, nil
}
