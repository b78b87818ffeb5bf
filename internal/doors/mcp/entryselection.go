package mcp

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/sanitize"
)

// Every entry takes tokens in every conversation, so only a few apps can have one. If there are more
// apps, the client sees a search of all tools and the apps that the person uses most.
const (
	maxEntries       = 25   // apps that have an entry each
	maxListing       = 1500 // tokens of the list, where apps have an entry each
	maxChosenEntries = 6    // apps that have one beside the search
	maxChosenListing = 1200 // tokens of the list then, estimated
	searchToolName   = "search"
	searchID         = "aai:search"
)

// An entrySelection holds the app entries that a client sees. It is chosen at the client's
// first request and then only loses removed apps; if it becomes too large, it is chosen
// again, once.
type entrySelection struct {
	onlyChosen bool     // only chosen apps have an entry
	chosen     []string // their ids
	shown      []*mcp.Tool
	changes    int // lists.changes at the client's last request of the list
}

// selectionOf returns the client's selection, which d.lists.mu guards. Clients without a
// session id share one.
func (d *Door) selectionOf(session *mcp.ServerSession) *entrySelection {
	if session == nil || session.ID() == "" {
		return &d.lists.shared
	}
	return &d.clientStateOf(session).selection
}

// entriesFor returns the app entries for the client, and whether all apps have one. The
// caller holds d.lists.mu.
func (d *Door) entriesFor(session *mcp.ServerSession) (shown []*mcp.Tool, all bool) {
	s := d.selectionOf(session)
	if !s.onlyChosen && d.canSearch() && (d.scan.cached != nil || d.hasTooManyApps()) {
		s.onlyChosen, s.chosen = true, d.choose()
	}
	s.shown = d.entriesOf(s)
	return s.shown, !s.onlyChosen
}

// entriesNow is entriesFor for a request of the client; the first one schedules the scan.
func (d *Door) entriesNow(session *mcp.ServerSession) (shown []*mcp.Tool, all bool) {
	d.lists.mu.Lock()
	defer d.lists.mu.Unlock()
	shown, all = d.entriesFor(session)
	d.selectionOf(session).changes = d.lists.changes
	if !d.scan.requested {
		d.scan.requested = true
		time.AfterFunc(scanDelay, d.allowScan)
		d.saveEntries()
	}
	return shown, all
}

func (d *Door) entriesOf(s *entrySelection) []*mcp.Tool {
	shown := make([]*mcp.Tool, 0, maxChosenEntries)
	for id, entry := range d.scan.cached {
		if slices.Contains(s.chosen, id) {
			shown = append(shown, entry)
		}
	}
	for _, g := range d.lists.guides {
		if !s.onlyChosen || slices.Contains(s.chosen, g.app) {
			shown = append(shown, g.tool)
		}
	}
	slices.SortFunc(shown, func(a, b *mcp.Tool) int { return strings.Compare(a.Name, b.Name) })
	return shown
}

// canSearch reports whether a search can replace entries.
func (d *Door) canSearch() bool { return d.cfg.ListSearch && !d.cfg.OnlyDirect }

// hasTooManyApps reports whether there are too many apps for an entry each.
func (d *Door) hasTooManyApps() bool {
	if len(d.lists.guides) > maxEntries {
		return true
	}
	left := maxListing - d.fixedTokens()
	for _, g := range d.lists.guides {
		left -= tokensOf(g.tool)
	}
	return left < 0
}

// choose returns the ids of the apps that have an entry although there are too many: the
// desktop, and those that the person uses most.
func (d *Door) choose() []string {
	byID := maps.Clone(d.scan.cached)
	if byID == nil {
		byID = make(map[string]*mcp.Tool, len(d.lists.guides))
	}
	for _, g := range d.lists.guides {
		byID[g.app] = g.tool
	}
	left := maxChosenListing - d.fixedTokens() - tokensOf(d.searchTool())
	var chosen []string
	for _, id := range d.preferredApps() {
		tool := byID[id]
		if tool == nil || slices.Contains(chosen, id) || len(chosen) == maxChosenEntries {
			continue
		}
		if cost := tokensOf(tool); cost <= left {
			left -= cost
			chosen = append(chosen, id)
		}
	}
	return chosen
}

// preferredApps returns the ids of the apps to show if they exist and there is room.
func (d *Door) preferredApps() []string {
	wanted := []string{aai.DesktopApp}
	if d.cfg.FavouriteApps != nil {
		wanted = append(wanted, d.cfg.FavouriteApps()...)
	}
	return wanted
}

// fixedTokens returns the tokens of the door's own tools. It omits the tools of direct
// apps, which the person has listed on purpose.
func (d *Door) fixedTokens() int {
	sum := tokensOf(d.execTool())
	if d.cfg.ListWebDiscovery {
		sum += tokensOf(d.discoverTool())
	}
	return sum
}

// tokensOf estimates the tokens of an entry.
func tokensOf(tool *mcp.Tool) int {
	text, err := json.Marshal(tool)
	if err != nil {
		return maxListing // the SDK could not list it either
	}
	return sanitize.EstimateTokens(string(text))
}

// isNews reports whether the client's list may have changed. It is always true for a client that sees
// the entries of all apps.
func (d *Door) isNews(session *mcp.ServerSession) bool {
	d.lists.mu.Lock()
	defer d.lists.mu.Unlock()
	s := d.selectionOf(session)
	return !s.onlyChosen || s.changes != d.lists.changes || !sameTools(s.shown, d.entriesOf(s))
}

// searchTool finds tools of all apps.
func (d *Door) searchTool() *mcp.Tool {
	return &mcp.Tool{
		Name:        d.toolName(searchID),
		Title:       "Find a tool",
		Description: "Find tools of all apps for a task. The answer has the calls to run with " + d.toolName(execID) + ".",
		InputSchema: map[string]any{
			"type": "object",
			"properties": map[string]any{
				"words": map[string]any{"type": "string", "description": "The task, in a few words"},
				"app":   map[string]any{"type": "string", "description": "Only tools of this app"},
			},
			"required": []string{"words"},
		},
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, OpenWorldHint: new(false)},
		Meta:        mcp.Meta{"aai/id": searchID},
	}
}
