package config

import (
	"errors"
	"fmt"
	"time"
)

// What clients must show to use the server over HTTP.
const (
	AuthToken = "token" // the secret of this computer
	AuthOAuth = "oauth" // a token of an authorization server
	AuthNone  = "none"
)

// HTTP is how agents are served over HTTP.
type HTTP struct {
	Port    int
	Bind    string
	SSE     bool
	Idle    time.Duration
	URL     string // the address as clients know it; empty: made of Bind and Port
	Hosts   []string
	Origins []string

	Auth             string
	Issuer           string
	Audience, Scopes []string
	ClientID         string // with the authorization server, to ask it about tokens
	ClientSecretFile string
}

func defaultHTTP() HTTP {
	return HTTP{
		Port: 8741, Bind: "127.0.0.1", Idle: 30 * time.Minute, Auth: AuthToken,
		Hosts: []string{}, Origins: []string{}, Audience: []string{}, Scopes: []string{},
	}
}

// httpSettings is the part of the table that is about HTTP.
func httpSettings() []row {
	list := func(of func(*HTTP) *[]string, what string) (func(*Config) any, func(*Config, string, any) error) {
		return func(c *Config) any { return *of(&c.HTTP) }, func(c *Config, _ string, v any) error { return setWords(of(&c.HTTP), what, v) }
	}
	getHosts, setHosts := list(func(h *HTTP) *[]string { return &h.Hosts }, "names of hosts")
	getOrigins, setOrigins := list(func(h *HTTP) *[]string { return &h.Origins }, "origins")
	getAudience, setAudience := list(func(h *HTTP) *[]string { return &h.Audience }, "audiences")
	getScopes, setScopes := list(func(h *HTTP) *[]string { return &h.Scopes }, "scopes")
	return []row{
		{"http.port", never, []string{"AAI_HTTP_PORT", "AXTERMINATOR_HTTP_PORT"}, func(c *Config) any { return c.HTTP.Port }, servedPort(func(c *Config, n int) { c.HTTP.Port = n })},
		{"http.bind", changed, []string{"AAI_HTTP_BIND", "AXTERMINATOR_HTTP_BIND"}, func(c *Config) any { return c.HTTP.Bind },
			word("an address", func(c *Config, s string) { c.HTTP.Bind = s })},
		{"http.sse", never, nil, func(c *Config) any { return c.HTTP.SSE }, boolean(func(c *Config, b bool) { c.HTTP.SSE = b })},
		{"http.idle", never, nil, func(c *Config) any { return c.HTTP.Idle.Seconds() }, seconds(false, func(c *Config, d time.Duration) { c.HTTP.Idle = d })},
		{"http.url", changed, nil, func(c *Config) any { return c.HTTP.URL }, webAddress(func(c *Config, s string) { c.HTTP.URL = s })},
		{"http.hosts", changed, nil, getHosts, setHosts},
		{"http.origins", changed, nil, getOrigins, setOrigins},
		{"http.auth", changed, []string{"AAI_HTTP_AUTH"}, func(c *Config) any { return c.HTTP.Auth }, setAuth},
		{"http.issuer", changed, nil, func(c *Config) any { return c.HTTP.Issuer }, webAddress(func(c *Config, s string) { c.HTTP.Issuer = s })},
		{"http.audience", changed, nil, getAudience, setAudience},
		{"http.scopes", changed, nil, getScopes, setScopes},
		{"http.clientId", changed, nil, func(c *Config) any { return c.HTTP.ClientID }, word("a client id", func(c *Config, s string) { c.HTTP.ClientID = s })},
		{"http.clientSecretFile", changed, nil, func(c *Config) any { return c.HTTP.ClientSecretFile }, file(func(c *Config, p string) { c.HTTP.ClientSecretFile = p })},
	}
}

// servedPort reads a port to listen on. 0 is any that is free.
func servedPort(set func(*Config, int)) func(*Config, string, any) error {
	return func(c *Config, _ string, value any) error {
		n, ok := whole(value, 0, 65535)
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
