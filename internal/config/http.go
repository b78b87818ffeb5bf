package config

import (
	"errors"
	"fmt"
	"time"
)

// Authentication of clients over HTTP.
const (
	AuthToken = "token" // the secret of this computer
	AuthOAuth = "oauth" // a token of an authorization server
	AuthNone  = "none"
)

// HTTP configures the server for agents over HTTP.
type HTTP struct {
	Port           int
	Bind           string
	SSE            bool
	IdleTimeout    time.Duration
	PublicURL      string // the URL that clients use; empty: derived from Bind and Port
	AllowedHosts   []string
	AllowedOrigins []string

	Auth             string
	Issuer           string
	Audience, Scopes []string
	ClientID         string // at the authorization server, for token introspection
	ClientSecretFile string
}

func defaultHTTP() HTTP {
	return HTTP{
		Port: 8741, Bind: "127.0.0.1", IdleTimeout: 30 * time.Minute, Auth: AuthToken,
		AllowedHosts: []string{}, AllowedOrigins: []string{}, Audience: []string{}, Scopes: []string{},
	}
}

// httpSettings returns the settings about HTTP.
func httpSettings() []settingSpec {
	list := func(of func(*HTTP) *[]string, what string) (func(*Config) any, func(*Config, string, any) error) {
		return func(c *Config) any { return *of(&c.HTTP) }, func(c *Config, _ string, v any) error { return setWords(of(&c.HTTP), what, v) }
	}
	getHosts, setHosts := list(func(h *HTTP) *[]string { return &h.AllowedHosts }, "names of hosts")
	getOrigins, setOrigins := list(func(h *HTTP) *[]string { return &h.AllowedOrigins }, "origins")
	getAudience, setAudience := list(func(h *HTTP) *[]string { return &h.Audience }, "audiences")
	getScopes, setScopes := list(func(h *HTTP) *[]string { return &h.Scopes }, "scopes")
	return []settingSpec{
		{"http.port", widensNever, []string{"AAI_HTTP_PORT", "AXTERMINATOR_HTTP_PORT"}, func(c *Config) any { return c.HTTP.Port }, portSetter(func(c *Config, n int) { c.HTTP.Port = n })},
		{"http.bind", widensIfChanged, []string{"AAI_HTTP_BIND", "AXTERMINATOR_HTTP_BIND"}, func(c *Config) any { return c.HTTP.Bind },
			wordSetter("an address", func(c *Config, s string) { c.HTTP.Bind = s })},
		{"http.sse", widensNever, nil, func(c *Config) any { return c.HTTP.SSE }, boolSetter(func(c *Config, b bool) { c.HTTP.SSE = b })},
		{"http.idle", widensNever, nil, func(c *Config) any { return c.HTTP.IdleTimeout.Seconds() }, durationSetter(false, func(c *Config, d time.Duration) { c.HTTP.IdleTimeout = d })},
		{"http.url", widensIfChanged, nil, func(c *Config) any { return c.HTTP.PublicURL }, urlSetter(func(c *Config, s string) { c.HTTP.PublicURL = s })},
		{"http.hosts", widensIfChanged, nil, getHosts, setHosts},
		{"http.origins", widensIfChanged, nil, getOrigins, setOrigins},
		{"http.auth", widensIfChanged, []string{"AAI_HTTP_AUTH"}, func(c *Config) any { return c.HTTP.Auth }, setAuth},
		{"http.issuer", widensIfChanged, nil, func(c *Config) any { return c.HTTP.Issuer }, urlSetter(func(c *Config, s string) { c.HTTP.Issuer = s })},
		{"http.audience", widensIfChanged, nil, getAudience, setAudience},
		{"http.scopes", widensIfChanged, nil, getScopes, setScopes},
		{"http.clientId", widensIfChanged, nil, func(c *Config) any { return c.HTTP.ClientID }, wordSetter("a client id", func(c *Config, s string) { c.HTTP.ClientID = s })},
		{"http.clientSecretFile", widensIfChanged, nil, func(c *Config) any { return c.HTTP.ClientSecretFile }, pathSetter(func(c *Config, p string) { c.HTTP.ClientSecretFile = p })},
	}
}

// portSetter returns a setter for a port to listen on. 0 is any free port.
func portSetter(set func(*Config, int)) func(*Config, string, any) error {
	return func(c *Config, _ string, value any) error {
		n, ok := parseInteger(value, 0, 65535)
		if !ok {
			return errors.New("expected a port from 1 to 65535, or 0 for any that is free")
		}
		set(c, n)
		return nil
	}
}

func setAuth(c *Config, _ string, value any) error {
	s, _ := value.(string)
	if s != AuthToken && s != AuthOAuth && s != AuthNone {
		return fmt.Errorf("expected %q, %q or %q", AuthToken, AuthOAuth, AuthNone)
	}
	c.HTTP.Auth = s
	return nil
}
