// Package apps has no code: its tests let the real gateway operate real programs, and ask
// others than us what has come of it.
//
// An act goes through the program as agents use it, by MCP or the command line, with a
// grant, beside a client of libatspi that listens to everything as a screen reader does.
// What it did is judged by a reader of the accessibility bus of another library than ours
// (witness), by xdotool, xprop and xclip, by pictures of a window, by files on the disk, by
// what a page's own JavaScript tells its server. What we say of it is held against that.
//
// A task is several acts to an end, as an agent is given one: what it leaves is judged, and
// what the agent wrote and read for it is told.
//
// AAI_APPS=all is all programs and what every kind of act needs (make test-apps), else it is
// one program a toolkit. AAI_APPS_ONLY names one program or task, AAI_APPS_GATEWAY a gateway that is
// built already, AAI_APPS_SAY=1 tells of every act.
package apps
