package generate

import (
	"bufio"
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"aai"
	"aai/internal/wholefile"
)

// An entry is what a desktop entry says of a program, by the Desktop Entry Specification
// 1.5, in English and in the person's language.
type entry struct {
	ID          string         `json:"id"`
	Name        string         `json:"name"`
	Local       string         `json:"local,omitempty"` // the name in the person's language, where it is another
	Generic     string         `json:"generic,omitempty"`
	Comment     string         `json:"comment,omitempty"`
	Activatable bool           `json:"activatable,omitempty"`
	Actions     []desktopEntry `json:"actions,omitempty"`
	exec        string
}

// A desktopEntry is one of the actions that an entry names.
type desktopEntry struct {
	Name  string `json:"name"`
	Label string `json:"label"`
}

// Limits on desktop entries.
const (
	maxEntryFile    = 256 << 10
	maxEntryActions = 20
	maxEntries      = 5000
)

// entryNamed is the desktop entry with exactly this id, of several folders the first; nil
// where there is none.
func (g *Generator) entryNamed(id string) *entry {
	id = strings.TrimSuffix(id, ".desktop")
	if id == "" || filepath.Base(id) != id || strings.HasPrefix(id, ".") {
		return nil
	}
	for _, folder := range g.cfg.Entries {
		if e := g.readEntry(filepath.Join(folder, id+".desktop"), id); e != nil {
			return e
		}
	}
	return nil
}

// entryCalled is the desktop entry with this id, or else the first by the id whose program, or
// whose name for people, is called so.
func (g *Generator) entryCalled(app string) *entry {
	if e := g.entryNamed(app); e != nil || app == "" {
		return e
	}
	for _, id := range g.entryIDs() {
		if e := g.entryNamed(id); e != nil && (e.program() == app || strings.EqualFold(e.Name, app) || strings.EqualFold(e.Local, app)) {
			return e
		}
	}
	return nil
}

// program is the file name of what the entry starts.
func (e *entry) program() string {
	if fields := strings.Fields(e.exec); len(fields) > 0 {
		return filepath.Base(strings.Trim(fields[0], `"`))
	}
	return ""
}

// entryIDs are the ids of all desktop entries.
func (g *Generator) entryIDs() []string {
	var ids []string
	for _, folder := range g.cfg.Entries {
		files, err := os.ReadDir(folder)
		if err != nil {
			continue
		}
		for _, f := range files[:min(len(files), maxEntries)] {
			if id, ok := strings.CutSuffix(f.Name(), ".desktop"); ok && !slices.Contains(ids, id) {
				ids = append(ids, id)
			}
		}
	}
	slices.Sort(ids)
	return ids
}

// readEntry reads a desktop entry; nil where it is none, or hidden.
func (g *Generator) readEntry(path, id string) *entry {
	text, err := wholefile.Read(path, wholefile.Limits{Size: maxEntryFile})
	if err != nil {
		return nil
	}
	groups := parseGroups(string(text))
	main := groups["Desktop Entry"]
	if main["Type"] != "Application" || main["Hidden"] == "true" {
		return nil
	}
	e := &entry{
		ID: id, Name: label(main["Name"]), Generic: label(main["GenericName"]), Comment: label(main["Comment"]),
		Activatable: main["DBusActivatable"] == "true", exec: main["Exec"],
	}
	if local := label(localized(main, "Name", g.language())); local != e.Name {
		e.Local = local
	}
	for name := range strings.SplitSeq(main["Actions"], ";") {
		about := groups["Desktop Action "+name]
		if words := label(about["Name"]); words != "" && len(e.Actions) < maxEntryActions {
			e.Actions = append(e.Actions, desktopEntry{name, withLocal(words, label(localized(about, "Name", g.language())))})
		}
	}
	return e
}

// parseGroups reads the keys of each group. Of a key that is given twice the first counts.
func parseGroups(text string) map[string]map[string]string {
	groups := map[string]map[string]string{}
	group := ""
	lines := bufio.NewScanner(strings.NewReader(text))
	lines.Buffer(nil, maxEntryFile)
	for lines.Scan() {
		line := strings.TrimSpace(lines.Text())
		if strings.HasPrefix(line, "[") && strings.HasSuffix(line, "]") {
			group = line[1 : len(line)-1]
			continue
		}
		key, value, found := strings.Cut(line, "=")
		if !found || strings.HasPrefix(line, "#") {
			continue
		}
		if groups[group] == nil {
			groups[group] = map[string]string{}
		}
		if key = strings.TrimSpace(key); groups[group][key] == "" {
			groups[group][key] = unescape(strings.TrimSpace(value))
		}
	}
	return groups
}

func unescape(s string) string {
	return strings.NewReplacer(`\\`, `\`, `\s`, " ", `\n`, " ", `\t`, " ", `\r`, " ").Replace(s)
}

// localized is a value in the language, such as "de_AT", or else as it is without one.
func localized(group map[string]string, key, language string) string {
	language, modifier, _ := strings.Cut(language, "@")
	language, _, _ = strings.Cut(language, ".")
	short, _, _ := strings.Cut(language, "_")
	for _, tag := range []string{language + "@" + modifier, language, short + "@" + modifier, short} {
		if value := group[key+"["+tag+"]"]; value != "" {
			return value
		}
	}
	return group[key]
}

// label is a stranger's short text.
func label(s string) string { return aai.CleanLabel(s, maxLabel) }

const maxLabel = 120

// withLocal is an English text with the person's words for it, where they are others.
func withLocal(english, local string) string {
	if local == "" || local == english {
		return english
	}
	return cmp.Or(english, local) + " (" + local + ")"
}
