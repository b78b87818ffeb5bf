package cli

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"strings"
	"time"

	"github.com/gybob/aai-gateway"
)

// Limits on the command of a model.
const (
	modelTimeout   = 5 * time.Minute
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
		cmd := exec.CommandContext(ctx, command[0], command[1:]...)
		out := &limitedAnswer{}
		cmd.Stdin, cmd.Stdout, cmd.Stderr = strings.NewReader(strings.Join(prompt, "\n\n")+"\n"), out, r.cfg.Err
		cmd.WaitDelay = time.Second
		switch err := cmd.Run(); {
		case ctx.Err() != nil:
			return nil, aai.Errorf(aai.Timeout, "%s gave no answer: %w", command[0], ctx.Err())
		case errors.Is(err, errAnswerTooLong):
			return nil, aai.Errorf(aai.InvalidParams, "%s answered with more than %d KiB", command[0], maxModelAnswer>>10)
		case err != nil:
			e := aai.Errorf(aai.AutomationFailed, "%s failed: %w", command[0], err)
			e.Hint = "Try the command by itself: it must read a question on standard input and print the answer."
			return nil, e
		}
		return &aai.SamplingResult{Model: command[0], Text: out.String()}, nil
	}
}

var errAnswerTooLong = errors.New("the answer is too long")

// limitedAnswer keeps what is written, up to maxModelAnswer.
type limitedAnswer struct{ bytes.Buffer }

func (a *limitedAnswer) Write(p []byte) (int, error) {
	if a.Len()+len(p) > maxModelAnswer {
		return 0, errAnswerTooLong
	}
	return a.Buffer.Write(p)
}
