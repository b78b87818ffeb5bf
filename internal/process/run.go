package process

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"os/exec"
	"time"
)

// An Outcome is the end of a program that [Run] has run.
type Outcome struct {
	Stdout []byte
	Stderr []byte // its last bytes
	State  *os.ProcessState
}

// ErrOutputTooLong reports that a program wrote more than its limit. The program was ended.
var ErrOutputTooLong = errors.New("the output is too long")

const (
	// maxRunStderr is the number of bytes of standard error to keep.
	maxRunStderr = 16 << 10
	// outputGrace is the time in which the output of an ended program must end, since a process that it left may hold it open.
	outputGrace = time.Second
)

// Run runs a program with a text as its input until it ends, and returns its end, whatever its status. It kills the program and
// its process group if the context ends, which is then the error, or if the output exceeds maxOutput bytes: [ErrOutputTooLong].
// started reports whether the program ran at all.
func Run(ctx context.Context, cmd *exec.Cmd, input []byte, maxOutput int64) (end Outcome, started bool, err error) {
	stderr := &tail{max: maxRunStderr}
	cmd.Stderr = stderr
	if err := ctx.Err(); err != nil {
		return end, false, err
	}
	p, err := Start(cmd, Limits{})
	if err != nil {
		return end, false, err
	}
	defer p.Stop(false)
	stop := context.AfterFunc(ctx, func() {
		p.Kill()
		_ = p.Stdout.SetReadDeadline(time.Now()) // a process that left the group may hold it open
	})
	defer stop()
	go func() {
		_, _ = p.Stdin.Write(input) // a program that does not read its input ends by itself
		_ = p.Stdin.Close()
	}()
	go func() {
		<-p.Exited()
		_ = p.Stdout.SetReadDeadline(time.Now().Add(outputGrace))
	}()
	out, err := io.ReadAll(io.LimitReader(p.Stdout, maxOutput+1))
	switch {
	case ctx.Err() != nil:
		return end, true, ctx.Err()
	case int64(len(out)) > maxOutput:
		return end, true, ErrOutputTooLong
	case err != nil && !errors.Is(err, os.ErrDeadlineExceeded):
		return end, true, err
	}
	select {
	case <-p.Exited():
	case <-ctx.Done():
		return end, true, ctx.Err()
	}
	return Outcome{Stdout: out, Stderr: stderr.text.Bytes(), State: p.State()}, true, nil
}

// A tail keeps the last bytes of a text. It is written by one goroutine, and read after that has ended.
type tail struct {
	text bytes.Buffer
	max  int
}

// Write implements io.Writer.
func (t *tail) Write(b []byte) (int, error) {
	t.text.Write(b)
	if over := t.text.Len() - t.max; over > 0 {
		t.text.Next(over)
	}
	return len(b), nil
}
