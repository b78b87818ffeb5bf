// Package cli implements the commands of aai-gateway for people at a terminal. A command
// that touches an app or the gateway's state makes a call by [gateway.Gateway.Do] with the door
// "cli". So the same checks apply as to agents, and the journal records the command.
// The package does not know catalogs, policies and journals; it calls the gateway's own
// app, [aai.BuiltinApp], which answers in JSON.
//
// Standard output carries the result alone; notes, warnings and progress go to standard
// error. With --format json errors go to standard output too, so that a program reads one
// stream. Texts of apps are shown without control characters on a terminal and written
// unchanged into a pipe.
package cli

import (
	"cmp"
	"context"
	"errors"
	"io"
	"os"
	"os/signal"
	"strings"
	"syscall"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/answer"
	"github.com/gybob/aai-gateway/internal/gateway"
)

// Config connects the commands to the main program. OpenGateway, ServeMCP, HTTPToken,
// HTTPTokens and ShowConfig must be set.
type Config struct {
	Version string
	// OpenGateway builds the gateway when a command needs it, at most once in a Run, and
	// returns the function that closes it.
	OpenGateway func(Flags) (*gateway.Gateway, func() error, error)
	// ServeMCP serves agents until ctx ends or the client disconnects.
	ServeMCP func(ctx context.Context, f Flags, o ServeOptions) error
	// OpenMinimal makes a gateway that has only the tools "stop" and "running" and no
	// journal, for use if OpenGateway fails. It may be nil.
	OpenMinimal func() (*gateway.Gateway, error)
	// ServeWeb serves the dashboard until ctx ends. If it is nil, there is no such command.
	ServeWeb func(ctx context.Context, f Flags, o WebOptions) error
	// HTTPToken returns the token for clients of "mcp serve --http"; rotate requests a new
	// one.
	HTTPToken func(f Flags, rotate bool) (string, error)
	// HTTPTokens returns the store of the tokens for one agent each.
	HTTPTokens func(Flags) (Tokens, error)
	// ShowConfig returns the settings in effect, in the order to show them.
	ShowConfig func(Flags) ([]answer.SettingOrigin, error)
	// Name is the name by which the program was called, in help and completions; "" means aai-gateway.
	// Under the name axterminator the commands for windows print the tools' data itself.
	Name string
	// Profile is the profile to serve if no flag sets one; "" means the configured profile.
	Profile string
	// Desktop describes the desktop app for the commands of its tools. It is not called; it is nil
	// where there is no desktop.
	Desktop *aai.App
	// Clients returns the MCP clients with a configuration that can be changed. If it is nil,
	// there are no such commands.
	Clients func(Flags) (Clients, error)
	// RunDemo shows the gateway at work. If it is nil, there is no such command.
	RunDemo func(ctx context.Context, f Flags, out io.Writer) error
	// RunSession runs a command in an isolated session. If it is nil, there are no such sessions.
	RunSession func(ctx context.Context, o SessionOptions, command []string) error
	// NewDoctor returns a doctor and the function that closes its resources. The doctor
	// calls mayShow before it opens a window on the person's screen; mayShow is nil if no
	// person can be asked. If NewDoctor is nil, there is no such command.
	NewDoctor func(f Flags, mayShow func(context.Context) bool) (Doctor, func() error, error)

	In       io.Reader
	Out, Err io.Writer
	// Terminal tells which of In, Out and Err are a terminal; the zero Terminal means none.
	Terminal Terminal
	// Session is the Session of the calls of this process, for session consents and element refs.
	Session string
}

// Flags are the flags that every command takes. An empty field means that the flag was not set.
type Flags struct {
	Config   string // the configuration file
	LogLevel string // "debug", "info", "warn" or "error"
	Dev      bool
	// InsecureStorage permits storing the key of secrets in a file.
	InsecureStorage bool
}

// ServeOptions determine how agents reach the server: standard input and output, or HTTP.
// Empty fields mean the configured value.
type ServeOptions struct {
	Profile string // "apps", "desktop" or "all"
	HTTP    bool
	Session *SessionOptions // the apps are in an isolated session; nil: in the person's
	Changes []Change        // of settings, for this run
}

// A Change is a value that a flag of the command gives to a setting for this run.
type Change struct {
	Key   string
	Value any
	Flag  string // such as "--port"
}

// Run runs one command line, without the program's name, and returns the exit code of the
// process (see exit.go). An interrupt or a termination signal cancels the command; a second
// one ends the process at once. Run may be called once in a process.
func Run(ctx context.Context, cfg Config, args []string) int {
	ctx, stop := signal.NotifyContext(ctx, os.Interrupt, syscall.SIGTERM)
	defer stop()
	defer context.AfterFunc(ctx, stop)()

	r := &run{cfg: withDefaults(cfg)}
	format := formatOf(args)
	if format == formatQuiet {
		r.cfg.Out = io.Discard
	}
	r.output = &output{out: r.cfg.Out, err: r.cfg.Err, terminal: cfg.Terminal, format: format}
	err := newRoot(r, args).ExecuteContext(ctx)
	r.close()
	if err == nil {
		err = r.output.failure
	}
	if _, isStatus := errors.AsType[*findingsError](err); ctx.Err() != nil && err != nil && !isStatus {
		err = &interrupted{cause: err}
	}
	if err != nil {
		r.output.showError(err)
	}
	return exitCode(err)
}

// run holds the state of one command line.
type run struct {
	cfg    Config
	flags  Flags
	output *output

	cachedGateway *gateway.Gateway
	closeGateway  func() error
	// sample asks the model that the person named; nil: none.
	sample func(context.Context, aai.SamplingRequest) (*aai.SamplingResult, error)
	// showsOwnProgress reports that the command shows its progress itself, so callOnce shows none.
	showsOwnProgress bool
}

// gateway opens the gateway on the first call and returns the same one after that.
func (r *run) gateway() (*gateway.Gateway, error) {
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

func withDefaults(cfg Config) Config {
	if cfg.In == nil {
		cfg.In = strings.NewReader("")
	}
	if cfg.Out == nil {
		cfg.Out = io.Discard
	}
	if cfg.Err == nil {
		cfg.Err = io.Discard
	}
	cfg.Name = cmp.Or(cfg.Name, program)
	return cfg
}

// interrupted wraps the error of a command that a signal ended.
type interrupted struct{ cause error }

func (i *interrupted) Error() string { return "interrupted" }
func (i *interrupted) Unwrap() error { return i.cause }

func isInterrupted(err error) bool {
	_, ok := errors.AsType[*interrupted](err)
	return ok
}
