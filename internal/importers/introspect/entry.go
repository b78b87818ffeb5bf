package introspect

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/catalog/desktopentry"
)

// An entry is a desktop entry of a program (Desktop Entry Specification 1.5), in English and in
// the person's language.
type entry struct {
	ID          string        `json:"id"`
	Name        string        `json:"name"`
	Local       string        `json:"local,omitempty"` // the name in the person's language, if different
	Generic     string        `json:"generic,omitempty"`
	Comment     string        `json:"comment,omitempty"`
	Activatable bool          `json:"activatable,omitempty"`
	Actions     []entryAction `json:"actions,omitempty"`
	exec        string
}

// An entryAction is an action of a desktop entry.
type entryAction struct {
	Name  string `json:"name"`
	Label string `json:"label"`
}

// Limits on desktop entries.
const (
	maxEntryActions = 20
	maxEntries      = 5000
)

// entryByID returns the desktop entry with this id from the first folder that has it, or nil.
func (g *Generator) entryByID(id string) *entry {
	id = strings.TrimSuffix(id, ".desktop")
	if id == "" || filepath.Base(id) != id || strings.HasPrefix(id, ".") {
		return nil
	}
	for _, folder := range g.cfg.EntryFolders {
		if e := g.readEntry(filepath.Join(folder, id+".desktop"), id); e != nil {
			return e
		}
	}
	return nil
}

// entryByApp returns the desktop entry with this id, or else the first one, by id, with this
// program or display name.
func (g *Generator) entryByApp(app string) *entry {
	if e := g.entryByID(app); e != nil || app == "" {
		return e
	}
	for _, id := range g.entryIDs() {
		if e := g.entryByID(id); e != nil &&
			(e.program() == app || strings.EqualFold(e.Name, app) || strings.EqualFold(e.Local, app)) {
			return e
		}
	}
	return nil
}

// program returns the file name of the program that the entry starts.
func (e *entry) program() string {
	if fields := strings.Fields(e.exec); len(fields) > 0 {
		return filepath.Base(strings.Trim(fields[0], `"`))
	}
	return ""
}

// entryIDs returns the ids of all desktop entries.
func (g *Generator) entryIDs() []string {
	var ids []string
	for _, folder := range g.cfg.EntryFolders {
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

// readEntry reads a desktop entry; nil if it is invalid or hidden.
func (g *Generator) readEntry(path, id string) *entry {
	f, err := desktopentry.Read(path)
	if err != nil || !f.IsApplication() {
		return nil
	}
	language := g.language()
	e := &entry{
		ID: id, Name: label(f.Value("Name")), Generic: label(f.Value("GenericName")), Comment: label(f.Value("Comment")),
		Activatable: f.IsTrue("DBusActivatable"), exec: f.Value("Exec"),
	}
	if local := label(f.LocalizedValue(language, "Name")); local != e.Name {
		e.Local = local
	}
	for _, action := range f.Actions() {
		if words := label(action.Value("Name")); words != "" && len(e.Actions) < maxEntryActions {
			e.Actions = append(e.Actions, entryAction{action.ID,
				withTranslation(words, label(action.LocalizedValue(language, "Name")))})
		}
	}
	return e
}

// label cleans a short untrusted text.
func label(s string) string { return aai.CleanLabel(s, maxLabel) }

const maxLabel = 120

// withTranslation returns an English text with its translation, if different.
func withTranslation(english, local string) string {
	if local == "" || local == english {
		return english
	}
	return cmp.Or(english, local) + " (" + local + ")"
}
