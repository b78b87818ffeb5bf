package ways

import "aai/internal/desktopentry"

// ReadNode is what an object says of itself, as it is read.
func ReadNode(text string) (interfaces, children []string) { return readNode(text) }

// ReadEntry are the actions of a desktop entry, for people.
func ReadEntry(text string) []string { return wayIn(desktopentry.Parse([]byte(text))).actions }

// Lasting is a name without what is another one at each start.
func Lasting(name string) string { return lasting(name) }
