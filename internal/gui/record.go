package gui

import (
	"context"
	"image"
	"slices"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gui/programs"
	"github.com/gybob/aai-gateway/internal/gui/recording"
	"github.com/gybob/aai-gateway/internal/vision"
)

// RecordTool is the name of the tool that begins a recording of the person.
const RecordTool = "ax_record"

func (d *engine) recordTool() spec {
	return spec{
		name: RecordTool, title: "Record the person", effect: aai.Reads, unlisted: true, recordsPerson: true, timeout: visionTimeout,
		returns:     `"app": {"type": "string"}, "file": {"type": "string"}`,
		description: "Record what the person does in a program, as steps for a workflow, until recording_stop.",
		params:      appProp,
		run:         d.record,
	}
}

// record begins to record the person in the program.
func (d *engine) record(ctx context.Context, call *aai.Call) (*aai.Result, error) {
	app, err := d.AdmittedApp(ctx, call)
	if err != nil {
		return nil, err
	}
	if d.recordings == nil {
		e := aai.Errorf(aai.AutomationNotSupported, "nothing is recorded here")
		e.Hint = "Recording needs an X11 session."
		return nil, e
	}
	backend := d.OpenBackend()
	label := "Recording what you do in " + aai.CleanLabel(app.Name, maxIndicatorName)
	path, err := d.recordings.Start(ctx, recording.Config{
		Backend: backend, App: app, Strokes: d.strokes, Acts: func() (int, bool) { return int(d.acts.Load()), d.acting.Load() > 0 },
		Picture: d.recordedPicture(call, app),
		IsApp:   func(pid int) bool { return pid == app.PID || app.IsBrowser && d.HasStarted(app, pid) },
	}, call.Caller.Conversation(), func() (hide func()) {
		if backend.Indicator == nil {
			return func() {}
		}
		return backend.Indicator.Show(label)
	})
	if err != nil {
		return nil, err
	}
	note := ""
	if d.recordings.IsByEvents() {
		note = " Wayland tells only what changes, not what the person presses: steps that it does not tell must be shown again."
	}
	return &aai.Result{
		Text: "Recording what the person does in " + desktop.Quote(app.Name, maxIndicatorName) + ". recording_stop ends it and returns the steps." + note,
		Data: map[string]any{"app": app.ID, "file": path},
	}, nil
}

// recordedSide is the maximum of the longer side of a recorded picture, in pixels.
const recordedSide = 900

// recordedPicture returns the function that takes the pictures of a recording, by the rules of ax_screenshot.
func (d *engine) recordedPicture(call *aai.Call, app desktop.App) func(context.Context, desktop.Rect, func(*desktop.Element) bool) []byte {
	return func(ctx context.Context, at desktop.Rect, hide func(*desktop.Element) bool) []byte {
		if _, err := d.AdmittedApp(ctx, call); err != nil {
			return nil
		}
		own, err := programs.WindowsOf(ctx, d.OpenBackend(), app)
		if err != nil || len(own) == 0 {
			return nil
		}
		w := own[max(0, slices.IndexFunc(own, func(w desktop.WindowInfo) bool { return w.Frame.Contains(at.Center()) }))]
		hidden := func() (frames []desktop.Rect, err error) {
			shot, err := d.OpenBackend().Tree.Snapshot(ctx, app)
			if err != nil {
				return nil, err
			}
			for i := range shot.Elements {
				if e := &shot.Elements[i]; hide(e) && shot.IsVisible(i) {
					frames = append(frames, e.Frame)
				}
			}
			return frames, nil
		}
		picture, err := paintedOver(w.Frame, hidden, func() (*image.RGBA, error) { return d.captureUnlessTyped(ctx, app, w) })
		if err != nil {
			return nil
		}
		origin := image.Pt(w.Frame.X, w.Frame.Y)
		picture, scale := vision.Scale(picture, recordedSide)
		vision.DrawMarks(picture, []vision.Mark{{Frame: image.Rect(at.X-2, at.Y-2, at.X+at.W+2, at.Y+at.H+2)}}, origin, scale)
		data, err := vision.EncodePNG(picture)
		if err != nil {
			return nil
		}
		return data
	}
}
