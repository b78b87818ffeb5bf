package main

import (
	"errors"
	"fmt"
	"net/url"
	"strconv"
	"strings"
	"time"
)

// What clients must show to use the server over HTTP.
const (
	authToken = "token" // the secret of this computer
	authOAuth = "oauth" // a token of an authorization server
	authNone  = "none"
)

// httpConfig is how agents are served over HTTP.
type httpConfig struct {
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

func defaultHTTP() httpConfig {
	return httpConfig{
		Port: 8741, Bind: "127.0.0.1", Idle: 30 * time.Minute, Auth: authToken,
		Hosts: []string{}, Origins: []string{}, Audience: []string{}, Scopes: []string{},
	}
}

// httpSettings is the part of the table that is about HTTP.
func httpSettings() []setting {
	list := func(of func(*httpConfig) *[]string, what string) (func(*config) any, func(*config, string, any) error) {
		return func(c *config) any { return *of(&c.HTTP) }, func(c *config, _ string, v any) error { return setWords(of(&c.HTTP), what, v) }
	}
	getHosts, setHosts := list(func(h *httpConfig) *[]string { return &h.Hosts }, "names of hosts")
	getOrigins, setOrigins := list(func(h *httpConfig) *[]string { return &h.Origins }, "origins")
	getAudience, setAudience := list(func(h *httpConfig) *[]string { return &h.Audience }, "audiences")
	getScopes, setScopes := list(func(h *httpConfig) *[]string { return &h.Scopes }, "scopes")
	return []setting{
		{"http.port", []string{"AAI_HTTP_PORT", "AXTERMINATOR_HTTP_PORT"}, func(c *config) any { return c.HTTP.Port }, setServedPort},
		{"http.bind", []string{"AAI_HTTP_BIND", "AXTERMINATOR_HTTP_BIND"}, func(c *config) any { return c.HTTP.Bind },
			word("an address", func(c *config, s string) { c.HTTP.Bind = s })},
		{"http.sse", nil, func(c *config) any { return c.HTTP.SSE }, boolean(func(c *config, b bool) { c.HTTP.SSE = b })},
		{"http.idle", nil, func(c *config) any { return c.HTTP.Idle.Seconds() }, seconds(false, func(c *config, d time.Duration) { c.HTTP.Idle = d })},
		{"http.url", nil, func(c *config) any { return c.HTTP.URL }, webAddress(func(c *config, s string) { c.HTTP.URL = s })},
		{"http.hosts", nil, getHosts, setHosts},
		{"http.origins", nil, getOrigins, setOrigins},
		{"http.auth", []string{"AAI_HTTP_AUTH"}, func(c *config) any { return c.HTTP.Auth }, setAuth},
		{"http.issuer", nil, func(c *config) any { return c.HTTP.Issuer }, webAddress(func(c *config, s string) { c.HTTP.Issuer = s })},
		{"http.audience", nil, getAudience, setAudience},
		{"http.scopes", nil, getScopes, setScopes},
		{"http.clientId", nil, func(c *config) any { return c.HTTP.ClientID }, word("a client id", func(c *config, s string) { c.HTTP.ClientID = s })},
		{"http.clientSecretFile", nil, func(c *config) any { return c.HTTP.ClientSecretFile }, file(func(c *config, p string) { c.HTTP.ClientSecretFile = p })},
	}
}

// setServedPort reads a port. 0 is any that is free.
func setServedPort(c *config, _ string, value any) error {
	n, ok := value.(float64)
	if s, isText := value.(string); isText {
		parsed, err := strconv.Atoi(s)
		n, ok = float64(parsed), err == nil
	}
	if !ok || n != float64(int(n)) || n < 0 || n > 65535 {
		return errors.New("expected a port from 1 to 65535, or 0 for any that is free")
	}
	c.HTTP.Port = int(n)
	return nil
}

func setAuth(c *config, _ string, value any) error {
	s, _ := value.(string)
	if s != authToken && s != authOAuth && s != authNone {
		return fmt.Errorf("expected %q, %q or %q", authToken, authOAuth, authNone)
	}
	c.HTTP.Auth = s
	return nil
}

// word reads a text without spaces.
func word(what string, put func(*config, string)) func(*config, string, any) error {
	return func(c *config, _ string, value any) error {
		s, ok := value.(string)
		if !ok || s == "" || strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
			return fmt.Errorf("expected %s", what)
		}
		put(c, s)
		return nil
	}
}

// setWords reads a list of texts without spaces.
func setWords(list *[]string, what string, value any) error {
	items, ok := value.([]any)
	if !ok {
		return fmt.Errorf("expected a list of %s", what)
	}
	words := make([]string, len(items))
	for i, item := range items {
		s, ok := item.(string)
		if !ok || s == "" || strings.ContainsFunc(s, func(r rune) bool { return r <= ' ' || r == 0x7f }) {
			return fmt.Errorf("[%d]: expected a text without spaces", i)
		}
		words[i] = s
	}
	*list = words
	return nil
}

// webAddress reads an absolute address of the web.
func webAddress(put func(*config, string)) func(*config, string, any) error {
	return func(c *config, _ string, value any) error {
		s, _ := value.(string)
		u, err := url.Parse(s)
		if err != nil || u.Host == "" || u.Scheme != "http" && u.Scheme != "https" || u.Fragment != "" || u.User != nil {
			return errors.New("expected an address such as https://auth.example.com")
		}
		put(c, s)
		return nil
	}
}
