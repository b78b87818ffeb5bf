package script

import (
	"os/exec"

	"github.com/gybob/aai-gateway/internal/automation/script/child"
	"github.com/gybob/aai-gateway/internal/process"
)

// scriptProcess is a child process that runs a script.
type scriptProcess struct {
	*process.Subprocess
	stderr *stderrHead
}

// start starts the process with nothing but its pipes.
func start(cmd *exec.Cmd) (*scriptProcess, error) {
	last := &stderrHead{}
	cmd.Stderr, cmd.Env, cmd.Dir = last, []string{}, root
	p, err := process.Start(cmd, process.Limits{NoChildren: true, Memory: child.MaxMemory})
	if err != nil {
		return nil, err
	}
	return &scriptProcess{p, last}, nil
}

// stderrHead keeps the beginning of standard error, for crashes.
type stderrHead struct{ text []byte }

// maxStderr is the number of bytes to keep.
const maxStderr = 4 << 10

// Write implements io.Writer.
func (t *stderrHead) Write(b []byte) (int, error) {
	t.text = append(t.text, b[:min(len(b), maxStderr-len(t.text))]...)
	return len(b), nil
}
