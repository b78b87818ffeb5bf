package icons

import (
	"cmp"
	"path/filepath"
	"slices"
	"strconv"
	"strings"

	"aai"
	"aai/internal/desktopentry"
)

// endings are those of the files that are looked at. What they are, their bytes say.
func endings() []string { return []string{".png", ".svg"} }

// usual is what a directory's threshold is where nobody says.
const usual = 2

// directoryOf is what the index of a theme says of a directory.
func directoryOf(f desktopentry.File, path string) (directory, bool) {
	if path == "" || !filepath.IsLocal(path) || strings.ContainsAny(path, "\\\x00") {
		return directory{}, false
	}
	size := number(f.Of(path, "Size"), 0)
	if size == 0 {
		return directory{}, false
	}
	d := directory{
		path: path, kind: cmp.Or(f.Of(path, "Type"), "Threshold"), size: size,
		least: number(f.Of(path, "MinSize"), size), most: number(f.Of(path, "MaxSize"), size),
		threshold: number(f.Of(path, "Threshold"), usual), enlarged: number(f.Of(path, "Scale"), 1),
	}
	d.apps = strings.EqualFold(f.Of(path, "Context"), "Applications")
	return d, !strings.Contains(path, "symbolic")
}

// number is a size as written, or what it is where that says none.
func number(s string, otherwise int) int {
	n, err := strconv.Atoi(s)
	if err != nil || n < 1 || n > 4096 {
		return otherwise
	}
	return n
}

// distance is how many pixels the icons of the directory are from a size.
func (d directory) distance(size int) int {
	least, most := d.size*d.enlarged, d.size*d.enlarged
	switch d.kind {
	case "Scalable":
		least, most = d.least*d.enlarged, d.most*d.enlarged
	case "Threshold":
		least, most = (d.size-d.threshold)*d.enlarged, (d.size+d.threshold)*d.enlarged
	}
	return max(least-size, size-most, 0)
}

// find looks for an icon by its name: in each theme first in what is meant for apps, the
// nearest size first, and last in no theme. A whole path is taken where it lies in a folder
// of icons.
func (l *look) find(name string) (aai.Image, bool) {
	if filepath.IsAbs(name) {
		return l.read(name)
	}
	for _, t := range l.chain {
		nearest := slices.Clone(t.directories)
		slices.SortStableFunc(nearest, func(a, b directory) int {
			return cmp.Or(forApps(a)-forApps(b), cmp.Compare(a.distance(l.pixels), b.distance(l.pixels)))
		})
		for _, d := range nearest {
			for _, base := range l.bases {
				if image, found := l.in(filepath.Join(base, t.name, d.path), name); found {
					return image, true
				}
			}
		}
	}
	for _, base := range l.bases {
		if image, found := l.in(base, name); found {
			return image, true
		}
	}
	return aai.Image{}, false
}

// forApps is 0 for a directory that is meant for apps, which are most.
func forApps(d directory) int {
	if d.apps {
		return 0
	}
	return 1
}

// in reads the icon of that name in a folder.
func (l *look) in(folder, name string) (aai.Image, bool) {
	for _, ending := range endings() {
		path := filepath.Join(folder, name+ending)
		if !there(path) {
			continue
		}
		if image, found := l.read(path); found {
			return image, true
		}
	}
	return aai.Image{}, false
}
