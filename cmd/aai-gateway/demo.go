package main

import (
	"context"
	"io"
	"os"

	"github.com/gybob/aai-gateway/internal/demo"
	"github.com/gybob/aai-gateway/internal/doors/cli"
	"github.com/gybob/aai-gateway/internal/files/userinfo"
)

// demoPolicy replaces root's policy for the demo. The client may ask for consent to reversible
// acts, because the demo's screen has no user for dialogs. The demo's site is on this computer.
const demoPolicy = `{"dev": true, "consent": {"dialog": "off", "elicitation": true}}`

// demo returns the demo, or nil if there is none.
func (*program) demo() func(context.Context, cli.Flags, io.Writer) error {
	show := demo.NewDemo(demo.Config{Version: programVersion(), RunGateway: demoGateway})
	if show == nil {
		return nil
	}
	return func(ctx context.Context, _ cli.Flags, out io.Writer) error { return show(ctx, out) }
}

// demoGateway runs a command in this process with its own root policy and home. Flags and
// environment cannot set those.
func demoGateway(ctx context.Context, h demo.Home, in io.Reader, out, said io.Writer, args ...string) int {
	played := cli.Terminal{
		Ask:    func(context.Context, string) (string, error) { return "2", nil }, // the first is the refusal
		Secret: func(context.Context, string) (string, error) { return h.Passphrase, nil },
	}
	p := &program{getenv: os.Getenv, in: in, out: out, err: said, hostAccess: hostAccess{
		policy:     func() ([]byte, error) { return []byte(demoPolicy), nil },
		home:       func() string { return h.Folder },
		session:    func(getenv func(string) string) func(string) string { return getenv },
		checkOwned: userinfo.CheckOwned,
	}}
	return cli.Run(ctx, cli.Config{
		Version: programVersion(), OpenGateway: p.open, ServeMCP: p.serveMCP, ServeWeb: p.serveWeb, HTTPToken: p.showToken, ShowConfig: p.showConfig,
		Desktop: describeDesktop(), In: in, Out: out, Err: said, Terminal: played,
	}, args)
}
