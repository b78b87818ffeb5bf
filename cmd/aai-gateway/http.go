package main

import (
	"context"
	"fmt"
	"log/slog"
	"net"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/coreos/go-systemd/v22/activation"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/config"
	"github.com/gybob/aai-gateway/internal/doors/cli"
	"github.com/gybob/aai-gateway/internal/doors/httpdoor"
	"github.com/gybob/aai-gateway/internal/doors/httpdoor/bearer"
	"github.com/gybob/aai-gateway/internal/doors/mcp/streamable"
	"github.com/gybob/aai-gateway/internal/files/atomicfile"
)

// An httpServer is a server of a door over HTTP.
type httpServer interface {
	Serve(ctx context.Context, l net.Listener) error
}

// serveHTTP serves agents over HTTP until ctx ends, by the server that create returns.
func (p *program) serveHTTP(ctx context.Context, create func(streamable.Config) (httpServer, error), cfg *setup, log *slog.Logger) error {
	h := cfg.HTTP
	listener, err := listen(ctx, &h)
	if err != nil {
		return err
	}
	address := "http://" + listener.Addr().String() + "/mcp"
	if h.PublicURL == "" {
		h.PublicURL = address
	}
	served, err := p.httpServer(create, cfg, h, log)
	if err != nil {
		_ = listener.Close() // it had no connections
		return err
	}
	about := "clients need a token: aai-gateway mcp token add NAME makes one for each"
	switch h.Auth {
	case config.AuthOAuth:
		about = "clients need a token of " + h.Issuer
	case config.AuthNone:
		about = "every program on this computer may use it"
	}
	_, _ = fmt.Fprintf(p.err, "Serving MCP at %s; %s.\n", address, about) // the output may have no reader
	if isUnspecified(strings.Trim(h.Bind, "[]")) && len(h.AllowedHosts) == 0 {
		_, _ = fmt.Fprintln(p.err, "Clients reach it by an address alone. For a name, such as this computer's, set http.hosts: other names are refused.")
	}
	if err := served.Serve(ctx, listener); ctx.Err() == nil {
		return err
	}
	return nil // ended as requested
}

// serveConfig reads the configuration for serving agents.
func (p *program) serveConfig(f cli.Flags, o cli.ServeOptions) (*setup, error) {
	cfg, err := p.config(f)
	if err != nil {
		return nil, err
	}
	if o.Profile != "" {
		cfg.Profile = o.Profile
	}
	for _, change := range o.Changes {
		if err := cfg.Set(change.Key, change.Value, change.Flag); err != nil {
			return nil, err
		}
	}
	return cfg, nil
}

// listen returns the socket that systemd passed to this process, and sets h to its address.
// Without one it opens the configured socket.
func listen(ctx context.Context, h *config.HTTP) (net.Listener, error) {
	passed, err := activation.Listeners()
	switch {
	case err != nil:
		return nil, invalid("the socket of systemd: %w", err)
	case len(passed) == 0:
		network := "tcp"
		if _, port, err := net.SplitHostPort(h.Bind); err == nil && port != "" {
			return nil, invalid("http.bind: expected an address without a port; --port %s sets the port", aai.CleanLabel(port, 20))
		}
		if ip := net.ParseIP(h.Bind); ip != nil && ip.To4() != nil {
			network = "tcp4" // "tcp" would take 0.0.0.0 for the addresses of IPv6 too
		}
		listener, err := (&net.ListenConfig{}).Listen(ctx, network, net.JoinHostPort(strings.Trim(h.Bind, "[]"), strconv.Itoa(h.Port)))
		if err != nil {
			return nil, invalid("http.bind, http.port: %w", err)
		}
		return listener, nil
	case len(passed) == 1:
		if tcp, ok := passed[0].(*net.TCPListener); ok {
			at := tcp.Addr().(*net.TCPAddr)
			h.Bind, h.Port = at.IP.String(), at.Port
			return tcp, nil
		}
	}
	e := invalid("systemd has passed %d sockets; expected one, of TCP", len(passed))
	e.Hint = "In the .socket unit write one ListenStream=, with an address and a port, such as 127.0.0.1:8741."
	return nil, e
}

// httpServer returns the configured server.
func (p *program) httpServer(create func(streamable.Config) (httpServer, error), cfg *setup, h config.HTTP, log *slog.Logger) (httpServer, error) {
	served := httpdoor.Config{Bind: strings.Trim(h.Bind, "[]"), Hosts: h.AllowedHosts, Origins: h.AllowedOrigins}
	if u, err := url.Parse(h.PublicURL); err == nil {
		served.Hosts = append(slices.Clone(served.Hosts), u.Hostname())
	}
	switch h.Auth {
	case config.AuthToken:
		token, err := p.httpToken(cfg)
		if err != nil {
			return nil, err
		}
		if len(token) < minTokenLength {
			log.Warn("the token of the HTTP server is short enough to be guessed", "characters", len(token))
		}
		served.Verifier = bearer.NewTokens(cfg.tokensFile(), bearer.NewSecretVerifier(token))
	case config.AuthOAuth:
		verifier, err := issuer(h)
		if err != nil {
			return nil, err
		}
		served.Verifier = verifier
		served.Metadata = &bearer.Metadata{Resource: h.PublicURL, Issuer: h.Issuer, Scopes: h.Scopes}
	}
	return create(streamable.Config{HTTP: served, LegacySSE: h.SSE, Limits: streamable.Limits{SessionIdle: h.IdleTimeout}})
}

// maxSecret limits the file of a client's secret, in bytes.
const maxSecret = 1 << 20

// issuer returns the verifier for tokens of the configured authorization server.
func issuer(h config.HTTP) (*bearer.IssuerVerifier, error) {
	if h.Issuer == "" {
		return nil, invalid("http.issuer: expected the address of the authorization server (--issuer), because http.auth is oauth")
	}
	if u, err := url.Parse(h.PublicURL); err != nil || isUnspecified(u.Hostname()) {
		e := invalid("http.url: expected the address by which clients reach this server, because http.bind covers all addresses of this computer")
		e.Hint = "Tokens must be issued for that address."
		return nil, e
	}
	cfg := bearer.IssuerConfig{Issuer: h.Issuer, Audience: h.Audience, Scopes: h.Scopes, ClientID: h.ClientID}
	if len(cfg.Audience) == 0 {
		cfg.Audience = []string{h.PublicURL} // the resource indicator of RFC 8707
	}
	if h.ClientSecretFile != "" {
		secret, err := atomicfile.Read(h.ClientSecretFile, atomicfile.ReadLimits{Size: maxSecret})
		if err != nil {
			return nil, invalid("http.clientSecretFile: %s: %w", h.ClientSecretFile, err)
		}
		cfg.ClientSecret = strings.TrimSpace(string(secret))
	}
	return bearer.NewIssuerVerifier(cfg)
}

// minTokenLength is the minimum length, in characters, of a token that cannot be guessed.
const minTokenLength = 20

// httpToken returns the token of this computer: from the environment, or from a file that the
// first use creates.
func (p *program) httpToken(cfg *setup) (string, error) {
	if token := p.givenToken(); token != "" {
		return token, nil
	}
	return bearer.TokenFile{Path: cfg.tokenFile()}.Token()
}

func (p *program) givenToken() string {
	for _, name := range []string{"AAI_HTTP_TOKEN", "AXTERMINATOR_HTTP_TOKEN"} {
		if token := p.getenv(name); token != "" {
			return token
		}
	}
	return ""
}

// showToken implements the command that shows or rotates the token.
func (p *program) showToken(f cli.Flags, rotate bool) (string, error) {
	cfg, err := p.config(f)
	if err != nil {
		return "", err
	}
	if !rotate {
		return p.httpToken(cfg)
	}
	if p.givenToken() != "" {
		return "", invalid("the token comes from AAI_HTTP_TOKEN in the environment; change it there")
	}
	return bearer.TokenFile{Path: cfg.tokenFile()}.Rotate()
}

// tokens adapts the agents' tokens to the commands.
type tokens struct{ *bearer.Tokens }

func (p *program) agentTokens(f cli.Flags) (cli.Tokens, error) {
	cfg, err := p.config(f)
	if err != nil {
		return nil, err
	}
	return tokens{bearer.NewTokens(cfg.tokensFile(), nil)}, nil
}

// List implements cli.Tokens.
func (t tokens) List() ([]cli.Token, error) {
	known, err := t.Tokens.List()
	list := make([]cli.Token, len(known))
	for i, k := range known {
		list[i] = cli.Token{Name: k.Name, Identity: aai.IdentityPrefixHTTP + k.Name, CreatedAt: k.CreatedAt}
	}
	return list, err
}

func isUnspecified(host string) bool {
	address, err := netip.ParseAddr(host)
	return err == nil && address.IsUnspecified()
}
