package discovery

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway/internal/catalog/desktopentry"
	"github.com/gybob/aai-gateway/internal/dbus/wire"
)

// Limits on desktop entries.
const (
	maxEntries = 3000 // in all folders
	maxActions = 50   // of one entry
	maxUnread  = 5    // named in notes
)

// scanEntries reads the desktop entries. Of two with the same id the first counts, even if it is
// hidden.
func (r *Scanner) scanEntries(ctx context.Context) sourceResult {
	p, seen, unread := sourceResult{}, make(map[string]bool), []string(nil)
	for _, folder := range r.cfg.EntryFolders {
		files, err := os.ReadDir(folder)
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			unread = append(unread, folder)
		}
		for _, file := range files {
			id, isEntry := strings.CutSuffix(file.Name(), ".desktop")
			switch {
			case !isEntry || seen[id]:
				continue
			case len(seen) == maxEntries:
				p.notes = append(p.notes, cleanName(fmt.Sprintf("only %d desktop entries were read", maxEntries)))
				return p.withUnread(unread)
			case ctx.Err() != nil:
				p.silent = append(p.silent, "the desktop entries")
				return p.withUnread(unread)
			}
			seen[id] = true
			path := filepath.Join(folder, file.Name())
			text, err := desktopentry.Read(path)
			if err != nil {
				unread = append(unread, path)
				continue
			}
			if w, ok := r.entryIntegration(id, parseEntry(text), path); ok {
				p.integrations = append(p.integrations, w)
			}
		}
	}
	return p.withUnread(unread)
}

// withUnread adds notes about unreadable entries.
func (p sourceResult) withUnread(paths []string) sourceResult {
	for i, path := range paths {
		if i == maxUnread {
			p.notes = append(p.notes, fmt.Sprintf("%d more desktop entries were not read", len(paths)-maxUnread))
			break
		}
		p.notes = append(p.notes, "not read, as it is no readable file of at most 256 KiB: "+cleanName(path))
	}
	return p
}

// An entrySummary holds the parts of a desktop entry that matter for integrations.
type entrySummary struct {
	name                                 string
	application, hidden, dbusActivatable bool
	actions                              []string // for people
}

// parseEntry summarizes an entry.
func parseEntry(f desktopentry.File) entrySummary {
	e := entrySummary{
		name: f.Value("Name"), application: f.Value("Type") == "Application",
		hidden: f.IsTrue("Hidden") || f.IsTrue("NoDisplay"), dbusActivatable: f.IsTrue("DBusActivatable"),
	}
	actions := f.Actions()
	for _, action := range actions[:min(len(actions), maxActions)] {
		if name := cleanName(action.Value("Name")); name != "" && !slices.Contains(e.actions, name) {
			e.actions = append(e.actions, name)
		}
	}
	return e
}

// entryIntegration returns the integration of an entry that offers more than starting its program.
func (r *Scanner) entryIntegration(id string, e entrySummary, path string) (Integration, bool) {
	onABus := e.dbusActivatable && wire.ValidBusName(id)
	if !e.application || e.hidden || !onABus && len(e.actions) == 0 {
		return Integration{}, false
	}
	w := Integration{App: cleanName(id), Locations: []string{cleanName(path)}}
	if onABus {
		w.ID, w.Kind, w.State = kindApplication+" "+id, kindApplication, StateStartable
		w.Benefit = "starts it, and opens files in it"
		if len(e.actions) > 0 {
			w.Benefit += listingBenefit("; its entry's own actions", "actions")(e.actions)
		}
		w.HowTo = descriptorFor("--start "+id, "org.freedesktop.Application.ActivateAction",
			"/"+strings.NewReplacer(".", "/", "-", "_").Replace(id))
		if r.cfg.NeverCalled != nil && (r.cfg.NeverCalled(id, "") || r.cfg.NeverCalled(id, "org.freedesktop.Application")) {
			w.HowTo = NeverCalledHowTo
		}
		if r.isDenied([]string{id, e.name}) {
			w.HowTo = DeniedHowTo
		}
		return w, true
	}
	w.ID, w.Kind, w.State = kindActions+" "+cleanName(id), kindActions, StateInstalled
	w.Benefit = listingBenefit("starts "+cleanName(e.name)+" in one of several ways", "actions")(e.actions)
	w.HowTo = "Not by a call: its actions are commands. Start it (ax_connect of the app desktop), and use its windows."
	return w, true
}
