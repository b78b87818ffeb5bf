package main

import (
	"context"
	"fmt"
	"log/slog"

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
