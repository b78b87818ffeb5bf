package desktopentry

import (
	"context"
	"encoding/json"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/schema"
)

// IconsTool is the name of the tool that [IconFinder.Tools] returns.
const IconsTool = "icons"

// Limits on one result.
const (
	defaultIconSize = 48
	maxAnswer       = 4 << 20 // bytes of images
)

const (
	params = `{"type": "object", "additionalProperties": false, "required": ["apps"], "properties": {
		"apps": {"type": "array", "minItems": 1, "maxItems": 500, "items": {"type": "string", "minLength": 1, "maxLength": 300}, "description": "App ids, or programs as desktop/<program>"},
		"size": {"type": "integer", "minimum": 16, "maximum": 256, "default": 48, "description": "In pixels, about"}}}`

	returns = `{"type": "object", "properties": {"icons": {"type": "array", "items": {"type": "object", "additionalProperties": false, "properties": {
		"app": {"type": "string", "title": "app"}, "type": {"type": "string", "title": "type"},
		"bytes": {"type": "integer", "title": "bytes"}, "image": {"type": "integer"}}}}, "omitted": {"type": "integer"}}}`
)

// An icon assigns an image of the result to an app.
type icon struct {
	App   string `json:"app"`
	Type  string `json:"type"`
	Bytes int    `json:"bytes"`
	Image int    `json:"image"`
}

// iconsResult is the data of the result, beside the images.
type iconsResult struct {
	Icons   []icon `json:"icons"` // of the apps that have one
	Omitted int    `json:"omitted,omitempty"`
}

// Tools returns the tool IconsTool for the builtin app. Agents may not use it.
func (r *IconFinder) Tools() []*aai.Tool {
	return []*aai.Tool{{
		Name: IconsTool, Description: "Give the pictures of apps from the desktop's icon themes",
		Params: schema.MustParse(params), Returns: aai.Schema{Source: json.RawMessage(returns)},
		Effect: aai.Reads, Run: r.icons,
	}}
}

func (r *IconFinder) icons(ctx context.Context, call *aai.Call) (*aai.Result, error) {
	var asked struct {
		Apps []string `json:"apps"`
		Size int      `json:"size"`
	}
	if err := decodeArgs(call.Args, &asked); err != nil {
		return nil, err
	}
	if asked.Size == 0 {
		asked.Size = defaultIconSize
	}
	look := r.newSearch(asked.Size)
	found, given, bytes := iconsResult{Icons: []icon{}}, []aai.Image(nil), 0
	for i, app := range asked.Apps {
		if ctx.Err() != nil {
			return nil, ctx.Err()
		}
		image, has := look.icon(app)
		if !has {
			continue
		}
		if bytes += len(image.Data); bytes > maxAnswer {
			found.Omitted = len(asked.Apps) - i
			break
		}
		found.Icons = append(found.Icons, icon{app, image.MIME, len(image.Data), len(given)})
		given = append(given, image)
	}
	return &aai.Result{Data: found, Images: given}, nil
}

// decodeArgs decodes arguments that were validated.
func decodeArgs(args map[string]any, into any) error {
	text, err := json.Marshal(args)
	if err == nil {
		err = json.Unmarshal(text, into)
	}
	if err != nil {
		return aai.Errorf(aai.InvalidParams, "the arguments cannot be read: %w", err)
	}
	return nil
}
