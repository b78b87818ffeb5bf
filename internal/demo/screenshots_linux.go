package demo

import (
	"context"
	"os"
	"path/filepath"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gybob/aai-gateway"
)

// screenshot is a picture and its name.
type screenshot struct {
	name string
	png  []byte
}

// takeScreenshot takes a picture of the program's window through the gateway.
func (w *windowDemo) takeScreenshot(ctx context.Context, name, app string) error {
	result, err := w.callDesktop(ctx, "screenshot", map[string]any{"app": app}, fullText)
	if err != nil {
		return err
	}
	for _, c := range result.Content {
		if image, ok := c.(*mcp.ImageContent); ok {
			w.screenshots = append(w.screenshots, screenshot{name, image.Data})
			return nil
		}
	}
	return aai.Errorf(aai.AutomationFailed, "ax_screenshot answered without a picture")
}

// writeScreenshots writes the pictures to a folder that outlives the demo.
func (a *agent) writeScreenshots() (files []string, err error) {
	folder, err := os.MkdirTemp(a.desktop.temp, "aai-demo-windows-*")
	if err != nil {
		return nil, aai.Errorf(aai.AutomationFailed, "no folder for the pictures: %w", err)
	}
	for _, p := range a.screenshots {
		file := filepath.Join(folder, p.name+".png")
		if err := os.WriteFile(file, p.png, 0o600); err != nil {
			return nil, aai.Errorf(aai.AutomationFailed, "a picture cannot be written: %w", err)
		}
		files = append(files, file)
	}
	return files, nil
}
