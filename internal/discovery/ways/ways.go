package ways

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
	// Limit is how long a look takes at most.
	Limit = 4500 * time.Millisecond
	// Patience is how long one question is waited for.
	Patience = 500 * time.Millisecond
	// margin is what of the limit is left for what was found until then to come together.
	margin = 500 * time.Millisecond
)

// Config says where a room looks. What is nil or empty is not looked at.
type Config struct {
	// Bus is the address of the person's session bus.
	Bus func() (string, error)
	// System is the address of the system bus, and SystemOpen whether the configuration allows
	// its services to be called. Where it does not, they are listed, and none is asked anything.
	System     func() (string, error)
	SystemOpen bool
	// Never reports whether the gateway never calls the interface of the service, whatever
	// a descriptor says; with an empty interface: anything of the service.
	Never func(service, iface string) bool
	// Refuses reports whether the person keeps a program with one of the names from every
	// tool: it is asked nothing. Nil: none is.
	Refuses func(names []string) bool
	// Entries are the folders of desktop entries, the weightiest first.
	Entries []string
	// Apps are those that have descriptors.
	Apps func(context.Context) []App
	// Servers are the MCP servers that clients start, and whose configurations could not be
	// read.
	Servers func(context.Context) (found []Server, unread []string)
	// Changed are the apps whose source has changed since they were made of it, and whose
	// source did not answer in time.
	Changed func(context.Context) (found []Change, silent []string)
	// Memory is the file in which finds are remembered; empty: they are not.
	Memory string
	// Rest is how long Watch waits before its first look; 0: a minute.
	Rest time.Duration
	// Patience and Limit are the clocks of a look where they are not the usual ones.
	Patience, Limit time.Duration
	Now             func() time.Time // nil: the time of day
	Log             *slog.Logger     // nil: nowhere
}

// An App has a descriptor.
type App struct {
	ID       string
	Services []string // the names on the bus that its tools call
	Entries  []string // the desktop entries that start it
	From     string   // of what its descriptor was made, such as "client:zed/tickets"; empty: people wrote it
}

// A Change is an app that was made of something that says something else by now.
type Change struct {
	App    string
	From   string // such as "openapi:/home/ann/shop.yaml"
	Digest string // of what it says now
	Again  string // the command that shows the app that is made of it now
}

// A Server is an MCP server that a client starts. There are no values in it.
type Server struct {
	ID           string // the client's, as import --from takes it
	Client, Name string
	File         string   // the configuration
	Over         string   // how it is reached, such as "stdio" or the host of its address
	Variables    []string // the names of what its environment or its requests are given
}

// Whether a way can be gone now.
const (
	Running    = "running"    // the program runs
	Startable  = "startable"  // the bus starts it at a call
	Installed  = "installed"  // it is on this computer
	Configured = "configured" // a client of the person's starts it
)

// A Way is one into an app.
type Way struct {
	ID    string `json:"id"`   // what is the same at the next look
	Kind  string `json:"kind"` // one of the kinds of the tables
	App   string `json:"app"`  // what it is called, for people: a name on the bus, an entry, a server
	State string `json:"state"`
	Bus   string `json:"bus,omitempty"` // "system"; empty: the session's, or none
	// Closed: the configuration does not allow it, and Get says what to set.
	Closed bool   `json:"closed,omitempty"`
	Gains  string `json:"gains"`
	// Get is one line on how one gets it.
	Get string `json:"get"`
	// Covered is the id of the app whose descriptor speaks for the program already.
	Covered   string   `json:"covered,omitempty"`
	Where     []string `json:"where,omitempty"`
	Variables []string `json:"variables,omitempty"`
	New       bool     `json:"new,omitempty"` // a scan of the last days found it first
	// Changed: the app whose descriptor speaks for the program was made of what says something
	// else by now. Get is how one looks at what would be made of it.
	Changed bool   `json:"changed,omitempty"`
	from    string // what an App that was made of it is from
}

// A Report is what a look found.
type Report struct {
	Ways []Way `json:"ways"`
	// Silent are those that did not answer in time: what they offer is not known.
	Silent []string `json:"silent,omitempty"`
	Notes  []string `json:"notes,omitempty"` // what was not looked at, and why
	TookMS int64    `json:"took_ms"`
	// Scanned is when a running gateway last looked by itself.
	Scanned *time.Time `json:"scanned,omitempty"`
	changed []Change
}

// A Room looks. It is safe for concurrent use.
type Room struct{ cfg Config }

// New returns a room. It does no I/O.
func New(cfg Config) *Room {
	if cfg.Now == nil {
		cfg.Now = time.Now
	}
	if cfg.Log == nil {
		cfg.Log = slog.New(slog.DiscardHandler)
	}
	cfg.Rest, cfg.Patience, cfg.Limit = cmp.Or(cfg.Rest, time.Minute), cmp.Or(cfg.Patience, Patience), cmp.Or(cfg.Limit, Limit)
	return &Room{cfg: cfg}
}

// A part is what one source found.
type part struct {
	source  string
	ways    []Way
	silent  []string
	notes   []string
	apps    []App
	changed []Change
}

// Look looks through all there is, side by side. It ends by its limit, and no later than
// ctx; what was not there by then is named.
func (r *Room) Look(ctx context.Context) *Report {
	begun := time.Now()
	ctx, cancel := context.WithTimeout(ctx, r.cfg.Limit)
	defer cancel()
	within, stop := context.WithTimeout(ctx, max(r.cfg.Limit-margin, r.cfg.Limit/2))
	defer stop()
	sources := r.sources()
	parts, waiting := make(chan part, len(sources)), make(map[string]bool, len(sources))
	for name, look := range sources {
		waiting[name] = true
		go func() { parts <- guarded(within, name, look) }()
	}
	report, apps := &Report{Ways: []Way{}}, []App(nil)
	for len(waiting) > 0 {
		select {
		case p := <-parts:
			delete(waiting, p.source)
			report.Ways, report.Silent, report.Notes = append(report.Ways, p.ways...), append(report.Silent, p.silent...), append(report.Notes, p.notes...)
			apps, report.changed = append(apps, p.apps...), append(report.changed, p.changed...)
			continue
		case <-ctx.Done():
		}
		for name := range waiting {
			report.Silent = append(report.Silent, name)
		}
		break
	}
	report.Ways = inOrder(marked(telling(matched(report.Ways, apps)), report.changed))
	r.remember(report)
	report.Silent, report.Notes = each(report.Silent), each(report.Notes)
	report.TookMS = time.Since(begun).Milliseconds()
	return report
}

// each are the texts in order, each once.
func each(texts []string) []string {
	slices.Sort(texts)
	return slices.Compact(texts)
}

// sources are what is looked at, by what people call it.
func (r *Room) sources() map[string]func(context.Context) part {
	sources := make(map[string]func(context.Context) part)
	if r.cfg.Bus != nil {
		sources["the session bus"] = r.onTheBus
	}
	if r.cfg.System != nil {
		sources["the system bus"] = r.onTheSystemBus
	}
	if len(r.cfg.Entries) > 0 {
		sources["the desktop entries"] = r.inEntries
	}
	if r.cfg.Servers != nil {
		sources["the clients' configurations"] = r.ofClients
	}
	if r.cfg.Apps != nil {
		sources["the descriptors"] = func(ctx context.Context) part { return part{apps: r.cfg.Apps(ctx)} }
	}
	if r.cfg.Changed != nil {
		sources["what apps were made of"] = func(ctx context.Context) part {
			changed, silent := r.cfg.Changed(ctx)
			return part{changed: changed, silent: silent}
		}
	}
	return sources
}

// guarded looks at one source. Whatever a stranger's text does to our code costs that
// source alone.
func guarded(ctx context.Context, source string, look func(context.Context) part) (p part) {
	defer func() {
		if e := recover(); e != nil {
			p = part{notes: []string{clean(fmt.Sprintf("the gateway failed at reading %s: %v", source, e))}}
		}
		p.source = source
	}()
	return look(ctx)
}

// matched says of ways whose program has a descriptor already, and leaves of those that are
// the same at the next look the one that can be gone soonest.
func matched(ways []Way, apps []App) []Way {
	covered := make(map[string]string)
	for _, app := range slices.Backward(apps) {
		for _, name := range slices.Concat(app.Services, app.Entries, []string{app.ID, app.From}) {
			covered[name] = app.ID
		}
	}
	delete(covered, "")
	best := make(map[string]int)
	kept := []Way{}
	for _, w := range ways {
		w.Covered = cmp.Or(covered[w.from], covered[w.App], covered[lasting(w.App)])
		i, known := best[w.ID]
		switch {
		case !known:
			best[w.ID] = len(kept)
			kept = append(kept, w)
		case rank(w.State) < rank(kept[i].State):
			kept[i] = w
		}
	}
	return kept
}

// telling are the ways without those of services that do not run and so say nothing, where
// something else on the bus tells of the same.
func telling(ways []Way) []Way {
	told := make(map[string]bool)
	silent := func(w Way) bool { return w.Kind == kindService && w.State == Startable }
	for _, w := range ways {
		told[w.App] = told[w.App] || !silent(w) && rank(w.State) <= rank(Startable)
	}
	return slices.DeleteFunc(ways, func(w Way) bool { return silent(w) && told[w.App] })
}

func rank(state string) int {
	return slices.Index([]string{Running, Startable, Installed, Configured}, state)
}

// inOrder puts first what can be gone now and is not covered.
func inOrder(ways []Way) []Way {
	slices.SortFunc(ways, func(a, b Way) int {
		return cmp.Or(
			cmp.Compare(rank(a.State), rank(b.State)),
			compareTruth(a.Get == NeverCalled, b.Get == NeverCalled),
			compareTruth(a.Closed, b.Closed),
			compareTruth(a.Covered != "", b.Covered != ""),
			cmp.Compare(weight(a.Kind), weight(b.Kind)),
			cmp.Compare(a.App, b.App), cmp.Compare(a.ID, b.ID),
		)
	})
	return ways
}

// compareTruth puts what is not so before what is.
func compareTruth(a, b bool) int {
	switch {
	case a == b:
		return 0
	case b:
		return -1
	}
	return 1
}
