package aai

import "context"

// Admitted is the permission with which the call of the context was admitted, such as
// PermissionAct; "" without a call.
func Admitted(ctx context.Context) string {
	if p, _ := ctx.Value(passageKey{}).(*passage); p != nil {
		return p.r.Admitted
	}
	return ""
}

// Sees reports whether the gates admit the call of the context, or of a tool that acts one
// that only looks, to the app too, in the place of its target, by what is decided already: nobody is asked, and nothing is
// taken for it. An Action whose answer shows more than its target, such as a picture
// of the whole screen, leaves out what is not. Without a call in the context nothing
// is seen. Safe for concurrent use.
func Sees(ctx context.Context, app *App) bool {
	p, _ := ctx.Value(passageKey{}).(*passage)
	if p == nil || app == nil {
		return false
	}
	tool := p.r.Tool
	if tool.Effect != Reads {
		tool = looking(tool)
	}
	return p.g.supposes(ctx, p.r, tool, app)
}

// sees reports whether the caller may see the target of a request that acts on it.
func (g *Gateway) sees(ctx context.Context, r *Request) bool {
	return g.supposes(ctx, r, looking(r.Tool), r.Call.Target)
}

// looking is the tool as if it only read.
func looking(t *Tool) *Tool {
	return &Tool{Name: t.Name, Params: t.Params, Effect: Reads, Natural: true, Target: t.Target, Secret: t.Secret, Plain: t.Plain}
}

// supposes reports whether the gates would admit the request with the tool and the target,
// by what is decided already.
func (g *Gateway) supposes(ctx context.Context, r *Request, tool *Tool, target *App) bool {
	call := *r.Call
	call.Target, call.Answers = target, nil
	questions, err := g.checkGates(ctx, &Request{Call: &call, App: r.App, Tool: tool, supposed: true})
	return err == nil && len(questions) == 0
}
