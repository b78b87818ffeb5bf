package main

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"aai"
	"aai/internal/catalog"
	"aai/internal/dbuswire"
	"aai/internal/desktop"
	"aai/internal/desktop/atspi"
	"aai/internal/desktop/launcher"
	"aai/internal/desktop/x11"
	"aai/internal/discovery/ways"
	"aai/internal/drivers/dbus"
	"aai/internal/seat"
)

// hostPlatform is Linux with a freedesktop desktop: descriptors beside .desktop
// files (XDG Base Directory Specification), tools over D-Bus.
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
	runtime := getenv("XDG_RUNTIME_DIR") // in memory, and gone when the person logs out
	if !filepath.IsAbs(runtime) {
		runtime = dataHome
	}
	return platform{
		name: "linux",
		screen: func(getenv func(string) string) bool {
			return getenv("DISPLAY") != "" || getenv("WAYLAND_DISPLAY") != ""
		},
		accepts: x11.Accepts,
		seen: func(getenv func(string) string, shared *seat.Seat) (func(context.Context) (int, error), func(context.Context, int) (bool, error)) {
			screen := x11.New(x11.Config{Getenv: getenv, Seat: shared})
			return screen.FocusedBy, func(ctx context.Context, pid int) (bool, error) { return shows(ctx, screen, getenv, pid) }
		},

		data:    data,
		cache:   filepath.Join(absoluteOr(getenv("XDG_CACHE_HOME"), filepath.Join(home, ".cache")), "aai-gateway"),
		names:   filepath.Join(absoluteOr(getenv("XDG_CONFIG_HOME"), filepath.Join(home, ".config")), "aai-gateway", namesFile),
		refs:    filepath.Join(runtime, "aai-gateway", "refs"),
		places:  func(cfg *setup) []catalog.Place { return cfg.placesOnLinux(dataDirs) },
		entries: applications(dataDirs),
		drivers: func(cfg *setup, log *slog.Logger) (map[string]aai.Driver, io.Closer) {
			bus := dbus.New(dbus.Config{AllowSystemBus: cfg.AllowSystemBus, Getenv: cfg.session.Getenv, Start: cfg.starter(dataDirs), Log: log})
			return map[string]aai.Driver{"linux/dbus": bus, "linux/ipc": bus}, bus
		},
		ways:  func(cfg *setup) ways.Config { return cfg.waysOnLinux(dataDirs) },
		entry: func(cfg *setup) func(string) string { return cfg.programs(dataDirs).Entry },
		desktop: func(cfg *setup, log *slog.Logger) (func() desktop.Backend, io.Closer) {
			getenv := cfg.session.Getenv
			environ := func() []string { return cfg.session.Environ(os.Environ()) }
			screen := x11.New(x11.Config{Getenv: getenv, Seat: cfg.seat(), Keep: clipKeeper(environ), Log: log})
			programs := cfg.programs(dataDirs)
			tree := atspi.New(atspi.Config{Getenv: getenv, Windows: screen, Hold: programs.Hold, Log: log})
			backend := desktop.Backend{
				Tree: tree, Far: tree, Pages: tree, Actor: tree, Events: tree,
				Windows: screen, Input: screen, Screen: screen, Clipboard: screen,
				Programs: programs,
			}
			return func() desktop.Backend { return backend }, closeBoth{tree, screen}
		},
	}
}

// shows reports whether the process has a window on the X server. A compositor's windows
// cannot be seen, so it fails where there is one.
func shows(ctx context.Context, screen *x11.Display, getenv func(string) string, pid int) (bool, error) {
	if getenv("WAYLAND_DISPLAY") != "" {
		return false, errors.ErrUnsupported
	}
	windows, err := screen.Windows(ctx)
	return slices.ContainsFunc(windows, func(w desktop.WindowInfo) bool { return w.PID == pid }), err
}

// applications are the folders of desktop entries.
func applications(dataDirs []string) []string {
	folders := make([]string, len(dataDirs))
	for i, dir := range dataDirs {
		folders[i] = filepath.Join(dir, "applications")
	}
	return folders
}

// placesOnLinux are where descriptors lie.
func (s *setup) placesOnLinux(dataDirs []string) []catalog.Place {
	places := folders(s.ScanPaths)
	for _, dir := range dataDirs {
		places = append(places, catalog.DesktopFiles(filepath.Join(dir, "applications")))
	}
	for _, dir := range dataDirs {
		places = append(places, catalog.Files(filepath.Join(dir, "applications", "aai"), "*.json"))
	}
	return append(places, catalog.Glob("/opt", "*/"+catalog.FileName))
}

// waysOnLinux says where ways into apps are looked for.
func (s *setup) waysOnLinux(dataDirs []string) ways.Config {
	return ways.Config{
		Bus:    func() (string, error) { return dbuswire.SessionAddress(s.session.Getenv) },
		System: func() (string, error) { return dbuswire.SystemAddress(s.session.Getenv), nil }, SystemOpen: s.AllowSystemBus,
		Never:   dbus.Never,
		Refuses: func(names []string) bool { return s.lists().Refuses(&aai.App{ID: names[0], Aliases: names}) != nil },
		Entries: applications(dataDirs),
	}
}

// programs starts programs in the person's session.
func (s *setup) programs(dataDirs []string) *launcher.Launcher {
	environ := func() []string { return withoutSecrets(s.session.Environ(os.Environ())) }
	return launcher.New(launcher.Config{Getenv: s.session.Getenv, Environ: environ, DataDirs: dataDirs, Libraries: launcher.Libraries()})
}

// starter starts the apps that the bus cannot start.
func (s *setup) starter(dataDirs []string) func(context.Context, string, string) (func() bool, error) {
	programs := s.programs(dataDirs)
	return func(ctx context.Context, entry, command string) (func() bool, error) {
		pid, err := programs.StartEntry(ctx, entry, command)
		return func() bool { return programs.Runs(pid) }, err
	}
}

// absoluteOr is a folder of the environment. The specification says to ignore a
// relative one.
func absoluteOr(folder, otherwise string) string {
	if filepath.IsAbs(folder) {
		return folder
	}
	return otherwise
}

// closeBoth ends the two connections of the desktop.
type closeBoth struct {
	tree   *atspi.Bus
	screen *x11.Display
}

// Close implements io.Closer.
func (c closeBoth) Close() error {
	c.tree.Close()
	return c.screen.Close()
}
