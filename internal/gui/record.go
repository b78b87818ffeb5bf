package gui

import (
	"context"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gui/recording"
)

const recordName = "ax_record"

func (d *engine) recordTool() spec {
	return spec{
		name: recordName, title: "Record the person", effect: aai.Reads, unlisted: true, recordsPerson: true, timeout: visionTimeout,
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
		Backend: backend, App: app, Strokes: d.strokes,
		IsApp: func(pid int) bool { return pid == app.PID || app.IsBrowser && d.HasStarted(app, pid) },
	}, call.Caller.Conversation(), func() (hide func()) {
		if backend.Indicator == nil {
			return func() {}
		}
		return backend.Indicator.Show(label)
	})
	if err != nil {
		return nil, err
	}
	return &aai.Result{
		Text: "Recording what the person does in " + desktop.Quote(app.Name, maxIndicatorName) + ". recording_stop ends it and returns the steps.",
		Data: map[string]any{"app": app.ID, "file": path},
	}, nil
}
