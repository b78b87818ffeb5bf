package catalog

import (
	"context"
	"fmt"
	"strings"

	"github.com/gybob/aai-gateway"
)

// maxCandidates limits the names that a failed search suggests.
const maxCandidates = 5

// scanHint is the hint for a missing app.
const scanHint = "aai-gateway --scan shows what was found and what was refused."

// Find returns the app with that id, "app:<id>" or wire name, else the app with that alias or name. It ignores case.
// Aliases and names never hide another app's id. It waits for the first scan until ctx ends.
//
// The error is an *aai.Error. APP_NOT_FOUND has the nearest names as candidates, or the ids of the apps that share
// the name. AAI_JSON_INVALID means that the name belongs to an invalid descriptor.
func (c *Catalog) Find(ctx context.Context, name string) (*aai.App, error) {
	s, err := c.current(ctx)
	if err != nil {
		return nil, err
	}
	return s.find(name)
}

func (s *snapshot) find(name string) (*aai.App, error) {
	if app, ok := s.byID[name]; ok {
		return app, nil
	}
	key := lower(name)
	if app, ok := s.byFoldedName[key]; ok {
		return app, nil
	}
	apps := s.byName[key]
	switch {
	case len(apps) == 1:
		return apps[0], nil
	case len(apps) > 1:
		return nil, ambiguous(name, apps)
	}
	if file, ok := s.invalid[strings.TrimPrefix(key, "app:")]; ok {
		return nil, invalidDescriptorError(name, file)
	}
	e := aai.Errorf(aai.AppNotFound, "no app is named %q", aai.CleanLabel(name, maxName))
	e.Candidates = aai.Nearest(name, s.names, maxCandidates)
	e.Hint = scanHint
	return nil, e
}

func ambiguous(name string, apps []*aai.App) *aai.Error {
	e := aai.Errorf(aai.AppNotFound, "%q may mean any of %d apps", aai.CleanLabel(name, maxName), len(apps))
	for _, app := range apps[:min(len(apps), maxCandidates)] {
		e.Candidates = append(e.Candidates, app.ID)
	}
	e.Hint = "Ask for one of them by its id."
	return e
}

func invalidDescriptorError(name string, file *loadedFile) *aai.Error {
	e := file.faults.err()
	return &aai.Error{
		Code:    aai.DescriptorInvalid,
		Message: fmt.Sprintf("the descriptor of %q, %s, is refused: %s", aai.CleanLabel(name, maxName), file.path, e.Message),
		Hint:    "Correct the file. " + scanHint,
		Err:     e.Err,
	}
}
