package aai

import "context"

// AdmittedPermission is the permission with which the call of the context was admitted, such as
// PermissionAct; "" without a call.
func AdmittedPermission(ctx context.Context) string {
	if p, _ := ctx.Value(invocationKey{}).(*invocation); p != nil {
		return p.request.AdmittedPermission
	}
	return ""
}

// CanSee reports whether the gates admit the call of the context, or of a tool that acts one
// that only looks, to the app too, in the place of its target, by what is decided already: nobody is asked, and nothing is
// taken for it. An Action whose answer shows more than its target, such as a picture
// of the whole screen, leaves out what is not. Without a call in the context nothing
// is seen. Safe for concurrent use.
func CanSee(ctx context.Context, app *App) bool {
	p, _ := ctx.Value(invocationKey{}).(*invocation)
	if p == nil || app == nil {
		return false
	}
	tool := p.request.Tool
	if tool.Effect != Reads {
		tool = asRead(tool)
	}
	return p.g.dryRun(ctx, p.request, tool, app)
}

// canSee reports whether the caller may see the target of a request that acts on it.
func (g *Gateway) canSee(ctx context.Context, r *Request) bool {
	return g.dryRun(ctx, r, asRead(r.Tool), r.Call.Target)
}

// asRead is the tool as if it only read.
func asRead(t *Tool) *Tool {
	return &Tool{Name: t.Name, Params: t.Params, Effect: Reads, EffectInherent: true, Target: t.Target, Secret: t.Secret, NonSecret: t.NonSecret}
}

// dryRun reports whether the gates would admit the request with the tool and the target,
// by what is decided already.
func (g *Gateway) dryRun(ctx context.Context, r *Request, tool *Tool, target *App) bool {
	call := *r.Call
	call.Target, call.Answers = target, nil
	questions, err := g.checkGates(ctx, &Request{Call: &call, App: r.App, Tool: tool, dryRun: true})
	return err == nil && len(questions) == 0
}
