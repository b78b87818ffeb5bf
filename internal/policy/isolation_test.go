package policy

import (
	"context"
	"fmt"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/gybob/aai-gateway"
)

// Of 50 services 5 hang for ever and 5 take two seconds. The 40 others answer as
// if there were no such neighbours, round after round, and what a call held is
// given back whatever became of it.
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
			apps[id] = &aai.App{ID: id, Digest: "d", Tools: []*aai.Tool{{Name: "work", Timeout: 5 * time.Second, Run: run}}}
		}
		limits := NewLimits(DefaultLimits())
		grants := []Grant{}
		for id := range apps {
			grants = append(grants, Grant{Caller: Wildcard, App: id, Tool: Wildcard, Decision: Allow})
		}
		g := &aai.Gateway{
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
					case i < hung: // by then it is known that it hangs
						want = "TIMEOUT"
					case i < hung+slow:
						within = 2 * time.Second
					}
					// The clock stands still but for who sleeps, so this is no race.
					took := time.Since(begun)
					if i < hung && round >= 3 && took != 0 { // it was the one that tries again
						within = 5*time.Second + 100*time.Millisecond
					}
					if got := code(err); got != want || took != within {
						t.Errorf("service %d: %s after %s", i, got, took)
					}
				})
			}
			wg.Wait()
			if limits.active[KindDeclared] != 0 || limits.busy[KindDeclared] != 0 {
				t.Fatalf("%d slots are lost", limits.active[KindDeclared])
			}
		}
		close(release)
	})
}

// Three hundred calls to one app that hangs, with the limits that the program has, take
// nothing from what else the same caller calls: while they wait, and after it is known
// that the app hangs.
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
					apps[id] = &aai.App{ID: id, Digest: "d", Ping: answers, Tools: []*aai.Tool{{Name: "work", Timeout: 5 * time.Second, Run: run}}}
					grants = append(grants, Grant{Caller: Wildcard, App: id, Tool: Wildcard, Decision: Allow})
				}
				g := &aai.Gateway{
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
						if err := call("org.example.Hung"); err == nil {
							t.Error("what hangs has answered")
						}
					})
				}
				synctest.Wait()
				well("while they wait")
				wg.Wait()
				well("afterwards")
				begun := time.Now()
				if err := call("org.example.Hung"); code(err) != "TIMEOUT" || time.Since(begun) != 0 {
					t.Errorf("one more to the one that hangs: %v after %s", err, time.Since(begun))
				}
				close(release)
				time.Sleep(5 * time.Minute) // until nobody asks it any more
			})
		})
	}
}
