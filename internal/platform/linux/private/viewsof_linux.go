package private

import (
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
)

// ViewsOf returns the views of a session: of the whole home, or of the given folders. A folder below the home is shown at the same place in
// the session's home, and another one by its name. An error names the option --home or --folder.
func ViewsOf(home string, wholeHome bool, folders []string) ([]View, error) {
	realHome, err := filepath.EvalSymlinks(home)
	if err != nil {
		return nil, fmt.Errorf("the home folder: %w", err)
	}
	if wholeHome {
		if len(folders) > 0 {
			return nil, errors.New("--home shows every folder of the home; expected no --folder beside it")
		}
		return []View{{Source: realHome, Place: "."}}, nil
	}
	var views []View
	for _, folder := range folders {
		v, err := viewOf(filepath.Clean(home), realHome, folder)
		if err != nil {
			return nil, err
		}
		for _, other := range views {
			if v.Place == "." || other.Place == "." || strings.HasPrefix(v.Place+"/", other.Place+"/") || strings.HasPrefix(other.Place+"/", v.Place+"/") {
				return nil, fmt.Errorf("--folder: %s and %s would be at the same place in the session's home, or one in the other; give the outer one alone", printable(other.Source), printable(v.Source))
			}
		}
		views = append(views, v)
	}
	return views, nil
}

// viewOf returns the view of a folder. realHome is the home without links.
func viewOf(home, realHome, folder string) (View, error) {
	if folder == "" {
		return View{}, errors.New("--folder: expected a path, got an empty word")
	}
	named, err := filepath.Abs(folder)
	path := named
	if err == nil {
		path, err = filepath.EvalSymlinks(named)
	}
	if info, failed := os.Stat(path); err != nil || failed != nil || !info.IsDir() {
		return View{}, fmt.Errorf("--folder: expected an existing folder, got %s", printable(folder))
	}
	place, err := filepath.Rel(realHome, path)
	if below, failed := filepath.Rel(home, named); failed == nil && filepath.IsLocal(below) {
		place, err = below, nil // also where the name is a link
	}
	if err != nil || !filepath.IsLocal(place) {
		place = filepath.Base(path)
	}
	return View{Source: path, Place: place}, nil
}

// InSession returns the place of a folder in the session's home, or the folder itself if no view shows it.
func InSession(home string, views []View, dir string) string {
	for _, v := range views {
		if rel, err := filepath.Rel(v.Source, dir); err == nil && filepath.IsLocal(rel) {
			return filepath.Join(home, v.Place, rel)
		}
	}
	return dir
}
