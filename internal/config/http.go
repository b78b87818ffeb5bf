package config

import "time"

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
	return []settingSpec{
		{"http.port", "the port of mcp serve --http; 0: any that is free", widensNever, bothSpellings("HTTP_PORT"),
			portAt(func(c *Config) *int { return &c.HTTP.Port })},
		{"http.bind", "the address that mcp serve --http listens on", widensIfChanged, bothSpellings("HTTP_BIND"),
			wordAt("an address", func(c *Config) *string { return &c.HTTP.Bind })},
		{"http.sse", "also the transport of 2024-11-05", widensNever, nil,
			boolAt(func(c *Config) *bool { return &c.HTTP.SSE })},
		{"http.idle", "seconds until a session ends that nobody uses, 1 to 3600", widensNever, nil,
			secondsAt(1, maxSeconds, false, func(c *Config) *time.Duration { return &c.HTTP.IdleTimeout })},
		{"http.url", "the server's address as clients know it, where it is not made of port and address",
			widensIfChanged, nil, urlAt(func(c *Config) *string { return &c.HTTP.PublicURL })},
		{"http.hosts", "more names of the server", widensIfChanged, nil,
			wordsAt("names of hosts", func(c *Config) *[]string { return &c.HTTP.AllowedHosts })},
		{"http.origins", "web pages that may use the server", widensIfChanged, nil,
			wordsAt("origins", func(c *Config) *[]string { return &c.HTTP.AllowedOrigins })},
		{"http.auth", "what clients must show: a token of this gateway, one of an issuer, or nothing", widensIfChanged,
			[]string{"AAI_HTTP_AUTH"},
			choiceAt(func(c *Config) *string { return &c.HTTP.Auth }, AuthToken, AuthOAuth, AuthNone)},
		{"http.issuer", "whose tokens are good", widensIfChanged, nil,
			urlAt(func(c *Config) *string { return &c.HTTP.Issuer })},
		{"http.audience", "for whom tokens must be meant", widensIfChanged, nil,
			wordsAt("audiences", func(c *Config) *[]string { return &c.HTTP.Audience })},
		{"http.scopes", "which scopes tokens must have", widensIfChanged, nil,
			wordsAt("scopes", func(c *Config) *[]string { return &c.HTTP.Scopes })},
		{"http.clientId", "as whom the issuer is asked about tokens", widensIfChanged, nil,
			wordAt("a client id", func(c *Config) *string { return &c.HTTP.ClientID })},
		{"http.clientSecretFile", "the file with the secret for that", widensIfChanged, nil,
			pathAt(func(c *Config) *string { return &c.HTTP.ClientSecretFile })},
	}
}
