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

// Usage counts the calls of one tool on one day by one caller. OK is the number that succeeded.
type Usage struct {
	App, Tool      string
	Door, Identity string // the caller's door and identity
	Day            time.Time
	Calls, OK      int
}

// Time constants of usage: recent calls count more than older ones.
const (
	usageWindow    = 90 * 24 * time.Hour
	halfLife       = 14 * 24 * time.Hour
	usageMaxAge    = time.Minute            // age at which a count is repeated in the background
	firstCountWait = 300 * time.Millisecond // wait for the first count
)

// Limits of the effect of usage on a tool's rank. It only reorders matching tools.
const (
	maxToolBoost      = 0.5  // increase for a tool in constant use
	maxAppBoost       = 0.25 // further increase for an app in constant use
	maxFailurePenalty = 0.3  // decrease for a tool that always fails
	halfBoostCalls    = 4.0  // calls in a half-life that give half of the maximum
)

// usageStats are the counted calls and their success. They are immutable.
type usageStats struct {
	made     time.Time
	tools    map[string]usageStat // by "app:tool"
	apps     map[string]usageStat
	byCaller map[string][]Usage // by the caller's door and identity
}

type usageStat struct{ weight, ok, calls float64 }

func (h usageStat) share() float64 { return h.weight / (h.weight + halfBoostCalls) }

func newHabits(all []Usage, now time.Time) *usageStats {
	h := &usageStats{made: now, tools: make(map[string]usageStat), apps: make(map[string]usageStat),
		byCaller: make(map[string][]Usage)}
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

// factor returns the rank factor of a tool's usage.
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

// hasSucceeded reports whether a call of the app succeeded.
func (h *usageStats) hasSucceeded(app string) bool { return h != nil && h.apps[app].ok > 0 }

// favourites returns the most used apps, most used first.
func (h *usageStats) favourites() []string {
	apps := slices.SortedFunc(maps.Keys(h.apps), func(a, b string) int {
		return cmp.Or(cmp.Compare(h.apps[b].weight, h.apps[a].weight), strings.Compare(a, b))
	})
	apps = slices.DeleteFunc(apps, func(app string) bool { return h.apps[app].ok == 0 })
	return apps[:min(len(apps), maxFavourites)]
}

// toolsOfCallers returns the tools that the callers used, most used first.
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

// maxFavourites limits the favourites.
const maxFavourites = 20

// A usageCounter counts usage, one count at a time.
type usageCounter struct {
	uses func(context.Context, time.Time) ([]Usage, error)
	path string // of the file of favourites, "" for none
	log  *slog.Logger

	mu        sync.Mutex
	habits    *usageStats   // nil: not counted yet
	running   chan struct{} // closed when the running count ends; nil: none runs
	cancel    context.CancelFunc
	startedAt time.Time // start of the last count
}

// stats returns the last count. For the first count it waits up to patience; an old count is
// repeated in the background for later requests.
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

// countTimeout limits a count.
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
			c.log.Warn("tool usage cannot be counted; the search ranks by words alone", "cause", err)
		}
		return
	}
	c.saveFavourites(known.favourites())
}

// stop cancels a running count.
func (c *usageCounter) stop() {
	c.mu.Lock()
	running := c.running
	if running != nil {
		c.cancel()
	}
	c.startedAt = time.Now().Add(usageWindow) // prevents further counts
	c.mu.Unlock()
	if running != nil {
		<-running
	}
}

// fileLimits returns the limits of the files of this package.
func fileLimits() atomicfile.ReadLimits { return atomicfile.ReadLimits{Size: 64 << 10} }

// saveFavourites saves the favourites, so that a new session need not wait for a count. A lost
// file is restored by the next count.
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

// loadFavourites returns the saved favourites, or none if the file is missing or invalid.
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

// callerFilter returns a predicate for the callers with usage that c may see: all for a person at a terminal, else
// only its own.
func callerFilter(c aai.Caller) func(caller string) bool {
	if c.Door == aai.DoorCLI {
		return func(string) bool { return true }
	}
	own := c.Door + " " + c.Identity
	return func(caller string) bool { return c.Identity != "" && caller == own }
}
