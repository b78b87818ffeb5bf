package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gybob/aai-gateway"
)

// The scan of all descriptors dominates the start, and with many apps the list of tools
// needs little of it: that they are many, and the entries of the few that are shown. So the
// door caches those. A client sees them at once; if the scan finds other entries, the door
// notifies it. Nothing else uses the cache.

// A ListCache stores the encoded app entries of a door's tool list, so that the door of a later
// process can show them before its first scan ends. The content may be lost at any time. It is safe
// for concurrent use and never blocks on another process.
type ListCache interface {
	// Load returns the last saved content, nil if there is none.
	Load() []byte
	// Save stores content; nil deletes it.
	Save(content []byte)
}

// maxCachedEntries limits the entries in the cache.
const maxCachedEntries = 32

// cachedList is the JSON form of a door's cached list.
type cachedList struct {
	Version string        `json:"version"` // of the program that saved it
	Entries []cachedEntry `json:"entries"`
}

// A cachedEntry is the entry of one app.
type cachedEntry struct {
	App     string `json:"app"`
	Title   string `json:"title"`
	Summary string `json:"summary"`
}

// loadCachedEntries makes entries from the cache; it reports false if there are none or
// they do not fit this door.
func (d *Door) loadCachedEntries() (entries map[string]*mcp.Tool, ok bool) {
	if d.cfg.ListCache == nil || !d.canSearch() || len(d.cfg.DirectApps) > 0 {
		return nil, false
	}
	var k cachedList
	content := d.cfg.ListCache.Load()
	if content == nil || json.Unmarshal(content, &k) != nil || k.Version != d.cfg.Version || len(k.Entries) > maxCachedEntries {
		return nil, false
	}
	entries = make(map[string]*mcp.Tool, len(k.Entries))
	for _, e := range k.Entries {
		if e.App == "" || len(e.Summary) > 3*maxSummary {
			return nil, false
		}
		entries[e.App] = d.guideEntry(e.App, aai.CleanLabel(e.Title, 100), aai.CleanText(e.Summary, 3*maxSummary))
	}
	return entries, true
}

// saveEntries caches the entries that the next door shows first, once a client has requested the
// list: a mere start changes nothing outside of the process. The caller holds d.lists.mu.
func (d *Door) saveEntries() {
	if d.cfg.ListCache == nil || !d.scan.requested || !d.scan.isDone || !d.canSearch() || len(d.cfg.DirectApps) > 0 {
		return
	}
	var content []byte
	if d.hasTooManyApps() {
		content = d.cacheContent()
	}
	if !bytes.Equal(content, d.cfg.ListCache.Load()) {
		d.cfg.ListCache.Save(content)
	}
}

func (d *Door) cacheContent() []byte {
	byID := make(map[string]*mcp.Tool, len(d.lists.guides))
	for _, g := range d.lists.guides {
		byID[g.app] = g.tool
	}
	k := cachedList{Version: d.cfg.Version}
	for _, id := range d.preferredApps() {
		if tool := byID[id]; tool != nil && len(k.Entries) < maxCachedEntries {
			k.Entries = append(k.Entries, cachedEntry{App: id, Title: tool.Title, Summary: tool.Description})
		}
	}
	content, err := json.Marshal(k)
	if err != nil {
		return nil
	}
	return content
}

// showCached loads the entries to show before the first scan, and reports whether there are
// any.
func (d *Door) showCached() bool {
	entries, ok := d.loadCachedEntries()
	if !ok {
		return false
	}
	d.lists.mu.Lock()
	defer d.lists.mu.Unlock()
	d.scan.cached = entries
	return true
}

// The delays of the scan if there is a cached list: it takes all processors, and the client
// is waiting.
const (
	maxScanDelay = time.Second           // after the start
	scanDelay    = 20 * time.Millisecond // after the first list
)

// ReadyToScan returns a channel that is closed when a scan of the apps no longer delays the
// client's first requests; at once if the door must scan before it can answer.
func (d *Door) ReadyToScan() <-chan struct{} { return d.scan.allowed }

func (d *Door) allowScan() { d.scan.allowOnce.Do(func() { close(d.scan.allowed) }) }

// finishFirstScan ends the time before the first scan. If there are not too many apps after
// all, clients that saw the search get an entry of each. The caller holds d.lists.mu.
func (d *Door) finishFirstScan() {
	if d.scan.isDone {
		return
	}
	d.scan.isDone = true
	if d.scan.cached != nil && !d.hasTooManyApps() {
		for _, s := range d.selections() {
			s.onlyChosen = false
		}
	}
	d.scan.cached = nil
	close(d.scan.done)
}

// selections returns the selections of all clients. The caller holds d.lists.mu.
func (d *Door) selections() []*entrySelection {
	all := []*entrySelection{&d.lists.shared}
	d.clients.mu.Lock()
	defer d.clients.mu.Unlock()
	for _, g := range d.clients.of {
		all = append(all, &g.selection)
	}
	return all
}

func (d *Door) waitForScan(ctx context.Context) {
	select {
	case <-d.scan.done:
		return
	default:
	}
	d.allowScan()
	timer := time.NewTimer(firstScanTimeout)
	defer timer.Stop()
	select {
	case <-d.scan.done:
	case <-timer.C:
	case <-ctx.Done():
	}
}

// sameTools reports whether two lists of entries look the same to clients.
func sameTools(some, others []*mcp.Tool) bool {
	return slices.EqualFunc(some, others, func(a, b *mcp.Tool) bool {
		return a == b || a.Name == b.Name && a.Title == b.Title && a.Description == b.Description
	})
}
