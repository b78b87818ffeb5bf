// Package apps has no code: its tests let the real gateway operate real programs, and ask
// others than us what has come of it.
//
// An act goes through the program as agents use it, by MCP or the command line, with a
// grant. What it did is judged by a client of libatspi (testdata/witness.py, which listens
// to everything as a screen reader does), by xdotool, by files on the disk, by what a
// page's own JavaScript tells its server. What we say of it is held against that.
package apps
