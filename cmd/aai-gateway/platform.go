package main

import (
	"context"
	"io"
	"log/slog"
	"net"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/catalog"
	"github.com/gybob/aai-gateway/internal/catalog/discovery"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/inputlock"
)

// A platform is all that the program must know of an operating system. Each
// platform_*.go makes one in its hostPlatform, so that what an OS is can be read in one
// place. What may be left out says so.
type platform struct {
	name          string // as descriptors call it: one of the platforms of catalog's kinds
	data          string // the folder of what the gateway keeps
	cache         string // the folder of what can be had again
	siteNamesFile string // the file of the person's names for web sites
	// screen reports whether the person sees windows that are opened from here, by the
	// session's environment.
	screen func(getenv func(string) string) bool
	// checkScreen asks the screen whether it takes us; see session.Config. May be nil.
	checkScreen func(ctx context.Context, getenv func(string) string, check func(net.Conn) error) error
	// windowState tells a dialog whose window has the person's keyboard and whether a process shows a
	// window, as its Config has it; nil where that cannot be seen.
	windowState      func(getenv func(string) string, shared *inputlock.Lock) (focus func(context.Context) (pid int, err error), shown func(context.Context, int) (bool, error))
	refsFolder       string // the folder of the terminal's references to elements of windows; only with desktop
	descriptorPlaces func(*setup) []catalog.Place
	// desktopEntryFolders are the folders of desktop entries, the most important first; none elsewhere
	// than on Linux.
	desktopEntryFolders []string
	// drivers are those of recipes, by "<platform>/<kind>" as catalog.Options has them; the
	// one for the web comes from elsewhere. The closer is never nil.
	drivers func(*setup, *slog.Logger) (map[string]aai.Driver, io.Closer)
	// desktopEntry is the command of a desktop entry, as catalog.Options has it; nil where there are none.
	desktopEntry func(*setup) func(id string) string
	// integrations says where ways into apps are looked for on this system; nil: nowhere but in the
	// configurations of clients.
	integrations func(*setup) discovery.ScannerConfig
	// desktop makes what the tools of the desktop need, at the first use of one;
	// nil where windows cannot be operated yet. What it made is closed by the
	// closer.
	desktop func(*setup, *slog.Logger) (open func() desktop.Backend, closer io.Closer)
}

// folders are the places of the configured scan paths.
func folders(paths []string) []catalog.Place {
	places := make([]catalog.Place, len(paths))
	for i, path := range paths {
		places[i] = catalog.Folders(path)
	}
	return places
}
