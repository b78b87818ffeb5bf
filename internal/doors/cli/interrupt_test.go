package cli_test

import (
	"bytes"
	"context"
	"io"
	"testing"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/doors/cli"
)

// startedRun is a command line that does not end by itself.
type startedRun struct {
	out, errOut bytes.Buffer
	ended       chan int
}

func start(ctx context.Context, w *world, in io.Reader, args ...string) *startedRun {
	r := &startedRun{ended: make(chan int, 1)}
	cfg := w.config(in, &r.out, &r.errOut)
	go func() { r.ended <- cli.Run(ctx, cfg, args) }()
	return r
}

func TestCancelledCall(t *testing.T) {
	w := newWorld()
	ctx, cancel := context.WithCancel(t.Context())
	r := start(ctx, w, nil, "exec", "org.example.Notes", "hang")
	<-w.started
	cancel()
	code := <-r.ended
	assert.Check(t, is.Equal(code, 130), "exit code %d, want 130", code)
	want := "error: interrupted: the caller cancelled the call (AUTOMATION_FAILED)\n" +
		"warning: it is not known whether this happened; look before you do it again\n"
	assert.Check(t, is.Equal(r.errOut.String(), want))
}

func TestCancelledWhileReadingInput(t *testing.T) {
	in, typing := io.Pipe()
	t.Cleanup(func() { _ = typing.Close() })
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	r := start(ctx, newWorld(), in, "exec", "org.example.Notes", "echo", "-", "--format", "json")
	code := <-r.ended
	assert.Check(t, is.Equal(code, 130), "exit code %d, want 130", code)
	got := r.out.String()
	assert.Check(t, is.Contains(got, `"detail":"interrupted"`), "standard output: %q", got)
}

func TestServerThatEndsWellAfterASignal(t *testing.T) {
	var out, errOut bytes.Buffer
	cfg := newWorld().config(nil, &out, &errOut)
	cfg.ServeMCP = func(ctx context.Context, _ cli.Flags, _ cli.ServeOptions) error {
		<-ctx.Done()
		return nil
	}
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	if code := cli.Run(ctx, cfg, nil); code != 0 || errOut.Len() > 0 {
		t.Errorf("exit code %d, standard error %q", code, errOut.String())
	}
}
