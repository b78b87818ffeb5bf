package aai_test

import (
	"context"
	"fmt"
	"testing"
	"testing/synctest"
	"time"

	"aai"
)

// A call that says nothing of itself is heard of each second; what an Action says
// itself is passed on as it is, and from then on it alone speaks.
func TestProgress(t *testing.T) {
	for name, c := range map[string]struct {
		run  func(ctx context.Context)
		want []string
	}{
		"quick":  {func(context.Context) {}, nil},
		"silent": {func(context.Context) { time.Sleep(2500 * time.Millisecond) }, []string{"1/10 Waiting for Calculator", "2/10 Waiting for Calculator"}},
		"speaking": {func(ctx context.Context) {
			aai.Progress(ctx, 1, 3, "begun")
			time.Sleep(5 * time.Second)
			aai.Progress(ctx, 3, 3, "ended")
		}, []string{"1/3 begun", "3/3 ended"}},
	} {
		t.Run(name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				w := newWorld(plain())
				w.app.Name = "Calculator|Rechner"
				w.app.Tools[0].Timeout = 10 * time.Second
				w.app.Tools[0].Run = func(ctx context.Context, _ *aai.Call) (*aai.Result, error) {
					c.run(ctx)
					return &aai.Result{}, nil
				}
				var got []string
				ctx := aai.WithProgress(t.Context(), func(done, total float64, message string) {
					got = append(got, fmt.Sprintf("%v/%v %s", done, total, message))
				})
				if _, err := w.gateway().Do(ctx, w.call()); err != nil {
					t.Fatal(err)
				}
				time.Sleep(time.Minute) // nothing comes after the end
				synctest.Wait()
				if fmt.Sprint(got) != fmt.Sprint(c.want) {
					t.Errorf("heard %q, expected %q", got, c.want)
				}
			})
		})
	}
}

// Where nobody asked, saying it does nothing.
func TestProgressThatNobodyHears(t *testing.T) {
	aai.Progress(t.Context(), 1, 2, "begun")
	if a := aai.AssistantOf(t.Context()); a.Sample != nil || a.Roots != nil || a.SampleTools {
		t.Errorf("there is no client, but it can %+v", a)
	}
}
