// Package cli is the door for people at a terminal: the commands of
// aai-gateway. A command that touches an app, or what the gateway knows, is a
// call like any other: it goes through [aai.Gateway.Do] with the door "cli", so
// it passes the same gates and is on the same record. The package knows nothing
// of catalogs, policies and journals; it asks the gateway's own app, [aai.BuiltinApp],
// whose tools answer in JSON.
//
// Standard output carries the result alone and standard error everything said
// beside it. With --format json errors are on standard output too, so that a
// program reads one stream. Texts of apps are shown without control characters on
// a terminal, and go byte for byte into a pipe.
package cli

import (
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/gybob/aai-gateway"
)

// Config is what the commands need from the program around them. Open, ServeMCP,
// HTTPToken, HTTPTokens and ShowConfig must be set.
type Config struct {
	Version string
	// OpenGateway builds the gateway when a command needs it, at most once in a Run, and
	// returns what closes it.
	OpenGateway func(Flags) (*aai.Gateway, func() error, error)
	// ServeMCP serves agents until ctx ends or they hang up.
	ServeMCP func(ctx context.Context, f Flags, o ServeOptions) error
	// OpenMinimal makes, where no gateway can be opened, one of nothing but the tools "stop" and
	// "running", off the record. Nil: there is none.
	OpenMinimal func() (*aai.Gateway, error)
	// ServeWeb serves the page until ctx ends. Nil: there is no such command.
	ServeWeb func(ctx context.Context, f Flags, o WebOptions) error
	// HTTPToken returns the token that clients of "mcp serve --http" show, a new
	// one if asked to rotate.
	HTTPToken func(f Flags, rotate bool) (string, error)
	// HTTPTokens are those that agents have of their own.
	HTTPTokens func(Flags) (Tokens, error)
	// ShowConfig returns the settings in effect, in the order to show them.
	ShowConfig func(Flags) ([]Setting, error)
	// Profile is what agents are served where no flag says it; empty: what is configured.
	Profile string
	// Desktop describes the desktop, whose tools have commands of their own. It is
	// not called; nil where there is none.
	Desktop *aai.App
	// Clients are the agents' programs that can be told of the gateway. Nil: there are no
	// such commands.
	Clients func(Flags) (Clients, error)
	// RunDemo shows the gateway at work. Nil where the platform has none: then there
	// is no such command.
	RunDemo func(ctx context.Context, f Flags, out io.Writer) error
	// NewDoctor makes a doctor, and what closes what it opened. It may ask whether a window may
	// come up on the person's screen; nil: nobody is there. Nil: there is no such command.
	NewDoctor func(f Flags, mayShow func(context.Context) bool) (Doctor, func() error, error)

	In       io.Reader
	Out, Err io.Writer
	// Terminal says what In, Out and Err are; the zero Terminal says that nobody
	// is there.
	Terminal Terminal
	// Session is what "this session" means for consent and references.
	Session string
}

// Flags are the flags every command takes. An empty one was not given.
type Flags struct {
	Config   string // the configuration file
	LogLevel string // "debug", "info", "warn" or "error"
	Dev      bool
	// InsecureStorage allows a key of secrets that lies in a file.
	InsecureStorage bool
}

// ServeOptions say how agents reach the server: on standard input and output, or
// over HTTP. What is empty is as configured.
type ServeOptions struct {
	Profile string // "apps", "desktop" or "all"
	HTTP    bool
	Changes []Change // of settings, for this run
}

// A Change is a setting that a flag sets.
type Change struct {
	Key   string
	Value any
	Flag  string // such as "--port"
}

// A Setting is one value of the configuration in effect.
type Setting struct {
	Name   string `json:"name"`
	Value  any    `json:"value"`
	Origin string `json:"origin"` // where it came from, such as "default" or a file
}

// Run runs one command line, without the program's name, and returns the exit
// code of the process (see exit.go). An interrupt or a termination signal cancels
// the command; a second one ends the process at once. Run is called once in a
// process.
func Run(ctx context.Context, cfg Config, args []string) int {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	defer context.AfterFunc(ctx, stop)()

	r := &run{cfg: withStreams(cfg)}
	r.output = &output{out: r.cfg.Out, err: r.cfg.Err, terminal: cfg.Terminal, format: formatOf(args)}
	err := newRoot(r, args).ExecuteContext(ctx)
	r.close()
	if err == nil {
		err = r.output.failure
	}
	if ctx.Err() != nil && err != nil {
		err = &interrupted{cause: err}
	}
	if err != nil {
		r.output.showError(err)
	}
	return exitCode(err)
}

// run is one command line at work.
type run struct {
	cfg    Config
	flags  Flags
	output *output

	cachedGateway *aai.Gateway
	closeGateway  func() error
	// showsOwnProgress says that the command tells what it waits for itself.
	showsOwnProgress bool
}

// gateway opens the gateway, once.
func (r *run) gateway() (*aai.Gateway, error) {
	if r.cachedGateway != nil {
		return r.cachedGateway, nil
	}
	stop := r.progress("waiting for the gateway to start")
	defer stop()
	gateway, closing, err := r.cfg.OpenGateway(r.flags)
	if err != nil {
		return nil, err
	}
	r.cachedGateway, r.closeGateway = gateway, closing
	return gateway, nil
}

func (r *run) close() {
	if r.closeGateway == nil {
		return
	}
	if err := r.closeGateway(); err != nil {
		r.output.warn("the gateway did not close well: " + err.Error())
	}
}

func withStreams(cfg Config) Config {
	if cfg.In == nil {
		cfg.In = strings.NewReader("")
	}
	if cfg.Out == nil {
		cfg.Out = io.Discard
	}
	if cfg.Err == nil {
		cfg.Err = io.Discard
	}
	return cfg
}

// interrupted is a failure after the person, or the system, ended the command.
type interrupted struct{ cause error }

func (i *interrupted) Error() string { return "interrupted" }
func (i *interrupted) Unwrap() error { return i.cause }

func isInterrupted(err error) bool {
	_, ok := errors.AsType[*interrupted](err)
	return ok
}
