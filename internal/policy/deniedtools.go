package policy

import (
	"context"
	"slices"
	"time"

	"github.com/gybob/aai-gateway"
)

// DeniedTools returns a function that reports which tools a caller can never call: tools of apps that
// the lists deny, and tools that a person refused for good. Tools that need a question are not denied.
// For apps that operate other apps' windows the target is unknown before the call. If the store is
// unreadable, only the lists count; the gate then refuses calls.
func DeniedTools(store Store, lists AppLists) func(aai.Caller) func(*aai.App, *aai.Tool) bool {
	return func(caller aai.Caller) func(*aai.App, *aai.Tool) bool {
		grants, err := store.Grants()
		if err != nil {
			grants = nil
		}
		refused := slices.DeleteFunc(slices.Clone(grants), func(g Grant) bool { return g.Decision != Deny })
		now := time.Now()
		return func(app *aai.App, tool *aai.Tool) bool {
			if app.OperatesOthers() || app.ID == aai.BuiltinApp {
				return false
			}
			r := &aai.Request{App: app, Tool: tool, Call: &aai.Call{Caller: caller, App: app.ID, Tool: tool.Name, Target: app}}
			if _, blocked := lists.Check(context.Background(), r); blocked != nil {
				return true
			}
			decided, _ := decide(refused, r, now)
			return decided != nil
		}
	}
}
