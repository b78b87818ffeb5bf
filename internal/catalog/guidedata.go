package catalog

import (
	"encoding/json"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/sanitize"
)

// A guide is what an agent must know to use an app. It has a form for programs,
// which is this one, and one for models, which is rendered from it.
type guide struct {
	App struct {
		ID          string   `json:"id"`
		Names       []string `json:"names"`
		Description string   `json:"description,omitempty"`
		Version     string   `json:"version,omitempty"`
		Aliases     []string `json:"aliases,omitempty"`
		Platform    string   `json:"platform,omitempty"`
		Runnable    bool     `json:"runnable"`
		// From is the host of the site the app came from; Hosts are those of other
		// sites that it goes to.
		From  string   `json:"from,omitempty"`
		Hosts []string `json:"hosts,omitempty"`
		// Warning says why the name may not be what it seems.
		Warning string `json:"warning,omitempty"`
	} `json:"app"`
	Authentication *authentication `json:"authentication,omitempty"`
	Operations     []operation     `json:"operations"`

	declared bool // by a descriptor, so its words are a stranger's
	quote    quoter
}

// operation is one tool.
type operation struct {
	Name        string          `json:"name"`
	Title       string          `json:"title,omitempty"`
	Group       string          `json:"group,omitempty"` // the part of the app that it is of
	Description string          `json:"description,omitempty"`
	Effect      string          `json:"effect"`
	Runnable    bool            `json:"runnable"`
	Parameters  json.RawMessage `json:"parameters,omitempty"`
	Returns     json.RawMessage `json:"returns,omitempty"`
	// Example is arguments that are right by Parameters; absent if none are known.
	Example json.RawMessage `json:"example,omitempty"`

	quote   quoter
	params  []param
	omitted int // parameters that were too many to show
	returns string
}

// GuideData returns the guide of an app as a value that marshals to a JSON
// object: the app, how to log in, and its operations, each with its effect, its
// schemas as their author wrote them, for programs, and an example of arguments. Safe for
// concurrent use.
func GuideData(app *aai.App) any { return newGuide(app) }

func newGuide(app *aai.App) *guide {
	g := guideHead(app)
	for _, tool := range app.Tools {
		g.Operations = append(g.Operations, newOperation(tool, g.quote))
	}
	return g
}

// guideHead is a guide without the operations.
func guideHead(app *aai.App) *guide {
	g := &guide{Operations: make([]operation, 0, len(app.Tools)), declared: app.Digest != "", quote: aai.CleanLabel}
	if g.declared {
		g.quote = sanitize.Quote
	}
	g.App.ID = app.ID
	g.App.Names = cleanNames(app)
	g.App.Description = aai.CleanLabel(app.Description, maxText)
	g.App.Version = aai.CleanLabel(app.Version, maxName)
	for _, alias := range app.Aliases {
		g.App.Aliases = append(g.App.Aliases, aai.CleanLabel(alias, maxName))
	}
	g.App.Platform = app.Platform
	g.App.Runnable = app.IsRunnable()
	g.App.From, g.App.Warning = hostname(app.Origin), sanitize.ConfusableReason(app.Name)
	if app.Origin != "" {
		g.App.Hosts = app.Hosts
	}
	g.Authentication = newAuthentication(app.Auth)
	return g
}

func newOperation(tool *aai.Tool, say quoter) operation {
	view := readSchema(tool.Params.Source, say)
	params := view.params()
	return operation{
		Name:        tool.Name,
		Title:       aai.CleanLabel(tool.Title, maxName),
		Group:       aai.CleanLabel(tool.Group, maxName),
		Description: aai.CleanLabel(tool.Description, maxText),
		Effect:      tool.Effect.String(),
		Runnable:    tool.Run != nil,
		Parameters:  tool.Params.Source,
		Returns:     tool.Returns.Source,
		Example:     example(tool, view),
		quote:       say,
		params:      params,
		omitted:     view.omitted(),
		returns:     readSchema(tool.Returns.Source, say).summary(),
	}
}

func cleanNames(app *aai.App) []string {
	var names []string
	for _, name := range strings.Split(app.Name, "|") {
		if name = aai.CleanLabel(name, maxName); name != "" {
			names = append(names, name)
		}
	}
	if len(names) == 0 {
		names = []string{app.ID}
	}
	return names
}
