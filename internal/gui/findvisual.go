package gui

import (
	"context"
	"crypto/sha256"
	"encoding/base64"
	"fmt"
	"image"
	"maps"
	"slices"
	"strings"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/refs"
	"github.com/gybob/aai-gateway/internal/gui/params"
	"github.com/gybob/aai-gateway/internal/vision"
)

const findVisualName = "ax_find_visual"

// visionTimeout is the time limit of tools that read or compare pictures.
const visionTimeout = time.Minute

// maxGivenPicture limits a picture in an argument, as base64.
const maxGivenPicture = 16 << 20

// givenPictureParam is the parameter for a picture of the caller.
const givenPictureParam = "screenshot"

// withoutGivenPicture returns the arguments for the journal and for questions, without the picture of the caller.
func withoutGivenPicture(args map[string]any) (shown map[string]any, secrets []string) {
	picture, given := args[givenPictureParam].(string)
	if !given {
		return args, nil
	}
	shown = maps.Clone(args)
	shown[givenPictureParam] = fmt.Sprintf("a PNG of %d bytes, SHA-256 %x", base64.StdEncoding.DecodedLen(len(picture)), sha256.Sum256([]byte(picture)))
	return shown, nil
}

// visualMatch is the result of a search in a picture.
type visualMatch struct {
	Found      bool     `json:"found"`
	Method     string   `json:"method"`
	Backend    string   `json:"vlm_backend,omitempty"`
	Text       string   `json:"title,omitempty"`
	Ref        string   `json:"element_ref,omitempty"`
	Position   []int    `json:"position,omitempty"`
	Size       []int    `json:"size,omitempty"`
	Confidence float64  `json:"confidence"`
	Others     []phrase `json:"others,omitempty"` // equally good
}

func (d *engine) findVisualTool() spec {
	return spec{
		name: findVisualName, title: "Find a text in a picture", effect: aai.Reads, pictures: true, unlisted: true, lengthy: true, timeout: visionTimeout,
		returns: `"found": {"type": "boolean"}, "method": {"type": "string"}, "vlm_backend": {"type": "string"}, "title": {"type": "string"}, "element_ref": {"type": "string"},
			"position": ` + pairReturns + `, "size": ` + pairReturns + `, "confidence": {"type": "number"}, "others": {"type": "array", "items": {"type": "object"}}`,
		description: "Find a drawn text, which is in no tree, in a picture. Returns a ref for ax_click.",
		params: appProp + `, "description": {"type": "string", "minLength": 1, "maxLength": 300, "description": "Its words"}, ` + nthProp + `,
			"window_index": {"type": "integer", "minimum": 0, "default": 0, "description": "As ax_list_windows counts"},
			"screenshot": {"type": "string", "description": "A PNG, as base64, to search in place of the window; gives no ref"}`,
		required:    `["app", "description"]`,
		concurrency: constantConcurrency(aai.Independent),
		run:         d.findVisual,
	}
}

func (d *engine) findVisual(ctx context.Context, call *aai.Call) (*aai.Result, error) {
	app, err := d.AdmittedApp(ctx, call)
	if err != nil {
		return nil, err
	}
	if found := d.findInTree(ctx, call); found != nil {
		return found, nil
	}
	w, picture, err := d.pictureToSearch(ctx, call, app)
	if err != nil {
		return nil, err
	}
	all, wordsErr := d.readWords(ctx, call, app, w, picture, image.Point{})
	var result *aai.Result
	if wordsErr == nil {
		if result, err = d.visualResult(call, app, picture, all, params.String(call, "description")); err != nil || result.Data.(visualMatch).Found { //nolint:forcetypeassert // visualResult makes it
			return result, err
		}
	}
	return d.askModelToo(ctx, call, result, wordsErr)
}

// findInTree returns the element of the window whose name the description says, or nil.
func (d *engine) findInTree(ctx context.Context, call *aai.Call) *aai.Result {
	if params.Has(call, givenPictureParam) || params.Has(call, "nth") || d.OpenBackend().Screen == nil {
		return nil
	}
	ctx, cancel := context.WithTimeout(ctx, passwordReadTimeout) // the program may hang
	defer cancel()
	result, err := d.withViewUnqueued(ctx, call, func(_ context.Context, v *view) (*aai.Result, error) {
		var names []string
		var places []int
		for i, seen := range v.snapshot.VisibleElements() {
			if e := &v.snapshot.Elements[i]; seen && e.Name != "" && e.Role.IsInteractive() && !e.Frame.Empty() {
				names, places = append(names, e.Name), append(places, i)
			}
		}
		best := vision.Match(names, params.String(call, "description"))
		if len(best) != 1 || !saysName(params.String(call, "description"), names[best[0]]) {
			return nil, nil //nolint:nilnil // the picture may tell
		}
		seen := v.summarize(places[best[0]])
		return &aai.Result{Text: "In the tree, not in the picture: " + v.describe(places[best[0]]), DataComplete: true, Data: visualMatch{
			Found: true, Method: "accessibility", Text: seen.Title, Ref: seen.Ref, Position: seen.Position, Size: seen.Size, Confidence: 1,
		}}, nil
	})
	if err != nil {
		return nil
	}
	return result
}

// saysName reports whether one of the texts contains the other, in any case.
func saysName(description, name string) bool {
	description, name = strings.ToLower(description), strings.ToLower(name)
	return strings.Contains(description, name) || strings.Contains(name, description)
}

// askModelToo asks the model, since the words of the picture have no match, or cannot be read. Without a model it returns
// the result or the error of the words.
func (d *engine) askModelToo(ctx context.Context, call *aai.Call, words *aai.Result, wordsErr error) (*aai.Result, error) {
	if _, err := d.asker(ctx); err != nil || d.do == nil {
		return words, wordsErr
	}
	args := maps.Clone(call.Args)
	delete(args, "nth")
	args["task"] = askFind
	result, err := d.innerCall(ctx, call, askModelName, args)
	if err == nil {
		return result, nil
	}
	e := *aai.AsError(err)
	if len(e.Questions) > 0 { // they are about another call
		e.Questions, e.Hint = nil, strings.TrimSpace(e.Hint+" Call "+askModelName+" with task "+askFind+": the person is asked about it.")
	}
	if words != nil && e.Code == aai.ConsentRequired {
		words.Warning = "The model was not asked: " + e.Message + ". " + e.Hint
		return words, nil
	}
	return nil, &e
}

// pictureToSearch returns the picture of the call: the given one, or one of the window.
func (d *engine) pictureToSearch(ctx context.Context, call *aai.Call, app desktop.App) (w desktop.WindowInfo, picture *image.RGBA, err error) {
	if params.Has(call, givenPictureParam) {
		picture, err = givenPicture(call, givenPictureParam)
		return w, picture, err
	}
	if w, err = d.windowByIndex(ctx, call, app); err == nil {
		picture, err = d.captureUnlessTyped(ctx, app, w)
	}
	return w, picture, err
}

// visualResult returns the texts that match the description, with a picture that shows them.
func (d *engine) visualResult(call *aai.Call, app desktop.App, picture *image.RGBA, all []phrase, description string) (*aai.Result, error) {
	if params.Has(call, givenPictureParam) {
		for i := range all {
			all[i].Ref = ""
		}
	}
	var lines []string
	for _, p := range all {
		lines = append(lines, p.Text)
	}
	best := vision.Match(lines, description)
	data := visualMatch{Method: "visual", Backend: "tesseract"}
	if len(best) == 0 {
		return &aai.Result{Data: data, DataComplete: true, Text: "No text in the picture matches. The texts are:\n" + desktop.Fence(listPhrases(all), app.Name)}, nil
	}
	nth := params.Int(call, "nth", 1)
	if nth > len(best) {
		return nil, aai.Errorf(aai.ElementNotFound, "nth: %d is more than the %d texts that match", nth, len(best))
	}
	chosen := all[best[nth-1]]
	data.Found, data.Text, data.Ref, data.Position, data.Size, data.Confidence = true, chosen.Text, chosen.Ref, chosen.Position, chosen.Size, chosen.Confidence
	text := fmt.Sprintf("%q%s at %d, %d, %d × %d, read with %.0f%% confidence", aai.CleanLabel(chosen.Text, 100), chosen.mark(), chosen.Position[0], chosen.Position[1], chosen.Size[0], chosen.Size[1], 100*chosen.Confidence)
	if !params.Has(call, "nth") && len(best) > 1 {
		for _, i := range best[1:] {
			data.Others = append(data.Others, all[i])
		}
		text += fmt.Sprintf("; %d texts match as well:\n%s", len(best)-1, desktop.Fence(listPhrases(data.Others), app.Name))
	}
	boxes := make([]phrase, len(best))
	for n, i := range best {
		boxes[n] = all[i]
	}
	shown, err := shownBoxes(picture, boxes, nth-1)
	return &aai.Result{Data: data, DataComplete: true, Text: text, Images: shown}, err
}

// shownBoxes returns the picture with boxes around the phrases, of which one is the main one.
func shownBoxes(picture *image.RGBA, boxes []phrase, main int) ([]aai.Image, error) {
	shown := vision.Clone(picture)
	for i, p := range slices.Backward(boxes) {
		vision.DrawBox(shown, p.frame.Inset(-3), i == main)
	}
	shown, _ = vision.Scale(shown, defaultSide)
	png, err := vision.EncodePNG(shown)
	if err != nil {
		return nil, aai.Errorf(aai.AutomationFailed, "the picture cannot be written as PNG: %w", err)
	}
	return []aai.Image{{MIME: "image/png", Data: png}}, nil
}

// minDrawing is the size of a drawing, in pixels of each side, from which texts are looked for in it.
const minDrawing = 40

// findDrawn finds the text of the query in the picture of the front window, if the program draws at least a part of it.
// It returns notFound if there is none.
func (v *view) findDrawn(ctx context.Context, notFound error) (*aai.Result, error) {
	text := params.String(v.call, "query")
	draws := v.noTree || slices.ContainsFunc(v.snapshot.Elements, func(e desktop.Element) bool {
		return e.Role == desktop.Canvas && e.States.Has(desktop.Showing) && e.Frame.W >= minDrawing && e.Frame.H >= minDrawing
	})
	if aai.AsError(notFound).Code != aai.ElementNotFound || !draws || refs.Is(text) || strings.ContainsAny(text, ":=/[") {
		return nil, notFound
	}
	w, err := v.windowOf(ctx, -1)
	if err != nil {
		return nil, notFound
	}
	picture, err := v.engine.captureUnlessTyped(ctx, v.app, w)
	if err != nil {
		return nil, notFound
	}
	all, err := v.engine.readWords(ctx, v.call, v.app, w, picture, image.Point{})
	if err != nil {
		e := *aai.AsError(notFound)
		e.Hint = strings.TrimSpace(e.Hint + " " + aai.AsError(err).Message + ". " + aai.AsError(err).Hint)
		return nil, &e
	}
	found, err := v.engine.visualResult(v.call, v.app, picture, all, text)
	if err != nil || !found.Data.(visualMatch).Found { //nolint:forcetypeassert // visualResult makes it
		return nil, notFound
	}
	return found, nil
}
