package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/doctor"
	"github.com/gybob/aai-gateway/internal/doors/cli"
	"github.com/gybob/aai-gateway/internal/platform/linux/private"
	"github.com/gybob/aai-gateway/internal/platform/linux/session"
	"github.com/gybob/aai-gateway/internal/process"
)

// Three processes of this program run an isolated session. The first creates its folder. Below it a
// supervisor ends all processes of the session and removes its files when either of the others
// ends. The third, in the session, starts the screen and runs the command itself.

// sessionGrace is how long the program in the session may take to end after SIGTERM.
const sessionGrace = 3 * time.Second

// runSessionGuard supervises the program in the session of a folder.
func runSessionGuard(folder string, args []string) int {
	isolated, err := private.OpenIsolated(folder)
	if err != nil {
		_, _ = fmt.Fprintln(os.Stderr, "the isolated session:", err)
		return 1
	}
	status := process.RunForegroundSupervisor(args, sessionGrace)
	_ = isolated.Finish() // the first process tries it again
	return status
}

// sessions returns the function of "session run".
func (p *program) sessions() func(context.Context, cli.SessionOptions, []string) error {
	return func(ctx context.Context, o cli.SessionOptions, command []string) error {
		return p.inSession(ctx, o, func(ctx context.Context) error { return p.runIn(ctx, command) })
	}
}

// inSession runs do in an isolated session, with desktopEnviron. The session does not exist in the
// process that a person or client has started: this process runs the same command line in it.
func (p *program) inSession(ctx context.Context, o cli.SessionOptions, do func(context.Context) error) error {
	if p.sessionFolder == "" {
		return p.createSession(ctx, o)
	}
	isolated, err := private.OpenIsolated(p.sessionFolder)
	if err != nil {
		return aai.Errorf(aai.InvalidParams, "the isolated session: %w", err)
	}
	begun := time.Now()
	desk, err := isolated.Start(ctx, append(withoutSecrets(p.environ), session.PrivateMark+"=1"))
	defer func() { _ = desk.End() }() // the supervisor ends the rest
	if err != nil {
		return aai.Errorf(aai.AutomationFailed, "the isolated session: %w", err)
	}
	_, _ = fmt.Fprintf(p.err, "aai-gateway: isolated session on display %s, home %s, up in %.1f s\n", desk.Display, desk.Home, time.Since(begun).Seconds())
	p.desktopEnviron = desk.Env
	ctx, cancel := context.WithCancelCause(ctx)
	defer cancel(nil)
	go func() { cancel(desk.AwaitLoss(ctx)) }()
	err = do(ctx)
	if cause := context.Cause(ctx); cause != nil && !errors.Is(cause, context.Canceled) {
		return aai.Errorf(aai.AutomationFailed, "the isolated session ended: %w", cause)
	}
	return err
}

// createSession creates an isolated session, and runs this command line in it.
func (p *program) createSession(ctx context.Context, o cli.SessionOptions) error {
	if err := checkRequirements(); err != nil {
		return err
	}
	if len(o.Folders) > 0 || o.Home || o.Keep != "" {
		return aai.Errorf(aai.AutomationNotSupported, "--folder, --home and --keep do not work yet")
	}
	isolated, err := private.NewIsolated(private.Options{Width: o.Width, Height: o.Height})
	if err != nil {
		return aai.Errorf(aai.AutomationFailed, "no isolated session can be created: %w", err)
	}
	cmd := exec.CommandContext(context.WithoutCancel(ctx), "/proc/self/exe")
	cmd.Args = append([]string{os.Args[0], inSessionArgument, isolated.Folder}, p.args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = p.in, p.out, p.err
	cmd.ExtraFiles = []*os.File{isolated.LockFile()}
	status, err := process.RunSupervised(ctx, cmd, []string{"/proc/self/exe", sessionGuardArgument, isolated.Folder})
	if finished := isolated.Finish(); finished != nil {
		_, _ = fmt.Fprintf(p.err, "warning: files of the isolated session remain in %s: %v\n", isolated.Folder, finished)
	}
	if err != nil {
		return aai.Errorf(aai.AutomationFailed, "the isolated session did not start: %w", err)
	}
	return cli.ExitStatus(status)
}

// checkRequirements returns an error that says which programs to install, or nil.
func checkRequirements() error {
	missing := private.MissingRequirements()
	if len(missing) == 0 {
		return nil
	}
	var programs, packages []string
	for _, m := range missing {
		programs, packages = append(programs, m.Program), append(packages, m.Package)
	}
	e := aai.Errorf(aai.AppNotFound, "an isolated session needs %s", strings.Join(programs, ", "))
	e.Hint = "Install: " + doctor.InstallCommand(packages...)
	return e
}

// runIn runs a command of the person in the session, with the input and the outputs of this process.
func (p *program) runIn(ctx context.Context, command []string) error {
	cmd := exec.CommandContext(ctx, command[0], command[1:]...)
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = p.desktopEnviron, p.in, p.out, p.err
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = time.Second
	err := cmd.Run()
	if exited, ok := errors.AsType[*exec.ExitError](err); ok {
		if how, ok := exited.Sys().(syscall.WaitStatus); ok && how.Signaled() {
			return cli.ExitStatus(128 + int(how.Signal()))
		}
		return cli.ExitStatus(exited.ExitCode())
	}
	if err != nil {
		return aai.Errorf(aai.AppNotFound, "the command cannot be run: %w", err)
	}
	return nil
}
