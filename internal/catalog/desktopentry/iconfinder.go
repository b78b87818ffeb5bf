package desktopentry

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway"
)

// IconConfig configures an IconFinder.
type IconConfig struct {
	// EntryFolders are the folders of desktop entries, highest precedence first; the icon folders
	// are beside them.
	EntryFolders []string
	// Home is the person's home folder, or "".
	Home string
	// Names returns the desktop entries and D-Bus services of each app, best first, by the app's id; may be nil.
	Names func() map[string][]string
}

// An IconFinder finds the icons of apps in icon themes. It is safe for concurrent use.
type IconFinder struct{ cfg IconConfig }

// Limits on untrusted data.
const (
	maxThemes      = 20
	maxDirectories = 2000
	maxName        = 200
)

// fallbackTheme is the theme that all others inherit from.
const fallbackTheme = "hicolor"

// NewIconFinder returns an IconFinder. It does no I/O.
func NewIconFinder(cfg IconConfig) *IconFinder { return &IconFinder{cfg} }

// An iconSearch is the state of one search.
type iconSearch struct {
	cfg    IconConfig
	bases  []string // folders of themes
	roots  []string // readable files are below one of these
	names  map[string][]string
	chain  []iconTheme
	pixels int
}

func (r *IconFinder) newSearch(pixels int) *iconSearch {
	l := &iconSearch{cfg: r.cfg, pixels: pixels}
	if r.cfg.Home != "" {
		l.addBase(filepath.Join(r.cfg.Home, ".icons"))
	}
	for _, entries := range r.cfg.EntryFolders {
		data := filepath.Dir(entries)
		l.addBase(filepath.Join(data, "icons"))
		if store, is := strings.CutSuffix(data, filepath.Join("exports", "share")); is {
			l.addRoot(filepath.Join(store, "app")) // the target of Flatpak's exports
		}
	}
	for _, entries := range r.cfg.EntryFolders {
		l.addBase(filepath.Join(filepath.Dir(entries), "pixmaps"))
	}
	if r.cfg.Names != nil {
		l.names = r.cfg.Names()
	}
	l.chain = l.themes()
	return l
}

func (l *iconSearch) addBase(folder string) {
	l.bases = append(l.bases, folder)
	l.addRoot(folder)
}

func (l *iconSearch) addRoot(folder string) {
	if real, err := filepath.EvalSymlinks(folder); err == nil {
		l.roots = append(l.roots, real)
	}
}

// icon returns the icon of an app, by its id or by the name of a program in permissions
// ("desktop/…").
func (l *iconSearch) icon(app string) (aai.Image, bool) {
	id := strings.TrimPrefix(app, aai.DesktopApp+"/")
	tried := make(map[string]bool)
	for _, name := range slices.Concat(l.names[app], []string{id}) {
		for _, icon := range []string{l.iconOfEntry(name), name} {
			if tried[icon] || !isSimpleName(icon) {
				continue
			}
			tried[icon] = true
			if image, found := l.find(icon); found {
				return image, true
			}
		}
	}
	return aai.Image{}, false
}

// iconOfEntry returns the icon name in a desktop entry, or "".
func (l *iconSearch) iconOfEntry(id string) string {
	if !isSimpleName(id) {
		return ""
	}
	for _, folder := range l.cfg.EntryFolders {
		f, err := Read(filepath.Join(folder, id+".desktop"))
		if err != nil {
			continue
		}
		icon := f.Value("Icon")
		if filepath.IsAbs(icon) {
			return icon
		}
		for _, ending := range extensions() {
			icon = strings.TrimSuffix(icon, ending)
		}
		return icon
	}
	return ""
}

// isSimpleName reports whether a name is a plain file name or an absolute path.
func isSimpleName(name string) bool {
	if filepath.IsAbs(name) {
		return true
	}
	return name != "" && len(name) <= maxName && !strings.HasPrefix(name, ".") && !strings.ContainsAny(name, "/\\\x00")
}

// An iconTheme is one of the person's themes with its directories.
type iconTheme struct {
	name        string
	directories []themeDirectory
}

// A themeDirectory holds icons of a range of sizes.
type themeDirectory struct {
	path                   string // below the theme's folder
	kind                   string
	size, minSize, maxSize int
	threshold, enlarged    int
	forApps                bool // its context is apps
}

// themes returns the person's theme, the themes it inherits from, and fallbackTheme.
func (l *iconSearch) themes() []iconTheme {
	var all []iconTheme
	waiting := append(l.gtkTheme(), "Adwaita", fallbackTheme)
	for len(waiting) > 0 && len(all) < maxThemes {
		name := waiting[0]
		waiting = waiting[1:]
		if !isSimpleName(name) || filepath.IsAbs(name) ||
			slices.ContainsFunc(all, func(t iconTheme) bool { return t.name == name }) {
			continue
		}
		t, inherits := l.theme(name)
		all = append(all, t)
		waiting = append(inherits, waiting...)
	}
	slices.SortStableFunc(all, func(a, b iconTheme) int { return cmp.Compare(fallbackLast(a), fallbackLast(b)) })
	return all
}

// fallbackLast is a sort key that puts fallbackTheme last.
func fallbackLast(t iconTheme) int {
	if t.name == fallbackTheme {
		return 1
	}
	return 0
}

// gtkTheme returns the person's GTK icon theme, if set.
func (l *iconSearch) gtkTheme() []string {
	if l.cfg.Home == "" {
		return nil
	}
	for _, version := range []string{"gtk-4.0", "gtk-3.0"} {
		f, err := Read(filepath.Join(l.cfg.Home, ".config", version, "settings.ini"))
		if name := f.GroupValue("Settings", "gtk-icon-theme-name"); err == nil && name != "" {
			return []string{strings.Trim(name, `"`)}
		}
	}
	return nil
}

// theme reads the index of a theme from the first folder that has one.
func (l *iconSearch) theme(name string) (t iconTheme, inherits []string) {
	t.name = name
	for _, base := range l.bases {
		path, ok := l.resolveInRoots(filepath.Join(base, name, "index.theme"))
		if !ok {
			continue
		}
		f, err := Read(path)
		if err != nil {
			continue
		}
		for list := range strings.SplitSeq(f.GroupValue("Icon Theme", "Directories")+","+
			f.GroupValue("Icon Theme", "ScaledDirectories"), ",") {
			if d, ok := directoryOf(f, strings.TrimSpace(list)); ok && len(t.directories) < maxDirectories {
				t.directories = append(t.directories, d)
			}
		}
		for parent := range strings.SplitSeq(f.GroupValue("Icon Theme", "Inherits"), ",") {
			inherits = append(inherits, strings.TrimSpace(parent))
		}
		break
	}
	return t, inherits
}

// resolveInRoots returns the file that a path resolves to, if it is within an icon folder.
func (l *iconSearch) resolveInRoots(path string) (string, bool) {
	real, err := filepath.EvalSymlinks(path)
	if err != nil {
		return "", false
	}
	for _, root := range l.roots {
		if rest, err := filepath.Rel(root, real); err == nil && filepath.IsLocal(rest) && rest != "." {
			return real, true
		}
	}
	return "", false
}

// exists reports whether the path exists, without following links.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
