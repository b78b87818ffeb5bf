package gateway

import (
	"context"

	"github.com/gybob/aai-gateway"
)

// resolve finds the app and the tool that the call names.
func (g *Gateway) resolve(ctx context.Context, r *aai.Request) (err error) {
	if g.Catalog == nil {
		return aai.Errorf(aai.AppNotFound, "this gateway has no catalog of apps")
	}
	if r.App, err = g.Catalog.Find(ctx, r.Call.App); err != nil {
		return err
	}
	if r.Tool = r.App.Tool(r.Call.Tool); r.Tool == nil {
		return toolNotFound(r.App, r.Call.Tool)
	}
	return nil
}

// findTarget returns the app or program that the call operates.
func (g *Gateway) findTarget(ctx context.Context, r *aai.Request) (*aai.App, error) {
	if r.Tool.Target == "" {
		return r.App, nil
	}
	value, given := r.Call.Args[r.Tool.Target]
	if !given && r.App.OperatesOthers() {
		return r.App, nil // the whole screen
	}
	name, ok := value.(string)
	if !ok || name == "" {
		return nil, aai.Errorf(aai.InvalidParams, "%s: expected the name of an app", r.Tool.Target)
	}
	if !r.App.OperatesOthers() {
		return g.Catalog.Find(ctx, name)
	}
	target, err := r.App.Operator.FindTarget(ctx, r.Call, name)
	if target == nil && err == nil {
		err = aai.Errorf(aai.AppNotFound, "there is no app %q", aai.CleanLabel(name, maxName))
	}
	return target, err
}
