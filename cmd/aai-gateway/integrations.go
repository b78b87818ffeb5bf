package main

import (
	"context"
	"log/slog"
	"maps"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/catalog"
	"github.com/gybob/aai-gateway/internal/catalog/desktopentry"
	"github.com/gybob/aai-gateway/internal/catalog/discovery"
	"github.com/gybob/aai-gateway/internal/clients"
	"github.com/gybob/aai-gateway/internal/importers/introspect"
)

// integrationScanner finds integrations for the apps of this computer.
type integrationScanner struct {
	integrations *discovery.Scanner
	interval     time.Duration // between scans of a running gateway
}

// integrationScanner creates a scanner for this system. known lists the apps at the time of each scan.
func (s *setup) integrationScanner(getenv func(string) string, known *combinedCatalog, describes *introspect.Generator, log *slog.Logger) *integrationScanner {
	var cfg discovery.ScannerConfig
	if s.platform.integrations != nil {
		cfg = s.platform.integrations(s)
	}
	clients := clients.New(clients.Config{Home: s.home, Getenv: getenv, System: runtime.GOOS})
	cfg.Servers = func(context.Context) ([]discovery.MCPServer, []string) {
		found, unread := clients.Servers()
		servers := make([]discovery.MCPServer, len(found))
		for i, f := range found {
			servers[i] = discovery.MCPServer(f)
		}
		return servers, unread
	}
	cfg.Apps = func(context.Context) []discovery.DescribedApp {
		return describedApps(known.local.Apps(), s.platform.name)
	}
	cfg.ChangedSources = changedSources(describes)
	cfg.HistoryFile, cfg.Log = filepath.Join(s.platform.data, "ways.json"), log
	return &integrationScanner{discovery.NewScanner(cfg), s.ScanInterval}
}

// scan returns all integrations.
func (w *integrationScanner) scan(ctx context.Context) (any, error) {
	return w.integrations.Scan(ctx), nil
}

// alongside returns a function that runs watch and the regular scans.
func (w *integrationScanner) alongside(watch func(context.Context)) func(context.Context) {
	return func(ctx context.Context) {
		go w.integrations.Watch(ctx, w.interval)
		watch(ctx)
	}
}

// describedApps returns the bus names, COM classes and desktop entries of the apps with descriptors.
func describedApps(apps []*aai.App, host string) []discovery.DescribedApp {
	var all []discovery.DescribedApp
	for _, app := range apps {
		if app.Descriptor.Raw == nil || app.Site.Origin != "" {
			continue
		}
		read, err := catalog.Parse(app.Descriptor.Raw, catalog.Options{HostPlatform: host})
		if err != nil {
			continue
		}
		services, entries := make(map[string]bool), make(map[string]bool)
		for _, r := range read.Recipes {
			switch {
			case r.DBus != nil:
				services[r.DBus.Service] = true
			case r.IPC != nil:
				services[r.IPC.Service], services[r.IPC.ProgID] = true, true
			case r.COM != nil:
				services[r.COM.ProgID] = true
			}
			entries[r.Start] = true
		}
		delete(services, "")
		delete(entries, "")
		one := discovery.DescribedApp{ID: app.ID, Services: slices.Sorted(maps.Keys(services)), Entries: slices.Sorted(maps.Keys(entries))}
		if read.Document.Generated != nil {
			one.Source = read.Document.Generated.From
		}
		all = append(all, one)
	}
	return all
}

// icons finds the icons of apps by the entries and services in their descriptors.
func (s *setup) icons(known *combinedCatalog) *desktopentry.IconFinder {
	return desktopentry.NewIconFinder(desktopentry.IconConfig{EntryFolders: s.platform.desktopEntryFolders, Home: s.home, Names: func() map[string][]string {
		names := make(map[string][]string)
		for _, app := range describedApps(known.local.Apps(), s.platform.name) {
			names[app.ID] = slices.Concat(app.Entries, app.Services)
		}
		return names
	}})
}
