package discovery

import "github.com/gybob/aai-gateway/internal/catalog/desktopentry"

// ReadNode is what an object says of itself, as it is read.
func ReadNode(text string) (interfaces, children []string) { return readNode(text) }

// ReadEntry are the actions of a desktop entry, for people.
func ReadEntry(text string) []string { return parseEntry(desktopentry.Parse([]byte(text))).actions }

// StableName is a name without what is another one at each start.
func StableName(name string) string { return stableName(name) }
