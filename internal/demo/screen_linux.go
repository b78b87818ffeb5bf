package demo

import (
	"context"
	"errors"
	"image/png"
	"os"
	"path/filepath"
	"time"

	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/platform/linux/private"
)

// screenshot writes the screen to a PNG file that outlives the demo.
func (s *privateSession) screenshot() (string, error) {
	time.Sleep(time.Second) // let the windows be drawn
	b, err := os.ReadFile(s.FramebufferFile())
	if err != nil {
		return "", aai.Errorf(aai.AutomationFailed, "the screen cannot be read: %w", err)
	}
	picture, err := private.DecodeXWD(b)
	if err != nil {
		return "", aai.Errorf(aai.AutomationFailed, "the screen cannot be understood: %w", err)
	}
	f, err := os.CreateTemp(s.temp, "aai-demo-*.png")
	if err != nil {
		return "", aai.Errorf(aai.AutomationFailed, "no file for the picture: %w", err)
	}
	if err := errors.Join(png.Encode(f, picture), f.Close()); err != nil {
		return "", aai.Errorf(aai.AutomationFailed, "the picture cannot be written: %w", err)
	}
	return f.Name(), nil
}

// screenshot is a picture and its name.
type screenshot struct {
	name string
	png  []byte
}

// takeScreenshot takes a picture of the program's window through the gateway.
func (w *windowDemo) takeScreenshot(ctx context.Context, name, app string) error {
	return w.keepPicture(name)(w.callDesktop(ctx, "screenshot", map[string]any{"app": app}, fullText))
}

// keepPicture returns a function that keeps the picture of a result under the name.
func (w *windowDemo) keepPicture(name string) func(*mcp.CallToolResult, error) error {
	return func(result *mcp.CallToolResult, err error) error {
		if err != nil {
			return err
		}
		for _, c := range result.Content {
			if image, ok := c.(*mcp.ImageContent); ok {
				w.screenshots = append(w.screenshots, screenshot{name, image.Data})
				return nil
			}
		}
		return aai.Errorf(aai.AutomationFailed, "the gateway answered without the picture %s", name)
	}
}

// compare keeps the calculator's picture as a baseline, or compares its window with it and checks its accessibility.
func (w *windowDemo) compare(ctx context.Context, update bool) error {
	call := func(tool string, args map[string]any) (*mcp.CallToolResult, error) {
		args["app"] = "calculator"
		return w.call(ctx, "aai_exec", map[string]any{"app": aai.DesktopApp, "tool": tool, "args": args}, fullText)
	}
	if update {
		_, err := call("ax_visual_diff", map[string]any{"baseline": "start", "update": true})
		return err
	}
	w.title("The same calculator: elements marked, looks compared, accessibility checked")
	if err := w.keepPicture("marks")(w.callDesktop(ctx, "screenshot", map[string]any{"app": "calculator", "marks": true}, fullText)); err != nil {
		return err
	}
	if err := w.keepPicture("diff")(call("ax_visual_diff", map[string]any{"baseline": "start"})); err != nil {
		return err
	}
	return w.keepPicture("audit")(call("ax_a11y_audit", map[string]any{}))
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
