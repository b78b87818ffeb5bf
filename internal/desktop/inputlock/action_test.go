package inputlock_test

import (
	"context"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop/inputlock"
	"github.com/gybob/aai-gateway/internal/gateway"
	"github.com/gybob/aai-gateway/internal/testkit/fakeoperator"
)

// one is a catalog with one app, on windows, with a tool that makes a stroke.
type one struct{ app *aai.App }

func (c one) Apps() []*aai.App                               { return []*aai.App{c.app} }
func (c one) Find(context.Context, string) (*aai.App, error) { return c.app, nil }
func (c one) OnChange(func()) func()                         { return func() {} }

// admits is a gate and a journal that accept everything.
type admits struct{}

func (admits) Record(context.Context, *aai.Entry) error { return nil }

func (admits) Check(context.Context, *aai.Request) ([]aai.Question, error) { return nil, nil }

// TestWaitingIsNotTheCallsTime: a wait within the Action for another call's question does not count
// against the call's timeout.
func TestWaitingIsNotTheCallsTime(t *testing.T) {
	const limit = 1500 * time.Millisecond
	for name, stroke := range map[string]func(context.Context, *inputlock.Lock) error{
		"input": func(ctx context.Context, s *inputlock.Lock) error {
			g, err := s.Acquire(ctx, nil)
			if err == nil {
				g.Release()
			}
			return err
		},
		"deed": func(ctx context.Context, s *inputlock.Lock) error {
			done, err := s.Begin(ctx)
			if err == nil {
				done()
			}
			return err
		},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			folder := t.TempDir()
			app := &aai.App{ID: "desktop", Name: "Desktop"}
			app.Operator = fakeoperator.Operator{Find: func(context.Context, *aai.Call, string) (*aai.App, error) { return app, nil }}
			app.Tools = []*aai.Tool{{Name: "act", Limits: aai.Limits{Timeout: limit}, Run: func(ctx context.Context, _ *aai.Call) (*aai.Result, error) {
				return &aai.Result{}, stroke(ctx, at(folder))
			}}}
			g := &gateway.Gateway{Catalog: one{app}, Gates: []aai.Gate{admits{}}, Journal: admits{}}
			a := ask(t, at(folder))
			ended := make(chan error, 1)
			go func() {
				_, err := g.Do(t.Context(), &aai.Call{App: app.ID, Tool: "act"})
				ended <- err
			}()
			select {
			case err := <-ended:
				t.Fatalf("it ended while the question was open: %v", err)
			case <-time.After(2 * limit):
			}
			a.Release()
			assert.Check(t, <-ended)
		})
	}
}
