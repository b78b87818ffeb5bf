package gui

import (
	"context"
	"fmt"
	"image"
	"strings"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gateway"
	"github.com/gybob/aai-gateway/internal/gateway/actionctx"
	"github.com/gybob/aai-gateway/internal/gui/conversation"
	"github.com/gybob/aai-gateway/internal/gui/params"
	"github.com/gybob/aai-gateway/internal/vision"
	"github.com/gybob/aai-gateway/internal/vision/model"
)

const askModelName = "ax_ask_model"

// What a model is asked.
const (
	askFind       = "find"
	askDescribe   = "describe"
	askNextAction = "next_action"
)

// modelUse describes the use of a model for one call.
type modelUse struct {
	backend      string
	Model        string   `json:"vlm_model,omitempty"`
	Host         string   `json:"vlm_host,omitempty"`
	InputTokens  int      `json:"input_tokens"`
	OutputTokens int      `json:"output_tokens"`
	Cost         *float64 `json:"cost_usd,omitempty"`
	Duration     float64  `json:"vlm_duration_ms"`
	Cached       bool     `json:"cache_hit"`
}

func (d *engine) askModelTool() spec {
	return spec{
		name: askModelName, title: "Ask a model about a picture", effect: aai.Reads, kind: aai.KindVision, pictures: true, goesTo: d.model.Host(), unlisted: true, lengthy: true, timeout: 2 * visionTimeout,
		returns: `"found": {"type": "boolean"}, "method": {"type": "string"}, "title": {"type": "string"}, "element_ref": {"type": "string"},
			"position": ` + pairReturns + `, "size": ` + pairReturns + `, "confidence": {"type": "number"}, "answer": {"type": "string"}, ` + modelReturns,
		description: "Ask a model that sees about a picture of a program's window: where something is, what it shows, or the next action.",
		params: appProp + `, "task": {"type": "string", "enum": ["` + askFind + `", "` + askDescribe + `", "` + askNextAction + `"], "default": "` + askDescribe + `"},
			"description": {"type": "string", "minLength": 1, "maxLength": 300, "description": "With find: what to find"},
			"goal": {"type": "string", "minLength": 1, "maxLength": 1000, "description": "With next_action: what to achieve"},
			"actions": {"type": "string", "maxLength": 4000, "description": "With next_action: what was done so far"},
			"tools": {"type": "boolean", "description": "Let the client's model use the reading tools"},
			"window_index": {"type": "integer", "minimum": 0, "default": 0, "description": "As ax_list_windows counts"},
			"screenshot": {"type": "string", "description": "A PNG, as base64, in place of the window; gives no ref"}`,
		required:    `["app"]`,
		concurrency: constantConcurrency(aai.Independent),
		run:         d.askModel,
	}
}

// modelReturns are the properties of modelUse.
const modelReturns = `"vlm_backend": {"type": "string"}, "vlm_model": {"type": "string"}, "vlm_host": {"type": "string"}, "input_tokens": {"type": "integer"}, "output_tokens": {"type": "integer"},
	"cost_usd": {"type": "number"}, "vlm_duration_ms": {"type": "number"}, "cache_hit": {"type": "boolean"}`

func (d *engine) askModel(ctx context.Context, call *aai.Call) (*aai.Result, error) {
	task := params.String(call, "task")
	for name, of := range map[string]string{"description": askFind, "goal": askNextAction} {
		if task == of && params.String(call, name) == "" {
			return nil, aai.Errorf(aai.InvalidParams, "%s: expected a text, since task is %s", name, task)
		}
	}
	app, err := d.AdmittedApp(ctx, call)
	if err != nil {
		return nil, err
	}
	gateway.Progress(ctx, 1, 3, "Taking the picture for the model")
	w, picture, err := d.pictureToSearch(ctx, call, app)
	if err != nil {
		return nil, err
	}
	ask, err := d.asker(ctx)
	if err != nil && task == askDescribe {
		return pictureForAgent(picture, err)
	}
	if err != nil {
		return nil, err
	}
	gateway.Progress(ctx, 2, 3, "Asking the model")
	if task == askFind {
		return d.findByModel(ctx, call, app, w, picture, ask)
	}
	return d.interpret(ctx, call, app, picture, ask)
}

// asker returns the function that asks the configured model, or the model of the client.
func (d *engine) asker(ctx context.Context) (model.Asker, error) {
	switch d.model.Backend() {
	case model.Off:
		return nil, noModel("vlm.backend is off")
	case model.Client:
		sample := aai.ClientCapabilitiesOf(ctx).Sample
		if sample == nil {
			return nil, noModel("no model is configured, and the agent's client does not offer its own by sampling")
		}
		return func(ctx context.Context, q model.Question) (model.Answer, error) { return askClient(ctx, sample, q) }, nil
	}
	return d.model.Ask, nil
}

func noModel(problem string) error {
	e := aai.Errorf(aai.AutomationNotSupported, "no model can be asked about pictures: %s", problem)
	e.Hint = "The person can set vlm.backend, such as to ollama for a model on this computer. ax_screenshot shows the picture to you."
	return e
}

// askClient asks the model of the agent's client.
func askClient(ctx context.Context, sample sampler, q model.Question) (model.Answer, error) {
	message := aai.Message{Text: q.Text}
	if q.PNG != nil {
		message.Images = []aai.Image{{MIME: "image/png", Data: q.PNG}}
	}
	got, took, err := sampleOnce(ctx, sample, aai.SamplingRequest{System: q.System, Messages: []aai.Message{message}, MaxTokens: q.MaxTokens})
	if err != nil {
		return model.Answer{Took: took}, err
	}
	return model.Answer{Text: got.Text, Model: aai.CleanLabel(got.Model, 60), IsCut: got.StopReason == "maxTokens", IsRefusal: got.StopReason == "refusal", Took: took}, nil
}

// sampleOnce sends one request to the client's model. The person may review the question and the answer meanwhile.
func sampleOnce(ctx context.Context, sample sampler, ask aai.SamplingRequest) (*aai.SamplingResult, time.Duration, error) {
	defer actionctx.PauseDeadline(ctx)()
	begun := time.Now()
	got, err := sample(ctx, ask)
	return got, time.Since(begun), err
}

// sampler is the function of aai.ClientCapabilities.Sample.
type sampler = func(context.Context, aai.SamplingRequest) (*aai.SamplingResult, error)

// findByModel asks for the place of the description, and gives it a ref.
func (d *engine) findByModel(ctx context.Context, call *aai.Call, app desktop.App, w desktop.WindowInfo, picture *image.RGBA, ask model.Asker) (*aai.Result, error) {
	place, answer, err := model.Find(ctx, ask, d.model.Fit(), picture, params.String(call, "description"))
	use := d.useOf(ctx, answer)
	gateway.Progress(ctx, 3, 3, "The model answered")
	if err != nil {
		e := *aai.AsError(err)
		if e.Data == nil {
			e.Data = use
		}
		return nil, &e
	}
	data := struct {
		visualMatch
		modelUse
	}{visualMatch{Found: place.Found, Method: "model", Backend: use.backend}, use}
	if !place.Found {
		return &aai.Result{Data: data, DataComplete: true, Record: use.String(), Text: "The model says that it is not in the picture; " + use.String()}, nil
	}
	p := phrase{Text: place.Label, Confidence: place.Confidence, frame: place.Frame}
	if p.Text == "" {
		p.Text = aai.CleanLabel(params.String(call, "description"), 100)
	}
	if !params.Has(call, givenPictureParam) {
		p.Ref = d.Sessions.For(call).AddPictureWord(conversation.PictureWord{
			Text: p.Text, Near: d.textAround(ctx, picture, p.frame), Process: conversation.ProcessOf(app), Window: w.ID, Frame: p.frame, Picture: vision.Crop(picture, p.frame),
		})
	}
	at := p.frame.Add(image.Pt(w.Frame.X, w.Frame.Y))
	p.Position, p.Size = []int{at.Min.X, at.Min.Y}, []int{at.Dx(), at.Dy()}
	data.Text, data.Ref, data.Position, data.Size, data.Confidence = p.Text, p.Ref, p.Position, p.Size, p.Confidence
	shown, err := shownBoxes(picture, []phrase{p}, 0)
	if err != nil {
		return nil, err
	}
	text := fmt.Sprintf("The model sees it%s at %d, %d, %d × %d, and says that it is %.0f%% sure; %s. It names it:\n%s",
		p.mark(), at.Min.X, at.Min.Y, at.Dx(), at.Dy(), 100*p.Confidence, use, desktop.Fence(p.Text, "the model"))
	return &aai.Result{Data: data, DataComplete: true, Text: text, Images: shown, Record: use.String()}, nil
}

// textAround returns the texts in and around a frame of the picture, by which gates judge a click: the model may name it
// as it likes. It returns "" if they cannot be read.
func (d *engine) textAround(ctx context.Context, picture *image.RGBA, frame image.Rectangle) string {
	lines, err := d.words.Read(ctx, vision.Crop(picture, frame.Inset(-max(20, frame.Dy()/2)).Intersect(picture.Bounds())))
	if err != nil {
		return ""
	}
	var texts []string
	for _, line := range lines {
		for _, word := range line {
			texts = append(texts, word.Text)
		}
	}
	return aai.CleanLabel(strings.Join(texts, " "), 300)
}

// useOf describes the use of the model, and measures it.
func (d *engine) useOf(ctx context.Context, a model.Answer) modelUse {
	use := modelUse{
		backend: d.model.Backend(), Model: a.Model, Host: d.model.Host(), InputTokens: a.InputTokens, OutputTokens: a.OutputTokens,
		Duration: float64(a.Took.Microseconds()) / 1000, Cached: a.IsCached,
	}
	if cost, known := d.model.Cost(a); known {
		use.Cost = &cost
	}
	gateway.Measure(ctx, "vlm_duration_ms", use.Duration)
	gateway.Measure(ctx, "cache_hit", use.Cached)
	return use
}

// String describes the use in a reply.
func (u modelUse) String() string {
	text := u.backend
	if name := aai.CleanLabel(u.Model, 60); name != "" {
		text += ", " + name
	}
	switch {
	case u.Cached:
		return text + ", as answered before"
	case u.InputTokens+u.OutputTokens > 0:
		text += fmt.Sprintf(", %d tokens", u.InputTokens+u.OutputTokens)
	}
	if u.Cost != nil {
		text += fmt.Sprintf(", $%.4f", *u.Cost)
	}
	return text
}

// pictureForAgent returns the picture for the agent itself, since no model can be asked.
func pictureForAgent(picture *image.RGBA, why error) (*aai.Result, error) {
	small, _ := vision.Scale(picture, defaultSide)
	png, err := vision.EncodePNG(small)
	if err != nil {
		return nil, aai.Errorf(aai.AutomationFailed, "the picture cannot be written as PNG: %w", err)
	}
	e := aai.AsError(why)
	return &aai.Result{Text: "Look at this picture yourself: " + e.Message + ".", Data: map[string]any{"vlm_backend": "none"}, Warning: e.Hint, Images: []aai.Image{{MIME: "image/png", Data: png}}}, nil
}
