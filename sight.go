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

// Sees reports whether the gates admit the call of the context to the app too, in the
// place of its target, by what is decided already: nobody is asked, and nothing is
// taken for it. An Action whose answer shows more than its target, such as a picture
// of the whole screen, leaves out what is not. Without a call in the context nothing
// is seen. Safe for concurrent use.
func Sees(ctx context.Context, app *App) bool {
	p, _ := ctx.Value(passageKey{}).(*passage)
	if p == nil || app == nil {
		return false
	}
	return p.g.supposes(ctx, p.r, p.r.Tool, app)
}

// sees reports whether the caller may see the target of a request that acts on it.
func (g *Gateway) sees(ctx context.Context, r *Request) bool {
	look := Tool{Name: r.Tool.Name, Params: r.Tool.Params, Effect: Reads, Natural: true, Target: r.Tool.Target, Secret: r.Tool.Secret, Plain: r.Tool.Plain}
	return g.supposes(ctx, r, &look, r.Call.Target)
}

// supposes reports whether the gates would admit the request with the tool and the target,
// by what is decided already.
func (g *Gateway) supposes(ctx context.Context, r *Request, tool *Tool, target *App) bool {
	call := *r.Call
	call.Target, call.Answers = target, nil
	questions, err := g.checkGates(ctx, &Request{Call: &call, App: r.App, Tool: tool, supposed: true})
	return err == nil && len(questions) == 0
}
