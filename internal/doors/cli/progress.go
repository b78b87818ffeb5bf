package cli

import (
	"context"
	"fmt"
	"io"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/clipperhouse/displaywidth"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/gateway"
)

// progress shows on the terminal, after one second, the thing that the command waits for,
// until stop removes the line. It writes nothing into a pipe.
func (r *run) progress(what string) (stop func()) {
	return r.showProgress(func() string { return what }).stop
}

// A progressLine shows on the terminal the thing that the command waits for, and the elapsed time.
type progressLine struct {
	stop func()
	// note writes a permanent line, also after stop.
	note func(line string)
}

// showProgress is progress with a text that may change.
func (r *run) showProgress(what func() string) progressLine {
	if !r.output.terminal.Err || r.output.format == formatQuiet {
		return progressLine{func() {}, r.output.noteAnyway}
	}
	return showElapsed(r.cfg.Err, what)
}

// noteWindow returns a function that reports, through say, that the command waits for an
// answer in a window. The window may be on another screen than the terminal.
func (r *run) noteWindow(say func(line string)) func(screen string) {
	if r.output.format == formatQuiet {
		return nil
	}
	return func(screen string) {
		until := "; it waits for your answer until " + time.Now().Add(gateway.AskTimeout).Format(time.TimeOnly) + "."
		if screen == "" {
			say("You are asked in a window" + until)
			return
		}
		say("You are asked in a window on the display " + aai.CleanLabel(screen, maxLine) + until)
	}
}

// withProgress returns a context that records the call's progress messages, and a function that
// returns the last message. Before the first message that function returns its initial text.
func withProgress(ctx context.Context, what string) (context.Context, func() string) {
	var last atomic.Pointer[string]
	last.Store(&what)
	ctx = gateway.WithProgress(ctx, func(_, _ float64, message string) {
		if line, _, _ := strings.Cut(message, "\n"); line != "" {
			line = aai.CleanLabel(line, maxLine)
			last.Store(&line)
		}
	})
	return ctx, func() string { return *last.Load() }
}

// showElapsed rewrites one line every second with "\r" alone, which every terminal
// understands.
func showElapsed(w io.Writer, what func() string) progressLine {
	var mu sync.Mutex
	columns := 0
	wipe := func() {
		if columns > 0 {
			_, _ = io.WriteString(w, "\r"+strings.Repeat(" ", columns)+"\r")
		}
		columns = 0
	}
	done, stopped := make(chan struct{}), make(chan struct{})
	go func() {
		defer close(stopped)
		begun := time.Now()
		tick := time.NewTicker(time.Second)
		defer tick.Stop()
		for {
			select {
			case <-done:
				return
			case now := <-tick.C:
				line := fmt.Sprintf("… %s (%d s)", what(), int(now.Sub(begun).Round(time.Second)/time.Second))
				mu.Lock()
				wide := displaywidth.String(line)
				_, _ = io.WriteString(w, "\r"+line+strings.Repeat(" ", max(0, columns-wide)))
				columns = max(columns, wide)
				mu.Unlock()
			}
		}
	}()
	return progressLine{
		stop: func() {
			close(done)
			<-stopped
			mu.Lock()
			defer mu.Unlock()
			wipe()
		},
		note: func(line string) {
			mu.Lock()
			defer mu.Unlock()
			wipe()
			_, _ = fmt.Fprintln(w, aai.CleanText(line, maxQuestion))
		},
	}
}
