package cli

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync/atomic"
	"time"

	"aai"
)

// progress says on the terminal, from the second second on, what the command is
// waiting for, until stop wipes it away. It says nothing into a pipe.
func (r *run) progress(what string) (stop func()) {
	return r.telling(func() string { return what })
}

// telling is progress of what is waited for now.
func (r *run) telling(what func() string) (stop func()) {
	if !r.output.terminal.Err || r.output.format == formatQuiet {
		return func() {}
	}
	return showElapsed(r.cfg.Err, what)
}

// following is a context in which a call says how far it has come, for telling, which
// says what until it does.
func following(ctx context.Context, what string) (context.Context, func() string) {
	var last atomic.Pointer[string]
	last.Store(&what)
	ctx = aai.WithProgress(ctx, func(_, _ float64, message string) {
		if line, _, _ := strings.Cut(message, "\n"); line != "" {
			line = aai.CleanLabel(line, maxLine)
			last.Store(&line)
		}
	})
	return ctx, func() string { return *last.Load() }
}

// showElapsed writes one line over and over, with "\r" alone, which every
// terminal understands.
func showElapsed(w io.Writer, what func() string) (stop func()) {
	done, wiped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(wiped)
		begun, columns, measure := time.Now(), 0, newMeasure()
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			select {
			case <-done:
				if columns > 0 {
					_, _ = io.WriteString(w, "\r"+strings.Repeat(" ", columns)+"\r")
				}
				return
			case now := <-tick.C:
				line := fmt.Sprintf("… %s (%d s)", what(), int(now.Sub(begun).Round(time.Second)/time.Second))
				wide := measure.StringWidth(line)
				_, _ = io.WriteString(w, "\r"+line+strings.Repeat(" ", max(0, columns-wide)))
				columns = max(columns, wide)
			}
		}
	}()
	return func() {
		close(done)
		<-wiped
	}
}
