package cli_test

import (
	"bufio"
	"context"
	"fmt"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/doors/cli"
)

// openTerminal returns both ends of a pseudoterminal: the person's and the program's.
func openTerminal(t *testing.T, width uint16) (person, program *os.File) {
	t.Helper()
	person, err := os.OpenFile("/dev/ptmx", os.O_RDWR|unix.O_NOCTTY, 0)
	assert.NilError(t, err)
	t.Cleanup(func() { _ = person.Close() })
	fd := int(person.Fd())
	assert.NilError(t, unix.IoctlSetPointerInt(fd, unix.TIOCSPTLCK, 0))
	number, err := unix.IoctlGetInt(fd, unix.TIOCGPTN)
	assert.NilError(t, err)
	assert.NilError(t, unix.IoctlSetWinsize(fd, unix.TIOCSWINSZ, &unix.Winsize{Row: 25, Col: width}))
	program, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|unix.O_NOCTTY, 0)
	assert.NilError(t, err)
	t.Cleanup(func() { _ = program.Close() })
	return person, program
}

func TestQuestionAtARealTerminal(t *testing.T) {
	for answer, want := range map[string]int{"2\n": 0, "1\n": 4, "\n": 4, "\x04": 4} {
		t.Run(fmt.Sprintf("%q", answer), func(t *testing.T) {
			person, program := openTerminal(t, 72)
			terminal := cli.NewTerminal(program, program, program)
			assert.Assert(t, terminal.Out, "the terminal is seen as %+v", terminal)
			assert.Assert(t, terminal.Err, "the terminal is seen as %+v", terminal)
			assert.Equal(t, terminal.Width, 72, "%+v", terminal)
			cfg := newWorld().config(program, program, program)
			cfg.Terminal = terminal
			ended := make(chan int, 1)
			go func() { ended <- cli.Run(t.Context(), cfg, []string{"exec", "org.example.Notes", "delete"}) }()

			seen := readUntil(t, bufio.NewReader(person), "Your choice [1]: ")
			assert.Check(t, !strings.ContainsAny(seen, "\x1b\u202e"), "what the terminal would obey got through: %q", seen)
			_, err := person.WriteString(answer)
			assert.NilError(t, err)
			code := <-ended
			assert.Check(t, is.Equal(code, want), "exit code %d, want %d", code, want)
		})
	}
}

func TestNobodyIsAskedWhenInputIsAPipe(t *testing.T) {
	_, program := openTerminal(t, 80)
	in, out, err := os.Pipe()
	assert.NilError(t, err)
	t.Cleanup(func() { _ = in.Close() })
	t.Cleanup(func() { _ = out.Close() })
	assert.Check(t, cli.NewTerminal(in, program, program).Ask == nil, "standard input is a pipe, and is asked")
	assert.Check(t, cli.NewTerminal(program, program, out).Ask == nil, "standard error is a pipe, and a question is written to it")
}

func readUntil(t *testing.T, r *bufio.Reader, end string) string {
	t.Helper()
	var seen strings.Builder
	for !strings.HasSuffix(seen.String(), end) {
		b, err := r.ReadByte()
		if err != nil {
			t.Fatalf("after %q: %v", seen.String(), err)
		}
		seen.WriteByte(b)
	}
	return seen.String()
}

// echoes reports whether the terminal echoes input.
func echoes(t *testing.T, terminal *os.File) bool {
	t.Helper()
	modes, err := unix.IoctlGetTermios(int(terminal.Fd()), unix.TCGETS)
	assert.NilError(t, err)
	return modes.Lflag&unix.ECHO != 0
}

// waitForEcho waits until the terminal's echo is as wanted.
func waitForEcho(t *testing.T, terminal *os.File, want bool) {
	t.Helper()
	for range 2000 {
		if echoes(t, terminal) == want {
			return
		}
		time.Sleep(time.Millisecond)
	}
	t.Fatalf("the terminal shows what is typed: %v", !want)
}

// TestSecretAtARealTerminal checks that a secret is not echoed, and that later input is.
func TestSecretAtARealTerminal(t *testing.T) {
	person, program := openTerminal(t, 80)
	ask := cli.NewTerminal(program, program, program).Secret
	for _, secret := range []string{"correct horse", "", "zweites Wort mit ü"} {
		var got string
		ended := make(chan error, 1)
		go func() {
			var err error
			got, err = ask(t.Context(), "Passphrase: ")
			ended <- err
		}()
		seen := bufio.NewReader(person)
		readUntil(t, seen, "Passphrase: ")
		waitForEcho(t, program, false)
		_, err := person.WriteString(secret + "\n")
		assert.NilError(t, err)
		err = <-ended
		assert.Check(t, is.Equal(got, secret))
		assert.Check(t, err)
		after := readUntil(t, seen, "\n")
		assert.Check(t, is.Equal(strings.Trim(after, "\r\n"), ""), "the screen shows %q", after)
		waitForEcho(t, program, true)
	}
}

// TestSecretIsInterrupted checks that the terminal works after an interrupt at the question.
func TestSecretIsInterrupted(t *testing.T) {
	person, program := openTerminal(t, 80)
	ctx, cancel := context.WithCancel(t.Context())
	ended := make(chan error, 1)
	go func() {
		_, err := cli.NewTerminal(program, program, program).Secret(ctx, "Passphrase: ")
		ended <- err
	}()
	readUntil(t, bufio.NewReader(person), "Passphrase: ")
	waitForEcho(t, program, false)
	cancel()
	assert.Check(t, is.ErrorIs(<-ended, context.Canceled))
	waitForEcho(t, program, true)
}

// TestNobodyIsAskedForASecret checks that no secret is requested without a terminal.
func TestNobodyIsAskedForASecret(t *testing.T) {
	_, program := openTerminal(t, 80)
	in, out, err := os.Pipe()
	assert.NilError(t, err)
	t.Cleanup(func() { _ = in.Close(); _ = out.Close() })
	assert.Assert(t, cli.NewTerminal(in, program, program).Secret == nil, "a pipe is asked")
	assert.Assert(t, cli.NewTerminal(program, program, out).Secret == nil, "a pipe is asked")
}
