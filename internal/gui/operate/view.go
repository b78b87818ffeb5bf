// Package operate executes the actions of all desktop tools. A View reads a program, finds the one
// element of a query and makes it ready. An Action tries several Techniques, best first, and
// observes the effect. The tools above this package decide which action fits which kind of element.
package operate

import (
	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/delta"
	"github.com/gybob/aai-gateway/internal/gui/conversation"
	"github.com/gybob/aai-gateway/internal/gui/programs"
	"github.com/gybob/aai-gateway/internal/gui/screenshot"
	"github.com/gybob/aai-gateway/internal/gui/snapview"
)

// Engine holds the state that the views of all calls share.
type Engine struct {
	programs.Registry
	RefStore conversation.RefStore
}

// View holds the state of one call that operates a program: its latest snapshot with refs, the backend and the
// options. Set the options before a query.
type View struct {
	snapview.RefSnapshot
	Engine  *Engine
	Backend desktop.Backend
	Call    *aai.Call
	App     desktop.App
	// IncludeHidden lets queries match elements that are not visible if no visible one matches.
	IncludeHidden bool
	// IncludeMenus lets queries match items of closed menus if no visible element matches.
	IncludeMenus     bool
	ForAction        bool                  // the element must still have the name that the caller knows
	CertainOnly      bool                  // queries accept only certain matches
	Batched          bool                  // the action is one of several with a common report
	Announced        map[desktop.ID]string // elements already announced, with their texts then
	IncludeOffscreen bool                  // queries match elements out of view as well as visible ones
	offscreenRead    bool                  // elements out of view were read, too
	treeOptional     bool                  // the call works without a tree
	NoTree           bool                  // the program has no tree
	screenWatcher    *screenshot.Watcher   // compares screenshots of the window that gets input; nil if off
	scrolledIntoView bool                  // the element was out of view and was scrolled into view
	keyboardGuard    *KeyboardGuard        // from before the first of several actions; nil for a single one
	AmbientChanges   *delta.AmbientChanges
	previousAction   *conversation.LastAction // the action before this call's; nil until it acts
}
