package main

import (
	"context"
	"fmt"
	"log/slog"
	"net/http"

	"aai"
	"aai/internal/catalog"
	"aai/internal/discovery"
	"aai/internal/egress"
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

func setAllowPrivate(c *config, _ string, value any) error {
	hosts := []string{}
	if err := setWords(&hosts, `hosts such as "jira.example.com" or "10.1.2.3:8443"`, value); err != nil {
		return err
	}
	for i, host := range hosts {
		if err := egress.CheckTrusted(host); err != nil {
			return fmt.Errorf(`[%d]: expected a host such as "jira.example.com" or "10.1.2.3:8443": %w`, i, err)
		}
	}
	c.AllowPrivate = hosts
	return nil
}

// wayOut is the one way to the web.
func (c *config) wayOut() *egress.Client {
	return egress.New(egress.Config{AllowPrivate: c.AllowPrivate, Dev: c.Dev, RootCAs: c.roots})
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

// closeClient ends the connections of the way out.
type closeClient struct{ client *egress.Client }

// Close implements io.Closer.
func (c closeClient) Close() error {
	c.client.Close()
	return nil
}

// web is the web in front of the apps of this computer.
func (c *config) web(local *catalog.Catalog, client *egress.Client, drivers map[string]aai.Driver, log *slog.Logger) *discovery.Web {
	return discovery.New(discovery.Config{
		Local: local, Client: client, Drivers: drivers, DefaultTimeout: c.DefaultTimeout, Log: log,
		Cache: c.platform.cache, Names: c.platform.names,
	})
}
