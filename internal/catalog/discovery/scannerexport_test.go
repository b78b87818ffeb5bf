package discovery

import "github.com/gybob/aai-gateway/internal/catalog/desktopentry"

// ReadNode parses introspection data.
func ReadNode(text string) (interfaces, children []string) { return readNode(text) }

// ReadEntry returns the actions of a desktop entry, for people.
func ReadEntry(text string) []string { return parseEntry(desktopentry.Parse([]byte(text))).actions }

// StableName returns a name without the parts that change at each start.
func StableName(name string) string { return stableName(name) }
