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

// A Terminal says which of a command's streams are a terminal, and how to ask
// the person at it. The zero Terminal is no terminal: nothing is asked, cut or
// cleaned.
type Terminal struct {
	Out, Err bool // standard output, standard error
	Width    int  // columns of Out; zero when not known
	// Ask writes the prompt and returns the line that the person typed, without
	// its line break. Its error is io.EOF where there is no more input, and ctx's
	// when that ended first. Nil where nobody can be asked.
	Ask func(ctx context.Context, prompt string) (string, error)
	// Secret is Ask for what is not to be seen on the screen.
	Secret func(ctx context.Context, prompt string) (string, error)
}

// NewTerminal looks at the streams of the process. A person is asked only when
// both in and err are terminals: an agent's shell shares the agent's controlling
// terminal, so /dev/tty proves nothing, and a question there might wait for ever.
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

// asker returns a Terminal's Ask that writes to w and reads from in. After ctx
// has ended one read may still be waiting, so the reader is good for nothing else.
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

// secretAsker is asker for a terminal that does not show what is typed. When ctx
// ends first, the terminal shows it again.
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
			_, err := io.WriteString(w, "\n") // the person's own was not shown
			return string(got.line), errors.Join(got.err, err)
		}
	}
}
