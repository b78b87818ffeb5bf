// Package desktopentry reads desktop entries (Desktop Entry Specification 1.5), and finds the
// icons of apps in the person's icon themes (Icon Theme Specification 0.13).
//
// [Read] and [Parse] return an entry as a [File]. [IconFinder] returns icons and provides the
// icons tool. Icon files are untrusted: it reads only files within icon folders, wherever names
// or links lead, and returns only PNG and SVG of limited size, by content instead of file name. A
// page must show an SVG as an image, in which no script runs.
package desktopentry

import (
	"strings"

	"github.com/gybob/aai-gateway/internal/files/atomicfile"
)

// maxEntryFile limits an entry, in bytes.
const maxEntryFile = 256 << 10

// mainGroup is the group of the entry's own keys.
const mainGroup = "Desktop Entry"

// A File is an entry: its keys and values, which are untrusted text. The zero File is empty.
type File struct {
	groups map[string]map[string]string // by the group's name and the key
}

// An Action is an additional action of an entry.
type Action struct {
	ID   string
	keys map[string]string
}

// Read reads a regular file of at most 256 KiB. Other files, such as a pipe, are an error, and
// Read does not wait for them.
func Read(path string) (File, error) {
	text, err := atomicfile.Read(path, atomicfile.ReadLimits{Size: maxEntryFile})
	return Parse(text), err
}

// Parse parses an entry. It ignores invalid lines, and of duplicate keys the first counts.
func Parse(text []byte) File {
	f := File{make(map[string]map[string]string)}
	group := ""
	for line := range strings.Lines(string(text)) {
		line = strings.TrimSpace(line)
		if strings.HasPrefix(line, "[") && strings.HasSuffix(line, "]") {
			group = line[1 : len(line)-1]
			continue
		}
		key, value, found := strings.Cut(line, "=")
		if !found || strings.HasPrefix(line, "#") {
			continue
		}
		if f.groups[group] == nil {
			f.groups[group] = make(map[string]string)
		}
		key = strings.TrimSpace(key)
		if _, twice := f.groups[group][key]; !twice {
			f.groups[group][key] = unescape(strings.TrimSpace(value))
		}
	}
	return f
}

// unescape resolves the escapes of a value of type string.
func unescape(s string) string {
	return strings.NewReplacer(`\\`, `\`, `\s`, " ", `\n`, "\n", `\t`, "\t", `\r`, "\r").Replace(s)
}

// IsApplication reports whether the entry describes an application that is not hidden.
func (f File) IsApplication() bool { return f.Value("Type") == "Application" && !f.IsTrue("Hidden") }

// Value returns the value of a key in the group [Desktop Entry], or "".
func (f File) Value(key string) string { return f.groups[mainGroup][key] }

// GroupValue returns the value of a key in a group, for other files in the format of desktop
// entries, such as the index of an icon theme.
func (f File) GroupValue(group, key string) string { return f.groups[group][key] }

// Lookup returns the value of a key in the group [Desktop Entry], and whether the key exists.
func (f File) Lookup(key string) (value string, found bool) {
	value, found = f.groups[mainGroup][key]
	return value, found
}

// IsTrue reports whether the value of a key in the group [Desktop Entry] is "true".
func (f File) IsTrue(key string) bool { return f.Value(key) == "true" }

// LocalizedValue is Value for a locale, such as "de_AT.UTF-8", or else for the default locale.
func (f File) LocalizedValue(language, key string) string {
	return localized(f.groups[mainGroup], language, key)
}

// Actions returns the actions that the entry lists and describes, in order, without duplicates.
func (f File) Actions() []Action {
	var actions []Action
	named := make(map[string]bool)
	for id := range strings.SplitSeq(f.Value("Actions"), ";") {
		id = strings.TrimSpace(id)
		if keys := f.groups["Desktop Action "+id]; keys != nil && !named[id] {
			named[id] = true
			actions = append(actions, Action{id, keys})
		}
	}
	return actions
}

// Value returns the value of a key of the action, or "".
func (a Action) Value(key string) string { return a.keys[key] }

// LocalizedValue returns the value of a key of the action for a locale, or else the default value.
func (a Action) LocalizedValue(language, key string) string { return localized(a.keys, language, key) }

func localized(keys map[string]string, language, key string) string {
	language, modifier, _ := strings.Cut(language, "@")
	language, _, _ = strings.Cut(language, ".")
	short, _, _ := strings.Cut(language, "_")
	for _, tag := range []string{language + "@" + modifier, language, short + "@" + modifier, short} {
		if value := keys[key+"["+tag+"]"]; value != "" {
			return value
		}
	}
	return keys[key]
}
