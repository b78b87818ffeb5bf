package main

import (
	"io"
	"log/slog"
	"path/filepath"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/catalog"
	"github.com/gybob/aai-gateway/internal/catalog/discovery"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/drivers/com"
	"github.com/gybob/aai-gateway/internal/platform/cdp"
	"github.com/gybob/aai-gateway/internal/platform/linux/dialog"
	"github.com/gybob/aai-gateway/internal/platform/windows/hwnd"
	"github.com/gybob/aai-gateway/internal/platform/windows/msaa"
	"github.com/gybob/aai-gateway/internal/platform/windows/uia"
	"github.com/gybob/aai-gateway/internal/platform/windows/wintree"
)

// hostPlatform returns Windows: descriptors in the program data folders, tools over COM.
func hostPlatform(home string, getenv func(string) string) platform {
	folder := func(variable, fallback string) string {
		if dir := getenv(variable); filepath.IsAbs(dir) {
			return dir
		}
		return fallback
	}
	local := folder("LOCALAPPDATA", filepath.Join(home, "AppData", "Local"))
	return platform{
		name:          "windows",
		screen:        func(getenv func(string) string) bool { return getenv("SSH_CONNECTION") == "" },
		watchWindows:  func(c *dialog.Config) { c.FocusedPID = dialog.FocusedPID },
		data:          filepath.Join(local, "aai-gateway"),
		cache:         filepath.Join(home, ".cache", "aai-gateway"), // the AAI protocol's place on every system
		siteNamesFile: filepath.Join(home, ".config", "aai-gateway", namesFile),
		descriptorPlaces: func(cfg *setup) []catalog.Place {
			return append(folders(cfg.ScanPaths),
				catalog.Files(filepath.Join(folder("PROGRAMDATA", `C:\ProgramData`), "aai"), "*.json"),
				catalog.Files(filepath.Join(folder("APPDATA", filepath.Join(home, "AppData", "Roaming")), "aai"), "*.json"),
			)
		},
		integrations: func(cfg *setup) discovery.ScannerConfig { return cfg.classes() },
		drivers: func(cfg *setup, log *slog.Logger) (map[string]aai.Driver, io.Closer) {
			d := com.New(com.Config{Command: cfg.comChild, Log: log})
			return map[string]aai.Driver{"windows/com": d, "windows/ipc": d}, d
		},
		refsFolder: filepath.Join(local, "aai-gateway", "refs"),
		desktop: func(cfg *setup, log *slog.Logger) (func() desktop.Backend, io.Closer) {
			inner := msaa.New() // the last one too, so that its elements are found by their prefix
			tree := wintree.New(wintree.Config{Sources: []wintree.Source{uia.New(), hwnd.New(inner), inner}, Log: log})
			backend, closer := cfg.screenBackend(log)
			backend.Tree, backend.Actor, backend.Events = tree, tree, tree
			backend = cdp.Wrap(backend, cfg.browsers, log)
			return func() desktop.Backend { return backend }, closer
		},
	}
}
