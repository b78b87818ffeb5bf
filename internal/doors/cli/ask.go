package cli

import (
	"context"
	"errors"
	"fmt"
	"io"
	"strconv"
	"strings"

	"github.com/gybob/aai-gateway"
)

const (
	// maxQuestion limits the part of a question that is shown, in bytes.
	maxQuestion = 64 << 10
	// maxTries limits how often an invalid answer is asked for again.
	maxTries = 3
)

// ask puts every question to the person at the terminal. It returns no answers if there is
// no terminal, or if one of the questions may not be asked there, since the call needs all
// answers. It returns an error if the person pressed ^C.
func (r *run) ask(ctx context.Context, questions []aai.Question) (map[string]aai.Answer, error) {
	if r.output.terminal.Ask == nil || len(questions) == 0 {
		return nil, nil
	}
	for _, q := range questions {
		if !q.AllowsChannel(aai.Terminal) && (!q.AllowsChannel(aai.Passphrase) || r.output.terminal.Secret == nil) || len(q.Choices) == 0 {
			return nil, nil
		}
	}
	answers := make(map[string]aai.Answer, len(questions))
	for _, q := range questions {
		a, err := r.answer(ctx, q)
		if err != nil {
			return nil, err
		}
		answers[q.ID] = a
	}
	return answers, nil
}

// answer asks one question. A question for the channel Passphrase needs the passphrase for
// every choice except the refusal.
func (r *run) answer(ctx context.Context, q aai.Question) (aai.Answer, error) {
	a := aai.Answer{Seal: q.Seal, Channel: aai.Terminal}
	chosen, err := r.choose(ctx, questionText(q), len(q.Choices))
	if err != nil {
		return a, err
	}
	a.Choice = q.Choices[chosen].ID
	if q.AllowsChannel(aai.Terminal) {
		return a, nil
	}
	a.Channel = aai.Passphrase
	if chosen == 0 {
		return a, nil
	}
	a.Secret, err = r.readSecret(ctx, "The passphrase of this gateway: ")
	return a, err
}

// questionText formats the question for the terminal, without the prompt.
func questionText(q aai.Question) string {
	var b strings.Builder
	fmt.Fprintf(&b, "\n%s\n", aai.CleanLabel(q.Title, maxLine))
	for _, text := range []string{q.Text, q.Details} {
		if text := strings.TrimSpace(aai.CleanText(text, maxQuestion)); text != "" {
			fmt.Fprintf(&b, "\n%s\n", text)
		}
	}
	b.WriteString("\n")
	for i, c := range q.Choices {
		fmt.Fprintf(&b, "  %d  %s\n", i+1, aai.CleanLabel(c.Label, maxLine))
	}
	return b.String()
}

// choose returns the index of one of n choices. Index 0 is the refusal: an empty line, the
// end of the input and repeated invalid answers choose it.
func (r *run) choose(ctx context.Context, text string, n int) (int, error) {
	for range maxTries {
		line, err := r.readLine(ctx, text+"\nYour choice [1]: ")
		if err != nil || line == "" {
			return 0, err
		}
		if number, err := strconv.Atoi(line); err == nil && 1 <= number && number <= n {
			return number - 1, nil
		}
		text = fmt.Sprintf("Please type a number from 1 to %d.", n)
	}
	return 0, nil
}

// confirm asks a yes-or-no question. Every answer except "y" and "yes" is a no.
func (r *run) confirm(ctx context.Context, question string) (bool, error) {
	line, err := r.readLine(ctx, aai.CleanText(question, maxQuestion)+" [y/N] ")
	switch strings.ToLower(line) {
	case "y", "yes":
		return true, err
	}
	return false, err
}

// readLine returns the line that the person typed, without surrounding white space. At the
// end of the input it returns "".
func (r *run) readLine(ctx context.Context, prompt string) (string, error) {
	line, err := r.output.terminal.Ask(ctx, prompt)
	if err == nil && ctx.Err() == nil {
		return strings.TrimSpace(line), nil
	}
	_, _ = io.WriteString(r.cfg.Err, "\n") // end the line of the prompt
	if ctx.Err() != nil {
		return "", ctx.Err()
	}
	if errors.Is(err, io.EOF) {
		return "", nil
	}
	return "", err
}
