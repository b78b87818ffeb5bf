package builtin

import (
	"context"

	"github.com/gybob/aai-gateway"
)

// appRow is an app in the list of apps.
type appRow struct {
	ID          string   `json:"id"`
	Name        string   `json:"name"`
	Description string   `json:"description"`
	Aliases     []string `json:"aliases,omitempty"`
	Tools       int      `json:"tools"`
	Unprobed    bool     `json:"not_started,omitempty"`
	Platform    string   `json:"platform"`
	Runnable    bool     `json:"runnable"`
	Source      string   `json:"source"`
	Origin      string   `json:"origin,omitempty"` // of a web app
}

func (c catalogTools) apps(context.Context, *aai.Call) (*aai.Result, error) {
	rows := []appRow{}
	for _, app := range c.known().Apps() {
		if app.ID == aai.BuiltinApp {
			continue
		}
		rows = append(rows, appRow{
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
