package main

import (
	"context"
	"path/filepath"

	"aai"
	"aai/internal/discovery/ways"
	"aai/internal/generate"
	"aai/internal/imports"
)

// generator writes descriptors of programs that have none. They are saved where people keep
// theirs.
func (s *setup) generator(drivers map[string]aai.Driver, takes *imports.Room) *generate.Generator {
	return generate.New(generate.Config{
		Driver: drivers["linux/dbus"], Entries: s.platform.entries, Folder: filepath.Join(s.home, ".aai"), Language: s.asks.language,
		Refuses: s.lists().Refuses, Elsewhere: takes.Source,
	})
}

// changedSources says for a look which apps were made of what says something else by now.
func changedSources(g *generate.Generator) func(context.Context) ([]ways.Change, []string) {
	return func(ctx context.Context) (found []ways.Change, silent []string) {
		for _, s := range g.Sources(ctx, 3*ways.Patience) {
			switch {
			case s.State == generate.Changed:
				found = append(found, ways.Change{App: s.App, From: s.From, Digest: s.Digest, Again: s.Again})
			case s.Late:
				silent = append(silent, "what "+s.App+" was made of")
			}
		}
		return found, silent
	}
}
