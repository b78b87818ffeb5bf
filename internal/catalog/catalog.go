// Package catalog knows which apps there are: it finds, reads, checks and watches
// descriptors (aai.json) and implements [aai.Catalog].
//
// Where it looks is a list of [Place]s, in order of precedence: if two files
// describe the same app, the first one counts and the other is reported as
// shadowed. The program lists, on Linux:
//
//  1. the folders of "scanPaths" in the configuration, by default ~/.aai:
//     <path>/<any folder>/aai.json;
//  2. the descriptors named by X-AAI-Config in .desktop files of the applications
//     folders: $XDG_DATA_HOME first, then each of $XDG_DATA_DIRS;
//  3. <data folder>/applications/aai/*.json, in the same order;
//  4. /opt/<any folder>/aai.json;
//
// on macOS ~/.aai and the bundles of /Applications and ~/Applications, and on
// Windows %USERPROFILE%\.aai, %PROGRAMDATA%\aai\*.json and %APPDATA%\aai\*.json.
// What the person placed in the home folder comes before what a package brought.
//
// A bad descriptor is reported ([Catalog.Report]) and never hides a good one. The
// gateway's own apps are always there and cannot be shadowed.
//
// The room reads files and folders and watches them; it writes nothing and knows
// no network. Descriptors from the web are read by whoever fetches them, with
// [Parse]. It imports the root package, internal/schema/jsontree, internal/schema,
// internal/netguard, a JSON tokenizer and a file watcher.
package catalog

import (
	"context"
	"log/slog"
	"sync"
	"sync/atomic"
	"time"

	"github.com/gybob/aai-gateway"
)

// Config says what a Catalog looks at. It is not changed after New.
type Config struct {
	Places []Place // in order of precedence
	// Drivers make Actions of recipes, by "<platform>/<kind>" or "<kind>"; see
	// [Options].
	Drivers map[string]aai.Driver
	// HostPlatform is "linux", "macos" or "windows"; empty means this computer's.
	HostPlatform   string
	DefaultTimeout time.Duration          // for tools that name none; zero means aai.DefaultTimeout
	EntryCommand   func(id string) string // see [Options]
	Builtin        []*aai.App             // the gateway's own apps, without a Digest
	Log            *slog.Logger           // nil means none
	RescanInterval time.Duration          // how often to look again whatever the watcher says; zero means never
}

// A Catalog is the apps of this computer. Make one by [New]. It is safe for
// concurrent use.
type Catalog struct {
	config Config
	log    *slog.Logger

	startOnce sync.Once
	ready     chan struct{} // closed after the first scan
	started   atomic.Bool
	snapshot  atomic.Pointer[snapshot]

	scanMu  sync.Mutex // held during a scan and its publication
	scanner scanner

	watchDelay time.Duration // between the first scan and the setting of watches
	listeners  aai.Listeners
}

// New returns a catalog that has looked at nothing yet: the first question makes
// it look, once. Without Start it does not look again.
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
			HostPlatform: config.HostPlatform, Drivers: config.Drivers, DefaultTimeout: config.DefaultTimeout, EntryCommand: config.EntryCommand,
		}},
	}
}

// Apps returns every app, ordered by id; those that cannot run on this computer
// too. It waits for the first scan.
func (c *Catalog) Apps() []*aai.App {
	s, err := c.current(context.Background())
	if err != nil {
		return nil
	}
	return append([]*aai.App(nil), s.apps...)
}

// OnChange calls f after every change of the list of apps, one call at a time
// and with no lock of the catalog held. After stop has returned f is not running
// and is not called again; f itself must not call stop.
func (c *Catalog) OnChange(f func()) (stop func()) { return c.listeners.Add(f) }

// current returns what is known now, waiting for the first scan.
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

// rescan looks again, publishes what it found and tells the listeners if the
// list of apps is another.
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

// scan makes a snapshot. The caller holds c.scanning.
func (c *Catalog) scan() *snapshot {
	begun := time.Now()
	s := c.scanner.snapshot(c.config.Builtin)
	c.log.Debug("scanned for descriptors", "files", len(s.files), "apps", len(s.apps), "elapsed", time.Since(begun))
	return s
}
