package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gybob/aai-gateway"
)

// To look at all descriptors takes longer than all else at the start, and where apps are many
// the list of tools needs hardly any of it: that they are many, and the entries of the few
// that are shown. So those are kept. A client is shown them at once; when the apps have been
// looked at and something else is true, it is told. Nothing else goes by what was kept.

// A Memory is where a door keeps what it showed, for the doors of later processes. What it
// keeps may be lost at any time. It is safe for concurrent use and does not wait for others.
type ListCache interface {
	// Load returns what was kept last, nil where there is nothing.
	Load() []byte
	// Save keeps it; nil: there is nothing to be kept any more.
	Save(content []byte)
}

// maxCachedEntries is how many entries are kept.
const maxCachedEntries = 32

// cachedList is what a door keeps of its list.
type cachedList struct {
	Version string        `json:"version"` // of the program that kept it
	Entries []cachedEntry `json:"entries"`
}

// A keptEntry is an app's.
type cachedEntry struct {
	App     string `json:"app"`
	Title   string `json:"title"`
	Summary string `json:"summary"`
}

// loadCachedEntries makes the entries of what was kept; false where nothing was, or it does not
// concern this door.
func (d *Door) loadCachedEntries() (entries map[string]*mcp.Tool, ok bool) {
	if d.listCache == nil || !d.canSearch() || len(d.direct) > 0 {
		return nil, false
	}
	var k cachedList
	content := d.listCache.Load()
	if content == nil || json.Unmarshal(content, &k) != nil || k.Version != d.version || len(k.Entries) > maxCachedEntries {
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

// saveEntries keeps what the next door will show first, once a client has asked for the list: a
// start alone changes nothing outside of the process. It is called with d.sync held.
func (d *Door) saveEntries() {
	if d.listCache == nil || !d.listRequested || !d.firstScanDone || !d.canSearch() || len(d.direct) > 0 {
		return
	}
	var content []byte
	if d.hasTooManyApps() {
		content = d.cacheContent()
	}
	if !bytes.Equal(content, d.listCache.Load()) {
		d.listCache.Save(content)
	}
}

func (d *Door) cacheContent() []byte {
	byID := make(map[string]*mcp.Tool, len(d.guides))
	for _, g := range d.guides {
		byID[g.app] = g.tool
	}
	k := cachedList{Version: d.version}
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

// showCached prepares what is shown until the apps have been looked at, and reports whether
// there is something.
func (d *Door) showCached() bool {
	entries, ok := d.loadCachedEntries()
	if !ok {
		return false
	}
	d.sync.Lock()
	defer d.sync.Unlock()
	d.cachedEntries = entries
	return true
}

// How long the look at the apps is put off where it is known what to show before: it takes
// all processors, and the client is waiting.
const (
	maxScanDelay = time.Second           // after the start
	scanDelay    = 20 * time.Millisecond // after the first list
)

// ReadyToScan is closed when nothing that this door is asked for now is kept waiting by a look at
// the apps: at once where the door must look itself before it can answer.
func (d *Door) ReadyToScan() <-chan struct{} { return d.readyToScan }

func (d *Door) allowScan() { d.allowScanOnce.Do(func() { close(d.readyToScan) }) }

// finishFirstScan ends the time before the first look at the apps. Who was shown a search because
// there were many gets an entry of each if there are not. It is called with d.sync held.
func (d *Door) finishFirstScan() {
	if d.firstScanDone {
		return
	}
	d.firstScanDone = true
	if d.cachedEntries != nil && !d.hasTooManyApps() {
		for _, s := range d.selections() {
			s.onlyChosen = false
		}
	}
	d.cachedEntries = nil
	close(d.scanned)
}

// selections are those of all clients. It is called with d.sync held.
func (d *Door) selections() []*entrySelection {
	all := []*entrySelection{&d.sharedSelection}
	d.clients.mu.Lock()
	defer d.clients.mu.Unlock()
	for _, g := range d.clients.of {
		all = append(all, &g.selection)
	}
	return all
}

// waitForApps has what needs the list of apps wait for the first look at them, but not for
// long: a slow disk must not keep a client from what it has.
func (d *Door) waitForApps(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		switch method {
		case "initialize", "ping", "server/discover", "tools/list", "logging/setLevel":
		default:
			if !strings.HasPrefix(method, "notifications/") {
				d.waitForScan(ctx)
			}
		}
		return next(ctx, method, req)
	}
}

func (d *Door) waitForScan(ctx context.Context) {
	select {
	case <-d.scanned:
		return
	default:
	}
	d.allowScan()
	timer := time.NewTimer(firstScanTimeout)
	defer timer.Stop()
	select {
	case <-d.scanned:
	case <-timer.C:
	case <-ctx.Done():
	}
}

// sameTools reports whether two lists of entries show the same.
func sameTools(some, others []*mcp.Tool) bool {
	return slices.EqualFunc(some, others, func(a, b *mcp.Tool) bool {
		return a == b || a.Name == b.Name && a.Title == b.Title && a.Description == b.Description
	})
}
