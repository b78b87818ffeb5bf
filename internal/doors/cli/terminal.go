package cli

import (
	"bufio"
	"context"
	"errors"
	"io"
	"os"
	"strings"

	"golang.org/x/term"
)

// A Terminal describes which of a command's streams are a terminal, and how to ask the
// person at it. The zero Terminal is no terminal: nothing is asked, cut or cleaned.
type Terminal struct {
	Out, Err bool // standard output, standard error
	Width    int  // columns of Out; zero if unknown
	// Ask writes the prompt and returns the line that the person typed, without its line
	// break. It returns io.EOF at the end of the input, and ctx's error if ctx ended first.
	// Ask is nil where no person can be asked.
	Ask func(ctx context.Context, prompt string) (string, error)
	// Secret is Ask without echo.
	Secret func(ctx context.Context, prompt string) (string, error)
}

// NewTerminal examines the streams of the process. It sets Ask and Secret only if both in and err
// are terminals. The existence of /dev/tty proves nothing, since an agent's shell shares the agent's
// controlling terminal: a question there might wait forever.
func NewTerminal(in, out, err *os.File) Terminal {
	t := Terminal{Out: isTerminal(out), Err: isTerminal(err)}
	if t.Out {
		if width, _, sizeErr := term.GetSize(int(out.Fd())); sizeErr == nil {
			t.Width = width
		}
	}
	if t.Err && isTerminal(in) {
		t.Ask, t.Secret = asker(in, err), secretAsker(in, err)
	}
	return t
}

func isTerminal(f *os.File) bool { return term.IsTerminal(int(f.Fd())) }

// asker returns a Terminal's Ask that writes to w and reads from in. After ctx has ended a
// read may still be pending, so do not use in for anything else.
func asker(in io.Reader, w io.Writer) func(context.Context, string) (string, error) {
	lines := bufio.NewReader(in)
	type reading struct {
		line string
		err  error
	}
	return func(ctx context.Context, prompt string) (string, error) {
		if _, err := io.WriteString(w, prompt); err != nil {
			return "", err
		}
		read := make(chan reading, 1)
		go func() {
			line, err := lines.ReadString('\n')
			read <- reading{line, err}
		}()
		select {
		case <-ctx.Done():
			return "", ctx.Err()
		case got := <-read:
			if got.line == "" && got.err != nil {
				return "", got.err
			}
			return strings.TrimRight(got.line, "\r\n"), nil
		}
	}
}

// secretAsker is asker without echo. If ctx ends first, it restores the terminal's echo.
func secretAsker(in *os.File, w io.Writer) func(context.Context, string) (string, error) {
	return func(ctx context.Context, prompt string) (string, error) {
		before, err := term.GetState(int(in.Fd()))
		if err != nil {
			return "", err
		}
		if _, err := io.WriteString(w, prompt); err != nil {
			return "", err
		}
		type reading struct {
			line []byte
			err  error
		}
		read := make(chan reading, 1)
		go func() {
			line, err := term.ReadPassword(int(in.Fd()))
			read <- reading{line, err}
		}()
		select {
		case <-ctx.Done():
			_ = term.Restore(int(in.Fd()), before)
			return "", ctx.Err()
		case got := <-read:
			_, err := io.WriteString(w, "\n") // the person's line break was not echoed
			return string(got.line), errors.Join(got.err, err)
		}
	}
}
