package search

import (
	"cmp"
	"context"
	"encoding/json"
	"log/slog"
	"maps"
	"math"
	"slices"
	"strings"
	"sync"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/files/atomicfile"
)

// A Use is how often one tool was called on one day by one caller.
type Usage struct {
	App, Tool      string
	Door, Identity string // the caller's door and identity
	Day            time.Time
	Calls, OK      int
}

// How use counts: what was done lately more than what was done long ago.
const (
	usageWindow    = 90 * 24 * time.Hour
	halfLife       = 14 * 24 * time.Hour
	usageMaxAge    = time.Minute            // then it is counted anew, beside the next question
	firstCountWait = 300 * time.Millisecond // for the first count, by who asks
)

// What use may do to a tool's rank at most. It only orders what fits.
const (
	maxToolBoost      = 0.5  // more for one that is used all the time
	maxAppBoost       = 0.25 // and for one of an app that is
	maxFailurePenalty = 0.3  // less for one that never works
	halfBoostCalls    = 4.0  // calls in a half-life that are worth half of the most
)

// usageStats are what was used, and how it went. They are not changed after they were made.
type usageStats struct {
	made     time.Time
	tools    map[string]usageStat // by "app:tool"
	apps     map[string]usageStat
	byCaller map[string][]Usage // by the caller's door and identity
}

type usageStat struct{ weight, ok, calls float64 }

func (h usageStat) share() float64 { return h.weight / (h.weight + halfBoostCalls) }

func newHabits(all []Usage, now time.Time) *usageStats {
	h := &usageStats{made: now, tools: make(map[string]usageStat), apps: make(map[string]usageStat), byCaller: make(map[string][]Usage)}
	for _, u := range all {
		age := max(now.Sub(u.Day), 0)
		worth := math.Exp2(-age.Hours() / halfLife.Hours())
		add := func(m map[string]usageStat, key string) {
			m[key] = usageStat{m[key].weight + worth*float64(u.OK), m[key].ok + float64(u.OK), m[key].calls + float64(u.Calls)}
		}
		add(h.tools, u.App+":"+u.Tool)
		add(h.apps, u.App)
		h.byCaller[u.Door+" "+u.Identity] = append(h.byCaller[u.Door+" "+u.Identity], u)
	}
	return h
}

// factor is what use makes of the rank of a tool.
func (h *usageStats) factor(app, tool string) float64 {
	if h == nil {
		return 1
	}
	t := h.tools[app+":"+tool]
	failed := 0.0
	if t.calls > 0 {
		failed = 1 - (t.ok+1)/(t.calls+1)
	}
	return (1 + maxToolBoost*t.share() + maxAppBoost*h.apps[app].share()) * (1 - maxFailurePenalty*failed)
}

// hasSucceeded reports whether the app was used, and did what it was to do.
func (h *usageStats) hasSucceeded(app string) bool { return h != nil && h.apps[app].ok > 0 }

// favourites are the apps that were used most, the most first.
func (h *usageStats) favourites() []string {
	apps := slices.SortedFunc(maps.Keys(h.apps), func(a, b string) int {
		return cmp.Or(cmp.Compare(h.apps[b].weight, h.apps[a].weight), strings.Compare(a, b))
	})
	apps = slices.DeleteFunc(apps, func(app string) bool { return h.apps[app].ok == 0 })
	return apps[:min(len(apps), maxFavourites)]
}

// toolsOfCallers are the tools that the callers used, what they use most first.
func (h *usageStats) toolsOfCallers(means func(caller string) bool) []string {
	var mine []Usage
	for caller, uses := range h.byCaller {
		if means(caller) {
			mine = append(mine, uses...)
		}
	}
	tools := newHabits(mine, h.made).tools
	return slices.SortedFunc(maps.Keys(tools), func(a, b string) int {
		return cmp.Or(cmp.Compare(tools[b].weight, tools[a].weight), strings.Compare(a, b))
	})
}

// maxFavourites is how many apps are kept as those that the person uses most.
const maxFavourites = 20

// A counter counts use, at most once at a time.
type usageCounter struct {
	uses func(context.Context, time.Time) ([]Usage, error)
	path string // of the file of favourites, "" for none
	log  *slog.Logger

	mu        sync.Mutex
	habits    *usageStats   // nil: not counted yet
	running   chan struct{} // closed when the count that runs has ended; nil: none runs
	cancel    context.CancelFunc
	startedAt time.Time // when it was begun last
}

// stats is what is known of use. Where nothing is, it is counted first, as far as that takes
// moments; what is old is counted anew for the next who asks.
func (c *usageCounter) stats(ctx context.Context, patience time.Duration) *usageStats {
	if c.uses == nil {
		return nil
	}
	c.mu.Lock()
	if c.running == nil && time.Since(c.startedAt) > usageMaxAge {
		c.startedAt, c.running = time.Now(), make(chan struct{})
		var counting context.Context
		counting, c.cancel = context.WithTimeout(context.WithoutCancel(ctx), countTimeout)
		go c.count(counting, c.cancel)
	}
	known, running := c.habits, c.running
	c.mu.Unlock()
	if known == nil && running != nil {
		select {
		case <-running:
		case <-ctx.Done():
		case <-time.After(patience):
		}
		c.mu.Lock()
		known = c.habits
		c.mu.Unlock()
	}
	return known
}

// countTimeout is when a count is given up.
const countTimeout = time.Minute

func (c *usageCounter) count(ctx context.Context, cancel context.CancelFunc) {
	defer cancel()
	begun := time.Now()
	all, err := c.uses(ctx, begun.Add(-usageWindow))
	c.mu.Lock()
	running := c.running
	c.running = nil
	if err == nil {
		c.habits = newHabits(all, begun)
	}
	known := c.habits
	c.mu.Unlock()
	defer close(running)
	if err != nil {
		if ctx.Err() == nil {
			c.log.Warn("what was used cannot be counted; the search goes by words alone", "cause", err)
		}
		return
	}
	c.saveFavourites(known.favourites())
}

// stop ends a count that runs.
func (c *usageCounter) stop() {
	c.mu.Lock()
	running := c.running
	if running != nil {
		c.cancel()
	}
	c.startedAt = time.Now().Add(usageWindow) // none is begun any more
	c.mu.Unlock()
	if running != nil {
		<-running
	}
}

// fileLimits are what the files of this room keep.
func fileLimits() atomicfile.ReadLimits { return atomicfile.ReadLimits{Size: 64 << 10} }

// saveFavourites keeps the favourites for the next session, so that none waits for a count. They may be
// lost: then there are none until the next count.
func (c *usageCounter) saveFavourites(apps []string) {
	if c.path == "" || slices.Equal(apps, c.loadFavourites()) {
		return
	}
	content, err := json.Marshal(apps)
	if err == nil {
		err = atomicfile.ReplaceDurable(c.path, content)
	}
	if err != nil {
		c.log.Debug("the favourites are not kept", "cause", err)
	}
}

// loadFavourites are the favourites as they were counted last; none where there is no such file, or it
// is none of ours.
func (c *usageCounter) loadFavourites() []string {
	if c.path == "" {
		return nil
	}
	content, err := atomicfile.Read(c.path, fileLimits())
	var apps []string
	if err != nil || json.Unmarshal(content, &apps) != nil {
		return nil
	}
	return apps[:min(len(apps), maxFavourites)]
}

// callerFilter says which callers' use a caller may be told of: at the person's doors everybody's,
// else their own.
func callerFilter(c aai.Caller) func(caller string) bool {
	if c.Door == aai.DoorCLI {
		return func(string) bool { return true }
	}
	own := c.Door + " " + c.Identity
	return func(caller string) bool { return c.Identity != "" && caller == own }
}
