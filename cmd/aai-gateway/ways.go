package main

import (
	"context"
	"log/slog"
	"maps"
	"path/filepath"
	"runtime"
	"slices"
	"time"

	"aai"
	"aai/internal/catalog"
	"aai/internal/discovery/ways"
	"aai/internal/generate"
	"aai/internal/icons"
	"aai/internal/install"
)

// A seeker looks for ways into the apps of this computer.
type seeker struct {
	room     *ways.Room
	interval time.Duration // between looks of a running gateway
}

// seeker makes one, with what this system has. The apps are those that are known by then.
func (s *setup) seeker(getenv func(string) string, known *everywhere, describes *generate.Generator, log *slog.Logger) *seeker {
	var cfg ways.Config
	if s.platform.ways != nil {
		cfg = s.platform.ways(s)
	}
	clients := install.New(install.Config{Home: s.home, Getenv: getenv, System: runtime.GOOS})
	cfg.Servers = func(context.Context) ([]ways.Server, []string) {
		found, unread := clients.Servers()
		servers := make([]ways.Server, len(found))
		for i, f := range found {
			servers[i] = ways.Server(f)
		}
		return servers, unread
	}
	cfg.Apps = func(context.Context) []ways.App { return described(known.local.Apps(), s.platform.name) }
	cfg.Changed = changedSources(describes)
	cfg.Memory, cfg.Log = filepath.Join(s.platform.data, "ways.json"), log
	return &seeker{ways.New(cfg), s.ScanInterval}
}

// look is all that was found.
func (w *seeker) look(ctx context.Context) (any, error) { return w.room.Look(ctx), nil }

// beside is another watch with the looks of a running gateway beside it.
func (w *seeker) beside(watch func(context.Context)) func(context.Context) {
	return func(ctx context.Context) {
		go w.room.Watch(ctx, w.interval)
		watch(ctx)
	}
}

// described says by which names on the bus and entries the apps with descriptors go.
func described(apps []*aai.App, host string) []ways.App {
	var all []ways.App
	for _, app := range apps {
		if app.Descriptor == nil || app.Origin != "" {
			continue
		}
		read, err := catalog.Parse(app.Descriptor, catalog.Options{Host: host})
		if err != nil {
			continue
		}
		services, entries := make(map[string]bool), make(map[string]bool)
		for _, r := range read.Recipes {
			switch {
			case r.DBus != nil:
				services[r.DBus.Service] = true
			case r.IPC != nil:
				services[r.IPC.Service] = true
			}
			entries[r.Start] = true
		}
		delete(services, "")
		delete(entries, "")
		one := ways.App{ID: app.ID, Services: slices.Sorted(maps.Keys(services)), Entries: slices.Sorted(maps.Keys(entries))}
		if read.Document.Generated != nil {
			one.From = read.Document.Generated.From
		}
		all = append(all, one)
	}
	return all
}

// icons finds the pictures of apps, by the entries and services that their descriptors name.
func (s *setup) icons(known *everywhere) *icons.Room {
	return icons.New(icons.Config{Entries: s.platform.entries, Home: s.home, Names: func() map[string][]string {
		names := make(map[string][]string)
		for _, app := range described(known.local.Apps(), s.platform.name) {
			names[app.ID] = slices.Concat(app.Entries, app.Services)
		}
		return names
	}})
}
