package gateway

import (
	"bytes"
	"context"
	"encoding/json"
	"sync"
	"time"

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
	if r.Tool = r.App.Tool(r.Call.Tool); r.Tool != nil {
		return nil
	}
	if r.App.Descriptor.Relist == nil {
		return toolNotFound(r.App, r.Call.Tool)
	}
	now := r.App.Descriptor.Relist(ctx)
	if now == nil {
		e := toolNotFound(r.App, r.Call.Tool)
		e.Hint += " The server does not run; a call of one of these starts it, and it then lists its tools anew."
		return e
	}
	if r.App, r.Tool = now, now.Tool(r.Call.Tool); r.Tool == nil {
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
		target, err := r.App.Operator.FindTarget(ctx, r.Call, "")
		if target == nil && err == nil {
			target = r.App // the whole screen
		}
		return target, err
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

// refreshWindow is the time for which one journal line covers repeated reads.
const refreshWindow = 10 * time.Minute

// maxRecentReads is the number of reads after which recentReads forgets all of them.
const maxRecentReads = 1000

// recentReads remembers the reads of pages that refresh themselves, and the times of their
// journal lines. Without it, a page that shows the journal would add a line after each line
// written.
type recentReads struct {
	mu   sync.Mutex
	last map[string]time.Time
}

// isRefresh reports whether an earlier line covers the finished call: the same read by the same
// page, of the gateway itself, the desktop or an app's events, within refreshWindow. If not, it remembers this call.
func (l *recentReads) isRefresh(r *aai.Request, now time.Time) bool {
	if r.App == nil || r.Call.Caller.Door != aai.DoorWeb || r.Tool == nil || r.Tool.Effect != aai.Reads {
		return false
	}
	if r.App.ID != aai.BuiltinApp && r.App.ID != aai.DesktopApp && r.Tool.Name != aai.EventsTool {
		return false
	}
	args, err := json.Marshal(r.Call.Args)
	if err != nil {
		return false
	}
	key := string(bytes.Join([][]byte{[]byte(r.Call.Caller.Conversation()), []byte(r.App.ID), []byte(r.Tool.Name), args}, []byte{0}))
	l.mu.Lock()
	defer l.mu.Unlock()
	if at, ok := l.last[key]; ok && r.Call.IsRefresh && now.Sub(at) < refreshWindow {
		return true
	}
	if l.last == nil || len(l.last) >= maxRecentReads {
		l.last = make(map[string]time.Time)
	}
	l.last[key] = now
	return false
}

// isRecordedRefresh reports whether the call needs no line: an earlier line covers it, and none
// of its own is written yet.
func (p *invocation) isRecordedRefresh(e callResult) bool {
	return !p.hasFirst() && e.err == nil && p.g.recentReads.isRefresh(p.request, time.Now())
}

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
