package catalog

import (
	"encoding/json"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/sanitize"
)

// A guide is the documentation of an app for agents. This form is for programs; the form for
// models is rendered from it.
type guide struct {
	App struct {
		ID          string   `json:"id"`
		Names       []string `json:"names"`
		Description string   `json:"description,omitempty"`
		Version     string   `json:"version,omitempty"`
		Aliases     []string `json:"aliases,omitempty"`
		Platform    string   `json:"platform,omitempty"`
		Runnable    bool     `json:"runnable"`
		// From is the host of the site that the app comes from; Hosts are those of other sites
		// that it uses.
		From  string   `json:"from,omitempty"`
		Hosts []string `json:"hosts,omitempty"`
		// Warning is the reason why the name may be misleading.
		Warning string `json:"warning,omitempty"`
	} `json:"app"`
	Authentication *authentication `json:"authentication,omitempty"`
	Operations     []operation     `json:"operations"`

	declared bool // by a descriptor, so its text is untrusted
	quote    quoter
}

// operation is one tool in a guide.
type operation struct {
	Name        string          `json:"name"`
	Title       string          `json:"title,omitempty"`
	Group       string          `json:"group,omitempty"` // its group in the app
	Description string          `json:"description,omitempty"`
	Effect      string          `json:"effect"`
	Runnable    bool            `json:"runnable"`
	Parameters  json.RawMessage `json:"parameters,omitempty"`
	Returns     json.RawMessage `json:"returns,omitempty"`
	// Example holds arguments that match Parameters; absent if none are known.
	Example json.RawMessage `json:"example,omitempty"`

	quote   quoter
	params  []param
	omitted int // number of parameters not shown
	returns string
}

// GuideData returns the guide of an app as a value that marshals to a JSON object: the app, its
// authentication, and its operations, each with its effect, its schemas as written and example
// arguments. It is safe for concurrent use.
func GuideData(app *aai.App) any { return newGuide(app) }

func newGuide(app *aai.App) *guide {
	g := guideHead(app)
	for _, tool := range app.Tools {
		g.Operations = append(g.Operations, newOperation(tool, g.quote))
	}
	return g
}

// guideHead returns a guide without operations.
func guideHead(app *aai.App) *guide {
	g := &guide{Operations: make([]operation, 0, len(app.Tools)), declared: app.Digest != "", quote: aai.CleanLabel}
	if g.declared {
		g.quote = sanitize.Quote
	}
	g.App.ID = app.ID
	g.App.Names = cleanNames(app)
	g.App.Description = aai.CleanLabel(app.Description, maxText)
	g.App.Version = aai.CleanLabel(app.Descriptor.Version, maxName)
	for _, alias := range app.Aliases {
		g.App.Aliases = append(g.App.Aliases, aai.CleanLabel(alias, maxName))
	}
	g.App.Platform = app.Platform
	g.App.Runnable = app.IsRunnable()
	g.App.From, g.App.Warning = hostname(app.Site.Origin), sanitize.ConfusableReason(app.Name)
	if app.Site.Origin != "" {
		g.App.Hosts = app.Site.Hosts
	}
	g.Authentication = newAuthentication(app.Site.Auth)
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
