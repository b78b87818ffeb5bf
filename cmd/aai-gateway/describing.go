package main

import (
	"path/filepath"

	"aai"
	"aai/internal/generate"
)

// generator writes descriptors of programs that have none. They are saved where people keep
// theirs.
func (s *setup) generator(drivers map[string]aai.Driver) *generate.Generator {
	return generate.New(generate.Config{
		Driver: drivers["linux/dbus"], Entries: s.platform.entries, Folder: filepath.Join(s.home, ".aai"), Language: s.asks.language,
		Refuses: s.lists().Refuses,
	})
}
