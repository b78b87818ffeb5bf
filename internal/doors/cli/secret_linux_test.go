package cli_test

import (
	"bufio"
	"context"
	"os"
	"strings"
	"testing"
	"time"

	"golang.org/x/sys/unix"
	"gotest.tools/v3/assert"
	is "gotest.tools/v3/assert/cmp"

	"github.com/gybob/aai-gateway/internal/doors/cli"
)

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
