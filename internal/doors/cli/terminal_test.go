package cli_test

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os"
	"regexp"
	"strings"
	"testing"
	"testing/synctest"
	"time"

	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/doors/cli"
)

func TestNewTerminalOfPipes(t *testing.T) {
	in, out, err := os.Pipe()
	assert.NilError(t, err)
	t.Cleanup(func() { _ = in.Close() })
	t.Cleanup(func() { _ = out.Close() })
	terminal := cli.NewTerminal(in, out, out)
	assert.Assert(t, !terminal.Out, "a pipe is taken for a terminal: %+v", terminal)
	assert.Assert(t, !terminal.Err, "a pipe is taken for a terminal: %+v", terminal)
	assert.Equal(t, terminal.Width, 0, "%+v", terminal)
	assert.Assert(t, terminal.Ask == nil, "a pipe is taken for a terminal: %+v", terminal)
}

func TestAskReadsLineByLine(t *testing.T) {
	var shown strings.Builder
	long := strings.Repeat("x", 64<<10)
	ask := cli.Asker(strings.NewReader("one\r\n\n"+long+"\nlast"), &shown)
	for _, want := range []string{"one", "", long, "last"} {
		got, err := ask(t.Context(), "? ")
		assert.NilError(t, err, "%d", len(got))
		assert.Equal(t, got, want, "%d", len(got))
	}
	_, err := ask(t.Context(), "? ")
	assert.Check(t, is.ErrorIs(err, io.EOF), "after the last line: %v, want EOF", err)
	assert.Check(t, is.Equal(shown.String(), strings.Repeat("? ", 5)))
}

func TestAskStopsWithItsContext(t *testing.T) {
	in, typing := io.Pipe()
	t.Cleanup(func() { _ = typing.Close() })
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	_, err := cli.Asker(in, io.Discard)(ctx, "? ")
	assert.Check(t, is.ErrorIs(err, context.Canceled), "got %v, want the context's error", err)
}

func TestAskFailsWhereThePromptCannotBeSeen(t *testing.T) {
	line, err := cli.Asker(strings.NewReader("2\n"), fullDisk{})(t.Context(), "? ")
	assert.Check(t, err != nil, "an answer to a question nobody saw: %q", line)
}

// TestProgress runs a tool of three and a half seconds in a synctest bubble.
func TestProgress(t *testing.T) {
	const line = `\r… Waiting for (org\.example\.)?Notes ` // at first by the typed name
	for _, test := range []struct {
		name     string
		terminal bool
		args     []string
		shows    string
		want     string
	}{
		{"terminal", true, nil, "at last", line + `\(1 s\)` + line + `\(2 s\) *\r… Waiting for Notes \(3 s\) *\r {25,37}\r`},
		{"pipe", false, nil, "at last", ""},
		{"quiet", true, []string{"--format", "quiet"}, "", ""},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var out, errOut bytes.Buffer
				cfg := newWorld().config(nil, &out, &errOut)
				cfg.Terminal.Err = test.terminal
				code := cli.Run(t.Context(), cfg, append([]string{"exec", "org.example.Notes", "slow"}, test.args...))
				if code != 0 || !strings.HasPrefix(out.String(), test.shows) {
					t.Errorf("exit code %d, output %q", code, out.String())
				}
				assert.Check(t, regexp.MustCompile("^"+test.want+"$").MatchString(errOut.String()), "standard error:\n got %q\nwant %q", errOut.String(), test.want)
			})
		})
	}
}

// A slowWindow waits for a second and a half, opens, and is refused two seconds later.
type slowWindow struct{ screen string }

func (w slowWindow) Ask(ctx context.Context, q aai.Question) (aai.Answer, error) {
	time.Sleep(1500 * time.Millisecond)
	if tell := aai.ClientCapabilitiesOf(ctx).OnDialogShown; tell != nil {
		tell(w.screen)
	}
	time.Sleep(2 * time.Second)
	return aai.Answer{Choice: q.Choices[0].ID, Seal: q.Seal, Channel: aai.DesktopDialog}, nil
}

// TestWaitingForAWindowIsShown checks that a command reports at once that a window asks,
// and where, at a terminal and in a pipe.
func TestWaitingForAWindowIsShown(t *testing.T) {
	const line = `\r… Waiting for [^\r]+\(1 s\)\r +\r`
	for _, test := range []struct {
		name, screen string
		terminal     bool
		format       string
		want         string
	}{
		{"terminal", ":7", true, "text", line + `You are asked in a window on the display :7; it waits for your answer until \d\d:\d\d:\d\d\.\n\r… Waiting`},
		{"pipe", ":7\x1b[2J", false, "text", `You are asked in a window on the display :7\S*; it waits for your answer until \d\d:\d\d:\d\d\.\nerror`},
		{"json", "", false, "json", `You are asked in a window; it waits for your answer until \d\d:\d\d:\d\d\.\n$`},
		{"quiet", ":7", true, "quiet", `$`},
	} {
		t.Run(test.name, func(t *testing.T) {
			synctest.Test(t, func(t *testing.T) {
				var out, errOut bytes.Buffer
				w := newWorld()
				w.windows = slowWindow{test.screen}
				cfg := w.config(nil, &out, &errOut)
				cfg.Terminal.Err = test.terminal
				if code := cli.Run(t.Context(), cfg, []string{"exec", "org.example.Notes", "delete_natively", "--format", test.format}); code != 4 {
					t.Errorf("exit code %d, output %q", code, out.String())
				}
				got := errOut.String()
				assert.Assert(t, regexp.MustCompile("(?i)^"+test.want).MatchString(got), "standard error:\n got %q\nwant %q", got, test.want)
				assert.Assert(t, !strings.Contains(got, "\x1b"), "standard error:\n got %q\nwant %q", got, test.want)
			})
		})
	}
}

func TestProgressIsSilentBeforeASecondHasPassed(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		var shown bytes.Buffer
		stop := cli.ShowElapsed(&shown, func() string { return "waiting" })
		time.Sleep(999 * time.Millisecond)
		stop()
		if shown.Len() > 0 {
			t.Errorf("shown: %q", shown.String())
		}
	})
}

// fullDisk fails every write.
type fullDisk struct{}

func (fullDisk) Write([]byte) (int, error) { return 0, errors.New("no space left on device") }

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
