// Package desktopentry reads desktop entries, by the Desktop Entry Specification 1.5. What an
// entry is good for, others know.
package desktopentry

import (
	"strings"

	"github.com/gybob/aai-gateway/internal/files/atomicfile"
)

// maxEntryFile is how large an entry may be, in bytes.
const maxEntryFile = 256 << 10

// mainGroup is the group that says what the entry is.
const mainGroup = "Desktop Entry"

// A File is an entry: its keys and values, which are strangers' text. The zero File is empty.
type File struct {
	groups map[string]map[string]string // by the group's name and the key
}

// An Action is another way to start what the entry starts.
type Action struct {
	ID   string
	keys map[string]string
}

// Read reads a regular file of at most 256 KiB; what else stands there, such as a pipe, is an
// error and is not waited for.
func Read(path string) (File, error) {
	text, err := atomicfile.Read(path, atomicfile.ReadLimits{Size: maxEntryFile})
	return Parse(text), err
}

// Parse reads an entry. What is not understood is passed over, and of a key that is given twice
// the first counts.
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

// unescape undoes the escapes of a value of type string.
func unescape(s string) string {
	return strings.NewReplacer(`\\`, `\`, `\s`, " ", `\n`, "\n", `\t`, "\t", `\r`, "\r").Replace(s)
}

// IsApplication reports whether the entry is of a program, and is not marked as deleted.
func (f File) IsApplication() bool { return f.Value("Type") == "Application" && !f.IsTrue("Hidden") }

// Value is the value of a key, "" where there is none.
func (f File) Value(key string) string { return f.groups[mainGroup][key] }

// GroupValue is the value of a key in a group: files in the format of desktop entries, such as the
// index of an icon theme, have groups of their own.
func (f File) GroupValue(group, key string) string { return f.groups[group][key] }

// Lookup is Value, and whether the key is there.
func (f File) Lookup(key string) (value string, found bool) {
	value, found = f.groups[mainGroup][key]
	return value, found
}

// IsTrue reports whether the value is true.
func (f File) IsTrue(key string) bool { return f.Value(key) == "true" }

// LocalizedValue is the value in a language, such as "de_AT.UTF-8", or else as it is without one.
func (f File) LocalizedValue(language, key string) string {
	return localized(f.groups[mainGroup], language, key)
}

// Actions are those that the entry names and describes, in its order, each once.
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

// Value is the value of a key of the action, "" where there is none.
func (a Action) Value(key string) string { return a.keys[key] }

// LocalizedValue is the value in a language, or else as it is without one.
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
