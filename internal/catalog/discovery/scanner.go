package discovery

import (
	"cmp"
	"context"
	"fmt"
	"log/slog"
	"slices"
	"time"

	"github.com/gybob/aai-gateway/internal/answer"
)

// Timeouts of a scan.
const (
	// DefaultScanTimeout limits a whole scan.
	DefaultScanTimeout = 4500 * time.Millisecond
	// DefaultCallTimeout limits one D-Bus call of a scan.
	DefaultCallTimeout = 500 * time.Millisecond
	// mergeMargin is the part of the timeout reserved for merging the results.
	mergeMargin = 500 * time.Millisecond
)

// ScannerConfig selects the sources of a Scanner. Nil or empty sources are skipped.
type ScannerConfig struct {
	// SessionBus returns the address of the person's session bus.
	SessionBus func() (string, error)
	// SystemBus returns the address of the system bus. Unless SystemBusAllowed is set, the
	// scanner lists its services without calling them.
	SystemBus        func() (string, error)
	SystemBusAllowed bool
	// NeverCalled reports whether the gateway never calls the interface of the service, even if a descriptor names it.
	// With an empty interface it is about the whole service.
	NeverCalled func(service, iface string) bool
	// Denied reports whether the policy denies a program with one of the names to all tools: the
	// scanner does not call it. May be nil.
	Denied func(names []string) bool
	// EntryFolders are the folders of desktop entries, highest precedence first.
	EntryFolders []string
	// Classes returns the classes of COM of apps in processes of their own, on Windows.
	Classes func(context.Context) ([]COMClass, error)
	// Programs returns the installed programs, on Windows.
	Programs func(context.Context) []InstalledProgram
	// ServerRegistry returns the list of Windows' registry of MCP servers, as JSON; nil if this Windows has none.
	ServerRegistry func(context.Context) ([]byte, error)
	// Apps returns the apps that have descriptors.
	Apps func(context.Context) []DescribedApp
	// Servers returns the MCP servers of clients, and the unreadable configurations.
	Servers func(context.Context) (found []MCPServer, unread []string)
	// ChangedSources returns the generated apps with changed sources, and the apps with sources
	// that did not answer in time.
	ChangedSources func(context.Context) (found []SourceChange, silent []string)
	// HistoryFile is the file of the scan history; empty: no history.
	HistoryFile string
	// InitialDelay is the delay before Watch scans first; 0: a minute.
	InitialDelay time.Duration
	// CallTimeout and ScanTimeout replace the default timeouts.
	CallTimeout, ScanTimeout time.Duration
	Now                      func() time.Time // nil: time.Now
	Log                      *slog.Logger     // nil: no log
}

// A DescribedApp is an app with a descriptor.
type DescribedApp struct {
	ID       string
	Services []string // the bus names and COM classes that its tools call
	Entries  []string // the desktop entries that start it
	Source   string   // source of a generated descriptor, such as "client:zed/tickets"; else empty
}

// A SourceChange reports that the source of a generated app has changed.
type SourceChange struct {
	App               string
	Source            string // such as "openapi:/home/ann/shop.yaml"
	Digest            string // current digest of the source
	RegenerateCommand string // the command that shows the app generated from the source now
}

// An MCPServer is an MCP server in a client's configuration, without values that may be secret.
type MCPServer struct {
	ID           string // the client's ID, as import --from takes it
	Client, Name string
	File         string   // the configuration
	Transport    string   // such as "stdio" or the host of its URL
	Variables    []string // names of its environment variables and request headers
}

// States of an integration.
const (
	StateRunning    = "running"    // the program runs
	StateStartable  = "startable"  // the bus starts it on a call
	StateInstalled  = "installed"  // it is installed
	StateConfigured = "configured" // a client starts it
)

// An Integration is a way to use an app through the gateway.
type Integration = answer.Integration

// A ScanReport is the result of a scan.
type ScanReport struct {
	answer.IntegrationReport
	changed []SourceChange
}

// A Scanner finds integrations of programs on this computer. It is safe for concurrent use.
type Scanner struct{ cfg ScannerConfig }

// NewScanner returns a scanner. It does no I/O.
func NewScanner(cfg ScannerConfig) *Scanner {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	cfg.InitialDelay, cfg.CallTimeout, cfg.ScanTimeout = cmp.Or(cfg.InitialDelay, time.Minute),
		cmp.Or(cfg.CallTimeout, DefaultCallTimeout), cmp.Or(cfg.ScanTimeout, DefaultScanTimeout)
	return &Scanner{cfg: cfg}
}

// A sourceResult is the result of scanning one source.
type sourceResult struct {
	source       string
	integrations []Integration
	silent       []string
	notes        []string
	apps         []DescribedApp
	changed      []SourceChange
}

// Scan scans all sources concurrently. It ends with ctx or the scan timeout at the latest. ScanReport.Unresponsive
// names the sources that were then unfinished.
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
	report, apps := &ScanReport{IntegrationReport: answer.IntegrationReport{Integrations: []Integration{}}}, []DescribedApp(nil)
	for len(waiting) > 0 {
		select {
		case p := <-parts:
			delete(waiting, p.source)
			report.Integrations, report.Unresponsive, report.Notes = append(report.Integrations, p.integrations...),
				append(report.Unresponsive, p.silent...), append(report.Notes, p.notes...)
			apps, report.changed = append(apps, p.apps...), append(report.changed, p.changed...)
			continue
		case <-ctx.Done():
		}
		for name := range waiting {
			report.Unresponsive = append(report.Unresponsive, name)
		}
		break
	}
	report.Integrations = sortIntegrations(markChanged(dropUninformative(coverIntegrations(report.Integrations, apps)),
		report.changed))
	r.addHistory(report)
	report.Unresponsive, report.Notes = unique(report.Unresponsive), unique(report.Notes)
	report.TookMS = time.Since(begun).Milliseconds()
	return report
}

// unique returns the texts sorted, without duplicates.
func unique(texts []string) []string {
	slices.Sort(texts)
	return slices.Compact(texts)
}

// sources returns the scan functions, by the name of the source for people.
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
	if r.cfg.Classes != nil {
		sources["the classes of COM"] = r.scanClasses
	}
	if r.cfg.Programs != nil {
		sources["the installed programs"] = r.scanPrograms
	}
	if r.cfg.ServerRegistry != nil {
		sources["Windows' registry of MCP servers"] = r.scanRegistry
	}
	if r.cfg.Servers != nil {
		sources["the clients' configurations"] = r.scanClients
	}
	if r.cfg.Apps != nil {
		sources["the descriptors"] = func(ctx context.Context) sourceResult { return sourceResult{apps: r.cfg.Apps(ctx)} }
	}
	if r.cfg.ChangedSources != nil {
		sources["the sources of apps"] = func(ctx context.Context) sourceResult {
			changed, silent := r.cfg.ChangedSources(ctx)
			return sourceResult{changed: changed, silent: silent}
		}
	}
	return sources
}

// recoverSource scans one source. It recovers from panics, so that bad data costs only this
// source.
func recoverSource(ctx context.Context, source string, look func(context.Context) sourceResult) (p sourceResult) {
	defer func() {
		if e := recover(); e != nil {
			p = sourceResult{notes: []string{cleanName(fmt.Sprintf("the gateway failed at reading %s: %v", source, e))}}
		}
		p.source = source
	}()
	return look(ctx)
}

// coverIntegrations marks integrations of programs with descriptors. Of several with the same ID
// it keeps the one with the best state.
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
		w.CoveredBy = cmp.Or(covered[w.Source], covered[w.App], covered[stableName(w.App)])
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

// dropUninformative removes services that do not run if another integration on the bus describes
// the same program.
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

// sortIntegrations puts available integrations without a descriptor first.
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

// compareBools orders false before true.
func compareBools(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}
