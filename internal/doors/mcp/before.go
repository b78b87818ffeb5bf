package mcp

import (
	"bytes"
	"context"
	"encoding/json"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"aai"
)

// To look at all descriptors takes longer than all else at the start, and where apps are many
// the list of tools needs hardly any of it: that they are many, and the entries of the few
// that are shown. So those are kept. A client is shown them at once; when the apps have been
// looked at and something else is true, it is told. Nothing else goes by what was kept.

// A Memory is where a door keeps what it showed, for the doors of later processes. What it
// keeps may be lost at any time. It is safe for concurrent use and does not wait for others.
type Memory interface {
	// Recall returns what was kept last, nil where there is nothing.
	Recall() []byte
	// Keep keeps it; nil: there is nothing to be kept any more.
	Keep(content []byte)
}

// maxKept is how many entries are kept.
const maxKept = 32

// kept is what a door keeps of its list.
type kept struct {
	Version string      `json:"version"` // of the program that kept it
	Entries []keptEntry `json:"entries"`
}

// A keptEntry is an app's.
type keptEntry struct {
	App     string `json:"app"`
	Title   string `json:"title"`
	Summary string `json:"summary"`
}

// recall makes the entries of what was kept; false where nothing was, or it does not
// concern this door.
func (d *Door) recall() (entries map[string]*mcp.Tool, ok bool) {
	if d.memory == nil || !d.searches() || len(d.direct) > 0 {
		return nil, false
	}
	var k kept
	content := d.memory.Recall()
	if content == nil || json.Unmarshal(content, &k) != nil || k.Version != d.version || len(k.Entries) > maxKept {
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

// keep keeps what the next door will show first, once a client has asked for the list: a
// start alone changes nothing outside of the process. It is called with d.sync held.
func (d *Door) keep() {
	if d.memory == nil || !d.asked || !d.looked || !d.searches() || len(d.direct) > 0 {
		return
	}
	var content []byte
	if d.tooMany() {
		content = d.keepable()
	}
	if !bytes.Equal(content, d.memory.Recall()) {
		d.memory.Keep(content)
	}
}

func (d *Door) keepable() []byte {
	byID := make(map[string]*mcp.Tool, len(d.guides))
	for _, g := range d.guides {
		byID[g.app] = g.tool
	}
	k := kept{Version: d.version}
	for _, id := range d.wanted() {
		if tool := byID[id]; tool != nil && len(k.Entries) < maxKept {
			k.Entries = append(k.Entries, keptEntry{App: id, Title: tool.Title, Summary: tool.Description})
		}
	}
	content, err := json.Marshal(k)
	if err != nil {
		return nil
	}
	return content
}

// begin prepares what is shown until the apps have been looked at, and reports whether
// there is something.
func (d *Door) begin() bool {
	entries, ok := d.recall()
	if !ok {
		return false
	}
	d.sync.Lock()
	defer d.sync.Unlock()
	d.early = entries
	return true
}

// How long the look at the apps is put off where it is known what to show before: it takes
// all processors, and the client is waiting.
const (
	restAtMost = time.Second           // after the start
	restAfter  = 20 * time.Millisecond // after the first list
)

// Rested is closed when nothing that this door is asked for now is kept waiting by a look at
// the apps: at once where the door must look itself before it can answer.
func (d *Door) Rested() <-chan struct{} { return d.rested }

func (d *Door) rest() { d.resting.Do(func() { close(d.rested) }) }

// settle ends the time before the first look at the apps. Who was shown a search because
// there were many gets an entry of each if there are not. It is called with d.sync held.
func (d *Door) settle() {
	if d.looked {
		return
	}
	d.looked = true
	if d.early != nil && !d.tooMany() {
		for _, s := range d.shelves() {
			s.few = false
		}
	}
	d.early = nil
	close(d.ready)
}

// shelves are those of all clients. It is called with d.sync held.
func (d *Door) shelves() []*shelf {
	all := []*shelf{&d.shelf}
	d.guests.mu.Lock()
	defer d.guests.mu.Unlock()
	for _, g := range d.guests.of {
		all = append(all, &g.shelf)
	}
	return all
}

// awaitsApps has what needs the list of apps wait for the first look at them, but not for
// long: a slow disk must not keep a client from what it has.
func (d *Door) awaitsApps(next mcp.MethodHandler) mcp.MethodHandler {
	return func(ctx context.Context, method string, req mcp.Request) (mcp.Result, error) {
		switch method {
		case "initialize", "ping", "server/discover", "tools/list", "logging/setLevel":
		default:
			if !strings.HasPrefix(method, "notifications/") {
				d.await(ctx)
			}
		}
		return next(ctx, method, req)
	}
}

func (d *Door) await(ctx context.Context) {
	select {
	case <-d.ready:
		return
	default:
	}
	d.rest()
	timer := time.NewTimer(firstScan)
	defer timer.Stop()
	select {
	case <-d.ready:
	case <-timer.C:
	case <-ctx.Done():
	}
}

// alike reports whether two lists of entries show the same.
func alike(some, others []*mcp.Tool) bool {
	return slices.EqualFunc(some, others, func(a, b *mcp.Tool) bool {
		return a == b || a.Name == b.Name && a.Title == b.Title && a.Description == b.Description
	})
}
