package desktopentry

import (
	"cmp"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"github.com/gybob/aai-gateway"
)

// extensions returns the file extensions to try. The contents determine the type.
func extensions() []string { return []string{".png", ".svg"} }

// defaultThreshold is the default threshold of a directory.
const defaultThreshold = 2

// directoryOf reads the description of a directory from the index of a theme.
func directoryOf(f File, path string) (themeDirectory, bool) {
	if path == "" || !filepath.IsLocal(path) || strings.ContainsAny(path, "\\\x00") {
		return themeDirectory{}, false
	}
	size := sizeOr(f.GroupValue(path, "Size"), 0)
	if size == 0 {
		return themeDirectory{}, false
	}
	d := themeDirectory{
		path: path, kind: cmp.Or(f.GroupValue(path, "Type"), "Threshold"), size: size,
		minSize: sizeOr(f.GroupValue(path, "MinSize"), size), maxSize: sizeOr(f.GroupValue(path, "MaxSize"), size),
		threshold: sizeOr(f.GroupValue(path, "Threshold"), defaultThreshold),
		enlarged:  sizeOr(f.GroupValue(path, "Scale"), 1),
	}
	d.forApps = strings.EqualFold(f.GroupValue(path, "Context"), "Applications")
	return d, !strings.Contains(path, "symbolic")
}

// sizeOr parses a size, or returns otherwise if it is invalid.
func sizeOr(s string, otherwise int) int {
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 || n > 4096 {
		return otherwise
	}
	return n
}

// distance returns the difference between the sizes of the directory and size, in pixels.
func (d themeDirectory) distance(size int) int {
	least, most := d.size*d.enlarged, d.size*d.enlarged
	switch d.kind {
	case "Scalable":
		least, most = d.minSize*d.enlarged, d.maxSize*d.enlarged
	case "Threshold":
		least, most = (d.size-d.threshold)*d.enlarged, (d.size+d.threshold)*d.enlarged
	}
	return max(least-size, size-most, 0)
}

// find finds an icon by its name. In each theme it tries directories for apps first, then by
// nearest size; the last try is outside themes. An absolute path is accepted within an icon
// folder.
func (l *iconSearch) find(name string) (aai.Image, bool) {
	if filepath.IsAbs(name) {
		return l.read(name)
	}
	for _, t := range l.chain {
		nearest := slices.Clone(t.directories)
		slices.SortStableFunc(nearest, func(a, b themeDirectory) int {
			return cmp.Or(appsFirst(a)-appsFirst(b), cmp.Compare(a.distance(l.pixels), b.distance(l.pixels)))
		})
		for _, d := range nearest {
			for _, base := range l.bases {
				if image, found := l.readNamed(filepath.Join(base, t.name, d.path), name); found {
					return image, true
				}
			}
		}
	}
	for _, base := range l.bases {
		if image, found := l.readNamed(base, name); found {
			return image, true
		}
	}
	return aai.Image{}, false
}

// appsFirst is a sort key that puts directories for apps first.
func appsFirst(d themeDirectory) int {
	if d.forApps {
		return 0
	}
	return 1
}

// readNamed reads the icon of that name in a folder.
func (l *iconSearch) readNamed(folder, name string) (aai.Image, bool) {
	for _, ending := range extensions() {
		path := filepath.Join(folder, name+ending)
		if !exists(path) {
			continue
		}
		if image, found := l.read(path); found {
			return image, true
		}
	}
	return aai.Image{}, false
}
