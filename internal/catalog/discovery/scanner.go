package discovery

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"
)

// The clocks of a look.
const (
	// DefaultScanTimeout is how long a look takes at most.
	DefaultScanTimeout = 4500 * time.Millisecond
	// DefaultCallTimeout is how long one question is waited for.
	DefaultCallTimeout = 500 * time.Millisecond
	// mergeMargin is what of the limit is left for what was found until then to come together.
	mergeMargin = 500 * time.Millisecond
)

// ScannerConfig says where a room looks. What is nil or empty is not looked at.
type ScannerConfig struct {
	// SessionBus is the address of the person's session bus.
	SessionBus func() (string, error)
	// SystemBus is the address of the system bus, and SystemOpen whether the configuration allows
	// its services to be called. Where it does not, they are listed, and none is asked anything.
	SystemBus        func() (string, error)
	SystemBusAllowed bool
	// NeverCalled reports whether the gateway never calls the interface of the service, whatever
	// a descriptor says; with an empty interface: anything of the service.
	NeverCalled func(service, iface string) bool
	// Denied reports whether the person keeps a program with one of the names from every
	// tool: it is asked nothing. Nil: none is.
	Denied func(names []string) bool
	// EntryFolders are the folders of desktop entries, the weightiest first.
	EntryFolders []string
	// Apps are those that have descriptors.
	Apps func(context.Context) []DescribedApp
	// Servers are the MCP servers that clients start, and whose configurations could not be
	// read.
	Servers func(context.Context) (found []MCPServer, unread []string)
	// ChangedSources are the apps whose source has changed since they were made of it, and whose
	// source did not answer in time.
	ChangedSources func(context.Context) (found []SourceChange, silent []string)
	// HistoryFile is the file in which finds are remembered; empty: they are not.
	HistoryFile string
	// InitialDelay is how long Watch waits before its first look; 0: a minute.
	InitialDelay time.Duration
	// CallTimeout and Limit are the clocks of a look where they are not the usual ones.
	CallTimeout, ScanTimeout time.Duration
	Now                      func() time.Time // nil: the time of day
	Log                      *slog.Logger     // nil: nowhere
}

// An App has a descriptor.
type DescribedApp struct {
	ID       string
	Services []string // the names on the bus that its tools call
	Entries  []string // the desktop entries that start it
	Source   string   // of what its descriptor was made, such as "client:zed/tickets"; empty: people wrote it
}

// A Change is an app that was made of something that says something else by now.
type SourceChange struct {
	App               string
	Source            string // such as "openapi:/home/ann/shop.yaml"
	Digest            string // of what it says now
	RegenerateCommand string // the command that shows the app that is made of it now
}

// A Server is an MCP server that a client starts. There are no values in it.
type MCPServer struct {
	ID           string // the client's, as import --from takes it
	Client, Name string
	File         string   // the configuration
	Transport    string   // how it is reached, such as "stdio" or the host of its address
	Variables    []string // the names of what its environment or its requests are given
}

// Whether a way can be gone now.
const (
	StateRunning    = "running"    // the program runs
	StateStartable  = "startable"  // the bus starts it at a call
	StateInstalled  = "installed"  // it is on this computer
	StateConfigured = "configured" // a client of the person's starts it
)

// A Way is one into an app.
type Integration struct {
	ID    string `json:"id"`   // what is the same at the next look
	Kind  string `json:"kind"` // one of the kinds of the tables
	App   string `json:"app"`  // what it is called, for people: a name on the bus, an entry, a server
	State string `json:"state"`
	Bus   string `json:"bus,omitempty"` // "system"; empty: the session's, or none
	// NotAllowed: the configuration does not allow it, and Get says what to set.
	NotAllowed bool   `json:"closed,omitempty"`
	Benefit    string `json:"gains"`
	// HowTo is one line on how one gets it.
	HowTo string `json:"get"`
	// CoveredBy is the id of the app whose descriptor speaks for the program already.
	CoveredBy string   `json:"covered,omitempty"`
	Locations []string `json:"where,omitempty"`
	Variables []string `json:"variables,omitempty"`
	New       bool     `json:"new,omitempty"` // a scan of the last days found it first
	// Changed: the app whose descriptor speaks for the program was made of what says something
	// else by now. Get is how one looks at what would be made of it.
	Changed bool   `json:"changed,omitempty"`
	source  string // what an App that was made of it is from
}

// A Report is what a look found.
type ScanReport struct {
	Integrations []Integration `json:"ways"`
	// Unresponsive are those that did not answer in time: what they offer is not known.
	Unresponsive []string `json:"silent,omitempty"`
	Notes        []string `json:"notes,omitempty"` // what was not looked at, and why
	TookMS       int64    `json:"took_ms"`
	// LastScan is when a running gateway last looked by itself.
	LastScan *time.Time `json:"scanned,omitempty"`
	changed  []SourceChange
}

// A Room looks. It is safe for concurrent use.
type Scanner struct{ cfg ScannerConfig }

// NewScanner returns a room. It does no I/O.
func NewScanner(cfg ScannerConfig) *Scanner {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	cfg.InitialDelay, cfg.CallTimeout, cfg.ScanTimeout = cmp.Or(cfg.InitialDelay, time.Minute), cmp.Or(cfg.CallTimeout, DefaultCallTimeout), cmp.Or(cfg.ScanTimeout, DefaultScanTimeout)
	return &Scanner{cfg: cfg}
}

// A part is what one source found.
type sourceResult struct {
	source       string
	integrations []Integration
	silent       []string
	notes        []string
	apps         []DescribedApp
	changed      []SourceChange
}

// Scan looks through all there is, side by side. It ends by its limit, and no later than
// ctx; what was not there by then is named.
func (r *Scanner) Scan(ctx context.Context) *ScanReport {
	begun := time.Now()
	ctx, cancel := context.WithTimeout(ctx, r.cfg.ScanTimeout)
	defer cancel()
	within, stop := context.WithTimeout(ctx, max(r.cfg.ScanTimeout-mergeMargin, r.cfg.ScanTimeout/2))
	defer stop()
	sources := r.sources()
	parts, waiting := make(chan sourceResult, len(sources)), make(map[string]bool, len(sources))
	for name, look := range sources {
		waiting[name] = true
		go func() { parts <- recoverSource(within, name, look) }()
	}
	report, apps := &ScanReport{Integrations: []Integration{}}, []DescribedApp(nil)
	for len(waiting) > 0 {
		select {
		case p := <-parts:
			delete(waiting, p.source)
			report.Integrations, report.Unresponsive, report.Notes = append(report.Integrations, p.integrations...), append(report.Unresponsive, p.silent...), append(report.Notes, p.notes...)
			apps, report.changed = append(apps, p.apps...), append(report.changed, p.changed...)
			continue
		case <-ctx.Done():
		}
		for name := range waiting {
			report.Unresponsive = append(report.Unresponsive, name)
		}
		break
	}
	report.Integrations = sortIntegrations(markChanged(dropUninformative(coverIntegrations(report.Integrations, apps)), report.changed))
	r.addHistory(report)
	report.Unresponsive, report.Notes = unique(report.Unresponsive), unique(report.Notes)
	report.TookMS = time.Since(begun).Milliseconds()
	return report
}

// unique are the texts in order, each once.
func unique(texts []string) []string {
	slices.Sort(texts)
	return slices.Compact(texts)
}

// sources are what is looked at, by what people call it.
func (r *Scanner) sources() map[string]func(context.Context) sourceResult {
	sources := make(map[string]func(context.Context) sourceResult)
	if r.cfg.SessionBus != nil {
		sources["the session bus"] = r.scanSessionBus
	}
	if r.cfg.SystemBus != nil {
		sources["the system bus"] = r.scanSystemBus
	}
	if len(r.cfg.EntryFolders) > 0 {
		sources["the desktop entries"] = r.scanEntries
	}
	if r.cfg.Servers != nil {
		sources["the clients' configurations"] = r.scanClients
	}
	if r.cfg.Apps != nil {
		sources["the descriptors"] = func(ctx context.Context) sourceResult { return sourceResult{apps: r.cfg.Apps(ctx)} }
	}
	if r.cfg.ChangedSources != nil {
		sources["what apps were made of"] = func(ctx context.Context) sourceResult {
			changed, silent := r.cfg.ChangedSources(ctx)
			return sourceResult{changed: changed, silent: silent}
		}
	}
	return sources
}

// recoverSource looks at one source. Whatever a stranger's text does to our code costs that
// source alone.
func recoverSource(ctx context.Context, source string, look func(context.Context) sourceResult) (p sourceResult) {
	defer func() {
		if e := recover(); e != nil {
			p = sourceResult{notes: []string{cleanName(fmt.Sprintf("the gateway failed at reading %s: %v", source, e))}}
		}
		p.source = source
	}()
	return look(ctx)
}

// coverIntegrations says of ways whose program has a descriptor already, and leaves of those that are
// the same at the next look the one that can be gone soonest.
func coverIntegrations(ways []Integration, apps []DescribedApp) []Integration {
	covered := make(map[string]string)
	for _, app := range slices.Backward(apps) {
		for _, name := range slices.Concat(app.Services, app.Entries, []string{app.ID, app.Source}) {
			covered[name] = app.ID
		}
	}
	delete(covered, "")
	best := make(map[string]int)
	kept := []Integration{}
	for _, w := range ways {
		w.CoveredBy = cmp.Or(covered[w.source], covered[w.App], covered[stableName(w.App)])
		i, known := best[w.ID]
		switch {
		case !known:
			best[w.ID] = len(kept)
			kept = append(kept, w)
		case stateRank(w.State) < stateRank(kept[i].State):
			kept[i] = w
		}
	}
	return kept
}

// dropUninformative are the ways without those of services that do not run and so say nothing, where
// something else on the bus tells of the same.
func dropUninformative(ways []Integration) []Integration {
	told := make(map[string]bool)
	silent := func(w Integration) bool { return w.Kind == kindService && w.State == StateStartable }
	for _, w := range ways {
		told[w.App] = told[w.App] || !silent(w) && stateRank(w.State) <= stateRank(StateStartable)
	}
	return slices.DeleteFunc(ways, func(w Integration) bool { return silent(w) && told[w.App] })
}

func stateRank(state string) int {
	return slices.Index([]string{StateRunning, StateStartable, StateInstalled, StateConfigured}, state)
}

// sortIntegrations puts first what can be gone now and is not covered.
func sortIntegrations(ways []Integration) []Integration {
	slices.SortFunc(ways, func(a, b Integration) int {
		return cmp.Or(
			cmp.Compare(stateRank(a.State), stateRank(b.State)),
			compareBools(a.HowTo == NeverCalledHowTo, b.HowTo == NeverCalledHowTo),
			compareBools(a.NotAllowed, b.NotAllowed),
			compareBools(a.CoveredBy != "", b.CoveredBy != ""),
			cmp.Compare(kindRank(a.Kind), kindRank(b.Kind)),
			cmp.Compare(a.App, b.App), cmp.Compare(a.ID, b.ID),
		)
	})
	return ways
}

// compareBools puts what is not so before what is.
func compareBools(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}
