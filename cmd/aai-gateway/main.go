// Command aai-gateway lets AI agents operate the apps of this computer. Without
// arguments it is an MCP server on standard input and output; its help lists the
// commands for people.
//
// This package only joins the rooms: it reads the configuration, picks what the
// operating system has (one platform_*.go for each) and hands a gateway to the
// door that was asked for.
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

// versionOf is what the program says that it is: what it was built as, or else what Go
// knows of its source, which it does for "go build" in a clone and for "go install".
func versionOf(set string, built *debug.BuildInfo) string {
	if set != "devel" || built == nil || built.Main.Version == "(devel)" {
		return set
	}
	return cmp.Or(built.Main.Version, set)
}

// programVersion is versionOf this program.
func programVersion() string {
	built, _ := debug.ReadBuildInfo()
	return versionOf(version, built)
}

// serverGuardArgument is the argument by which the program is the guard of an MCP server.
const serverGuardArgument = "hold-server"

func main() { os.Exit(runWithHost(newHostAccess())) }

// runWithHost is the program on its grounds.
func runWithHost(g hostAccess) int {
	if len(os.Args) == 2 && os.Args[1] == clipboardArgument {
		return serveClipboard(os.Stdin, os.Stdout)
	}
	if len(os.Args) == 2 && os.Args[1] == runScriptCommand {
		return child.Run(os.Stdin, os.Stdout)
	}
	if len(os.Args) > 3 && os.Args[1] == serverGuardArgument {
		return runServerGuard(os.Args[2:])
	}
	_ = process.HideEnvironment(sanitize.IsSecretName) // what it cannot, the person's own programs read as before
	terminal := cli.NewTerminal(os.Stdin, os.Stdout, os.Stderr)
	p := newProgram(g)
	p.secret = terminal.Secret
	return cli.Run(context.Background(), cli.Config{
		Version:     programVersion(),
		OpenGateway: p.open,
		ServeMCP:    p.serveMCP,
		OpenMinimal: p.minimalGateway,
		ServeWeb:    p.serveWeb,
		HTTPToken:   p.showToken,
		HTTPTokens:  p.agentTokens,
		ShowConfig:  p.showConfig,
		Profile:     profileOf(os.Args[0]),
		Desktop:     describeDesktop(),
		Clients:     p.clients,
		RunDemo:     p.demo(),
		NewDoctor:   p.doctor,
		In:          os.Stdin,
		Out:         os.Stdout,
		Err:         os.Stderr,
		Terminal:    terminal,
	}, os.Args[1:])
}

// newProgram is the program as it was started: it goes by the environment of then.
func newProgram(g hostAccess) *program {
	environ := os.Environ()
	return &program{getenv: environmentSnapshot(environ), environ: environ, in: os.Stdin, out: os.Stdout, err: os.Stderr, hostAccess: g}
}

// profileOf is what agents are served by a program of this name: those who know it as the
// desktop tools find them.
func profileOf(name string) string {
	base := strings.TrimSuffix(strings.ToLower(filepath.Base(name)), ".exe")
	if base == "axterminator" {
		return config.ProfileDesktop
	}
	return ""
}

// ignoreBrokenPipe makes writing to standard output and error fail when nobody reads them,
// for the rest of the program's life: Go would end it there and then, and calls that
// are under way would have no end on record. It does not ignore the signal, which
// programs that the gateway starts would inherit.
func ignoreBrokenPipe() { signal.Notify(make(chan os.Signal, 1), syscall.SIGPIPE) }
