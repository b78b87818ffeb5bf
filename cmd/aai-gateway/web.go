package main

import (
	"context"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"

	"aai"
	"aai/internal/catalog"
	"aai/internal/config"
	"aai/internal/discovery"
	"aai/internal/drivers/webapi"
	"aai/internal/egress"
	"aai/internal/login"
)

// namesFile is the file of the person's names for web sites, as the AAI protocol
// calls it.
const namesFile = "name-cache.json"

// everywhere is the apps of this computer and those of the web.
type everywhere struct {
	*discovery.Web
	local *catalog.Catalog
}

// Report tells of the descriptors of this computer.
func (e *everywhere) Report(ctx context.Context) (*catalog.Report, error) { return e.local.Report(ctx) }

// hints are what else a site publishes for programs.
func (e *everywhere) hints(ctx context.Context, address string) (string, any, error) {
	return e.Hints(ctx, address)
}

// wayOut is the one way to the web.
func (s *setup) wayOut() *egress.Client {
	return egress.New(egress.Config{AllowPrivate: s.AllowPrivate, Dev: s.Dev, RootCAs: s.roots})
}

// fetch gets a page that a person named.
func fetch(client *egress.Client) func(context.Context, string) ([]byte, error) {
	return func(ctx context.Context, address string) ([]byte, error) {
		page, err := client.Fetch(ctx, egress.FetchRequest{URL: address, Accept: "application/json"})
		switch {
		case err != nil:
			return nil, err
		case page.Status != http.StatusOK:
			return nil, aai.Errorf(aai.AppNotFound, "%s answered %d; expected a descriptor", aai.CleanLabel(address, 200), page.Status)
		}
		return page.Body, nil
	}
}

// fetchLong gets a document that a person named, of at most so many bytes.
func fetchLong(client *egress.Client) func(context.Context, string, int) ([]byte, error) {
	return func(ctx context.Context, address string, most int) ([]byte, error) {
		page, err := client.Fetch(ctx, egress.FetchRequest{URL: address, Accept: "application/json, application/yaml, text/*;q=0.9", Limit: most})
		switch {
		case err != nil:
			return nil, err
		case page.Status != http.StatusOK:
			return nil, aai.Errorf(aai.AppNotFound, "%s answered %d; expected a document", aai.CleanLabel(address, 200), page.Status)
		}
		return page.Body, nil
	}
}

// closeClient ends the connections of the way out.
type closeClient struct{ client *egress.Client }

// Close implements io.Closer.
func (c closeClient) Close() error {
	c.client.Close()
	return nil
}

// web is the web in front of the apps of this computer.
func (s *setup) web(local aai.Catalog, client *egress.Client, drivers map[string]aai.Driver, log *slog.Logger) *discovery.Web {
	return discovery.New(discovery.Config{
		Local: local, Client: client, Drivers: drivers, DefaultTimeout: s.DefaultTimeout, Log: log,
		Cache: s.platform.cache, Names: s.platform.names,
	})
}

// withWeb adds to a platform's drivers the one for web apps, which is the same
// everywhere.
func withWeb(drivers map[string]aai.Driver, client *http.Client, logins webapi.Authorizer, c config.Web) map[string]aai.Driver {
	all := maps.Clone(drivers)
	if all == nil {
		all = make(map[string]aai.Driver)
	}
	all["http"] = webapi.New(webapi.Config{Client: client, Login: logins, Rate: c.Rate, Burst: max(int(2*c.Rate), 1)})
	return all
}

// logins know the person to web apps, through the one way out.
func (s *setup) logins(client *http.Client, secrets login.Secrets, getenv func(string) string, log *slog.Logger) *login.Logins {
	var browser func(context.Context, string) error
	if s.Login.Browser {
		browser = func(ctx context.Context, address string) error {
			return login.OpenBrowser(ctx, address, withoutSecrets(s.session.Environ(os.Environ())))
		}
	}
	return login.New(login.Config{
		Client: client, Secrets: secrets, Browser: browser, Screen: func() bool { return s.platform.screen(s.session.Getenv) }, Sites: s.Login.Sites, Document: s.Login.Document,
		Env: s.Login.Env, Getenv: getenv, Brief: s.brief, Dev: s.Dev, Log: log,
	})
}

// withoutSecrets are the variables without the gateway's own secrets.
func withoutSecrets(environ []string) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		ours := strings.HasPrefix(name, "AAI_") || strings.HasPrefix(name, "AXTERMINATOR_")
		return ours && (strings.HasSuffix(name, "_TOKEN") || strings.Contains(name, "_KEY") || strings.Contains(name, "SECRET") || strings.Contains(name, "PASSPHRASE"))
	})
}
