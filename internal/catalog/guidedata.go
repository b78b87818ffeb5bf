package catalog

import (
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/answer"
	"github.com/gybob/aai-gateway/internal/sanitize"
)

// A guide is the documentation of an app for agents. Its JSON form is for programs; the form for
// models is rendered from it.
type guide struct {
	answer.Guide[operation]

	carrier  string // the header or parameter that carries the secret of a login
	declared bool   // by a descriptor, so its text is untrusted
	quote    quoter
}

// operation is one tool in a guide.
type operation struct {
	answer.Operation

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
		if tool.Limits.Unlisted {
			continue
		}
		g.Operations = append(g.Operations, newOperation(tool, g.quote))
	}
	return g
}

// guideHead returns a guide without operations.
func guideHead(app *aai.App) *guide {
	g := &guide{declared: app.Digest != "", quote: aai.CleanLabel}
	g.Operations = make([]operation, 0, len(app.Tools))
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
	g.setAuthentication(app.Site.Auth)
	return g
}

func newOperation(tool *aai.Tool, say quoter) operation {
	view := readSchema(tool.Params.Source, say)
	params := view.params()
	return operation{
		Operation: answer.Operation{
			Name:        tool.Name,
			Title:       aai.CleanLabel(tool.Title, maxName),
			Group:       aai.CleanLabel(tool.Group, maxName),
			Description: aai.CleanLabel(tool.Description, maxText),
			Effect:      tool.Effect.String(),
			Runnable:    tool.Run != nil,
			Parameters:  tool.Params.Source,
			Returns:     tool.Returns.Source,
			Unchecked:   tool.Params.Unchecked,
			Example:     example(tool, view),
		},
		quote:   say,
		params:  params,
		omitted: view.omitted(),
		returns: readSchema(tool.Returns.Source, say).summary(),
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
