// Package operate is what all tools do with a program: they look at it (View), find the one
// element that is meant, bring it to where it can be acted upon, act on it in the best of
// several ways (Deed), and see what came of it. What is done with what kind of element is the
// tools' business, which stand above.
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

// A Desk is what the views of all calls share.
type Engine struct {
	programs.Registry
	RefStore conversation.RefStore
}

// A View is a program as one call sees it. What its queries mean is said before they are asked.
type View struct {
	snapview.RefSnapshot
	Engine  *Engine
	Backend desktop.Backend
	Call    *aai.Call
	App     desktop.App
	// IncludeHidden makes queries mean what is not showing where nothing that shows
	// is meant.
	IncludeHidden bool
	// IncludeMenus makes queries mean items of closed menus too, where nothing that
	// shows is meant.
	IncludeMenus     bool
	ForAction        bool                  // the element is to be acted upon, under the name that the caller knows
	CertainOnly      bool                  // queries mean only what they mean without a doubt
	Batched          bool                  // what is acted upon is one of several, which are told together
	Announced        map[desktop.ID]string // what was said already that is acted upon, and what was read on it
	IncludeOffscreen bool                  // queries mean what is out of view as well as what shows
	offscreenRead    bool                  // what is out of view was read, too
	treeOptional     bool                  // the call can do without a tree
	NoTree           bool                  // there is none
	screenWatcher    *screenshot.Watcher   // of the window that gets input, where that is looked at; nil where not
	scrolledIntoView bool                  // the element was out of view, and was brought into it
	keyboardGuard    *KeyboardGuard        // from before the first of several acts; nil where there is one
	AmbientChanges   *delta.AmbientChanges
	previousAction   *conversation.LastAction // the one before this call's; nil until it acts
}
