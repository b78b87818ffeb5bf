package gateway

import (
	"context"

	"github.com/gybob/aai-gateway"
)

// AdmittedPermission returns the permission that admitted the call of the context, such as
// PermissionAct; "" without a call.
func AdmittedPermission(ctx context.Context) string {
	if p, _ := ctx.Value(invocationKey{}).(*invocation); p != nil {
		return p.request.AdmittedPermission
	}
	return ""
}

// CanSee reports whether earlier decisions already allow the context's call to read the given app
// instead of its target. For a tool that acts, it checks a read of the same arguments. It asks no
// question and reserves nothing. An Action with an answer that shows more than its target, such
// as a screenshot, omits apps for which CanSee is false. It returns false without a call in the
// context. It is safe for concurrent use.
func CanSee(ctx context.Context, app *aai.App) bool {
	p, _ := ctx.Value(invocationKey{}).(*invocation)
	if p == nil || app == nil {
		return false
	}
	tool := p.request.Tool
	if tool.Effect != aai.Reads {
		tool = asRead(tool)
	}
	return p.g.dryRun(ctx, p.request, tool, app)
}

// canSee reports whether the caller may see the target of a request that acts on it.
func (g *Gateway) canSee(ctx context.Context, r *aai.Request) bool {
	return g.dryRun(ctx, r, asRead(r.Tool), r.Call.Target)
}

// asRead returns a copy of the tool that only reads.
func asRead(t *aai.Tool) *aai.Tool {
	return &aai.Tool{Name: t.Name, Params: t.Params, Effect: aai.Reads, Assess: aai.Always(aai.Assessment{EffectInherent: true}), Target: t.Target, Privacy: t.Privacy}
}

// dryRun reports whether earlier decisions already admit the request, with tool and target in
// place of its own.
func (g *Gateway) dryRun(ctx context.Context, r *aai.Request, tool *aai.Tool, target *aai.App) bool {
	call := *r.Call
	call.Target, call.Answers = target, nil
	questions, err := g.checkGates(ctx, &aai.Request{Call: &call, App: r.App, Tool: tool, DryRun: true})
	return err == nil && len(questions) == 0
}
