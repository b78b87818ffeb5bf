package gui

import (
	"context"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/gui/params"
)

// takeLease takes the lease of the program in which a call acts. It is not part of the precheck: an
// earlier step of the same workflow may wait for the lease.
func (d *engine) takeLease(ctx context.Context, call *aai.Call) error {
	if d.leases == nil || call.Target == nil || call.Target.PID == 0 {
		return nil
	}
	app, err := d.AdmittedApp(ctx, call)
	if err != nil {
		return nil //nolint:nilerr // the tool reports it
	}
	return d.leases.Take(ctx, call, app.Started)
}

const (
	leaseName    = "ax_lease"
	maxLeaseWait = 5 * time.Minute
)

func (d *engine) leaseTool() spec {
	return spec{
		name: leaseName, title: "Lease a program", effect: aai.Changes, idempotent: true, unlisted: true, lengthy: true, onlyLeases: true,
		returns:     `"app": {"type": "string"}, "pid": {"type": "integer"}, "until": {"type": "string"}, "yours": {"type": "boolean"}, "released": {"type": "boolean"}`,
		description: "Reserve a program in which another agent works: wait for it, or ask the person; or end your lease of it.",
		params: appProp + `, "wait_seconds": {"type": "integer", "minimum": 0, "maximum": 300, "default": 0, "description": "How long to wait until the other agent has finished"},
			"ask": {"type": "boolean", "default": false, "description": "Ask the person to give you the program now"},
			"release": {"type": "boolean", "default": false, "description": "End your lease instead"}`,
		required: `["app"]`, timeout: maxLeaseWait + callTimeout, concurrency: constantConcurrency(aai.Independent),
		run: func(ctx context.Context, call *aai.Call) (*aai.Result, error) {
			app, err := d.AdmittedApp(ctx, call)
			switch {
			case err != nil:
				return nil, err
			case d.leases == nil:
				e := aai.Errorf(aai.AutomationNotSupported, "this gateway keeps no leases")
				e.Delivery, e.Hint = aai.NotDelivered, "Act without one."
				return nil, e
			case params.Bool(call, "release"):
				had := d.leases.Release(ctx, call, app.Started)
				return &aai.Result{Data: map[string]any{"released": had}, NoOp: true}, nil
			}
			wait := time.Duration(params.Int(call, "wait_seconds", 0)) * time.Second
			lease, err := d.leases.Request(ctx, call, app.Started, wait, params.Bool(call, "ask"))
			return &aai.Result{Data: lease, NoOp: true}, err
		},
	}
}
