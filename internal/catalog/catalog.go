// Package catalog finds the apps of this computer: it finds, reads, validates and watches
// descriptors (aai.json) and implements [aai.Catalog].
//
// A list of [Place]s, in order of precedence, says where to look. If two files describe the same
// app, the first one counts and the other is reported as shadowed. On Linux the program lists:
//
//  1. the folders of "scanPaths" in the configuration, by default ~/.aai:
//     <path>/<any folder>/aai.json;
//  2. the descriptors named by X-AAI-Config in .desktop files of the applications
//     folders: $XDG_DATA_HOME first, then each of $XDG_DATA_DIRS;
//  3. <data folder>/applications/aai/*.json, in the same order;
//  4. /opt/<any folder>/aai.json;
//
// on macOS ~/.aai and the bundles of /Applications and ~/Applications, and on Windows
// %USERPROFILE%\.aai, %PROGRAMDATA%\aai\*.json and %APPDATA%\aai\*.json. The home folder takes
// precedence, because the person placed its files.
//
// An invalid descriptor is reported ([Catalog.Report]) and never hides a valid one. The gateway's
// own apps are always listed and cannot be shadowed.
//
// The package reads and watches files and folders. It writes no files and uses no network. Code
// that fetches descriptors from the web reads them with [Parse].
package catalog

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/events"
)

// Config configures a Catalog. It must not change after New.
type Config struct {
	Places []Place // in order of precedence
	// Drivers compile recipes to Actions, by "<platform>/<kind>" or "<kind>"; see [Options].
	Drivers map[string]aai.Driver
	// HostPlatform is "linux", "macos" or "windows"; empty: that of this computer.
	HostPlatform   string
	DefaultTimeout time.Duration          // for tools without a timeout; zero: aai.DefaultTimeout
	EntryCommand   func(id string) string // see [Options]
	Events         *events.Recorders      // see [Options]
	Builtin        []*aai.App             // the gateway's own apps, without a Digest
	Log            *slog.Logger           // nil: no log
	RescanInterval time.Duration          // interval of scans without watcher events; zero: none
}

// A Catalog lists the apps of this computer. Use [New] to create one. It is safe for concurrent
// use.
type Catalog struct {
	config Config
	log    *slog.Logger

	startOnce sync.Once
	ready     chan struct{} // closed after the first scan
	started   atomic.Bool
	snapshot  atomic.Pointer[snapshot]

	scanMu  sync.Mutex // held during a scan and its publication
	scanner scanner

	watchDelay time.Duration // between the first scan and the creation of watches
	listeners  aai.Listeners
}

// New returns a catalog that has not scanned yet: the first query starts one scan. Without Start
// there are no further scans.
func New(config Config) *Catalog {
	if config.HostPlatform == "" {
		config.HostPlatform = hostPlatform()
	}
	log := config.Log
	if log == nil {
		log = slog.New(slog.DiscardHandler)
	}
	return &Catalog{
		config:     config,
		log:        log,
		ready:      make(chan struct{}),
		watchDelay: quietPeriod,
		scanner: scanner{places: config.Places, options: Options{
			HostPlatform: config.HostPlatform, Drivers: config.Drivers, DefaultTimeout: config.DefaultTimeout,
			EntryCommand: config.EntryCommand, Events: config.Events,
		}},
	}
}

// Apps returns all apps, ordered by id, including those that cannot run on this computer. It
// waits for the first scan.
func (c *Catalog) Apps() []*aai.App {
	s, err := c.current(context.Background())
	if err != nil {
		return nil
	}
	return append([]*aai.App(nil), s.apps...)
}

// OnChange calls f after every change of the list of apps, one call at a time and without holding
// a lock of the catalog. After stop returns, f does not run and is not called again; f must not
// call stop.
func (c *Catalog) OnChange(f func()) (stop func()) { return c.listeners.Add(f) }

// current returns the current snapshot, after the first scan.
func (c *Catalog) current(ctx context.Context) (*snapshot, error) {
	c.startOnce.Do(func() { go c.firstScan() })
	select {
	case <-c.ready:
		return c.snapshot.Load(), nil
	default:
	}
	select {
	case <-c.ready:
		return c.snapshot.Load(), nil
	case <-ctx.Done():
		return nil, aai.AsError(ctx.Err())
	}
}

func (c *Catalog) firstScan() {
	defer close(c.ready)
	c.scanMu.Lock()
	defer c.scanMu.Unlock()
	c.snapshot.Store(c.scan())
}

// rescan scans, publishes the result and notifies the listeners if the list of apps has changed.
func (c *Catalog) rescan() *snapshot {
	c.scanMu.Lock()
	after := c.scan()
	before := c.snapshot.Swap(after)
	c.scanMu.Unlock()
	if !before.same(after) {
		c.log.Info("the list of apps changed", "apps", len(after.apps))
		c.listeners.Call()
	}
	return after
}

// scan returns a new snapshot. The caller holds c.scanMu.
func (c *Catalog) scan() *snapshot {
	begun := time.Now()
	s := c.scanner.snapshot(c.config.Builtin)
	c.log.Debug("scanned for descriptors", "files", len(s.files), "apps", len(s.apps), "elapsed", time.Since(begun))
	return s
}
