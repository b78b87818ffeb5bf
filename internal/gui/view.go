package gui

import (
	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/delta"
	"github.com/gybob/aai-gateway/internal/gui/conversation"
	"github.com/gybob/aai-gateway/internal/gui/screenshot"
	"github.com/gybob/aai-gateway/internal/gui/snapview"
)

// view holds the state of one call that operates a program: its latest snapshot with refs, the backend and the
// options. Set the options before a query.
type view struct {
	snapview.RefSnapshot
	engine  *engine
	backend desktop.Backend
	call    *aai.Call
	app     desktop.App
	// includeHidden lets queries match elements that are not visible if no visible one matches.
	includeHidden bool
	// includeMenus lets queries match items of closed menus if no visible element matches.
	includeMenus     bool
	forAction        bool                  // the element must still have the name that the caller knows
	certainOnly      bool                  // queries accept only certain matches
	batched          bool                  // the action is one of several with a common report
	announced        map[desktop.ID]string // elements already announced, with their texts then
	includeOffscreen bool                  // queries match elements out of view as well as visible ones
	offscreenRead    bool                  // elements out of view were read, too
	treeOptional     bool                  // the call works without a tree
	noTree           bool                  // the program has no tree
	screenWatcher    *screenshot.Watcher   // compares screenshots of the window that gets input; nil if off
	scrolledIntoView bool                  // the element was out of view and was scrolled into view
	keyboardGuard    *keyboardGuard        // from before the first of several actions; nil for a single one
	ambientChanges   *delta.AmbientChanges
	previousAction   *conversation.LastAction // the action before this call's; nil until it acts
}
