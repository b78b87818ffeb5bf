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

// Every entry is in every conversation, so that only few apps can have one. Where there are
// more, a client is shown a search of all tools and the apps that the person uses most.
const (
	maxEntries       = 25   // apps that have an entry each
	maxListing       = 1500 // tokens of the list, where apps have an entry each
	maxChosenEntries = 6    // apps that have one beside the search
	maxChosenListing = 1200 // and tokens of the list then: the count is no exact one
	searchToolName   = "search"
	searchID         = "aai:search"
)

// A shelf is what a client is shown of the apps. It is chosen when the client asks for the
// first time and stays as it was chosen, but for what is gone; one that has become too full
// is chosen anew, once.
type entrySelection struct {
	onlyChosen bool     // only chosen apps have an entry
	chosen     []string // their ids
	shown      []*mcp.Tool
}

// selectionOf is the client's, which the caller of it guards by d.sync. Clients without a session
// of their own share one.
func (d *Door) selectionOf(session *mcp.ServerSession) *entrySelection {
	if session == nil || session.ID() == "" {
		return &d.sharedSelection
	}
	return &d.clientStateOf(session).selection
}

// entriesFor are the entries of apps that the client is shown, and whether they are all
// there are. It is called with d.sync held.
func (d *Door) entriesFor(session *mcp.ServerSession) (shown []*mcp.Tool, all bool) {
	s := d.selectionOf(session)
	if !s.onlyChosen && d.canSearch() && (d.cachedEntries != nil || d.hasTooManyApps()) {
		s.onlyChosen, s.chosen = true, d.choose()
	}
	s.shown = d.entriesOf(s)
	return s.shown, !s.onlyChosen
}

// entriesNow is entriesFor a client that asks.
func (d *Door) entriesNow(session *mcp.ServerSession) (shown []*mcp.Tool, all bool) {
	d.sync.Lock()
	defer d.sync.Unlock()
	shown, all = d.entriesFor(session)
	if !d.listRequested {
		d.listRequested = true
		time.AfterFunc(scanDelay, d.allowScan)
		d.saveEntries()
	}
	return shown, all
}

func (d *Door) entriesOf(s *entrySelection) []*mcp.Tool {
	shown := make([]*mcp.Tool, 0, maxChosenEntries)
	for id, entry := range d.cachedEntries {
		if slices.Contains(s.chosen, id) {
			shown = append(shown, entry)
		}
	}
	for _, g := range d.guides {
		if !s.onlyChosen || slices.Contains(s.chosen, g.app) {
			shown = append(shown, g.tool)
		}
	}
	slices.SortFunc(shown, func(a, b *mcp.Tool) int { return strings.Compare(a.Name, b.Name) })
	return shown
}

// canSearch reports whether there is a search to be shown in the place of entries.
func (d *Door) canSearch() bool { return d.hasSearch && !d.onlyDirect }

// hasTooManyApps reports whether the apps are too many for an entry each.
func (d *Door) hasTooManyApps() bool {
	if len(d.guides) > maxEntries {
		return true
	}
	left := maxListing - d.fixedTokens()
	for _, g := range d.guides {
		left -= tokensOf(g.tool)
	}
	return left < 0
}

// choose returns the ids of the apps that have an entry although there are too many: the
// desktop, and those that the person uses most.
func (d *Door) choose() []string {
	byID := maps.Clone(d.cachedEntries)
	if byID == nil {
		byID = make(map[string]*mcp.Tool, len(d.guides))
	}
	for _, g := range d.guides {
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

// preferredApps are the ids of the apps that are shown if they are there and there is room.
func (d *Door) preferredApps() []string {
	wanted := []string{aai.DesktopApp}
	if d.favourites != nil {
		wanted = append(wanted, d.favourites()...)
	}
	return wanted
}

// fixedTokens is what the door's own tools take, without those of direct apps, which are
// listed because somebody wants them.
func (d *Door) fixedTokens() int {
	sum := tokensOf(d.execTool())
	if d.web {
		sum += tokensOf(d.discoverTool())
	}
	return sum
}

// tokensOf is about how many tokens an entry takes.
func tokensOf(tool *mcp.Tool) int {
	text, err := json.Marshal(tool)
	if err != nil {
		return maxListing // it is not listed, as the SDK could not
	}
	return sanitize.Estimate(string(text))
}

// isNews reports whether the client would be shown another list than the last one.
func (d *Door) isNews(session *mcp.ServerSession) bool {
	d.sync.Lock()
	defer d.sync.Unlock()
	s := d.selectionOf(session)
	return !s.onlyChosen || len(d.direct) > 0 || !sameTools(s.shown, d.entriesOf(s))
}

// searchTool finds tools of all apps.
func (d *Door) searchTool() *mcp.Tool {
	return &mcp.Tool{
		Name:        d.toolName(searchID),
		Title:       "Find a tool",
		Description: "Find the tools of all apps that do what is wanted. The answer has the calls to run with " + d.toolName(execID) + ".",
		InputSchema: map[string]any{
			"type": "object",
			"properties": map[string]any{
				"words": map[string]any{"type": "string", "description": "What is to be done, in a few words"},
				"app":   map[string]any{"type": "string", "description": "Only tools of this app"},
			},
			"required": []string{"words"},
		},
		Annotations: &mcp.ToolAnnotations{ReadOnlyHint: true, IdempotentHint: true, OpenWorldHint: new(false)},
		Meta:        mcp.Meta{"aai/id": searchID},
	}
}
