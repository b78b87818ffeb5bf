package gui

import (
	"context"
	"path/filepath"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gui/guierr"
	"github.com/gybob/aai-gateway/internal/gui/params"
)

// uploadName is the parameter for the path of a file that a page gets. The gates ask about each such call.
const uploadName = "upload"

// precheckSetValue returns the error of a call without exactly one of value and upload, or with a file that is never
// sent.
func (d *engine) precheckSetValue(ctx context.Context, call *aai.Call) error {
	if err := checkSetValue(call); err != nil {
		return err
	}
	if params.Has(call, uploadName) {
		if err := d.mayUpload(params.String(call, uploadName)); err != nil {
			return err
		}
	}
	return d.precheckQueries(ctx, call)
}

// checkSetValue returns an error for a call without exactly one of value and upload.
func checkSetValue(call *aai.Call) error {
	if params.Has(call, "value") != params.Has(call, uploadName) {
		return nil
	}
	e := aai.Errorf(aai.InvalidParams, "value: expected either a value or upload")
	e.Delivery = aai.NotDelivered
	return e
}

// mayUpload returns an error unless the file may be given to a page.
func (d *engine) mayUpload(path string) error {
	if d.checkUpload == nil {
		return guierr.Unsupported("uploads")
	}
	err := d.checkUpload(path)
	if err == nil {
		return nil
	}
	e := aai.Errorf(aai.InvalidParams, "%s: %w", uploadName, err)
	e.Delivery = aai.NotDelivered
	return e
}

// upload gives a file to the field of a page, or to the chooser that its button opens.
func (v *view) upload(ctx context.Context, i int, path string) (*aai.Result, error) {
	if !v.inDevTools(i) {
		e := guierr.Failed(aai.NotDelivered, "%s is not in a page of a connected browser, so it takes no file by its path", v.name(i))
		aai.AsError(e).Hint = "Press it, and choose the file in the window that opens. Or ask the person to connect the browser: browsers of the app aai lists them."
		return nil, e
	}
	if err := v.engine.mayUpload(path); err != nil { // it may have changed since the question
		return nil, err
	}
	a := action{
		view: v, index: i, doneText: "Gave the file " + desktop.Quote(filepath.Base(path), 60) + " to",
		techniques: []technique{v.byAccessibility(i, byDevTools, desktop.Act{Verb: desktop.ChooseFile, Text: path})},
	}
	return a.execute(ctx)
}
