package gui

import (
	"context"
	"encoding/base64"
	"errors"
	"fmt"
	"image"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gateway"
	"github.com/gybob/aai-gateway/internal/gui/params"
	"github.com/gybob/aai-gateway/internal/vision"
)

const (
	// defaultThreshold is the acceptable difference, in percent.
	defaultThreshold = 1.0
	// maxDiffRegions limits the regions in a reply.
	maxDiffRegions = 10
	// maxBaselineName is the length, in characters, up to which a baseline is a name.
	maxBaselineName = 80
)

// visualDiff is the result of a comparison.
type visualDiff struct {
	Passed       bool             `json:"passed"`
	Percentage   float64          `json:"diff_percentage"`
	Differing    int              `json:"diff_pixels"`
	Total        int              `json:"total_pixels"`
	SizeDiffers  bool             `json:"size_differs"`
	BaselineSize []int            `json:"baseline_size,omitempty"`
	Size         []int            `json:"size"`
	Regions      []map[string]int `json:"regions"` // in the picture
	Updated      bool             `json:"updated,omitempty"`
}

func (d *engine) visualDiffTool() spec {
	return spec{
		name: "ax_visual_diff", title: "Compare with a picture", effect: aai.Reads, pictures: true, unlisted: true, lengthy: true, timeout: visionTimeout,
		returns: `"passed": {"type": "boolean"}, "diff_percentage": {"type": "number"}, "diff_pixels": {"type": "integer"}, "total_pixels": {"type": "integer"}, "size_differs": {"type": "boolean"},
			"baseline_size": ` + pairReturns + `, "size": ` + pairReturns + `, "regions": {"type": "array", "items": {"type": "object"}}, "updated": {"type": "boolean"}`,
		description: "Compare a window with an earlier picture of it, as people see both. Shows the differences.",
		params: appProp + `, "baseline": {"type": "string", "minLength": 1, "description": "The name of a picture that was kept with update, or a PNG as base64"},
			"update": {"type": "boolean", "description": "Keep the window's picture as the baseline of this name"},
			"perceptual": {"type": "boolean", "default": true, "description": "Ignore what people hardly see: small differences of color, smoothed edges"},
			"threshold": {"type": "number", "minimum": 0, "maximum": 100, "default": 1, "description": "The acceptable difference in percent"},
			"ignore_regions": {"type": "array", "maxItems": 100, "items": {"type": "object", "additionalProperties": false, "required": ["x", "y", "w", "h"], "description": "In the picture", "properties": {
				"x": {"type": "integer"}, "y": {"type": "integer"}, "w": {"type": "integer", "minimum": 1}, "h": {"type": "integer", "minimum": 1}}}},
			"ignore": {"type": "array", "maxItems": 100, "items": {"type": "string", "minLength": 1}, "description": "Queries of elements to ignore"},
			"window_index": {"type": "integer", "minimum": 0, "default": 0, "description": "As ax_list_windows counts"}`,
		required: `["app", "baseline"]`,
		concurrency: func(call *aai.Call) aai.Concurrency {
			if params.Has(call, "ignore") {
				return aai.Exclusive
			}
			return aai.Independent
		},
		run: d.visualDiff,
	}
}

func (d *engine) visualDiff(ctx context.Context, call *aai.Call) (*aai.Result, error) {
	app, err := d.AdmittedApp(ctx, call)
	if err != nil {
		return nil, err
	}
	w, err := d.windowByIndex(ctx, call, app)
	if err != nil {
		return nil, err
	}
	picture, err := d.captureUnlessTyped(ctx, app, w)
	if err != nil {
		return nil, err
	}
	if params.Bool(call, "update") {
		return d.keepBaseline(ctx, call, picture)
	}
	baseline, err := d.loadBaseline(ctx, call)
	if err != nil {
		return nil, err
	}
	ignored, err := d.ignoredRegions(ctx, call, w)
	if err != nil {
		return nil, err
	}
	gateway.Progress(ctx, 1, 2, "Comparing the pictures")
	diff, err := vision.Compare(baseline, picture, ignored, params.Bool(call, "perceptual"))
	if err != nil {
		return nil, aai.Errorf(aai.AutomationFailed, "the pictures cannot be compared: %w", err)
	}
	return diffResult(call, diff, baseline, picture)
}

// baselineName returns the name in the argument baseline; false if it is a picture.
func baselineName(call *aai.Call) (string, bool) {
	name := params.String(call, "baseline")
	return name, len(name) <= maxBaselineName
}

// keepBaseline keeps the picture by the name of the call.
func (d *engine) keepBaseline(ctx context.Context, call *aai.Call, picture *image.RGBA) (*aai.Result, error) {
	name, is := baselineName(call)
	if err := vision.CheckName(name); err != nil || !is {
		return nil, aai.Errorf(aai.InvalidParams, "baseline: expected a name of letters, digits, points, hyphens and underscores to keep the picture")
	}
	data, err := vision.EncodePNG(picture)
	place := ""
	if err == nil {
		place, err = d.saveBaseline(ctx, call, name, data)
	}
	if err != nil {
		return nil, aai.Errorf(aai.AutomationFailed, "the baseline cannot be kept: %w", err)
	}
	size := picture.Rect.Size()
	return &aai.Result{
		Text: fmt.Sprintf("Kept as the baseline %s%s, %d × %d pixels.", name, place, size.X, size.Y), DataComplete: true,
		Data: visualDiff{Passed: true, Size: []int{size.X, size.Y}, Regions: []map[string]int{}, Updated: true},
	}, nil
}

// loadBaseline returns the picture that the call names or gives.
func (d *engine) loadBaseline(ctx context.Context, call *aai.Call) (*image.RGBA, error) {
	name, is := baselineName(call)
	if !is {
		return givenPicture(call, "baseline")
	}
	if err := vision.CheckName(name); err != nil {
		return nil, aai.Errorf(aai.InvalidParams, "baseline: %w", err)
	}
	picture, err := d.findBaseline(ctx, call, name)
	if errors.Is(err, vision.ErrNoBaseline) {
		e := aai.Errorf(aai.InvalidParams, "baseline: no picture of this program was kept as %s", name)
		e.Hint = "Keep one with update, while the window looks as it should."
		return nil, e
	}
	if err != nil {
		return nil, aai.Errorf(aai.AutomationFailed, "the baseline cannot be read: %w", err)
	}
	return picture, nil
}

// findBaseline returns the picture of the name from a project that the client works in, or else from the state folder.
func (d *engine) findBaseline(ctx context.Context, call *aai.Call, name string) (*image.RGBA, error) {
	projects, err := projectFolders(ctx)
	if err != nil {
		return nil, err
	}
	for _, project := range projects {
		if picture, err := vision.LoadFromProject(project.Path, name); !errors.Is(err, vision.ErrNoBaseline) {
			return picture, err
		}
	}
	if d.baselines == nil {
		return nil, vision.ErrNoBaseline
	}
	return d.baselines.Load(ctx, call.Target.ID, name)
}

// saveBaseline keeps the picture in the first project of the client that has a folder for it, or else in the state
// folder. place names the project for people.
func (d *engine) saveBaseline(ctx context.Context, call *aai.Call, name string, data []byte) (place string, err error) {
	projects, err := projectFolders(ctx)
	if err != nil {
		return "", err
	}
	readOnly := gateway.IsSandboxed(ctx) || d.securityMode != nil && d.securityMode() == "sandboxed"
	for _, project := range projects {
		if readOnly && vision.HasBaselines(project.Path) {
			return "", errors.New("the project has a folder for baselines, and the mode sandboxed changes no files")
		}
		if err := vision.SaveInProject(project.Path, name, data); !errors.Is(err, vision.ErrNoBaseline) {
			return " in " + project.Path, err
		}
	}
	if d.baselines == nil {
		return "", errors.New("no baselines are kept here; give the baseline as a PNG")
	}
	return "", d.baselines.Save(ctx, call.Target.ID, name, data)
}

// projectFolders returns the folders that the client works in.
func projectFolders(ctx context.Context) ([]aai.Root, error) {
	ask := aai.ClientCapabilitiesOf(ctx).Roots
	if ask == nil {
		return nil, nil
	}
	return ask(ctx)
}

// givenPicture decodes a PNG in an argument.
func givenPicture(call *aai.Call, name string) (*image.RGBA, error) {
	given := params.String(call, name)
	if len(given) > maxGivenPicture {
		return nil, aai.Errorf(aai.InvalidParams, "%s: expected at most %d MB", name, maxGivenPicture>>20)
	}
	_, data, is := strings.Cut(given, ";base64,") // a data URI
	if !is {
		data = given
	}
	decoded, err := base64.StdEncoding.DecodeString(data)
	if err != nil {
		return nil, aai.Errorf(aai.InvalidParams, "%s: expected a PNG as base64: %w", name, err)
	}
	picture, err := vision.DecodePNG(decoded)
	if err != nil {
		return nil, aai.Errorf(aai.InvalidParams, "%s: expected a PNG: %w", name, err)
	}
	return picture, nil
}

// ignoredRegions returns the rectangles of the call, in the picture of the window, and those of its elements to ignore.
func (d *engine) ignoredRegions(ctx context.Context, call *aai.Call, w desktop.WindowInfo) (all []image.Rectangle, err error) {
	given, _ := call.Args["ignore_regions"].([]any)
	for _, one := range given {
		r, _ := one.(map[string]any)
		x, y := params.ToInt(r["x"], 0), params.ToInt(r["y"], 0)
		all = append(all, image.Rect(x, y, x+params.ToInt(r["w"], 0), y+params.ToInt(r["h"], 0)))
	}
	queries, _ := call.Args["ignore"].([]any)
	if len(queries) == 0 {
		return all, nil
	}
	_, err = d.withView(ctx, call, func(ctx context.Context, v *view) (*aai.Result, error) {
		for _, q := range queries {
			text, _ := q.(string)
			m, err := v.locate(ctx, text)
			if err != nil {
				return nil, err
			}
			f := v.snapshot.Elements[m.index].Frame
			all = append(all, image.Rect(f.X, f.Y, f.X+f.W, f.Y+f.H).Sub(image.Pt(w.Frame.X, w.Frame.Y)))
		}
		return nil, nil //nolint:nilnil // only the regions count
	})
	return all, err
}

// diffResult describes the differences, with a picture of them if there are any.
func diffResult(call *aai.Call, diff *vision.Diff, before, after *image.RGBA) (*aai.Result, error) {
	threshold := params.Float(call, "threshold", defaultThreshold)
	was, size := before.Rect.Size(), after.Rect.Size()
	data := visualDiff{
		Percentage: diff.Percentage(), Differing: diff.Differing, Total: diff.Total, SizeDiffers: was != size,
		BaselineSize: []int{was.X, was.Y}, Size: []int{size.X, size.Y}, Regions: []map[string]int{},
	}
	data.Passed = !data.SizeDiffers && data.Percentage <= threshold
	for _, r := range diff.Regions[:min(len(diff.Regions), maxDiffRegions)] {
		data.Regions = append(data.Regions, map[string]int{"x": r.Min.X, "y": r.Min.Y, "w": r.Dx(), "h": r.Dy()})
	}
	out := &aai.Result{Data: data, DataComplete: true}
	verdict := "Failed"
	if data.Passed {
		verdict = "Passed"
	}
	out.Text = fmt.Sprintf("%s: %.3f%% of the pixels differ, %.3f%% are acceptable.", verdict, data.Percentage, threshold)
	if data.SizeDiffers {
		out.Text += fmt.Sprintf(" The sizes differ: %d × %d now, %d × %d in the baseline.", size.X, size.Y, was.X, was.Y)
	}
	if diff.Differing == 0 {
		return out, nil
	}
	var places []string
	for _, r := range data.Regions {
		places = append(places, fmt.Sprintf("%d, %d, %d × %d", r["x"], r["y"], r["w"], r["h"]))
	}
	out.Text += fmt.Sprintf(" Regions in the picture, of %d: %s.", len(diff.Regions), strings.Join(places, "; "))
	shown, _ := vision.Scale(diff.Draw(after, maxDiffRegions), defaultSide)
	png, err := vision.EncodePNG(shown)
	if err != nil {
		return nil, aai.Errorf(aai.AutomationFailed, "the picture cannot be written as PNG: %w", err)
	}
	out.Images = []aai.Image{{MIME: "image/png", Data: png}}
	return out, nil
}
