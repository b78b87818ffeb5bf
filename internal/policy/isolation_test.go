package policy

import (
	"context"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/gateway"
)

// TestManyCallsToOneThatHangs checks that three hundred calls to an app that hangs, with
// the default limits, do not affect the caller's other calls, neither while they wait nor
// afterwards.
func TestManyCallsToOneThatHangs(t *testing.T) {
	for name, answers := range map[string]func(context.Context) error{
		"cannot be asked": nil,
		"can be asked":    func(ctx context.Context) error { <-ctx.Done(); return ctx.Err() },
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				release := make(chan struct{})
				hangs := func(context.Context, *aai.Call) (*aai.Result, error) { <-release; return nil, nil }
				works := func(context.Context, *aai.Call) (*aai.Result, error) { return &aai.Result{}, nil }
				apps, grants := map[string]*aai.App{}, []Grant{}
				for id, run := range map[string]aai.Action{"org.example.Hung": hangs, "org.example.Well": works} {
					apps[id] = &aai.App{ID: id, Digest: "d", Process: aai.Process{Ping: answers}, Tools: []*aai.Tool{{Name: "work", Limits: aai.Limits{Timeout: 5 * time.Second}, Run: run}}}
					grants = append(grants, Grant{Caller: Wildcard, App: id, Tool: Wildcard, Decision: Allow})
				}
				g := &gateway.Gateway{
					Catalog: shelf{apps}, Journal: &records{},
					Gates: []aai.Gate{NewLimits(DefaultLimits()), NewConsent(ConsentConfig{Store: &memory{}, Preapproved: grants})},
				}
				call := func(app string) error {
					_, err := g.Do(t.Context(), &aai.Call{Caller: agent(), App: app, Tool: "work"})
					return err
				}
				var wg sync.WaitGroup
				well := func(when string) {
					t.Helper()
					begun := time.Now()
					for range 20 {
						if err := call("org.example.Well"); err != nil || time.Since(begun) != 0 {
							t.Errorf("%s: after %s %v", when, time.Since(begun), err)
						}
					}
				}
				for range 300 {
					wg.Go(func() {
						assert.Check(t, call("org.example.Hung") != nil, "what hangs has answered")
					})
				}
				synctest.Wait()
				well("while they wait")
				wg.Wait()
				well("afterwards")
				begun := time.Now()
				err := call("org.example.Hung")
				assert.Check(t, is.Equal(code(err), "TIMEOUT"), "%v %s", err, time.Since(begun))
				assert.Check(t, time.Since(begun) == 0, "one more to the one that hangs: %v after %s", err, time.Since(begun))
				close(release)
				time.Sleep(5 * time.Minute) // until no call reaches it any more
			})
		})
	}
}
