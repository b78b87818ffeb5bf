package mcp

import (
	"encoding/json"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"aai"
	"aai/internal/tokens"
)

// Every entry is in every conversation, so that only few apps can have one. Where there are
// more, a client is shown a search of all tools and the apps that the person uses most.
const (
	maxEntries = 25   // apps that have an entry each
	maxListing = 1500 // tokens of the list, where apps have an entry each
	fewEntries = 6    // apps that have one beside the search
	fewListing = 1200 // and tokens of the list then: the count is no exact one
	ownSearch  = "search"
	searchID   = "aai:search"
)

// A shelf is what a client is shown of the apps. It is chosen when the client asks for the
// first time and stays as it was chosen, but for what is gone; one that has become too full
// is chosen anew, once.
type shelf struct {
	few    bool     // only chosen apps have an entry
	chosen []string // their ids
	shown  []*mcp.Tool
}

// shelfOf is the client's, which the caller of it guards by d.sync. Clients without a session
// of their own share one.
func (d *Door) shelfOf(session *mcp.ServerSession) *shelf {
	if session == nil || session.ID() == "" {
		return &d.shelf
	}
	return &d.guestOf(session).shelf
}

// entriesFor are the entries of apps that the client is shown, and whether they are all
// there are. It is called with d.sync held.
func (d *Door) entriesFor(session *mcp.ServerSession) (shown []*mcp.Tool, all bool) {
	s := d.shelfOf(session)
	if !s.few && d.searches() && (d.early != nil || d.tooMany()) {
		s.few, s.chosen = true, d.choose()
	}
	s.shown = d.entriesOn(s)
	return s.shown, !s.few
}

// entriesNow is entriesFor a client that asks.
func (d *Door) entriesNow(session *mcp.ServerSession) (shown []*mcp.Tool, all bool) {
	d.sync.Lock()
	defer d.sync.Unlock()
	shown, all = d.entriesFor(session)
	if !d.asked {
		d.asked = true
		time.AfterFunc(restAfter, d.rest)
		d.keep()
	}
	return shown, all
}

func (d *Door) entriesOn(s *shelf) []*mcp.Tool {
	shown := make([]*mcp.Tool, 0, fewEntries)
	for id, entry := range d.early {
		if slices.Contains(s.chosen, id) {
			shown = append(shown, entry)
		}
	}
	for _, g := range d.guides {
		if !s.few || slices.Contains(s.chosen, g.app) {
			shown = append(shown, g.tool)
		}
	}
	slices.SortFunc(shown, func(a, b *mcp.Tool) int { return strings.Compare(a.Name, b.Name) })
	return shown
}

// searches reports whether there is a search to be shown in the place of entries.
func (d *Door) searches() bool { return d.finds && !d.only }

// tooMany reports whether the apps are too many for an entry each.
func (d *Door) tooMany() bool {
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
	byID := maps.Clone(d.early)
	if byID == nil {
		byID = make(map[string]*mcp.Tool, len(d.guides))
	}
	for _, g := range d.guides {
		byID[g.app] = g.tool
	}
	left := fewListing - d.fixedTokens() - tokensOf(d.searchTool())
	var chosen []string
	for _, id := range d.wanted() {
		tool := byID[id]
		if tool == nil || slices.Contains(chosen, id) || len(chosen) == fewEntries {
			continue
		}
		if cost := tokensOf(tool); cost <= left {
			left -= cost
			chosen = append(chosen, id)
		}
	}
	return chosen
}

// wanted are the ids of the apps that are shown if they are there and there is room.
func (d *Door) wanted() []string {
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
	return tokens.Estimate(string(text))
}

// isNews reports whether the client would be shown another list than the last one.
func (d *Door) isNews(session *mcp.ServerSession) bool {
	d.sync.Lock()
	defer d.sync.Unlock()
	s := d.shelfOf(session)
	return !s.few || len(d.direct) > 0 || !alike(s.shown, d.entriesOn(s))
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
