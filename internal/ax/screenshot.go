package ax

import (
	"bytes"
	"context"
	"fmt"
	"image"
	"image/png"
	"strings"

	"golang.org/x/image/draw"

	"aai"
	"aai/internal/desktop"
)

// defaultSide is how long the longer side of a picture may be, in pixels: more
// is scaled down by the models that look at it.
const defaultSide = 1568

func (d *desk) screenshotTool() *aai.Tool {
	return spec{
		name: "ax_screenshot", title: "Capture screenshot", effect: aai.Reads, pictures: true,
		returns:     `"width": {"type": "integer"}, "height": {"type": "integer"}, "scale": {"type": "number"}, "region": {"type": "object"}, "hidden": {"type": "array", "items": {"type": "string"}}`,
		description: "Take a picture of a program's window, also a covered one, of an element, or without app of the whole screen, where programs that you may not see are black.",
		params: appProp + `,` + queryProp + `,` + nthProp + `,
			"window_index": {"type": "integer", "minimum": 0, "default": 0, "description": "As ax_list_windows counts"},
			"region": {"type": "object", "additionalProperties": false, "required": ["x", "y", "w", "h"],
				"description": "On the screen", "properties": {
				"x": {"type": "integer"}, "y": {"type": "integer"}, "w": {"type": "integer", "minimum": 1}, "h": {"type": "integer", "minimum": 1}}},
			"max_side": {"type": "integer", "minimum": 16, "maximum": 16384, "default": 1568, "description": "A larger picture is scaled down"}`,
		turn: func(call *aai.Call) aai.Turn {
			if given(call, "query") {
				return aai.InTurn
			}
			return aai.Apart // what was painted last is there
		},
		run: d.screenshot,
	}.tool()
}

func (d *desk) screenshot(ctx context.Context, call *aai.Call) (*aai.Result, error) {
	screen := d.open().Screen
	if screen == nil {
		return nil, unsupported("pictures of the screen")
	}
	if !given(call, targetParam) {
		if given(call, "query") {
			return nil, aai.Errorf(aai.InvalidParams, "query: expected app as well, which says whose element it is")
		}
		return d.screenshotOfScreen(ctx, call, screen)
	}
	if given(call, "query") {
		return d.look(ctx, call, func(ctx context.Context, v *view) (*aai.Result, error) {
			m, err := v.locate(ctx, textArg(call, "query"))
			if err != nil {
				return nil, err
			}
			w, err := v.windowOf(ctx, m.index)
			if err != nil {
				return nil, err
			}
			return d.unlessPassword(ctx, v.app.PID, func() (*aai.Result, error) {
				return d.captureWindow(ctx, call, screen, w, v.shot.Elements[m.index].Frame)
			})
		})
	}
	app, err := d.running(ctx, call)
	if err != nil {
		return nil, err
	}
	own, err := windowsOf(ctx, d.open(), app)
	if err != nil {
		return nil, err
	}
	n := intArg(call, "window_index", 0)
	if n >= len(own) {
		e := aai.Errorf(aai.ElementNotFound, "window_index: %s has %d windows on the screen", aai.CleanLabel(app.Name, 60), len(own))
		e.Hint = "ax_list_windows lists them."
		return nil, e
	}
	area := own[n].Frame
	if region, ok := regionArg(call); ok {
		area = region
	}
	return d.unlessPassword(ctx, app.PID, func() (*aai.Result, error) { return d.captureWindow(ctx, call, screen, own[n], area) })
}

func regionArg(call *aai.Call) (desktop.Rect, bool) {
	region, ok := call.Args["region"].(map[string]any)
	if !ok {
		return desktop.Rect{}, false
	}
	n := func(name string) int { return wholeNumber(region[name], 0) }
	return desktop.Rect{X: n("x"), Y: n("y"), W: n("w"), H: n("h")}, true
}

func (d *desk) screenshotOfScreen(ctx context.Context, call *aai.Call, screen desktop.Screen) (*aai.Result, error) {
	if err := d.lockedScreen(ctx); err != nil {
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
	if region, ok := regionArg(call); ok {
		if area = region.Intersect(all); area.Empty() {
			return nil, aai.Errorf(aai.InvalidParams, "region: expected a part of the screen, which is %d × %d", all.W, all.H)
		}
	}
	picture, hidden, err := d.photograph(ctx, screen, area)
	if err == nil {
		err = d.lockedScreen(ctx) // it may have been locked meanwhile
	}
	if err != nil {
		return nil, err
	}
	out, scale, err := pictureOf(call, picture, area)
	if err == nil {
		d.sessions.of(call).show(0, shown{area: area, scale: scale})
	}
	if err == nil && len(hidden) > 0 {
		out.Text += "; black where they would show: " + strings.Join(hidden, ", ") + ". " + blackHint
		out.Data.(map[string]any)["hidden"] = hidden //nolint:forcetypeassert // pictureOf makes it
	}
	return out, err
}

// captureWindow takes the part of a window that is in the area.
func (d *desk) captureWindow(ctx context.Context, call *aai.Call, screen desktop.Screen, w desktop.WindowInfo, area desktop.Rect) (*aai.Result, error) {
	picture, err := screen.CaptureWindow(ctx, w.ID)
	if err != nil {
		return nil, err
	}
	part := area.Intersect(w.Frame)
	if part.Empty() {
		return nil, aai.Errorf(aai.InvalidParams, "region: expected a part of the window, which is at %d, %d and %d × %d", w.Frame.X, w.Frame.Y, w.Frame.W, w.Frame.H)
	}
	if part != w.Frame {
		at := image.Rect(part.X-w.Frame.X, part.Y-w.Frame.Y, part.X-w.Frame.X+part.W, part.Y-w.Frame.Y+part.H)
		cut := image.NewRGBA(image.Rect(0, 0, part.W, part.H))
		draw.Copy(cut, image.Point{}, picture, at.Add(picture.Bounds().Min), draw.Src, nil)
		picture = cut
	}
	out, scale, err := pictureOf(call, picture, part)
	if err == nil {
		d.sessions.of(call).show(w.PID, shown{window: w.ID, at: desktop.Point{X: w.Frame.X, Y: w.Frame.Y}, area: part, scale: scale})
	}
	return out, err
}

// pictureOf encodes a picture and says what it shows, so that a point in it can
// be told from a point of the screen.
func pictureOf(call *aai.Call, picture *image.RGBA, area desktop.Rect) (out *aai.Result, scale float64, err error) {
	side := intArg(call, "max_side", defaultSide)
	size := picture.Bounds().Size()
	scale = 1.0
	if longer := max(size.X, size.Y); longer > side {
		scale = float64(side) / float64(longer)
		small := image.NewRGBA(image.Rect(0, 0, max(1, int(float64(size.X)*scale)), max(1, int(float64(size.Y)*scale))))
		draw.ApproxBiLinear.Scale(small, small.Bounds(), picture, picture.Bounds(), draw.Src, nil)
		picture = small
	}
	var b bytes.Buffer
	if err := (&png.Encoder{CompressionLevel: png.BestSpeed}).Encode(&b, picture); err != nil {
		return nil, 0, aai.Errorf(aai.AutomationFailed, "the picture cannot be written as PNG: %w", err)
	}
	size = picture.Bounds().Size()
	text := fmt.Sprintf("%d × %d pixels, of the screen from %d, %d", size.X, size.Y, area.X, area.Y)
	if scale != 1 {
		text += fmt.Sprintf(", scaled by %.3f", scale)
	}
	return &aai.Result{
		Text: text, Whole: true, Images: []aai.Image{{MIME: "image/png", Data: b.Bytes()}},
		Data: map[string]any{
			"width": size.X, "height": size.Y, "scale": scale,
			"region": map[string]int{"x": area.X, "y": area.Y, "w": area.W, "h": area.H},
		},
	}, scale, nil
}
