package gui_test

import (
	"context"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
)

// noText is an actor that edits no text.
type noText struct{ desktop.Actor }

func (a noText) Execute(ctx context.Context, app desktop.App, id desktop.ID, act desktop.Act) error {
	if act.Verb == desktop.SetText || act.Verb == desktop.InsertText {
		return &aai.Error{Code: aai.AutomationNotSupported, Message: "no editable text", Delivery: aai.NotDelivered}
	}
	return a.Actor.Execute(ctx, app, id, act)
}

// lateText is an actor that edits text some time after its reply.
type lateText struct {
	desktop.Actor
	late time.Duration
}

func (a lateText) Execute(ctx context.Context, app desktop.App, id desktop.ID, act desktop.Act) error {
	time.AfterFunc(a.late, func() { _ = a.Actor.Execute(context.WithoutCancel(ctx), app, id, act) })
	return nil
}

// beforeActing is an actor that runs a function before it acts.
type beforeActing struct {
	desktop.Actor
	happen func()
}

func (a beforeActing) Execute(ctx context.Context, app desktop.App, id desktop.ID, act desktop.Act) error {
	a.happen()
	return a.Actor.Execute(ctx, app, id, act)
}

// deaf is a clipboard that ignores writes.
type deaf struct{ desktop.Clipboard }

func (deaf) Set(context.Context, desktop.Clip) (string, error) { return "", nil }
