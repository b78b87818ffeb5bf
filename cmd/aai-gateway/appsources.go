package main

import (
	"log/slog"
	"slices"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/catalog/search"
	"github.com/gybob/aai-gateway/internal/drivers/mcp"
	"github.com/gybob/aai-gateway/internal/events"
	"github.com/gybob/aai-gateway/internal/gateway"
	"github.com/gybob/aai-gateway/internal/netguard"
	"github.com/gybob/aai-gateway/internal/oauth"
	"github.com/gybob/aai-gateway/internal/secrets"
)

// appDependencies are the dependencies of the app sources.
type appDependencies struct {
	drivers   map[string]aai.Driver // by "<platform>/<kind>"
	client    *netguard.Client
	logins    *oauth.Authorizer
	vault     *secrets.Vault
	log       *slog.Logger
	gateway   func() *gateway.Gateway // returns nil before its creation
	recorders *events.Recorders
}

// appSources are the sources of apps beyond the installed descriptors: MCP servers, generated and
// imported descriptors, and the search over all of them.
type appSources struct {
	servers *mcp.Driver
	seeker  *integrationScanner
	tools   []*aai.Tool // builtin tools
}

// newAppSources creates the sources, and adds the MCP driver. known lists the apps at the time of each call.
func (p *program) newAppSources(cfg *setup, on appDependencies, known *combinedCatalog, finder *search.Search) appSources {
	f := appSources{servers: cfg.servers(on.client.HTTP(), on)}
	on.drivers["mcp"] = f.servers
	takes := p.imports(cfg, on.client, on.drivers, on.vault, on.logins)
	describes := cfg.generator(on.drivers, takes)
	f.seeker = cfg.integrationScanner(p.getenv, known, describes, on.log)
	f.tools = slices.Concat(describes.Tools(), finder.Tools(), takes.Tools(), cfg.icons(known).Tools(),
		f.servers.Tools(func() aai.Catalog { return known }))
	return f
}
