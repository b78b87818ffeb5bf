package named

import (
	"context"
	"errors"
	"fmt"
	"io"
	"os/exec"
	"strings"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/process"
)

// sourceTimeout limits how long a password manager may take, which may ask the person.
const sourceTimeout = 45 * time.Second

// maxValue limits a value in bytes.
const maxValue = 64 << 10

// A source is a way to read a value from the person's password manager.
type source struct {
	prefix   string // of its references
	expected string // form of its references
	command  func(reference string) ([]string, error)
	oneLine  bool // the value is the first line of the output
}

// sources returns the supported password managers. References to a value are arguments of their commands; values never are.
func sources() []source {
	words := func(before ...string) func(string) ([]string, error) {
		return func(rest string) ([]string, error) { return append(before, rest), nil }
	}
	return []source{
		{prefix: "pass:", expected: "pass:PATH", command: words("pass", "show", "--"), oneLine: true},
		{prefix: "secret-service:", expected: "secret-service:attribute=value,…", command: lookup},
		{prefix: "op://", expected: "op://VAULT/ITEM/FIELD", command: func(rest string) ([]string, error) {
			return []string{"op", "read", "--no-newline", "op://" + rest}, nil
		}},
		{prefix: "bw:", expected: "bw:ITEM", command: words("bw", "--nointeraction", "get", "password", "--")},
	}
}

// lookup returns the command that reads a value from the Secret Service, such as GNOME's keyring or KeePassXC.
func lookup(attributes string) ([]string, error) {
	command := []string{"secret-tool", "lookup"}
	for pair := range strings.SplitSeq(attributes, ",") {
		name, value, ok := strings.Cut(pair, "=")
		name = strings.TrimSpace(name)
		if !ok || name == "" || value == "" || strings.HasPrefix(name, "-") {
			return nil, errors.New("expected pairs such as service=github,user=ann")
		}
		command = append(command, name, value)
	}
	return command, nil
}

// sourceOf returns the command for a reference.
func sourceOf(reference string) (of source, command []string, err error) {
	var forms []string
	for _, s := range sources() {
		rest, is := strings.CutPrefix(reference, s.prefix)
		if !is {
			forms = append(forms, s.expected)
			continue
		}
		if rest == "" || strings.HasPrefix(rest, "-") || !isPlain(rest) {
			return s, nil, aai.Errorf(aai.InvalidParams, "ref: expected %s", s.expected)
		}
		if command, err = s.command(rest); err != nil {
			err = aai.Errorf(aai.InvalidParams, "ref: %w", err)
		}
		return s, command, err
	}
	return source{}, nil, aai.Errorf(aai.InvalidParams, "ref: expected one of %s", strings.Join(forms, ", "))
}

// readReference reads a value from the person's password manager.
func (s *Store) readReference(ctx context.Context, reference string) (string, error) {
	of, command, err := sourceOf(reference)
	if err != nil {
		return "", err
	}
	ctx, cancel := context.WithTimeout(ctx, sourceTimeout)
	defer cancel()
	fail := func(why string) (string, error) {
		e := aai.Errorf(aai.AuthInvalid, "%s gave no value for the reference: %s", command[0], why)
		e.Delivery = aai.NotDelivered
		e.Hint = "Unlock the password manager and try its command at a terminal: " + strings.Join(command, " ")
		return "", e
	}
	value, err := s.run(ctx, command)
	if ctx.Err() != nil {
		return fail(fmt.Sprintf("no answer within %s", sourceTimeout))
	}
	if err != nil {
		return fail(err.Error())
	}
	if of.oneLine {
		value, _, _ = strings.Cut(value, "\n")
	}
	value = strings.TrimRight(value, "\r\n")
	if value == "" {
		return fail("the value is empty")
	}
	return value, nil
}

// run runs the command of a password manager and returns its output. It drops the messages of the command, which may
// repeat the value.
func (s *Store) run(ctx context.Context, command []string) (string, error) {
	program, err := exec.LookPath(command[0])
	if err != nil {
		return "", errors.New("the command is not installed")
	}
	cmd := exec.CommandContext(ctx, program, command[1:]...)
	cmd.Env = s.config.Environ()
	p, err := process.Start(cmd, process.Limits{})
	if err != nil {
		return "", errors.New("the command cannot be started")
	}
	defer p.Kill()
	_ = p.Stdin.Close()
	defer p.Stdout.Close() //nolint:errcheck // it was only read
	out, err := io.ReadAll(io.LimitReader(p.Stdout, maxValue+1))
	if err != nil || len(out) > maxValue {
		return "", errors.New("its output is too long or cannot be read")
	}
	select {
	case <-p.Exited():
	case <-ctx.Done():
		return "", ctx.Err()
	}
	if state := p.State(); state == nil || !state.Success() {
		return "", errors.New("the command failed")
	}
	return string(out), nil
}
