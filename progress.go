package aai

import (
	"cmp"
	"context"
	"strings"
	"sync"
	"sync/atomic"
	"time"
)

// How often a call that says nothing of itself is said to go on.
const (
	heartbeat = time.Second
	// askingHeartbeats is in how many beats once, while a person is asked.
	askingHeartbeats = 10
)

type progressKey struct{}

// progress is who hears how far a call has come.
type progress struct {
	report        func(done, total float64, message string)
	actionReports atomic.Bool // the Action speaks for itself

	mu   sync.Mutex
	base float64 // what was said before it did
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
	if p, _ := ctx.Value(invocationKey{}).(*invocation); p != nil {
		p.setProgress(done, total, message)
	}
	if p, _ := ctx.Value(progressKey{}).(*progress); p != nil {
		p.actionReports.Store(true)
		p.mu.Lock()
		base := p.base
		p.mu.Unlock()
		if total > 0 {
			total += base
		}
		p.report(done+base, total, message)
	}
}

// heartbeat lets a call be heard of that says nothing of itself, until stop.
func (p *invocation) heartbeat() (stop func()) {
	if p.progress == nil {
		return func() {}
	}
	stopped := make(chan struct{})
	go func() {
		ticks := time.NewTicker(heartbeat)
		defer ticks.Stop()
		for asked := 0; ; { // beats, while a person is asked
			select {
			case <-ticks.C:
			case <-stopped:
				return
			case <-p.ctx.Done():
				return
			}
			if p.progress.actionReports.Load() {
				return
			}
			asked = p.reportStage(asked)
		}
	}()
	return func() { close(stopped) }
}

// reportStage says where the call is, after so many beats in which a person was asked, and
// returns how many there are now.
func (p *invocation) reportStage(asked int) int {
	p.mu.Lock()
	at, name, total := p.stage, cmp.Or(p.targetName, p.entry.App), p.timeout
	p.mu.Unlock()
	over := seconds(time.Since(p.started))
	switch at {
	case StageAsking:
		if asked%askingHeartbeats == 0 {
			p.progress.reportFromGateway(over, 0, "Waiting for the person at this computer to answer")
		}
		return asked + 1
	case StageQueueing:
		p.progress.reportFromGateway(over, max(over, seconds(total)), "Waiting for other calls to "+name)
	default:
		p.progress.reportFromGateway(over, max(over, seconds(total)), "Waiting for "+name)
	}
	return 0
}

// reportFromGateway is report for the gateway itself: what an Action says later counts on from
// there.
func (p *progress) reportFromGateway(done, total float64, message string) {
	p.mu.Lock()
	p.base = done
	p.mu.Unlock()
	p.report(done, total, message)
}

// firstName is an app's name in one language.
func firstName(app *App) string {
	name, _, _ := strings.Cut(app.Name, "|")
	return CleanLabel(cmp.Or(name, app.ID), maxName)
}

// seconds are as exact as people want them.
func seconds(d time.Duration) float64 { return d.Round(100 * time.Millisecond).Seconds() }
