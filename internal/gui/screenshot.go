package gui

import (
	"context"
	"fmt"
	"image"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gui/conversation"
	"github.com/gybob/aai-gateway/internal/gui/guierr"
	"github.com/gybob/aai-gateway/internal/gui/params"
	"github.com/gybob/aai-gateway/internal/gui/programs"
	"github.com/gybob/aai-gateway/internal/vision"
)

// defaultSide is the default maximum of a screenshot's longer side, in pixels: models scale down
// larger images.
const defaultSide = 1568

func (d *engine) screenshotTool() spec {
	return spec{
		name: "ax_screenshot", title: "Capture screenshot", effect: aai.Reads, pictures: true, timeout: visionTimeout,
		description: "Take a picture of a program's window, also a covered one, of an element, or of the screen.",
		params: appProp + `,` + queryProp + `,` + nthProp + `,
			"window_index": {"type": "integer", "minimum": 0, "default": 0, "description": "As ax_list_windows counts"},
			"region": {"type": "object", "additionalProperties": false, "required": ["x", "y", "w", "h"],
				"description": "On the screen", "properties": {
				"x": {"type": "integer"}, "y": {"type": "integer"}, "w": {"type": "integer", "minimum": 1}, "h": {"type": "integer", "minimum": 1}}},
			"marks": {"type": "boolean", "description": "Draw refs"}, "text": {"type": "boolean", "description": "Read words"},
			"max_side": {"type": "integer", "minimum": 16, "maximum": 16384, "default": 1568, "description": "A larger picture is scaled down"}`,
		concurrency: func(call *aai.Call) aai.Concurrency {
			if params.Has(call, "query") {
				return aai.Exclusive
			}
			return aai.Independent // the latest painted content is available
		},
		run: d.screenshot,
	}
}

func (d *engine) screenshot(ctx context.Context, call *aai.Call) (*aai.Result, error) {
	screen := d.OpenBackend().Screen
	if screen == nil {
		return nil, guierr.Unsupported("pictures of the screen")
	}
	if !params.Has(call, params.AppParam) {
		for name, purpose := range map[string]string{"query": "to find the element", "marks": "whose refs to draw", "text": "whose words to read"} {
			if params.Has(call, name) && call.Args[name] != false {
				return nil, aai.Errorf(aai.InvalidParams, "%s: expected app as well, %s", name, purpose)
			}
		}
		return d.screenshotOfScreen(ctx, call, screen)
	}
	if params.Has(call, "query") || params.Bool(call, "marks") {
		return d.withView(ctx, call, screenshotOfView)
	}
	app, err := d.AdmittedApp(ctx, call)
	if err != nil {
		return nil, err
	}
	w, err := d.windowByIndex(ctx, call, app)
	if err != nil {
		return nil, err
	}
	area := w.Frame
	if region, ok := params.Region(call); ok {
		area = region
	}
	return d.captureWindow(ctx, call, app, w, area, nil)
}

// screenshotOfView captures the element of the query or, without one, a window, and draws refs if asked.
func screenshotOfView(ctx context.Context, v *view) (*aai.Result, error) {
	var w desktop.WindowInfo
	var area desktop.Rect
	if text := params.String(v.call, "query"); text != "" {
		m, err := v.locate(ctx, text)
		if err != nil {
			return nil, err
		}
		if w, err = v.windowOf(ctx, m.index); err != nil {
			return nil, err
		}
		area = v.snapshot.Elements[m.index].Frame
	} else {
		var err error
		if w, err = v.engine.windowByIndex(ctx, v.call, v.app); err != nil {
			return nil, err
		}
		area = w.Frame
		if region, ok := params.Region(v.call); ok {
			area = region
		}
	}
	var marks []vision.Mark
	if params.Bool(v.call, "marks") {
		var err error
		if marks, err = v.marks(ctx, w); err != nil {
			return nil, err
		}
	}
	return v.engine.captureWindow(ctx, v.call, v.app, w, area, marks)
}

// marks returns the refs and places of the elements in the window that can be acted on.
func (v *view) marks(ctx context.Context, w desktop.WindowInfo) (all []vision.Mark, err error) {
	own, err := v.appWindows(ctx)
	if err != nil {
		return nil, err
	}
	seen := v.snapshot.VisibleElements()
	for _, top := range v.snapshot.Children(-1) {
		if shows, _ := programs.BestWindow(own, &v.snapshot.Elements[top]); shows.ID != w.ID {
			continue
		}
		for i := top; i < v.snapshot.Elements[top].End; i++ {
			e := &v.snapshot.Elements[i]
			if part := e.Frame.Intersect(w.Frame); seen[i] && !part.Empty() && (isInteractive(e) || e.States.Has(desktop.Editable)) {
				all = append(all, vision.Mark{Label: v.ref(i), Frame: image.Rect(part.X, part.Y, part.X+part.W, part.Y+part.H)})
			}
		}
	}
	return all, nil
}

func (d *engine) screenshotOfScreen(ctx context.Context, call *aai.Call, screen desktop.Screen) (*aai.Result, error) {
	if err := d.CheckScreenLock(ctx); err != nil {
		return nil, err
	}
	monitors, err := screen.Monitors(ctx)
	if err != nil {
		return nil, err
	}
	var all desktop.Rect
	for _, m := range monitors {
		right, bottom := max(all.X+all.W, m.Frame.X+m.Frame.W), max(all.Y+all.H, m.Frame.Y+m.Frame.H)
		all.X, all.Y = min(all.X, m.Frame.X), min(all.Y, m.Frame.Y)
		all.W, all.H = right-all.X, bottom-all.Y
	}
	area := all
	if region, ok := params.Region(call); ok {
		if area = region.Intersect(all); area.Empty() {
			return nil, aai.Errorf(aai.InvalidParams, "region: expected a part of the screen, which is %d × %d", all.W, all.H)
		}
	}
	apps, err := d.Apps(ctx)
	if err != nil {
		return nil, err
	}
	var hidden []string
	picture, err := d.withoutSecrets(ctx, apps, area, func() (picture *image.RGBA, err error) {
		picture, hidden, err = d.CaptureArea(ctx, screen, area)
		return picture, err
	})
	if err == nil {
		err = d.CheckScreenLock(ctx) // the screen may have been locked meanwhile
	}
	if err != nil {
		return nil, err
	}
	out, scale, err := pictureOf(call, picture, area, nil)
	if err == nil {
		d.Sessions.For(call).SetScreenshot(0, conversation.Screenshot{Area: area, Scale: scale})
	}
	if err == nil && len(hidden) > 0 {
		out.Text += "; blacked out: " + strings.Join(hidden, ", ") + ". " + programs.RedactedHint
		out.Data.(map[string]any)["hidden"] = hidden //nolint:forcetypeassert // pictureOf makes it
	}
	return out, err
}

// captureWindow captures the part of a window in the area, draws the marks, and reads words if asked.
func (d *engine) captureWindow(ctx context.Context, call *aai.Call, app desktop.App, w desktop.WindowInfo, area desktop.Rect, marks []vision.Mark) (*aai.Result, error) {
	picture, err := d.captureUnlessTyped(ctx, app, w)
	if err != nil {
		return nil, err
	}
	part := area.Intersect(w.Frame)
	if part.Empty() {
		return nil, aai.Errorf(aai.InvalidParams, "region: expected a part of the window, which is at %d, %d and %d × %d", w.Frame.X, w.Frame.Y, w.Frame.W, w.Frame.H)
	}
	if part != w.Frame {
		at := image.Rect(part.X-w.Frame.X, part.Y-w.Frame.Y, part.X-w.Frame.X+part.W, part.Y-w.Frame.Y+part.H)
		picture = vision.Crop(picture, at)
	}
	out, scale, err := pictureOf(call, picture, part, marks)
	if err != nil {
		return nil, err
	}
	d.Sessions.For(call).SetScreenshot(w.PID, conversation.Screenshot{Window: w.ID, At: desktop.Point{X: w.Frame.X, Y: w.Frame.Y}, Area: part, Scale: scale})
	if !params.Bool(call, "text") {
		return out, nil
	}
	words, err := d.readWords(ctx, call, app, w, picture, image.Pt(part.X-w.Frame.X, part.Y-w.Frame.Y))
	if err != nil {
		return nil, err
	}
	out.Text += "; its words:\n" + desktop.Fence(listPhrases(words), app.Name)
	out.Data.(map[string]any)["words"] = words //nolint:forcetypeassert // pictureOf makes it
	return out, nil
}

// pictureOfWindow captures a window, with the person's secrets painted over.
func (d *engine) pictureOfWindow(ctx context.Context, app desktop.App, w desktop.WindowInfo) (*image.RGBA, error) {
	return d.withoutSecrets(ctx, []desktop.App{app}, w.Frame, func() (*image.RGBA, error) {
		return d.OpenBackend().Screen.CaptureWindow(ctx, w.ID)
	})
}

// pictureOf encodes a picture and describes its area, so that its points can be converted to points
// of the screen.
func pictureOf(call *aai.Call, picture *image.RGBA, area desktop.Rect, marks []vision.Mark) (out *aai.Result, scale float64, err error) {
	side := params.Int(call, "max_side", defaultSide)
	picture, scale = vision.Scale(picture, side)
	if len(marks) > 0 {
		if scale == 1 {
			picture = vision.Clone(picture)
		}
		vision.DrawMarks(picture, marks, image.Pt(area.X, area.Y), scale)
	}
	data, err := vision.EncodePNG(picture)
	if err != nil {
		return nil, 0, aai.Errorf(aai.AutomationFailed, "the picture cannot be written as PNG: %w", err)
	}
	size := picture.Bounds().Size()
	text := fmt.Sprintf("%d × %d pixels, of the screen from %d, %d", size.X, size.Y, area.X, area.Y)
	if scale != 1 {
		text += fmt.Sprintf(", scaled by %.3f", scale)
	}
	return &aai.Result{
		Text: text, DataComplete: true, Images: []aai.Image{{MIME: "image/png", Data: data}},
		Data: map[string]any{
			"width": size.X, "height": size.Y, "scale": scale,
			"region": map[string]int{"x": area.X, "y": area.Y, "w": area.W, "h": area.H},
		},
	}, scale, nil
}
