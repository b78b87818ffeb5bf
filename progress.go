package aai

import (
	"cmp"
	"context"
	"strings"
	"sync/atomic"
	"time"
)

// heartbeat is how often a call that says nothing of itself is said to go on.
const heartbeat = time.Second

type progressKey struct{}

// progress is who hears how far a call has come.
type progress struct {
	report func(done, total float64, message string)
	spoken atomic.Bool // the Action speaks for itself
}

// WithProgress returns a context in which report hears how far the call has come:
// what [Progress] is told, and each second, as long as nothing was told, how many
// of the seconds that the call has are over. A door gives it to [Gateway.Do] when
// its caller wants to know. Report is called from several goroutines, also after
// Do has returned if an Action was left behind, and should not block.
func WithProgress(ctx context.Context, report func(done, total float64, message string)) context.Context {
	return context.WithValue(ctx, progressKey{}, &progress{report: report})
}

// Progress says how far the call of the context has come: done of total, in
// whatever unit; total is 0 where it is not known. Done must grow from one time to
// the next. The message is for people. Where nobody wants to know, it does nothing
// and costs next to nothing. Safe for concurrent use.
func Progress(ctx context.Context, done, total float64, message string) {
	if p, _ := ctx.Value(progressKey{}).(*progress); p != nil {
		p.spoken.Store(true)
		p.report(done, total, message)
	}
}

// beat lets a call be heard of that says nothing of itself, until stop.
func beat(ctx context.Context, r *Request, timeout time.Duration) (stop func()) {
	p, _ := ctx.Value(progressKey{}).(*progress)
	if p == nil {
		return func() {}
	}
	begun := time.Now()
	stopped := make(chan struct{})
	go func() {
		ticks := time.NewTicker(heartbeat)
		defer ticks.Stop()
		for {
			select {
			case <-ticks.C:
			case <-stopped:
				return
			case <-ctx.Done():
				return
			}
			if p.spoken.Load() {
				return
			}
			p.report(seconds(time.Since(begun)), seconds(timeout), waitingFor(r.Target))
		}
	}()
	return func() { close(stopped) }
}

func waitingFor(app *App) string {
	name, _, _ := strings.Cut(app.Name, "|")
	return "Waiting for " + CleanLabel(cmp.Or(name, app.ID), maxName)
}

// seconds are as exact as people want them.
func seconds(d time.Duration) float64 { return d.Round(100 * time.Millisecond).Seconds() }
