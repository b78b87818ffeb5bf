// Command aai-gateway lets AI agents operate the apps of this computer. Without
// arguments it is an MCP server on standard input and output; its help lists the
// commands for people.
//
// This package only connects the other packages: it reads the configuration, selects the
// parts for the operating system (one platform_*.go for each) and passes a gateway to the
// requested door.
package main

import (
	"cmp"
	"context"
	"os"
	"os/signal"
	"path/filepath"
	"runtime/debug"
	"strings"
	"syscall"

	"github.com/gybob/aai-gateway/internal/automation/script/child"
	"github.com/gybob/aai-gateway/internal/config"
	"github.com/gybob/aai-gateway/internal/doors/cli"
	"github.com/gybob/aai-gateway/internal/process"
	"github.com/gybob/aai-gateway/internal/sanitize"
)

// version is set at build time by -ldflags "-X main.version=…".
var version = "devel"

// versionOf returns the program's version: the one set at build time, otherwise the module version
// that Go records, for "go build" in a clone and for "go install".
func versionOf(set string, built *debug.BuildInfo) string {
	if set != "devel" || built == nil || built.Main.Version == "(devel)" {
		return set
	}
	return cmp.Or(built.Main.Version, set)
}

// programVersion returns the version of this program.
func programVersion() string {
	built, _ := debug.ReadBuildInfo()
	return versionOf(version, built)
}

// serverGuardArgument is the argument that makes this program the supervisor of an MCP server.
const serverGuardArgument = "hold-server"

// Arguments of this program in isolated sessions, each followed by the session's folder: the
// supervisor of a session, the program in the session, and the process that holds its views.
const (
	sessionGuardArgument = "hold-session"
	inSessionArgument    = "in-session"
	holdViewsArgument    = "hold-views"
)

// runCOMCommand is the argument that makes this program a process that runs COM calls, on Windows.
const runCOMCommand = "run-com"

func main() { os.Exit(runWithHost(newHostAccess())) }

// runWithHost runs the program with its host access.
func runWithHost(g hostAccess) int {
	if len(os.Args) == 2 && os.Args[1] == clipboardArgument {
		return serveClipboard(os.Stdin, os.Stdout)
	}
	if len(os.Args) == 2 && os.Args[1] == runScriptCommand {
		return child.Run(os.Stdin, os.Stdout)
	}
	if len(os.Args) == 2 && os.Args[1] == runCOMCommand {
		return runCOM(os.Stdin, os.Stdout)
	}
	if len(os.Args) > 3 && os.Args[1] == serverGuardArgument {
		return runServerGuard(os.Args[2:])
	}
	if len(os.Args) > 4 && os.Args[1] == sessionGuardArgument {
		_ = process.HideEnvironment(sanitize.IsSecretName) // programs of the session could read it
		return runSessionGuard(os.Args[2], os.Args[3:])
	}
	if len(os.Args) == 3 && os.Args[1] == holdViewsArgument {
		return holdViews(os.Args[2])
	}
	args, sessionFolder := os.Args[1:], ""
	if len(args) > 2 && args[0] == inSessionArgument {
		sessionFolder, args = args[1], args[2:]
	}
	_ = process.HideEnvironment(sanitize.IsSecretName) // on failure, the user's other programs can read it as before
	terminal := cli.NewTerminal(os.Stdin, os.Stdout, os.Stderr)
	p := newProgram(g)
	p.secret, p.args, p.sessionFolder = terminal.Secret, args, sessionFolder
	return cli.Run(context.Background(), cli.Config{
		Version:     programVersion(),
		OpenGateway: p.open,
		ServeMCP:    p.serveMCP,
		OpenMinimal: p.minimalGateway,
		ServeWeb:    p.serveWeb,
		HTTPToken:   p.showToken,
		HTTPTokens:  p.agentTokens,
		ShowConfig:  p.showConfig,
		Name:        nameOf(os.Args[0]),
		Profile:     profileOf(os.Args[0]),
		Desktop:     describeDesktop(),
		Clients:     p.clients,
		RunDemo:     p.demo(),
		RunSession:  p.sessions(),
		NewDoctor:   p.doctor,
		In:          os.Stdin,
		Out:         os.Stdout,
		Err:         os.Stderr,
		Terminal:    terminal,
	}, args)
}

// newProgram returns the program with the environment at its start.
func newProgram(g hostAccess) *program {
	environ := os.Environ()
	return &program{getenv: environmentSnapshot(environ), environ: environ, in: os.Stdin, out: os.Stdout, err: os.Stderr, hostAccess: g}
}

// axterminator is the other name of this program.
const axterminator = "axterminator"

// nameOf returns axterminator if the program was called by that name, or "".
func nameOf(path string) string {
	if strings.TrimSuffix(strings.ToLower(filepath.Base(path)), ".exe") == axterminator {
		return axterminator
	}
	return ""
}

// profileOf returns the profile for a program name: "axterminator" serves the desktop tools.
func profileOf(path string) string {
	if nameOf(path) != "" {
		return config.ProfileDesktop
	}
	return ""
}

// ignoreBrokenPipe makes writing to closed standard output and error fail, for the rest of the
// program's life. By default Go would end the program, and running calls would have no recorded
// end. It does not ignore the signal, because child processes would inherit that.
func ignoreBrokenPipe() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) }
