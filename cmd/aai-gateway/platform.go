package main

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"net"
	"runtime"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/automation/script"
	"github.com/gybob/aai-gateway/internal/catalog"
	"github.com/gybob/aai-gateway/internal/catalog/discovery"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/files/atomicfile"
	"github.com/gybob/aai-gateway/internal/platform/linux/dialog"
)

// platform holds the program's knowledge of an operating system. Each platform_*.go creates one in
// hostPlatform. Optional fields say so.
type platform struct {
	name          string // in descriptors: one of the platforms of catalog's kinds
	data          string // data folder of the gateway
	cache         string // folder of reproducible data
	siteNamesFile string // file of the user's names for web sites
	// screen reports whether the user sees windows opened from here, by the session's environment.
	screen func(getenv func(string) string) bool
	// checkScreen checks whether the screen accepts this user; see session.Config. May be nil.
	checkScreen func(ctx context.Context, getenv func(string) string, check func(net.Conn) error) error
	// watchWindows sets the functions of a dialog's configuration that look at windows, on the screen of its Getenv. It
	// is nil if the system cannot tell.
	watchWindows func(*dialog.Config)
	// describeCompositor describes the parts of the screen that a compositor of Wayland offers, for people and as data; nil
	// data without a compositor. It is nil on other systems.
	describeCompositor func(ctx context.Context, getenv func(string) string) (lines []string, data map[string]any)
	refsFolder         string // folder of the terminal's element references; only with desktop
	descriptorPlaces   func(*setup) []catalog.Place
	// desktopEntryFolders are the folders of desktop entries, the most important first; only on Linux.
	desktopEntryFolders []string
	// shellExtension returns the gateway's extension of GNOME Shell; nil on systems without it.
	shellExtension func() (shellExtension, error)
	// drivers returns the drivers of recipes, by "<platform>/<kind>" as in catalog.Options,
	// without the web driver. The closer is never nil.
	drivers func(*setup, *slog.Logger) (map[string]aai.Driver, io.Closer)
	// runScript runs scripts in the system's own languages; nil: it has none.
	runScript script.SystemRunner
	// desktopEntry returns a lookup of a desktop entry's command, as in catalog.Options; nil without entries.
	desktopEntry func(*setup) func(id string) string
	// integrations returns the sources of integrations on this system; nil: only clients'
	// configurations.
	integrations func(*setup) discovery.ScannerConfig
	// desktop returns a function that creates the desktop's backend at the first use of a tool,
	// and a closer for it. It is nil if windows cannot be operated.
	desktop func(*setup, *slog.Logger) (open func() desktop.Backend, closer io.Closer)
}

// A shellExtension is the gateway's extension in the user's extensions of GNOME Shell.
type shellExtension interface {
	Folder() string
	IsPresent() bool
	IsCurrent() bool
	Install() error
	Remove() error
}

// makeDataFolder makes the gateway's folder on Windows, where modes of files say nothing, and new files take the folder's access list.
func makeDataFolder(folder string) error {
	if runtime.GOOS != "windows" {
		return nil
	}
	if err := atomicfile.MkdirPrivate(folder); err != nil {
		return fmt.Errorf("make the gateway's folder: %w", err)
	}
	return nil
}

// folders returns the places of the configured scan paths.
func folders(paths []string) []catalog.Place {
	places := make([]catalog.Place, len(paths))
	for i, path := range paths {
		places[i] = catalog.Folders(path)
	}
	return places
}

// describeSession describes the user's session and its source.
func (s *setup) describeSession(ctx context.Context) (lines []string, data map[string]any) {
	report := s.session.Report()
	lines, data = report.Lines(), report.Data()
	if s.platform.describeCompositor != nil {
		more, compositor := s.platform.describeCompositor(ctx, s.session.Getenv)
		lines, data["compositor"] = append(lines, more...), compositor
	}
	return lines, data
}

// parseChord returns the chord that a setting such as "super+escape" names.
func parseChord(text string) desktop.Chord {
	keys := strings.Split(text, "+")
	return desktop.Chord{Modifiers: keys[:len(keys)-1], Key: keys[len(keys)-1]}
}
