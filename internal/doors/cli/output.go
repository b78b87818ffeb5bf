package cli

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"math"
	"slices"
	"strings"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/answer"
	"github.com/gybob/aai-gateway/internal/sanitize"
)

// The values of --format.
const (
	formatText  = "text"
	formatJSON  = "json"
	formatQuiet = "quiet"
)

// maxLine limits the shown part of one line that came from outside, in bytes.
const maxLine = 2000

// output writes a command's result in the selected format.
type output struct {
	out, err io.Writer
	terminal Terminal
	format   string
	failure  error // the first failed write to out
}

// formatOf finds --format in a command line that may be invalid as a whole, so that usage
// errors have the right format too. The last one wins, as with flags.
func formatOf(args []string) string {
	format := formatText
	for i, arg := range args {
		value, found := strings.CutPrefix(arg, "--format=")
		if arg == "--format" && i+1 < len(args) {
			value, found = args[i+1], true
		}
		if arg == "--" {
			break
		}
		if found && (value == formatJSON || value == formatQuiet || value == formatText) {
			format = value
		}
	}
	return format
}

// raw writes to standard output without changes.
func (o *output) raw(s string) {
	if o.failure != nil {
		return
	}
	if _, err := io.WriteString(o.out, s); err != nil {
		o.failure = fmt.Errorf("the command ran, but its output could not be written: %w", err)
	}
}

// text writes text that came from outside: cleaned on a terminal, exact in a pipe.
func (o *output) text(s string) {
	if o.terminal.Out {
		s = aai.CleanText(s, math.MaxInt)
	}
	o.raw(s)
}

// lines writes text and adds a line break at its end if there is none.
func (o *output) lines(s string) {
	if s == "" {
		return
	}
	o.text(s)
	if !strings.HasSuffix(s, "\n") {
		o.raw("\n")
	}
}

// say writes one line of the command itself to standard output, in text format only.
func (o *output) say(format string, args ...any) {
	if o.format == formatText {
		o.lines(fmt.Sprintf(format, args...))
	}
}

// note writes one line beside the result to standard error, in text format only.
func (o *output) note(line string) {
	if o.format == formatText {
		o.noteAnyway(line)
	}
}

func (o *output) noteAnyway(line string) {
	_, _ = fmt.Fprintln(o.err, aai.CleanText(line, maxQuestion))
}

// warnAnyway writes a warning in every format; "" is no warning.
func (o *output) warnAnyway(line string) {
	if line != "" {
		o.noteAnyway("warning: " + line)
	}
}

func (o *output) warn(line string) { o.note("warning: " + line) }

// json writes one JSON value: on one line in a pipe, indented on a terminal.
func (o *output) json(v any) error {
	var b bytes.Buffer
	enc := json.NewEncoder(&b)
	enc.SetEscapeHTML(false)
	if o.terminal.Out {
		enc.SetIndent("", "  ")
	}
	if err := enc.Encode(v); err != nil {
		e := aai.Errorf(aai.Internal, "the command ran, but its result cannot be written as JSON: %w", err)
		e.Delivery = aai.Delivered
		return e
	}
	o.raw(sanitize.EscapeInvisible(b.String()))
	return nil
}

// show writes a result in the selected format: data as JSON, or asText for people.
func (o *output) show(data any, asText func() error) error {
	switch o.format {
	case formatJSON:
		return o.json(data)
	case formatQuiet:
		return nil
	}
	return asText()
}

// showError writes a command's error: to standard error for people, as JSON to standard
// output unless a write there has failed.
func (o *output) showError(err error) {
	if _, ok := errors.AsType[*findingsError](err); ok || o.format == formatQuiet {
		return
	}
	if o.format == formatJSON && o.failure == nil {
		_ = o.json(map[string]any{"error": errorObject(err)})
		return
	}
	for _, line := range errorLines(err) {
		o.noteAnyway(line)
	}
}

// errorLines formats an error for people.
func errorLines(err error) []string {
	if usage, ok := errors.AsType[*usageError](err); ok {
		lines := append([]string{"error: " + usage.message}, suggestions(usage.candidates)...)
		return append(lines, "usage: "+usage.usage)
	}
	e, ok := errors.AsType[*aai.Error](err)
	if !ok {
		return []string{"error: " + err.Error()}
	}
	message := e.Message
	if isInterrupted(err) {
		message = "interrupted: " + message
	}
	lines := []string{fmt.Sprintf("error: %s (%s)", message, e.Code)}
	if e.Hint != "" {
		lines = append(lines, e.Hint)
	}
	lines = append(lines, suggestions(e.Candidates)...)
	if e.LoginURL != "" {
		lines = append(lines, "Log in at: "+e.LoginURL)
	}
	if e.RetryAfter > 0 {
		lines = append(lines, "Try again in "+e.RetryAfter.Round(time.Millisecond).String()+".")
	}
	switch e.Delivery {
	case aai.DeliveryUnknown:
		lines = append(lines, "warning: it is not known whether this happened; look before you do it again")
	case aai.Delivered:
		lines = append(lines, "warning: this did reach the app; look before you do it again")
	case aai.NotDelivered:
	}
	return lines
}

func suggestions(candidates []string) []string {
	if len(candidates) == 0 {
		return nil
	}
	var each []string
	for _, c := range candidates {
		if !slices.Contains(each, c) {
			each = append(each, c)
		}
	}
	return []string{"Did you mean: " + strings.Join(each, ", ")}
}

func errorObject(err error) answer.Failure {
	if usage, ok := errors.AsType[*usageError](err); ok {
		return answer.Failure{
			Type: aai.InvalidParams, Alias: aai.InvalidParams.Alias(), Code: aai.InvalidParams.Number(), Detail: usage.message,
			Suggestion: "usage: " + usage.usage, Candidates: usage.candidates,
		}
	}
	e, ok := errors.AsType[*aai.Error](err)
	if !ok {
		return answer.Failure{Type: aai.AutomationFailed, Code: aai.AutomationFailed.Number(), Detail: err.Error()}
	}
	return answer.NewFailure(e)
}
