package cli

import (
	"bytes"
	"context"
	"errors"
	"io"
	"os/exec"
	"strings"
	"time"

	"github.com/gybob/aai-gateway"
)

// Limits on the command of a model.
const (
	modelTimeout   = 2 * time.Minute
	maxModelAnswer = 256 << 10 // bytes
)

// askCommand returns a function that asks a model through a command: it gets the instructions and
// the messages on standard input, and answers on standard output. The command runs without a shell.
func (r *run) askCommand(command []string) func(context.Context, aai.SamplingRequest) (*aai.SamplingResult, error) {
	return func(ctx context.Context, ask aai.SamplingRequest) (*aai.SamplingResult, error) {
		ctx, cancel := context.WithTimeout(ctx, modelTimeout)
		defer cancel()
		prompt := []string{ask.System}
		for _, m := range ask.Messages {
			prompt = append(prompt, m.Text)
		}
		r.output.note("Asking " + aai.CleanLabel(command[0], maxLine) + ", for at most " + modelTimeout.String() + ".")
		cmd := exec.CommandContext(ctx, command[0], command[1:]...)
		out := &limitedAnswer{}
		cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(strings.Join(prompt, "\n\n")+"\n"), out, r.cfg.Err
		cmd.WaitDelay = time.Second
		switch err := cmd.Run(); {
		case ctx.Err() != nil:
			return nil, aai.Errorf(aai.Timeout, "%s gave no answer: %w", command[0], ctx.Err())
		case out.isShort:
			return nil, aai.Errorf(aai.InvalidParams, "%s answered with more than %d KiB", command[0], maxModelAnswer>>10)
		case errors.Is(err, exec.ErrWaitDelay): // a child of the command keeps its output open; the answer is there
		case err != nil:
			e := aai.Errorf(aai.AutomationFailed, "%s failed: %w", command[0], err)
			e.Hint = "Try the command by itself: it must read a question on standard input and print the answer."
			return nil, e
		}
		return &aai.SamplingResult{Model: command[0], Text: out.text.String()}, nil
	}
}

// limitedAnswer keeps what is written, up to maxModelAnswer.
type limitedAnswer struct {
	text    bytes.Buffer
	isShort bool // the rest was refused
}

func (a *limitedAnswer) Write(p []byte) (int, error) {
	if a.text.Len()+len(p) > maxModelAnswer {
		a.isShort = true
		return 0, io.ErrShortBuffer
	}
	return a.text.Write(p)
}
