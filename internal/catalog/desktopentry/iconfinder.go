// Package icons finds the pictures of apps in the themes of the person's desktop, by the
// Icon Theme Specification 0.13 and the Desktop Entry Specification 1.5.
//
// A picture is a stranger's: what lies outside of the folders of icons is not read, wherever
// a name or a link leads; only PNG and SVG of bounded size are given, and the kind is what
// the bytes are, not what the file is called. Whoever shows an SVG must show it as a picture,
// in which no script runs.
package desktopentry

import (
	"cmp"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway"
)

// IconConfig says where to look.
type IconConfig struct {
	// EntryFolders are the folders of desktop entries, the most important first; the icons lie
	// beside them.
	EntryFolders []string
	// Home is the person's home folder; "" for none.
	Home string
	// Names are the entries and services of an app by its id, best first; nil: nobody knows.
	Names func() map[string][]string
}

// A Room finds icons. It is safe for concurrent use.
type IconFinder struct{ cfg IconConfig }

// Limits on what strangers may put there.
const (
	maxThemes      = 20
	maxDirectories = 2000
	maxName        = 200
)

// fallbackTheme is the theme that every other stands on.
const fallbackTheme = "hicolor"

// NewIconFinder makes a room. It looks at nothing yet.
func NewIconFinder(cfg IconConfig) *IconFinder { return &IconFinder{cfg} }

// A look is one search, of one moment.
type iconSearch struct {
	cfg    IconConfig
	bases  []string // folders of themes
	roots  []string // what may be read lies below one of these
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
			l.addRoot(filepath.Join(store, "app")) // where Flatpak's exports lead
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

// icon is the picture of an app, given its id or that of a program as permissions name it
// ("desktop/…"); false where there is none.
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

// iconOfEntry is the name of the icon that a desktop entry gives, or "".
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

// isSimpleName reports whether a name can be that of a file in a folder, or is a whole path.
func isSimpleName(name string) bool {
	if filepath.IsAbs(name) {
		return true
	}
	return name != "" && len(name) <= maxName && !strings.HasPrefix(name, ".") && !strings.ContainsAny(name, "/\\\x00")
}

// A theme is one of the person's themes, with the folders in it.
type iconTheme struct {
	name        string
	directories []themeDirectory
}

// A directory holds icons of some sizes.
type themeDirectory struct {
	path                   string // below the theme's folder
	kind                   string
	size, minSize, maxSize int
	threshold, enlarged    int
	forApps                bool // is meant for apps
}

// themes are the person's theme, those it stands on, and the one that all stand on.
func (l *iconSearch) themes() []iconTheme {
	var all []iconTheme
	waiting := append(l.gtkTheme(), "Adwaita", fallbackTheme)
	for len(waiting) > 0 && len(all) < maxThemes {
		name := waiting[0]
		waiting = waiting[1:]
		if !isSimpleName(name) || filepath.IsAbs(name) || slices.ContainsFunc(all, func(t iconTheme) bool { return t.name == name }) {
			continue
		}
		t, inherits := l.theme(name)
		all = append(all, t)
		waiting = append(inherits, waiting...)
	}
	slices.SortStableFunc(all, func(a, b iconTheme) int { return cmp.Compare(fallbackLast(a), fallbackLast(b)) })
	return all
}

// fallbackLast puts the theme that all stand on behind the others.
func fallbackLast(t iconTheme) int {
	if t.name == fallbackTheme {
		return 1
	}
	return 0
}

// gtkTheme is the theme that the person set for GTK, if any.
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

// theme reads the index of a theme, of several folders the first.
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
		for list := range strings.SplitSeq(f.GroupValue("Icon Theme", "Directories")+","+f.GroupValue("Icon Theme", "ScaledDirectories"), ",") {
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

// resolveInRoots is the file that a path really leads to, if that lies in a folder of icons.
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

// exists reports whether something lies at the path, before links are looked at.
func exists(path string) bool {
	_, err := os.Lstat(path)
	return err == nil
}
