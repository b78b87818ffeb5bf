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
	call := *p.r.Call
	call.Target, call.Answers = app, nil
	questions, err := p.g.checkGates(ctx, &Request{Call: &call, App: p.r.App, Tool: p.r.Tool, Target: app, supposed: true})
	return err == nil && len(questions) == 0
}
