package main

import (
	"context"
	"io"
	"os"
	"os/exec"

	"github.com/gybob/aai-gateway/internal/drivers/com/host"
)

// runCOM runs the COM calls that another process of this program sends.
func runCOM(in io.Reader, out io.Writer) int { return host.Run(in, out) }

// comChild returns the command of a process that runs COM calls.
func (s *setup) comChild() (*exec.Cmd, error) {
	path, err := os.Executable()
	if err != nil {
		return nil, err
	}
	cmd := exec.CommandContext(context.Background(), path, runCOMCommand)
	cmd.Env = withoutSecrets(s.session.Environ(os.Environ()))
	return cmd, nil
}
