package demo

import (
	"context"
	"os"
	"path/filepath"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"aai"
)

// A picture is what ax_screenshot answered, and what it shows.
type picture struct {
	name string
	png  []byte
}

// takePicture has the gateway take a picture of the program's window.
func (w *stage) takePicture(ctx context.Context, name, app string) error {
	result, err := w.ax(ctx, "screenshot", map[string]any{"app": app}, whole)
	if err != nil {
		return err
	}
	for _, c := range result.Content {
		if image, ok := c.(*mcp.ImageContent); ok {
			w.pictures = append(w.pictures, picture{name, image.Data})
			return nil
		}
	}
	return aai.Errorf(aai.AutomationFailed, "ax_screenshot answered without a picture")
}

// keepPictures writes the pictures to a folder that outlives the demo.
func (a *agent) keepPictures() (files []string, err error) {
	folder, err := os.MkdirTemp(a.desk.temp, "aai-demo-windows-*")
	if err != nil {
		return nil, aai.Errorf(aai.AutomationFailed, "no folder for the pictures: %w", err)
	}
	for _, p := range a.pictures {
		file := filepath.Join(folder, p.name+".png")
		if err := os.WriteFile(file, p.png, 0o600); err != nil {
			return nil, aai.Errorf(aai.AutomationFailed, "a picture cannot be written: %w", err)
		}
		files = append(files, file)
	}
	return files, nil
}
