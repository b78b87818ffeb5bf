package cli

import (
	"fmt"
	"io"
	"strings"
	"time"
)

// progress says on the terminal, from the second second on, what the command is
// waiting for, until stop wipes it away. It says nothing into a pipe.
func (r *run) progress(what string) (stop func()) {
	if !r.output.terminal.Err || r.output.format == formatQuiet {
		return func() {}
	}
	return showElapsed(r.cfg.Err, what)
}

// showElapsed writes one line over and over, with "\r" alone, which every
// terminal understands.
func showElapsed(w io.Writer, what string) (stop func()) {
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
				line := fmt.Sprintf("… %s (%d s)", what, int(now.Sub(begun).Round(time.Second)/time.Second))
				columns = max(columns, measure.StringWidth(line))
				_, _ = io.WriteString(w, "\r"+line)
			}
		}
	}()
	return func() {
		close(done)
		<-wiped
	}
}
