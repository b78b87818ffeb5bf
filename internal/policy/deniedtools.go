package policy

import (
	"context"
	"slices"
	"time"

	"github.com/gybob/aai-gateway"
)

// DeniedTools returns what says of a caller which tools are not theirs to call, whatever they do:
// those of apps that the lists refuse, and those that a person refused for good. What may be
// asked about is not barred. Of an app that operates the windows of others only the call says
// whose. Where what was refused cannot be read, nothing is barred by it: the call itself is.
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
			if _, blocked := lists.CheckPassphrase(context.Background(), r); blocked != nil {
				return true
			}
			decided, _ := decide(refused, r, now)
			return decided != nil
		}
	}
}
