package private

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
)

// A viewChange is a file below a view that programs of the session have changed.
type viewChange struct {
	place   string // relative to the session's home
	removed bool
	file    string // its content; "" if it was removed
}

// maxListed is the number of changed files that a report names.
const maxListed = 20

// saveChanges copies the changed files to Options.Keep, and writes a report into the lock file,
// which the creator still has open when the folder is gone.
func (i *Isolated) saveChanges() error {
	var all []viewChange
	for n, v := range i.Options.Views {
		changes, err := i.changesOf(n, v)
		if err != nil {
			return err
		}
		all = append(all, changes...)
	}
	if len(all) == 0 {
		return nil
	}
	fate := "They are dropped with the session; --keep FOLDER keeps them."
	if i.Options.Keep != "" {
		for _, c := range all {
			if err := keepChange(c, i.Options.Keep); err != nil {
				return err
			}
		}
		fate = "They are kept in " + i.Options.Keep + "."
	}
	var report strings.Builder
	fmt.Fprintf(&report, "%d files changed in the session:\n", len(all))
	for _, c := range all[:min(len(all), maxListed)] {
		note := ""
		if c.removed {
			note = " (removed)"
		}
		fmt.Fprintf(&report, "  ~/%s%s\n", c.place, note)
	}
	if more := len(all) - maxListed; more > 0 {
		fmt.Fprintf(&report, "  and %d more\n", more)
	}
	report.WriteString(fate + "\n")
	return os.WriteFile(i.path(lockFile), []byte(report.String()), 0o600)
}

// keepChange copies a changed file below folder.
func keepChange(c viewChange, folder string) error {
	if c.removed {
		return nil
	}
	target := filepath.Join(folder, c.place)
	if err := os.MkdirAll(filepath.Dir(target), 0o700); err != nil {
		return err
	}
	info, err := os.Lstat(c.file)
	switch {
	case err != nil:
		return err
	case info.Mode()&fs.ModeSymlink != 0:
		link, err := os.Readlink(c.file)
		return errors.Join(err, os.Symlink(link, target))
	case !info.Mode().IsRegular():
		return nil
	}
	return copyFile(c.file, target, info)
}

// changesOf returns the changed files of a view: those of the overlay's upper layer, or else those
// in which the copy differs.
func (i *Isolated) changesOf(n int, v View) ([]viewChange, error) {
	upper := i.viewFolder(n, "upper")
	if _, err := os.Lstat(upper); err == nil {
		return walkFiles(upper, func(rel string, info fs.FileInfo) (viewChange, bool) {
			// A character device marks a removed file (Documentation/filesystems/overlayfs).
			return viewChange{removed: info.Mode()&fs.ModeCharDevice != 0}, true
		}, v)
	}
	target := i.viewTarget(v)
	changed, err := walkFiles(target, func(rel string, info fs.FileInfo) (viewChange, bool) {
		before, err := os.Lstat(filepath.Join(v.Source, rel))
		return viewChange{}, err != nil || info.Mode().IsRegular() && (before.Size() != info.Size() || !before.ModTime().Equal(info.ModTime()))
	}, v)
	if err != nil {
		return nil, err
	}
	removed, err := walkFiles(v.Source, func(rel string, _ fs.FileInfo) (viewChange, bool) {
		_, err := os.Lstat(filepath.Join(target, rel))
		return viewChange{removed: true}, errors.Is(err, fs.ErrNotExist)
	}, v)
	return slices.Concat(changed, removed), err
}

// walkFiles returns the changes that look finds in the files below a folder.
func walkFiles(folder string, look func(rel string, info fs.FileInfo) (viewChange, bool), v View) (found []viewChange, err error) {
	err = filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if d != nil && d.IsDir() && errors.Is(err, fs.ErrPermission) {
			return fs.SkipDir // it was not copied either
		}
		if err != nil || d.IsDir() {
			return err
		}
		info, err := d.Info()
		if err != nil {
			return err
		}
		rel, err := filepath.Rel(folder, path)
		if err != nil {
			return err
		}
		if c, ok := look(rel, info); ok {
			c.place, c.file = filepath.Join(v.Place, rel), path
			found = append(found, c)
		}
		return nil
	})
	return found, err
}
