package main

import (
	"context"
	"path/filepath"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/catalog/discovery"
	"github.com/gybob/aai-gateway/internal/importers"
	"github.com/gybob/aai-gateway/internal/importers/introspect"
)

// generator returns the generator of descriptors for programs without one. It saves them in the
// user's folder.
func (s *setup) generator(drivers map[string]aai.Driver, takes *importers.Importer) *introspect.Generator {
	classes, _ := drivers["windows/com"].(introspect.COMDriver)
	return introspect.New(introspect.Config{
		Driver: drivers["linux/dbus"], COM: classes, EntryFolders: s.platform.desktopEntryFolders, Folder: filepath.Join(s.home, ".aai"), Language: s.promptScreen.language,
		CheckAllowed: s.appLists().CheckApp, ExternalSource: takes.CurrentDigest,
	})
}

// changedSources returns a function that lists the apps with changed sources, for a scan.
func changedSources(g *introspect.Generator) func(context.Context) ([]discovery.SourceChange, []string) {
	return func(ctx context.Context) (found []discovery.SourceChange, silent []string) {
		for _, s := range g.CheckSources(ctx, 3*discovery.DefaultCallTimeout) {
			switch {
			case s.State == introspect.SourceChanged:
				found = append(found, discovery.SourceChange{App: s.App, Source: s.Name, Digest: s.Digest, RegenerateCommand: s.RegenerateCommand})
			case s.TimedOut:
				silent = append(silent, "what "+s.App+" was made of")
			}
		}
		return found, silent
	}
}
