package main

import (
	"bytes"
	"context"
	"fmt"
	"io"
	"os"
	"strings"

	"aai"
	"aai/internal/doors/cli"
)

// The demo's gateways run in the demo's own process, so that it can say what root would
// say otherwise, and which home is the account's. Nobody who only starts the program can.

// demoPolicy is what root would say for the demo. The agent's client may ask for what can
// be changed back; nobody sits at this screen to answer a dialog. The demo's site is a
// server of this computer.
const demoPolicy = `{"dev": true, "consent": {"dialog": "off", "elicitation": true}}`

// grounds are what the demo's gateways stand on.
func (s *privateSession) grounds() grounds {
	return grounds{
		policy:  func() ([]byte, error) { return []byte(demoPolicy), nil },
		home:    func() string { return s.home },
		session: func(getenv func(string) string) func(string) string { return getenv },
		mine:    onlyMine,
	}
}

// enter makes the session's environment that of this process, which is that of the
// programs that a gateway starts. It ends with the demo.
func (s *privateSession) enter() error {
	os.Clearenv()
	for _, variable := range s.env {
		name, value, _ := strings.Cut(variable, "=")
		if err := os.Setenv(name, value); err != nil {
			return err
		}
	}
	return nil
}

// run runs a command of the gateway, with the person at its terminal.
func (s *privateSession) run(ctx context.Context, in io.Reader, out, said io.Writer, args ...string) int {
	played := cli.Terminal{
		Ask:    func(context.Context, string) (string, error) { return "2", nil }, // the first is the refusal
		Secret: func(context.Context, string) (string, error) { return s.phrase, nil },
	}
	p := &program{getenv: os.Getenv, in: in, out: out, err: said, grounds: s.grounds()}
	return cli.Run(ctx, cli.Config{
		Version: version, Open: p.open, ServeMCP: p.serveMCP, HTTPToken: p.showToken, ShowConfig: p.showConfig,
		Desktop: describeDesktop(), In: in, Out: out, Err: said, Terminal: played,
	}, args)
}

// gateway runs a command of the gateway that ends by itself, and soon.
func (s *privateSession) gateway(ctx context.Context, args ...string) (string, error) {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	var out, said bytes.Buffer
	if code := s.run(ctx, strings.NewReader(""), &out, &said, args...); code != 0 {
		return "", aai.Errorf(aai.AutomationFailed, "aai-gateway %s ended with %d: %s", strings.Join(args, " "), code, aai.CleanLabel(said.String(), 400))
	}
	return out.String(), nil
}

// serve starts the gateway for the agent, which ends with its input.
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
		if code := a.desk.run(ctx, in, out, os.Stderr, "mcp", "serve", "--profile", "all", "--log-level", "error"); code != 0 {
			_, _ = fmt.Fprintf(os.Stderr, "the gateway ended with %d\n", code)
		}
		_ = out.Close()
		_ = in.Close()
	}()
	return to, from, nil
}
