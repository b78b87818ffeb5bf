package private

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode"
)

// A viewChange is a file below a view that programs of the session have changed.
type viewChange struct {
	place   string // relative to the session's home
	removed bool
	file    string // its content; "" if it was removed
}

// maxListed is the number of changed files that a report names.
const maxListed = 20

// saveChanges copies the changed files to Options.Keep, and writes the report. The error names the
// files that could not be kept.
func (i *Isolated) saveChanges() error {
	var all []viewChange
	var errs []error
	for n, v := range i.Options.Views {
		changes, err := i.changesOf(n, v)
		all, errs = append(all, changes...), append(errs, err)
	}
	if len(all) == 0 {
		return nil
	}
	fate := "They are dropped with the session; --keep FOLDER keeps them."
	if i.Options.Keep != "" {
		errs = append(errs, keepChanges(all, i.Options.Keep))
		fate = "They are kept in " + i.Options.Keep + "."
	} else {
		errs = nil // no file is wanted
	}
	var report strings.Builder
	fmt.Fprintf(&report, "%d files changed in the session:\n", len(all))
	for _, c := range all[:min(len(all), maxListed)] {
		note := ""
		if c.removed {
			note = " (removed)"
		}
		fmt.Fprintf(&report, "  ~/%s%s\n", printable(c.place), note)
	}
	if more := len(all) - maxListed; more > 0 {
		fmt.Fprintf(&report, "  and %d more\n", more)
	}
	report.WriteString(fate + "\n")
	i.report = report.String()
	return errors.Join(errs...)
}

// printable returns a path that a terminal shows as one line: programs of the session choose names.
func printable(path string) string {
	if strings.ContainsFunc(path, func(r rune) bool { return !unicode.IsPrint(r) }) {
		return strconv.Quote(path)
	}
	return path
}

// keepChanges copies changed files below folder. It follows no links there, and goes on after errors.
func keepChanges(all []viewChange, folder string) error {
	if err := checkOwn(folder); err != nil {
		return err
	}
	root, err := os.OpenRoot(folder)
	if err != nil {
		return err
	}
	errs := []error{}
	for _, c := range all {
		if err := keepChange(c, root); err != nil {
			errs = append(errs, fmt.Errorf("~/%s: %w", printable(c.place), err))
		}
	}
	return errors.Join(append(errs, root.Close())...)
}

// keepChange copies a changed file below the root.
func keepChange(c viewChange, root *os.Root) error {
	if c.removed {
		return nil
	}
	info, err := os.Lstat(c.file)
	if err != nil {
		return err
	}
	if err := root.MkdirAll(filepath.Dir(c.place), 0o700); err != nil {
		return err
	}
	if info.Mode()&fs.ModeSymlink != 0 {
		link, err := os.Readlink(c.file)
		if err == nil {
			_ = root.Remove(c.place) // of an earlier try
			err = root.Symlink(link, c.place)
		}
		return err
	}
	if !info.Mode().IsRegular() {
		return nil
	}
	return copyFile(c.file, root, c.place, info)
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
	removed, failed := walkFiles(v.Source, func(rel string, _ fs.FileInfo) (viewChange, bool) {
		_, err := os.Lstat(filepath.Join(target, rel))
		return viewChange{removed: true}, errors.Is(err, fs.ErrNotExist)
	}, v)
	return slices.Concat(changed, removed), errors.Join(err, failed)
}

// walkFiles returns the changes that look finds in the files below a folder. It goes on after errors.
func walkFiles(folder string, look func(rel string, info fs.FileInfo) (viewChange, bool), v View) (found []viewChange, err error) {
	var errs []error
	_ = filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if d != nil && d.IsDir() && err != nil {
			if !errors.Is(err, fs.ErrPermission) { // it was not copied either
				errs = append(errs, err)
			}
			return fs.SkipDir
		}
		if err == nil && d.IsDir() {
			return nil
		}
		var info fs.FileInfo
		if err == nil {
			info, err = d.Info()
		}
		if err != nil {
			errs = append(errs, err)
			return nil
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
	return found, errors.Join(errs...)
}
