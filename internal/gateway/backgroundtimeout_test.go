package gateway_test

import (
	"context"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/gateway"
)

// TestBackgroundTimeout: a tool with a BackgroundTimeout gets the time of the context, up to that
// limit; other tools get their usual time. An admission lasts as long.
func TestBackgroundTimeout(t *testing.T) {
	const usual = toolTimeout + grace
	for name, c := range map[string]struct {
		lasting, asked, want time.Duration
	}{
		"a call":           {time.Hour, 0, usual},
		"a task":           {time.Hour, 30 * time.Minute, 30*time.Minute + grace},
		"a task for ever":  {time.Hour, 24 * time.Hour, time.Hour + grace},
		"a short task":     {time.Hour, time.Millisecond, usual},
		"one that may not": {0, time.Hour, usual},
	} {
		synctest.Test(t, func(t *testing.T) {
			g, w, _, _ := together("yes")
			outer := *w.app.Tools[0]
			outer.Name, outer.Assess, outer.Limits.Background = "outer", aai.Always(aai.Assessment{OnlyMakesCalls: true}), c.lasting
			outer.Run = func(ctx context.Context, _ *aai.Call) (*aai.Result, error) {
				a, err := g.Admit(ctx, tool("one"))
				if err != nil {
					return nil, err
				}
				defer a.Release()
				if c.want > time.Hour/2 {
					time.Sleep(c.want - time.Minute)
					_, err := a.Run(ctx, 0)
					assert.Check(t, err, "%s: what was admitted: %v", name, err)
				}
				<-ctx.Done()
				return nil, ctx.Err()
			}
			w.app.Tools = append(w.app.Tools, &outer)
			ctx := t.Context()
			if c.asked > 0 {
				ctx = gateway.WithBackgroundTimeout(ctx, c.asked)
			}
			begun := time.Now()
			_, err := g.Do(ctx, tool("outer"))
			took := time.Since(begun)
			assert.Check(t, is.Equal(codeOf(err), aai.Timeout), "%s %v %s %s", name, err, took, c.want)
			assert.Check(t, took <= c.want, "%s: %v after %s, expected %s", name, err, took, c.want)
			assert.Check(t, took >= c.want-grace, "%s: %v after %s, expected %s", name, err, took, c.want)
		})
	}
}
