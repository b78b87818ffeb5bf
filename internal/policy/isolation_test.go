package policy

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/gateway"
)

// TestServicesAreIsolated checks that of 50 services, 5 that hang and 5 that take two
// seconds do not affect the 40 others, round after round, and that every slot is released.
func TestServicesAreIsolated(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		const services, hung, slow, rounds = 50, 5, 5, 20
		release := make(chan struct{})
		apps := map[string]*aai.App{}
		for i := range services {
			run := func(context.Context, *aai.Call) (*aai.Result, error) { return &aai.Result{}, nil }
			switch {
			case i < hung:
				run = func(context.Context, *aai.Call) (*aai.Result, error) {
					<-release // whatever its context says
					return nil, nil
				}
			case i < hung+slow:
				run = func(context.Context, *aai.Call) (*aai.Result, error) {
					time.Sleep(2 * time.Second)
					return &aai.Result{}, nil
				}
			}
			id := fmt.Sprintf("org.example.S%d", i)
			apps[id] = &aai.App{ID: id, Digest: "d", Tools: []*aai.Tool{{Name: "work", Limits: aai.Limits{Timeout: 5 * time.Second}, Run: run}}}
		}
		limits := NewLimits(DefaultLimits())
		grants := []Grant{}
		for id := range apps {
			grants = append(grants, Grant{Caller: Wildcard, App: id, Tool: Wildcard, Decision: Allow})
		}
		g := &gateway.Gateway{
			Catalog: shelf{apps}, Journal: &records{},
			Gates: []aai.Gate{limits, NewConsent(ConsentConfig{Store: &memory{}, Preapproved: grants})},
		}
		var wg sync.WaitGroup
		for round := range rounds {
			for i := range services {
				wg.Go(func() {
					begun := time.Now()
					_, err := g.Do(t.Context(), &aai.Call{Caller: agent(), App: fmt.Sprintf("org.example.S%d", i), Tool: "work"})
					want, within := "ok", time.Duration(0)
					switch {
					case i < hung && round < 3:
						want, within = "TIMEOUT", 5*time.Second+100*time.Millisecond
					case i < hung: // by then it is known to hang
						want = "TIMEOUT"
					case i < hung+slow:
						within = 2 * time.Second
					}
					// The fake clock moves only during sleeps, so this is no race.
					took := time.Since(begun)
					if i < hung && round >= 3 && took != 0 { // this one tries again
						within = 5*time.Second + 100*time.Millisecond
					}
					got := code(err)
					assert.Check(t, is.Equal(got, want), "%d", i)
					assert.Check(t, is.Equal(took, within), "%d", i)
				})
			}
			wg.Wait()
			assert.Equal(t, limits.active[KindDeclared], 0)
			assert.Equal(t, limits.busy[KindDeclared], 0)
		}
		close(release)
	})
}

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
