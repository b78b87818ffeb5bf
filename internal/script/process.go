package script

import (
	"os/exec"

	"aai/internal/leash"
	"aai/internal/script/child"
)

// A process is a child that runs a script.
type process struct {
	*leash.Process
	last *tail
}

// start starts it, with nothing but its pipes.
func start(cmd *exec.Cmd) (*process, error) {
	last := &tail{}
	cmd.Stderr, cmd.Env, cmd.Dir = last, []string{}, root
	p, err := leash.Start(cmd, leash.Limits{Alone: true, Memory: child.MaxMemory})
	if err != nil {
		return nil, err
	}
	return &process{p, last}, nil
}

// tail keeps the beginning of what a process says when it breaks.
type tail struct{ text []byte }

// maxTail is how much of that is kept.
const maxTail = 4 << 10

// Write implements io.Writer.
func (t *tail) Write(b []byte) (int, error) {
	t.text = append(t.text, b[:min(len(b), maxTail-len(t.text))]...)
	return len(b), nil
}
