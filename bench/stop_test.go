package bench

import (
	"context"
	"fmt"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"gotest.tools/v3/assert"

	"github.com/gybob/aai-gateway"
	answers "github.com/gybob/aai-gateway/internal/answer"
	"github.com/gybob/aai-gateway/internal/audit"
	"github.com/gybob/aai-gateway/internal/gateway"
	"github.com/gybob/aai-gateway/internal/gateway/active"
)

// activeCalls is the number of active calls when they are stopped.
const activeCalls = 50

// blockingGateway returns a gateway with calls that last until they are cancelled, and a real journal.
func blockingGateway(b *testing.B, folder string) (*gateway.Gateway, *active.StopList) {
	parts := oneApp{&aai.App{ID: "org.example.App", Tools: []*aai.Tool{{
		Name: "hold", Effect: aai.Changes, Limits: aai.Limits{Timeout: time.Hour},
		Run: func(ctx context.Context, _ *aai.Call) (*aai.Result, error) {
			<-ctx.Done()
			return nil, ctx.Err()
		},
	}}}}
	j := audit.New(filepath.Join(folder, "audit.jsonl"))
	b.Cleanup(func() { _ = j.Close() })
	g := &gateway.Gateway{Catalog: parts, Gates: []aai.Gate{parts}, Journal: j}
	h := active.NewStopList(active.StopConfig{Path: filepath.Join(folder, "halt", "stopped"), OnChange: g.CancelStopped})
	b.Cleanup(func() { _ = h.Close() })
	g.Stops = h
	return g, h
}

// BenchmarkStop measures the time from stopping everything in one gateway until the last of fifty
// active calls in another has ended and is in the journal; compared with the time after their
// caller leaves.
func BenchmarkStop(b *testing.B) {
	for name, stops := range map[string]bool{"Stop": true, "CallerLeaves": false} {
		b.Run(name, func(b *testing.B) {
			folder := b.TempDir()
			g, _ := blockingGateway(b, folder)
			_, other := blockingGateway(b, folder)
			var took samples
			for b.Loop() {
				ctx, leave := context.WithCancel(b.Context())
				var calls sync.WaitGroup
				for i := range activeCalls {
					calls.Go(func() {
						call := &aai.Call{Caller: aai.Caller{Door: aai.DoorMCP, Name: fmt.Sprint("bench", i)}, App: "org.example.App", Tool: "hold"}
						_, _ = g.Do(ctx, call) // it is cancelled
					})
				}
				for acting := 0; acting < activeCalls; {
					acting = 0
					for _, u := range g.Active() {
						if u.Stage == gateway.StageActing {
							acting++
						}
					}
					time.Sleep(time.Millisecond)
				}
				begun := time.Now()
				if stops {
					assert.NilError(b, other.Add(b.Context(), answers.Stop{At: begun, Door: aai.DoorCLI}))
				} else {
					leave()
				}
				calls.Wait()
				took.add(time.Since(begun))
				leave()
				_, err := other.Remove(b.Context(), func(answers.Stop) bool { return true })
				assert.NilError(b, err)
			}
			b.ReportMetric(float64(took.median())/1e6, "ms/median")
			b.ReportMetric(float64(took.quantile(1))/1e6, "ms/longest")
		})
	}
}

// BenchmarkDoWithStop is BenchmarkDo with a stop list to check and a publisher of active calls.
func BenchmarkDoWithStop(b *testing.B) {
	folder := b.TempDir()
	parts := oneApp{&aai.App{ID: "org.example.App", Tools: []*aai.Tool{{
		Name: "echo", Effect: aai.Reads,
		Run: func(context.Context, *aai.Call) (*aai.Result, error) { return &aai.Result{Text: "hello"}, nil },
	}}}}
	call := &aai.Call{Caller: aai.Caller{Door: aai.DoorMCP, Name: "bench"}, App: "org.example.App", Tool: "echo"}
	for name, watched := range map[string]bool{"Bare": false, "Watched": true} {
		b.Run(name, func(b *testing.B) {
			g := &gateway.Gateway{Catalog: parts, Gates: []aai.Gate{parts}, Journal: parts}
			if watched {
				h := active.NewStopList(active.StopConfig{Path: filepath.Join(folder, "halt", "stopped"), OnChange: g.CancelStopped})
				defer h.Close() //nolint:errcheck // it only ends
				teller := active.NewPublisher(filepath.Join(folder, "running"), g.Active, nil)
				defer teller.Close() //nolint:errcheck // it only ends
				g.Stops, g.OnActiveChange = h, teller.StageChanged
			}
			b.ReportAllocs()
			for b.Loop() {
				_, err := g.Do(b.Context(), call)
				assert.NilError(b, err)
			}
		})
	}
}
