package main

import (
	"io"
	"log/slog"
	"path/filepath"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/catalog"
)

// hostPlatform returns macOS: descriptors in app bundles, tools by osascript, those of iOS in simulators, and programs by the
// accessibility API. It never ran on a Mac.
func hostPlatform(home string, getenv func(string) string) platform {
	return platform{
		name:          "macos",
		screen:        func(getenv func(string) string) bool { return getenv("SSH_CONNECTION") == "" },
		data:          filepath.Join(home, ".local", "share", "aai-gateway"),
		cache:         filepath.Join(home, ".cache", "aai-gateway"),
		siteNamesFile: filepath.Join(home, ".config", "aai-gateway", namesFile),
		descriptorPlaces: func(cfg *setup) []catalog.Place {
			places := append(folders(cfg.ScanPaths),
				catalog.Bundles("/Applications"),
				catalog.Glob("/Applications", "*/*/Contents/Resources/"+catalog.FileName),
				catalog.Bundles(filepath.Join(home, "Applications")),
				catalog.Glob(filepath.Join(home, "Applications"), "*/*/Contents/Resources/"+catalog.FileName),
			)
			if cfg.DevMode {
				derived := filepath.Join(home, "Library", "Developer", "Xcode", "DerivedData")
				for _, build := range []string{"Debug", "Release"} {
					places = append(places, catalog.Glob(derived, "*/Build/Products/"+build+"/*/Contents/Resources/"+catalog.FileName))
				}
			}
			return places
		},
		runScript: appleScripts(getenv, "/usr/bin").RunScript,
		drivers: func(*setup, *slog.Logger) (map[string]aai.Driver, io.Closer) {
			return appleDrivers(getenv, "/usr/bin"), io.NopCloser(nil)
		},
		desktop: macDesktop,
	}
}
