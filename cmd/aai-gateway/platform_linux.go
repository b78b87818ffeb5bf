package main

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"path/filepath"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/catalog"
	"github.com/gybob/aai-gateway/internal/catalog/discovery"
	"github.com/gybob/aai-gateway/internal/dbus/wire"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/drivers/dbus"
	"github.com/gybob/aai-gateway/internal/platform/cdp"
	"github.com/gybob/aai-gateway/internal/platform/linux/actingsign"
	"github.com/gybob/aai-gateway/internal/platform/linux/atspi"
	"github.com/gybob/aai-gateway/internal/platform/linux/dialog"
	"github.com/gybob/aai-gateway/internal/platform/linux/session"
	"github.com/gybob/aai-gateway/internal/platform/linux/wayland"
	"github.com/gybob/aai-gateway/internal/platform/linux/x11"
)

// hostPlatform returns Linux with a freedesktop desktop: descriptors beside .desktop files (XDG
// Base Directory Specification), tools over D-Bus.
func hostPlatform(home string, getenv func(string) string) platform {
	dataHome := absoluteOr(getenv("XDG_DATA_HOME"), filepath.Join(home, ".local", "share"))
	dataDirs := []string{dataHome}
	system := getenv("XDG_DATA_DIRS")
	if system == "" {
		system = "/usr/local/share:/usr/share"
	}
	for _, dir := range strings.Split(system, ":") {
		if filepath.IsAbs(dir) {
			dataDirs = append(dataDirs, dir)
		}
	}
	data := filepath.Join(dataHome, "aai-gateway")
	runtime := getenv("XDG_RUNTIME_DIR") // in memory, and deleted at logout
	if !filepath.IsAbs(runtime) {
		runtime = dataHome
	}
	return platform{
		name: "linux",
		screen: func(getenv func(string) string) bool {
			return getenv("DISPLAY") != "" || getenv("WAYLAND_DISPLAY") != ""
		},
		checkScreen:        x11.CheckAccess,
		describeCompositor: describeCompositor,
		watchWindows: func(c *dialog.Config) {
			seen := wayland.NewSession(wayland.New(wayland.Config{Getenv: c.Getenv, InputLock: c.InputLock}), x11.New(x11.Config{Getenv: c.Getenv, InputLock: c.InputLock}))
			c.FocusedPID, c.ShowsWindow, c.FloatWindows = seen.FocusedPID, seen.HasWindow, seen.FloatWindows
		},
		data:                data,
		cache:               filepath.Join(absoluteOr(getenv("XDG_CACHE_HOME"), filepath.Join(home, ".cache")), "aai-gateway"),
		siteNamesFile:       filepath.Join(absoluteOr(getenv("XDG_CONFIG_HOME"), filepath.Join(home, ".config")), "aai-gateway", namesFile),
		refsFolder:          filepath.Join(runtime, "aai-gateway", "refs"),
		descriptorPlaces:    func(cfg *setup) []catalog.Place { return cfg.descriptorPlaces(dataDirs) },
		desktopEntryFolders: applications(dataDirs),
		shellExtension:      func() (shellExtension, error) { return wayland.NewExtension(dataHome) },
		drivers: func(cfg *setup, log *slog.Logger) (map[string]aai.Driver, io.Closer) {
			bus := dbus.New(dbus.Config{AllowSystemBus: cfg.AllowSystemBus, Getenv: cfg.session.Getenv, StartEntry: cfg.appStarter(dataDirs), Log: log})
			return map[string]aai.Driver{"linux/dbus": bus, "linux/ipc": bus}, bus
		},
		integrations: func(cfg *setup) discovery.ScannerConfig { return cfg.integrationSources(dataDirs) },
		desktopEntry: func(cfg *setup) func(string) string { return cfg.programs(dataDirs).EntryCommand },
		desktop: func(cfg *setup, log *slog.Logger) (func() desktop.Backend, io.Closer) {
			getenv := cfg.session.Getenv
			environ := cfg.appEnviron
			shared := cfg.inputLock()
			screen := x11.New(x11.Config{Getenv: getenv, InputLock: shared, ClipServer: clipboardCommand(environ, "DISPLAY"), Log: log})
			programs := cfg.programs(dataDirs)
			compositor := wayland.New(cfg.compositorConfig(shared, log))
			seen := wayland.NewSession(compositor, screen)
			indicator := screen.Indicator(cfg.actingSign(compositor))
			reason := pauseReason(getenv, (&session.PauseChecker{Detector: cfg.session, Screen: seen.PauseReason}).Reason)
			shared.SetPauseReason(reason)
			tree := atspi.New(atspi.Config{Getenv: getenv, Windows: seen, HasRelativeFrames: seen.HasRelativeFrames, KeepOpen: programs.KeepOpen, Log: log})
			backend := cdp.Wrap(desktop.Backend{
				Tree: tree, Offscreen: tree, Documents: tree, Actor: tree, Events: tree, Changes: desktopChanges{tree, seen, getenv},
				Windows: seen, Input: seen, Screen: seen, Clipboard: seen,
				Programs: programs, Indicator: indicator, Person: seen, PauseReason: reason,
			}, cfg.browsers, log)
			return func() desktop.Backend { return backend }, desktopConnections{tree, screen, compositor, indicator}
		},
	}
}

// actingSign returns the configuration of the sign that an agent acts.
func (s *setup) actingSign(compositor *wayland.Display) actingsign.Config {
	return actingsign.Config{Sign: s.ActingSign, StopKey: parseChord(s.StopKey), OnStop: s.stopEverything, Compositor: compositor.OpenSign}
}

// describeCompositor asks the compositor for the parts of the screen that it offers.
func describeCompositor(ctx context.Context, getenv func(string) string) (lines []string, data map[string]any) {
	compositor := wayland.New(wayland.Config{Getenv: getenv})
	if !compositor.IsOffered() {
		return nil, nil
	}
	defer func() { _ = compositor.Close() }()
	offer, err := compositor.Offer(ctx)
	if err != nil {
		return []string{"the compositor does not answer: " + err.Error()}, map[string]any{"error": err.Error()}
	}
	return offer.Lines(), offer.Data()
}

// applications returns the folders of desktop entries.
func applications(dataDirs []string) []string {
	folders := make([]string, len(dataDirs))
	for i, dir := range dataDirs {
		folders[i] = filepath.Join(dir, "applications")
	}
	return folders
}

// descriptorPlaces returns the places to search for descriptors, the configured scan paths first.
func (s *setup) descriptorPlaces(dataDirs []string) []catalog.Place {
	places := folders(s.ScanPaths)
	for _, dir := range dataDirs {
		places = append(places, catalog.DesktopFilesPlace(filepath.Join(dir, "applications")))
	}
	for _, dir := range dataDirs {
		places = append(places, catalog.Files(filepath.Join(dir, "applications", "aai"), "*.json"))
	}
	return append(places, catalog.Glob("/opt", "*/"+catalog.FileName))
}

// integrationSources returns the buses and folders in which the scanner looks for integrations.
func (s *setup) integrationSources(dataDirs []string) discovery.ScannerConfig {
	return discovery.ScannerConfig{
		SessionBus: func() (string, error) { return wire.SessionAddress(s.session.Getenv) },
		SystemBus:  func() (string, error) { return wire.SystemAddress(s.session.Getenv), nil }, SystemBusAllowed: s.AllowSystemBus,
		NeverCalled:  dbus.IsNeverCalled,
		Denied:       func(names []string) bool { return s.appLists().CheckApp(&aai.App{ID: names[0], Aliases: names}) != nil },
		EntryFolders: applications(dataDirs),
	}
}

// programs returns the launcher for programs in the user's session.
func (s *setup) programs(dataDirs []string) *session.Launcher {
	environ := func() []string { return withoutSecrets(s.appEnviron()) }
	return session.NewLauncher(session.LauncherConfig{Getenv: s.session.Getenv, Environ: environ, Enter: s.input.desktopEnter, DataDirs: dataDirs, Libraries: session.Libraries()})
}

// appStarter returns a function that starts apps that the bus cannot start.
func (s *setup) appStarter(dataDirs []string) func(context.Context, string, string) (func() bool, error) {
	programs := s.programs(dataDirs)
	return func(ctx context.Context, entry, command string) (func() bool, error) {
		pid, err := programs.StartEntry(ctx, entry, command)
		return func() bool { return programs.IsRunning(pid) }, err
	}
}

// absoluteOr returns a folder of the environment if it is absolute. The specification says to
// ignore a relative one.
func absoluteOr(folder, otherwise string) string {
	if filepath.IsAbs(folder) {
		return folder
	}
	return otherwise
}

// desktopConnections closes the connections of the desktop.
type desktopConnections struct {
	tree       *atspi.Bus
	screen     *x11.Display
	compositor *wayland.Display
	indicator  *actingsign.Indicator
}

// Close implements io.Closer.
func (c desktopConnections) Close() error {
	c.indicator.Close()
	c.tree.Close()
	return errors.Join(c.compositor.Close(), c.screen.Close())
}
