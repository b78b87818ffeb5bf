package cli

import (
	"context"
	"io"
	"time"

	"github.com/gybob/aai-gateway/internal/sanitize"
)

// Internals for the tests of package cli_test.

func Asker(in io.Reader, w io.Writer) func(context.Context, string) (string, error) {
	return asker(in, w)
}

func ShowElapsed(w io.Writer, what func() string) (stop func()) {
	return showElapsed(w, what).stop
}

func EscapeUnseen(text string) string { return sanitize.EscapeInvisible(text) }

func FormatOf(args []string) string { return formatOf(args) }

func ParseSpan(text string) (time.Duration, bool) { return parseSpan(text) }

// Lines writes text that ends in a line break.
func Lines(w io.Writer, s string) { (&output{out: w}).lines(s) }

// Table writes a table for a terminal of that width, or for a pipe if the width is zero.
func Table(w io.Writer, width int, header []string, rows [][]string) {
	o := &output{out: w, terminal: Terminal{Out: width > 0, Width: width}, format: formatText}
	o.table(header, rows)
}
