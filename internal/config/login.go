package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/oauth"
)

// Login configures logins to web apps.
type Login struct {
	Sites          map[string]oauth.SiteSettings
	sitesJSON      any
	Env            []string // variables that local descriptors may name for keys
	ClientDocument string   // address of the published client metadata document; empty: none
	OpenBrowser    bool
}

func defaultLogin() Login {
	return Login{sitesJSON: map[string]any{}, Env: []string{}, OpenBrowser: true}
}

// loginSettings returns the settings about logins. Trust in sites is set in the person's file
// only.
func loginSettings() []settingSpec {
	return []settingSpec{
		{"login.sites", "by host or issuer: clientId, hosts of other sites that are trusted, redirectHost, redirectPort",
			widensUnlessDefault, nil,
			settingValue{kind: KindObject, get: func(c *Config) any { return c.Login.sitesJSON }, set: setSites}},
		{"login.env", "variables that descriptors on this computer may name for keys", widensUnlessDefault, nil,
			wordsAt("names of variables", func(c *Config) *[]string { return &c.Login.Env })},
		{"login.clientDocument", "the address where the gateway's client metadata document is published",
			widensUnlessDefault, nil,
			valueOf(KindText, func(c *Config) *string { return &c.Login.ClientDocument }, parseDocument)},
		{"login.browser", "whether pages to log in at are opened in the browser", widensUnlessDefault,
			[]string{"AAI_LOGIN_BROWSER"}, boolAt(func(c *Config) *bool { return &c.Login.OpenBrowser })},
	}
}

func parseDocument(value any) (string, error) {
	s, _ := value.(string)
	if _, err := oauth.ClientMetadataDocument(s); err != nil {
		return "", errors.New("expected an https address with a path, such as https://example.com/aai-gateway.json")
	}
	return s, nil
}

// setSites reads the settings by site. A site is the host of an app or of an authorization
// server, or its issuer.
func setSites(c *Config, _ string, value any) error {
	entries, ok := value.(map[string]any)
	if !ok {
		return errors.New(`expected an object such as {"example.com": {"clientId": "…"}}`)
	}
	sites := make(map[string]oauth.SiteSettings, len(entries))
	for _, name := range slices.Sorted(maps.Keys(entries)) {
		site, err := parseSite(entries[name])
		if err != nil {
			return fmt.Errorf("[%q]%w", aai.CleanLabel(name, 60), err)
		}
		sites[name] = site
	}
	c.Login.Sites, c.Login.sitesJSON = sites, value
	return nil
}

// parseSite reads one entry. Its error begins with the place.
func parseSite(value any) (oauth.SiteSettings, error) {
	known := []string{"clientId", "hosts", "redirectHost", "redirectPort"}
	fields, ok := value.(map[string]any)
	if !ok {
		return oauth.SiteSettings{}, fmt.Errorf(": expected an object with some of %q", known)
	}
	for _, name := range slices.Sorted(maps.Keys(fields)) {
		if !slices.Contains(known, name) {
			return oauth.SiteSettings{},
				fmt.Errorf(": there is no field %q; expected some of %q", aai.CleanLabel(name, 60), known)
		}
	}
	var site struct {
		ClientID     string   `json:"clientId"`
		Hosts        []string `json:"hosts"`
		RedirectHost string   `json:"redirectHost"`
		RedirectPort int      `json:"redirectPort"`
	}
	raw, err := json.Marshal(fields)
	if err == nil {
		err = json.Unmarshal(raw, &site)
	}
	if err != nil {
		return oauth.SiteSettings{},
			errors.New(`: expected texts for "clientId" and "redirectHost", a list of hosts, and a port`)
	}
	if site.RedirectPort < 0 || site.RedirectPort > 65535 {
		return oauth.SiteSettings{}, errors.New(".redirectPort: expected a port from 1 to 65535")
	}
	// No other loopback names: the server has registered this spelling.
	if !slices.Contains([]string{"", "127.0.0.1", "[::1]", "localhost"}, site.RedirectHost) {
		return oauth.SiteSettings{}, errors.New(`.redirectHost: expected "127.0.0.1", "[::1]" or "localhost"`)
	}
	return oauth.SiteSettings{ClientID: site.ClientID, Hosts: site.Hosts, RedirectHost: site.RedirectHost,
		RedirectPort: site.RedirectPort}, nil
}
