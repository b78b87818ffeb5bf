package builtin

import (
	"context"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/answer"
)

func (c catalogTools) apps(context.Context, *aai.Call) (*aai.Result, error) {
	rows := []answer.App{}
	for _, app := range c.known().Apps() {
		if app.ID == aai.BuiltinApp {
			continue
		}
		rows = append(rows, answer.App{
			ID: app.ID, Name: app.Name, Description: app.Description, Aliases: app.Aliases,
			Tools: toolsOf(app), Unprobed: app.Descriptor.Unprobed, Platform: app.Platform, Runnable: app.IsRunnable(), Source: app.Source, Origin: app.Site.Origin,
		})
	}
	return &aai.Result{Data: rows}, nil
}

// toolsOf returns the number of known tools of an app.
func toolsOf(app *aai.App) int {
	if app.Descriptor.Unprobed {
		return 0 // listing its tools would start it
	}
	return len(app.Tools)
}

func (c catalogTools) scan(ctx context.Context, _ *aai.Call) (*aai.Result, error) {
	report, err := c.known().Report(ctx)
	if err != nil {
		return nil, err
	}
	served := make(map[string]*aai.App) // by file
	for _, app := range c.known().Apps() {
		if app.Server != nil {
			served[app.Source] = app
		}
	}
	for i := range report.Files {
		if app := served[report.Files[i].Path]; app != nil {
			report.Files[i].Tools, report.Files[i].Unprobed = toolsOf(app), app.Descriptor.Unprobed
		}
	}
	return &aai.Result{Data: report}, nil
}
