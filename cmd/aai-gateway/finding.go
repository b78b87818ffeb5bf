package main

import (
	"log/slog"
	"slices"

	"aai"
	"aai/internal/drivers/mcp"
	"aai/internal/egress"
	"aai/internal/keychain"
	"aai/internal/login"
	"aai/internal/search"
)

// grounding is what the ways to apps stand on.
type grounding struct {
	drivers map[string]aai.Driver // by "<platform>/<kind>"
	client  *egress.Client
	logins  *login.Logins
	vault   *keychain.Vault
	log     *slog.Logger
	gateway func() *aai.Gateway // once it is made
}

// finding is how apps come to be known beyond the descriptors that lie here: servers that
// say what they have, descriptors that are made or taken over, and a search in all of them.
type finding struct {
	servers *mcp.Driver
	seeker  *seeker
	tools   []*aai.Tool // of the gateway itself
}

// newFinding makes it, of apps that are known by then, and adds the driver of servers.
func (p *program) newFinding(cfg *setup, on grounding, known *everywhere, finder *search.Search) finding {
	f := finding{servers: cfg.servers(on.client.HTTP(), on)}
	on.drivers["mcp"] = f.servers
	takes := p.imports(cfg, on.client, on.drivers, on.vault, on.logins)
	describes := cfg.generator(on.drivers, takes)
	f.seeker = cfg.seeker(p.getenv, known, describes, on.log)
	f.tools = slices.Concat(describes.Tools(), finder.Tools(), takes.Tools(), cfg.icons(known).Tools(),
		f.servers.Tools(func() aai.Catalog { return known }))
	return f
}
