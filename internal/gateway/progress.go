package gateway

import (
	"cmp"
	"context"
	"strings"
	"sync"
	"time"

	"github.com/gybob/aai-gateway"
)

// The interval of the gateway's own progress reports, for an Action that sends none.
const (
	heartbeat = time.Second
	// askingHeartbeats is the number of heartbeats per report while a person is asked.
	askingHeartbeats = 10
)

type progressKey struct{}

// progress is the receiver of a call's progress.
type progress struct {
	report func(done, total float64, message string)

	mu            sync.Mutex
	actionReports bool    // the Action has reported progress
	base          float64 // done of the gateway's last report
}

// WithProgress returns a context in which report receives the progress of the call. Until the
// Action calls [Progress], the gateway reports the elapsed seconds of the time limit. A door
// passes the context to [Gateway.Do] for a caller that wants progress. Several goroutines call
// report, even after Do has returned if an Action was abandoned; report should not block.
func WithProgress(ctx context.Context, report func(done, total float64, message string)) context.Context {
	return context.WithValue(ctx, progressKey{}, &progress{report: report})
}

// Progress reports the progress of the context's call: done of total, in any unit; total is 0 if
// unknown. done must grow with each call. The message is for people. Without a receiver the call
// is cheap. It is safe for concurrent use.
func Progress(ctx context.Context, done, total float64, message string) {
	if p, _ := ctx.Value(invocationKey{}).(*invocation); p != nil {
		message = p.redactText(message)
		p.setProgress(done, total, message)
	}
	if p, _ := ctx.Value(progressKey{}).(*progress); p != nil {
		p.mu.Lock()
		p.actionReports = true
		base := p.base
		p.mu.Unlock()
		if total > 0 {
			total += base
		}
		p.report(done+base, total, message)
	}
}

// heartbeat reports the progress of a call that reports none itself, until stop is called.
func (p *invocation) heartbeat() (stop func()) {
	if p.progress == nil {
		return func() {}
	}
	stopped := make(chan struct{})
	go func() {
		ticks := time.NewTicker(heartbeat)
		defer ticks.Stop()
		for asked := 0; ; { // heartbeats while a person is asked
			select {
			case <-ticks.C:
			case <-stopped:
				return
			case <-p.ctx.Done():
				return
			}
			asked = p.reportStage(asked)
		}
	}()
	return func() { close(stopped) }
}

// reportStage reports the stage of the call. asked is the number of heartbeats in which a person
// was asked; it returns the new number.
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

// reportFromGateway reports progress of the gateway, unless the Action has reported its own.
// Later reports of the Action continue from done, and come after this one.
func (p *progress) reportFromGateway(done, total float64, message string) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.actionReports {
		return
	}
	p.base = done
	p.report(done, total, message)
}

// firstName returns an app's name in one language.
func firstName(app *aai.App) string {
	name, _, _ := strings.Cut(app.Name, "|")
	return aai.CleanLabel(cmp.Or(name, app.ID), maxName)
}

// seconds returns the duration in seconds, rounded to tenths for display.
func seconds(d time.Duration) float64 { return d.Round(100 * time.Millisecond).Seconds() }
