package catalog

import (
	"errors"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"runtime"
	"strings"
)

// FileName is the name of a descriptor in its own folder.
const FileName = "aai.json"

// maxEntries limits the entries read from one folder, to bound the cost of a huge folder.
const maxEntries = 20_000

// A Place is a location of descriptors: a root folder and a pattern below it. [Folders], [Files],
// [Bundles], [Glob] and [DesktopFilesPlace] create one. An operating system has a list of places, in
// order of precedence. A place that does not exist is empty and not an error.
type Place struct {
	// Root is an absolute path; a relative one is a fault.
	Root string
	// Pattern is a slash-separated pattern below Root, each part in the syntax of path.Match.
	Pattern string
	// DesktopFiles means that the files are .desktop files, which name a descriptor by their key
	// X-AAI-Config.
	DesktopFiles bool
	// FolderIsID means that the folder of a descriptor should have the app's id as its name;
	// otherwise there is a warning.
	FolderIsID bool
}

// Folders returns the Place of <root>/<app id>/aai.json, as in ~/.aai.
func Folders(root string) Place { return Place{Root: root, Pattern: "*/" + FileName, FolderIsID: true} }

// Files returns the Place of the files in root that match the pattern, such as "*.json".
func Files(root, pattern string) Place { return Glob(root, pattern) }

// Bundles returns the Place of <root>/<any app>/Contents/Resources/aai.json, as in /Applications.
func Bundles(root string) Place { return Glob(root, "*/Contents/Resources/"+FileName) }

// Glob returns the Place of the files below root that match a slash-separated pattern.
func Glob(root, pattern string) Place { return Place{Root: root, Pattern: pattern} }

// DesktopFilesPlace returns the Place of the descriptors that the .desktop files in an applications folder name. The
// key is X-AAI-Config in the group [Desktop Entry]; its value is an absolute path.
func DesktopFilesPlace(root string) Place {
	return Place{Root: root, Pattern: "*.desktop", DesktopFiles: true}
}

// String returns the place for people, such as "/home/ann/.aai/*/aai.json".
func (p Place) String() string {
	s := filepath.Join(p.Root, filepath.FromSlash(p.Pattern))
	if p.DesktopFiles {
		s += " (" + desktopKey + ")"
	}
	return s
}

// A foundFile is one file of a place.
type foundFile struct {
	place *Place
	path  string // of the descriptor, or of the file that should name one
	entry string // the .desktop file that names it, without its folder; empty: none
	fault string // why it could not be followed
}

// find returns the files of the place, ordered by path, and the folders that it read, of which
// some may not exist.
func (p *Place) find() (found []foundFile, folders []string) {
	if !filepath.IsAbs(p.Root) {
		return []foundFile{{place: p, path: p.Root, fault: "the place is not an absolute path"}}, nil
	}
	w := walk{place: p}
	w.descend(filepath.Clean(p.Root), strings.Split(p.Pattern, "/"))
	if !p.DesktopFiles {
		return w.found, w.folders
	}
	for _, f := range w.found {
		if f.fault != "" {
			found = append(found, f)
			continue
		}
		target, fault := desktopTarget(f.path)
		switch {
		case fault != "":
			found = append(found, foundFile{place: p, path: f.path, fault: fault})
		case target != "":
			found = append(found, foundFile{place: p, path: target, entry: filepath.Base(f.path)})
			w.folders = append(w.folders, filepath.Dir(target))
		}
	}
	return found, w.folders
}

// walk holds the state of expanding a place's pattern.
type walk struct {
	place   *Place
	found   []foundFile
	folders []string
}

func (w *walk) descend(folder string, parts []string) {
	part, rest := parts[0], parts[1:]
	if !strings.ContainsAny(part, `*?[\`) {
		name := filepath.Join(folder, part)
		if len(rest) > 0 {
			w.descend(name, rest)
			return
		}
		if _, err := os.Lstat(name); err == nil {
			w.found = append(w.found, foundFile{place: w.place, path: name})
		}
		return
	}
	w.folders = append(w.folders, folder)
	entries, err := listFolder(folder)
	if err != nil {
		if !os.IsNotExist(err) && !notAFolder(folder) {
			w.found = append(w.found, foundFile{place: w.place, path: folder,
				fault: "the folder cannot be read: " + reason(err)})
		}
		return
	}
	for _, entry := range entries {
		if ok, err := path.Match(part, entry.Name()); err != nil || !ok {
			continue
		}
		name := filepath.Join(folder, entry.Name())
		if len(rest) == 0 {
			w.found = append(w.found, foundFile{place: w.place, path: name})
			continue
		}
		if entry.IsDir() || entry.Type()&fs.ModeSymlink != 0 {
			w.folders = append(w.folders, name)
			w.descend(name, rest)
		}
	}
}

// listFolder lists at most maxEntries of a folder, sorted by name.
func listFolder(name string) ([]fs.DirEntry, error) {
	entries, err := os.ReadDir(name)
	if len(entries) > maxEntries {
		entries = entries[:maxEntries]
	}
	return entries, err
}

// notAFolder reports whether a name exists and is not a folder.
func notAFolder(name string) bool {
	info, err := os.Stat(name)
	return err == nil && !info.IsDir()
}

// reason returns an error of the file system without the path, which the message already has.
func reason(err error) string {
	if e, ok := errors.AsType[*fs.PathError](err); ok {
		err = e.Err
	}
	return err.Error()
}

// concerns reports whether an event at a path can change the files of the place: the path matches
// the beginning of the pattern, or is the root or one of its parents.
func (p *Place) concerns(name string) bool {
	root := filepath.Clean(p.Root)
	if name == root || strings.HasPrefix(root, withSeparator(name)) {
		return true
	}
	below, ok := strings.CutPrefix(name, withSeparator(root))
	if !ok {
		return false
	}
	parts, given := strings.Split(p.Pattern, "/"), strings.Split(filepath.ToSlash(below), "/")
	if len(given) > len(parts) {
		return false
	}
	for i, part := range given {
		if ok, err := path.Match(parts[i], part); err != nil || !ok {
			return false
		}
	}
	return true
}

func withSeparator(name string) string {
	if strings.HasSuffix(name, string(filepath.Separator)) {
		return name
	}
	return name + string(filepath.Separator)
}

// hostPlatform returns the protocol's name of this computer's platform.
func hostPlatform() string {
	if runtime.GOOS == "darwin" {
		return "macos"
	}
	return runtime.GOOS
}
