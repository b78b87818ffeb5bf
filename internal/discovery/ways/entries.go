package ways

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"aai/internal/dbuswire"
	"aai/internal/desktopentry"
)

// What of desktop entries is looked at.
const (
	maxEntries = 3000 // of all folders
	maxActions = 50   // of one entry
	maxUnread  = 5    // that are named
)

// inEntries reads the desktop entries. Of two with the same id the first counts, also where
// it is a hidden one.
func (r *Room) inEntries(ctx context.Context) part {
	p, seen, unread := part{}, make(map[string]bool), []string(nil)
	for _, folder := range r.cfg.Entries {
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
				p.notes = append(p.notes, clean(fmt.Sprintf("of the desktop entries %d were looked at, and no more", maxEntries)))
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
			if w, ok := r.wayOfEntry(id, wayIn(text), path); ok {
				p.ways = append(p.ways, w)
			}
		}
	}
	return p.withUnread(unread)
}

// withUnread notes what could not be read.
func (p part) withUnread(paths []string) part {
	for i, path := range paths {
		if i == maxUnread {
			p.notes = append(p.notes, fmt.Sprintf("%d more desktop entries were not read", len(paths)-maxUnread))
			break
		}
		p.notes = append(p.notes, "not read, as it is no readable file of at most 256 KiB: "+clean(path))
	}
	return p
}

// An entry is what of a desktop entry is a way.
type entry struct {
	name                        string
	application, hidden, onABus bool
	actions                     []string // for people
}

// wayIn is what of an entry is a way.
func wayIn(f desktopentry.File) entry {
	e := entry{
		name: f.Value("Name"), application: f.Value("Type") == "Application", hidden: f.Is("Hidden") || f.Is("NoDisplay"),
		onABus: f.Is("DBusActivatable"),
	}
	actions := f.Actions()
	for _, action := range actions[:min(len(actions), maxActions)] {
		if name := clean(action.Value("Name")); name != "" && !slices.Contains(e.actions, name) {
			e.actions = append(e.actions, name)
		}
	}
	return e
}

// wayOfEntry is what an entry offers beyond that its program can be started.
func (r *Room) wayOfEntry(id string, e entry, path string) (Way, bool) {
	onABus := e.onABus && dbuswire.ValidBusName(id)
	if !e.application || e.hidden || !onABus && len(e.actions) == 0 {
		return Way{}, false
	}
	w := Way{App: clean(id), Where: []string{clean(path)}}
	if onABus {
		w.ID, w.Kind, w.State = kindApplication+" "+id, kindApplication, Startable
		w.Gains = "starts it, and opens files in it"
		if len(e.actions) > 0 {
			w.Gains += listing("; its entry's own actions", "actions")(e.actions)
		}
		w.Get = descriptorFor("--start "+id, "org.freedesktop.Application.ActivateAction", "/"+strings.NewReplacer(".", "/", "-", "_").Replace(id))
		if r.cfg.Never != nil && (r.cfg.Never(id, "") || r.cfg.Never(id, "org.freedesktop.Application")) {
			w.Get = NeverCalled
		}
		if r.refuses([]string{id, e.name}) {
			w.Get = Refused
		}
		return w, true
	}
	w.ID, w.Kind, w.State = kindActions+" "+clean(id), kindActions, Installed
	w.Gains = listing("starts "+clean(e.name)+" in one of several ways", "actions")(e.actions)
	w.Get = "Not by a call: its actions are commands. Start it (ax_connect of the app desktop), and use its windows."
	return w, true
}
