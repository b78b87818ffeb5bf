// Package operate is what all tools do with a program: they look at it (View), find the one
// element that is meant, bring it to where it can be acted upon, act on it in the best of
// several ways (Deed), and see what came of it. What is done with what kind of element is the
// tools' business, which stand above.
package operate

import (
	"aai"
	"aai/internal/ax/memory"
	"aai/internal/ax/programs"
	"aai/internal/ax/scene"
	"aai/internal/ax/sight"
	"aai/internal/desktop"
	"aai/internal/desktop/delta"
)

// A Desk is what the views of all calls share.
type Desk struct {
	programs.Programs
	Memory memory.Files
}

// A View is a program as one call sees it. What its queries mean is said before they are asked.
type View struct {
	scene.Scene
	Desk    *Desk
	Backend desktop.Backend
	Call    *aai.Call
	App     desktop.App
	// AlsoHidden makes queries mean what is not showing where nothing that shows
	// is meant.
	AlsoHidden bool
	// AlsoMenus makes queries mean items of closed menus too, where nothing that
	// shows is meant.
	AlsoMenus bool
	Acting    bool                  // the element is to be acted upon, under the name that the caller knows
	Surely    bool                  // queries mean only what they mean without a doubt
	Together  bool                  // what is acted upon is one of several, which are told together
	Said      map[desktop.ID]string // what was said already that is acted upon, and what was read on it
	Beyond    bool                  // queries mean what is out of view as well as what shows
	far       bool                  // what is out of view was read, too
	byPicture bool                  // the call can do without a tree
	Blind     bool                  // there is none
	sight     *sight.Sight          // of the window that gets input, where that is looked at; nil where not
	brought   bool                  // the element was out of view, and was brought into it
	kept      *Keeper               // from before the first of several acts; nil where there is one
	Unrest    *delta.Unrest
	before    *memory.Act // the one before this call's; nil until it acts
}
