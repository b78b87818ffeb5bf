package main

import (
	"context"
	"log/slog"
	"maps"
	"net/http"
	"os"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/audit/kept"
	"github.com/gybob/aai-gateway/internal/catalog"
	"github.com/gybob/aai-gateway/internal/catalog/discovery"
	"github.com/gybob/aai-gateway/internal/drivers/webapi"
	"github.com/gybob/aai-gateway/internal/events"
	"github.com/gybob/aai-gateway/internal/netguard"
	"github.com/gybob/aai-gateway/internal/oauth"
	"github.com/gybob/aai-gateway/internal/secrets"
)

// namesFile is the file of the user's names for web sites, named by the AAI protocol.
const namesFile = "name-cache.json"

// combinedCatalog holds the apps of this computer and of the web.
type combinedCatalog struct {
	*discovery.WebCatalog
	local *catalog.Catalog
	pages aai.Catalog // in front of local
}

// withPages sets the catalog with the open pages, and returns it.
func (e *combinedCatalog) withPages(c aai.Catalog) aai.Catalog {
	e.pages = c
	return c
}

// Find implements aai.Catalog. The id of an open page has the form of an address, but is none of a web app.
func (e *combinedCatalog) Find(ctx context.Context, name string) (*aai.App, error) {
	if aai.IsPageName(name) {
		return e.pages.Find(ctx, name)
	}
	return e.WebCatalog.Find(ctx, name)
}

// Report reports on the descriptors of this computer.
func (e *combinedCatalog) Report(ctx context.Context) (*catalog.Report, error) {
	return e.local.Report(ctx)
}

// hints returns the other data that a site publishes for programs.
func (e *combinedCatalog) hints(ctx context.Context, address string) (string, any, error) {
	return e.Hints(ctx, address)
}

// webClient returns the only client for web access.
func (s *setup) webClient() *netguard.Client {
	return netguard.New(netguard.Config{AllowPrivate: s.AllowedPrivateHosts, TrustLoopback: s.DevMode, RootCAs: s.roots})
}

// fetch returns a function that gets a page the user named.
func fetch(client *netguard.Client) func(context.Context, string) ([]byte, error) {
	return func(ctx context.Context, address string) ([]byte, error) {
		page, err := client.Fetch(ctx, netguard.FetchRequest{URL: address, Accept: "application/json"})
		switch {
		case err != nil:
			return nil, err
		case page.Status != http.StatusOK:
			return nil, aai.Errorf(aai.AppNotFound, "%s answered %d; expected a descriptor", aai.CleanLabel(address, 200), page.Status)
		}
		return page.Body, nil
	}
}

// fetchLong returns a function that gets a document the user named, up to a size limit in bytes.
func fetchLong(client *netguard.Client) func(context.Context, string, int) ([]byte, error) {
	return func(ctx context.Context, address string, most int) ([]byte, error) {
		page, err := client.Fetch(ctx, netguard.FetchRequest{URL: address, Accept: "application/json, application/yaml, text/*;q=0.9", MaxBytes: most})
		switch {
		case err != nil:
			return nil, err
		case page.Status != http.StatusOK:
			return nil, aai.Errorf(aai.AppNotFound, "%s answered %d; expected a document", aai.CleanLabel(address, 200), page.Status)
		}
		return page.Body, nil
	}
}

// clientCloser closes the client's connections.
type clientCloser struct{ client *netguard.Client }

// Close implements io.Closer.
func (c clientCloser) Close() error {
	c.client.Close()
	return nil
}

// web returns the catalog of web apps over the local catalog.
func (s *setup) web(local aai.Catalog, client *netguard.Client, drivers map[string]aai.Driver, recorders *events.Recorders, log *slog.Logger) *discovery.WebCatalog {
	return discovery.NewWebCatalog(discovery.WebConfig{
		LocalCatalog: local, Client: client, Drivers: drivers, DefaultTimeout: s.DefaultTimeout, Events: recorders, Log: log,
		Cache: s.platform.cache, Names: s.platform.siteNamesFile,
	})
}

// withWeb adds the web driver, which is the same on all platforms, to the platform's drivers.
func (s *setup) withWeb(drivers map[string]aai.Driver, client *http.Client, logins webapi.Authorizer, results *kept.ResultStore) map[string]aai.Driver {
	all := maps.Clone(drivers)
	if all == nil {
		all = make(map[string]aai.Driver)
	}
	limit := s.Web.RequestsPerSecond
	c := webapi.Config{Client: client, Authorizer: logins, KeptResult: results.Content, Rate: limit, Burst: max(int(2*limit), 1)}
	c.SecretFiles = s.secretFiles()
	all["http"] = webapi.New(c)
	return all
}

// secretFiles returns the files that are never sent.
func (s *setup) secretFiles() []string {
	if key := s.personSession.Getenv(secrets.KeyFileEnv); key != "" {
		return []string{key}
	}
	return nil
}

// logins returns the authorizer for web apps, over the only web client.
func (s *setup) logins(client *http.Client, secrets oauth.Secrets, getenv func(string) string, log *slog.Logger) *oauth.Authorizer {
	var browser func(context.Context, string) error
	if s.Login.OpenBrowser {
		browser = func(ctx context.Context, address string) error {
			return oauth.OpenBrowser(ctx, address, withoutSecrets(s.personSession.Environ(os.Environ())))
		}
	}
	return oauth.New(oauth.Config{
		Client: client, Secrets: secrets, Browser: browser, HasScreen: func() bool { return s.platform.screen(s.personSession.Getenv) }, Sites: s.Login.Sites, ClientDocumentURL: s.Login.ClientDocument,
		CredentialsPage: credentialsPage, AllowedEnv: s.Login.Env, Getenv: getenv, ShortLived: s.exitsAfterCall, AllowLoopbackHTTP: s.DevMode, Log: log,
	})
}

// withoutSecrets returns the variables without the gateway's own secrets.
func withoutSecrets(environ []string) []string {
	return slices.DeleteFunc(slices.Clone(environ), func(v string) bool {
		name, _, _ := strings.Cut(v, "=")
		ours := strings.HasPrefix(name, "AAI_") || strings.HasPrefix(name, "AXTERMINATOR_")
		return ours && (strings.HasSuffix(name, "_TOKEN") || strings.Contains(name, "_KEY") || strings.Contains(name, "SECRET") || strings.Contains(name, "PASSPHRASE"))
	})
}
