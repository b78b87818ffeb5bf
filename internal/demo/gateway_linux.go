package demo

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"github.com/gybob/aai-gateway"
)

// setEnvironment sets this process's environment to the session's, which the gateway's programs
// inherit. It is not restored.
func (s *privateSession) setEnvironment() error {
	os.Clearenv()
	for _, variable := range s.Env {
		name, value, _ := strings.Cut(variable, "=")
		if err := os.Setenv(name, value); err != nil {
			return err
		}
	}
	return nil
}

// run runs a command of the gateway in the demo's own process.
func (s *privateSession) run(ctx context.Context, in io.Reader, out, said io.Writer, args ...string) int {
	return s.cfg.RunGateway(ctx, Home{Folder: s.Home, Passphrase: s.passphrase}, in, out, said, args...)
}

// gateway runs a short command of the gateway and returns its output.
func (s *privateSession) gateway(ctx context.Context, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, startTimeout)
	defer cancel()
	var out, said bytes.Buffer
	if code := s.run(ctx, strings.NewReader(""), &out, &said, args...); code != 0 {
		return "", aai.Errorf(aai.AutomationFailed, "aai-gateway %s ended with %d: %s", strings.Join(args, " "), code, aai.CleanLabel(said.String(), 400))
	}
	return out.String(), nil
}

// serve starts the gateway for the agent. The gateway ends with its input.
func (a *agent) serve(ctx context.Context) (to io.WriteCloser, from io.ReadCloser, err error) {
	in, to, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	from, out, err := os.Pipe()
	if err != nil {
		return nil, nil, err
	}
	a.served = make(chan struct{})
	go func() {
		defer close(a.served)
		if code := a.desktop.run(ctx, in, out, os.Stderr, "mcp", "serve", "--profile", "all", "--log-level", "error"); code != 0 {
			_, _ = fmt.Fprintf(os.Stderr, "the gateway ended with %d\n", code)
		}
		_ = out.Close()
		_ = in.Close()
	}()
	return to, from, nil
}
