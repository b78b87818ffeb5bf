package search

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"slices"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/files/atomicfile"
)

// Ratings of apps and tools, from 1 to 5. They only reorder matching tools.
const (
	neutralStars = 3
	boostPerStar = 0.15 // change for each star above or below the neutral ones
	maxRatings   = 1000
)

// ratings is the file of the person's ratings, by "app" or "app:tool".
type ratings struct{ path string }

// load returns the ratings; a missing or invalid file has none.
func (r ratings) load() map[string]int {
	if r.path == "" {
		return nil
	}
	content, err := atomicfile.Read(r.path, fileLimits())
	var said map[string]int
	if err != nil || json.Unmarshal(content, &said) != nil {
		return nil
	}
	return said
}

// ratingFactor returns the rank factor of a tool's rating, or else of its app's.
func ratingFactor(stars map[string]int, app, tool string) float64 {
	said, ok := stars[app+":"+tool]
	if !ok {
		said, ok = stars[app]
	}
	if !ok || said < 1 || said > 5 {
		return 1
	}
	return 1 + boostPerStar*float64(said-neutralStars)
}

// errTooMany reports that the file is full.
var errTooMany = errors.New("too many apps and tools are rated")

// save saves a rating.
func (r ratings) save(ctx context.Context, what string, stars int) error {
	return atomicfile.Update(ctx, r.path, fileLimits(), func(old []byte) ([]byte, error) {
		said := make(map[string]int)
		if len(old) > 0 && json.Unmarshal(old, &said) != nil {
			said = make(map[string]int) // an invalid file has no ratings
		}
		said[what] = stars
		if len(said) > maxRatings {
			return nil, errTooMany
		}
		return json.Marshal(said)
	})
}

const rateParams = `{"type": "object", "additionalProperties": false, "properties": {
	"app": {"type": "string", "minLength": 1, "maxLength": 300, "description": "An app, by its id or another of its names"},
	"tool": {"type": "string", "minLength": 1, "maxLength": 200, "description": "Only this tool of it"},
	"stars": {"type": "integer", "minimum": 1, "maximum": 5, "description": "From 1, bad, to 5, good"}},
	"required": ["app", "stars"]}`

func (s *Search) rate(ctx context.Context, call *aai.Call) (*aai.Result, error) {
	name, _ := call.Args["app"].(string)
	tool, _ := call.Args["tool"].(string)
	app, err := s.appNamed(name)
	if err == nil && tool != "" && app.Tool(tool) == nil {
		err = noTool(app, tool)
	}
	if err != nil {
		e := *aai.AsError(err)
		e.Delivery = aai.NotDelivered
		return nil, &e
	}
	what := app.ID
	if tool != "" {
		what += ":" + tool
	}
	stars := number(call, "stars", 0)
	if s.ratings.path == "" {
		return nil, aai.Errorf(aai.AutomationNotSupported, "this gateway keeps no ratings")
	}
	if err := s.ratings.save(ctx, what, stars); err != nil {
		return nil, aai.Errorf(aai.AutomationFailed, "the rating of %s is not kept: %w", what, err)
	}
	return &aai.Result{Text: fmt.Sprintf("%s has %d of 5 stars.", what, stars),
		Data: map[string]any{"rated": what, "stars": stars}, DataComplete: true}, nil
}

// appNamed returns the app of that name, or an error with candidates.
func (s *Search) appNamed(name string) (*aai.App, error) {
	var names []string
	var found *aai.App
	for _, app := range s.config.Apps() {
		switch {
		case app.ID == name:
			return app, nil
		case !app.HasName(name):
			names = append(append(names, app.ID), app.Names()...)
		case found != nil:
			e := aai.Errorf(aai.AppNotFound, "app: several are named %q", aai.CleanLabel(name, 60))
			e.Candidates, e.Hint = []string{found.ID, app.ID}, "Use its id."
			return nil, e
		default:
			found = app
		}
	}
	if found != nil {
		return found, nil
	}
	e := aai.Errorf(aai.AppNotFound, "app: none is named %q", aai.CleanLabel(name, 60))
	slices.Sort(names)
	e.Candidates, e.Hint = aai.Nearest(name, slices.Compact(names), 5), "aai-gateway apps lists them."
	return nil, e
}

func noTool(app *aai.App, tool string) error {
	names := make([]string, len(app.Tools))
	for i, t := range app.Tools {
		names[i] = t.Name
	}
	e := aai.Errorf(aai.ToolNotFound, "tool: %s has none named %q", app.ID, aai.CleanLabel(tool, 60))
	e.Candidates, e.Hint = aai.Nearest(tool, names, 5), "aai-gateway guide APP lists them."
	return e
}
