package catalog

import (
	"fmt"
	"slices"
	"sort"
	"strings"

	"github.com/gybob/aai-gateway"
)

// A snapshot is the state of the catalog after one scan. It is immutable.
type snapshot struct {
	apps    []*aai.App // ordered by id
	files   []fileState
	folders []string // that were read

	byID         map[string]*aai.App    // also "app:<id>" and the wire name
	byFoldedName map[string]*aai.App    // the keys of byID in lower case, and all names of the gateway's own apps
	byName       map[string][]*aai.App  // lower case: aliases and names
	names        []string               // all names, for suggestions
	invalid      map[string]*loadedFile // lower case: names of invalid files
}

// fileState is a descriptor file with the result of its scan.
type fileState struct {
	*loadedFile
	app        *aai.App // nil if there is none
	status     Status
	shadowedBy string // the path that takes precedence
	problem    string // why a valid descriptor was refused
	warnings   []Fault
}

// newSnapshot gives every id to the first valid file in order of precedence. The gateway's own
// apps take precedence over all.
func newSnapshot(own []*aai.App, files []*loadedFile, folders []string) *snapshot {
	s := &snapshot{
		folders:      folders,
		byID:         make(map[string]*aai.App),
		byFoldedName: make(map[string]*aai.App),
		byName:       make(map[string][]*aai.App),
		invalid:      make(map[string]*loadedFile),
	}
	taken := &takenNames{ids: make(map[string]*aai.App), wires: make(map[string]*aai.App),
		aliases: make(map[string]*aai.App)}
	for _, app := range own {
		taken.add(app)
		s.apps = append(s.apps, app)
	}
	for _, file := range files {
		s.files = append(s.files, s.evaluate(file, taken))
	}
	for i := range s.files {
		if f := &s.files[i]; f.app != nil {
			f.app = taken.resolveAliases(f)
			s.apps = append(s.apps, f.app)
		}
	}
	sort.Slice(s.apps, func(i, j int) bool { return s.apps[i].ID < s.apps[j].ID })
	s.index()
	return s
}

// takenNames are the names of the apps that are already in the catalog.
type takenNames struct {
	ids     map[string]*aai.App // lower case
	wires   map[string]*aai.App // lower case
	aliases map[string]*aai.App // lower case
}

func (c *takenNames) add(app *aai.App) {
	c.ids[lower(app.ID)] = app
	c.wires[lower(app.WireName())] = app
}

// evaluate decides whether a file's app enters the catalog.
func (s *snapshot) evaluate(file *loadedFile, taken *takenNames) fileState {
	state := fileState{loadedFile: file, warnings: slices.Clone(file.readWarnings)}
	app := file.readApp
	if len(file.faults.List) > 0 {
		state.status = StatusInvalid
		for _, name := range []string{app.ID, file.folderName(), app.Name} {
			if _, known := s.invalid[lower(name)]; name != "" && !known {
				s.invalid[lower(name)] = file
			}
		}
		return state
	}
	if folder := file.folderName(); folder != "" && folder != app.ID {
		state.warnings = append(state.warnings,
			Fault{
				Problem: fmt.Sprintf("the folder is named %q; expected the app's id, %q", aai.CleanLabel(folder, maxName), app.ID),
			})
	}
	rival := taken.ids[lower(app.ID)]
	clash := taken.wires[lower(app.WireName())]
	switch {
	case rival != nil && rival.ID == app.ID && rival.Digest != "":
		state.status, state.shadowedBy = StatusShadowed, rival.Source
	case rival != nil && rival.Digest == "":
		state.status, state.problem = StatusRefused, fmt.Sprintf("the id %q is the gateway's own", app.ID)
	case rival != nil:
		state.status, state.problem = StatusRefused,
			fmt.Sprintf("the id %q differs only in case from %q of %s", app.ID, rival.ID, rival.Source)
	case clash != nil:
		state.status, state.problem = StatusRefused,
			fmt.Sprintf("the id %q has the same wire name as %q: %s", app.ID, clash.ID, app.WireName())
	default:
		taken.add(app)
		state.app, state.status = app, StatusOK
		if !app.IsRunnable() {
			state.status = StatusUnsupported
		}
	}
	return state
}

// resolveAliases returns the app without aliases that belong to another app. With an alias equal
// to another app's id or wire name, the app could be called in its place.
func (c *takenNames) resolveAliases(f *fileState) *aai.App {
	app := f.app
	var kept []string
	for _, alias := range app.Aliases {
		key := lower(alias)
		rival := c.ids[strings.TrimPrefix(key, "app:")]
		if rival == nil {
			rival = c.wires[key]
		}
		if rival == nil {
			rival = c.aliases[key]
		}
		if rival != nil && rival.ID != app.ID {
			f.warnings = append(f.warnings, Fault{Path: "aliases",
				Problem: fmt.Sprintf("%q already means %s; it is ignored", alias, rival.ID)})
			continue
		}
		c.aliases[key] = app
		kept = append(kept, alias)
	}
	if len(kept) == len(app.Aliases) {
		return app
	}
	changed := *app
	changed.Aliases = kept
	return &changed
}

// index fills the tables by which find looks up apps.
func (s *snapshot) index() {
	for _, app := range s.apps {
		for _, id := range []string{app.ID, "app:" + app.ID, app.WireName()} {
			s.byID[id] = app
			s.byFoldedName[lower(id)] = app
		}
		s.names = append(s.names, app.ID)
		for _, name := range app.Names() {
			if app.Digest == "" {
				s.byFoldedName[lower(name)] = app
			}
			if s.addName(name, app) {
				s.names = append(s.names, name)
			}
		}
	}
}

func (s *snapshot) addName(name string, app *aai.App) bool {
	key := lower(name)
	if key == "" || slices.Contains(s.byName[key], app) {
		return false
	}
	s.byName[key] = append(s.byName[key], app)
	return true
}

// same reports whether two snapshots publish the same apps.
func (s *snapshot) same(other *snapshot) bool {
	return slices.EqualFunc(s.apps, other.apps, func(a, b *aai.App) bool {
		return a == b || a.ID == b.ID && a.Digest != "" && a.Digest == b.Digest && a.Source == b.Source &&
			slices.Equal(a.Aliases, b.Aliases)
	})
}
