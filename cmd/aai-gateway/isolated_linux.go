package main

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"os/signal"
	"path/filepath"
	"slices"
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
	creator := os.Getppid()
	status := process.RunForegroundSupervisor(args, sessionGrace)
	if os.Getppid() != creator { // it was killed
		_ = isolated.Finish()
	}
	return status
}

// sessions returns the function of "session run".
func (p *program) sessions() func(context.Context, cli.SessionOptions, []string) error {
	return func(ctx context.Context, o cli.SessionOptions, command []string) error {
		o.Label = filepath.Base(command[0]) // arguments may be secret
		// ^C and ^\\ are for the command, which gets them from the terminal too.
		signal.Notify(make(chan os.Signal, 1), os.Interrupt, syscall.SIGQUIT)
		ctx, stop := signal.NotifyContext(context.WithoutCancel(ctx), syscall.SIGTERM, syscall.SIGHUP)
		defer stop()
		return p.inSession(ctx, o, func(ctx context.Context) error { return p.runIn(ctx, o, command) })
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
	desk, err := isolated.Start(ctx, append(withoutSecrets(p.environ), session.PrivateMark+"="+isolated.Folder), []string{"/proc/self/exe", holdViewsArgument})
	defer func() { _ = desk.End() }() // the supervisor ends the rest
	if err != nil {
		return aai.Errorf(aai.AutomationFailed, "the isolated session: %w", err)
	}
	_, _ = fmt.Fprintf(p.err, "aai-gateway: isolated session on display %s, home %s, up in %.1f s\n", desk.Display, desk.Home, time.Since(begun).Seconds())
	if desk.NoOverlay != nil {
		_, _ = fmt.Fprintf(p.err, "aai-gateway: its folders are copies, since no overlay is possible: %v\n", desk.NoOverlay)
	}
	p.desktopEnviron, p.desktopEnter = desk.Env, desk.Enter(desk.Home)
	if len(p.desktopEnter) == 0 {
		p.desktopEnter = []string{"/usr/bin/env", "-C", desk.Home} // file dialogs open there
	}
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
	options, err := p.sessionOptions(o)
	if err != nil {
		return err
	}
	isolated, err := private.NewIsolated(options)
	if err != nil {
		return aai.Errorf(aai.AutomationFailed, "no isolated session can be created: %w", err)
	}
	status, err := p.runThere(ctx, isolated, p.in, p.out)
	if err != nil {
		return aai.Errorf(aai.AutomationFailed, "the isolated session did not start: %w", err)
	}
	return cli.ExitStatus(status)
}

// runThere runs this command line in the session until it ends or ctx does, and finishes the session.
func (p *program) runThere(ctx context.Context, isolated *private.Isolated, in io.Reader, out io.Writer) (status int, err error) {
	cmd := exec.CommandContext(context.WithoutCancel(ctx), "/proc/self/exe")
	cmd.Args = append([]string{os.Args[0], inSessionArgument, isolated.Folder}, p.args...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, out, p.err
	cmd.ExtraFiles = []*os.File{isolated.LockFile()}
	status, err = process.RunSupervised(ctx, cmd, []string{"/proc/self/exe", sessionGuardArgument, isolated.Folder})
	if finished := isolated.Finish(); finished != nil {
		_, _ = fmt.Fprintf(p.err, "warning: files of the isolated session remain in %s: %v\n", isolated.Folder, finished)
	}
	_, _ = io.WriteString(p.err, isolated.Report())
	_ = os.Remove(isolated.Options.Keep) // fails if it holds files
	_ = isolated.LockFile().Close()
	return status, err
}

// holdViews holds the views of the session of a folder.
func holdViews(folder string) int {
	if private.HoldViews(folder, os.Stdin, os.Stdout) != nil {
		return 1
	}
	return 0
}

// sessionOptions checks the choices for a session.
func (p *program) sessionOptions(o cli.SessionOptions) (private.Options, error) {
	options := private.Options{Width: o.Width, Height: o.Height, Wayland: o.Screen == "sway", Label: cmp.Or(o.Label, p.peerIdentity())}
	if err := checkRequirements(options); err != nil {
		return options, err
	}
	views, err := p.views(o)
	if err != nil {
		return options, err
	}
	options.Views = views
	if o.Keep == "" {
		return options, nil
	}
	if options.Keep, err = filepath.Abs(o.Keep); err != nil {
		return options, invalid("--keep: %w", err)
	}
	if len(views) > 0 {
		err = os.Mkdir(options.Keep, 0o700) // no other account can take its place
	}
	if err != nil || len(views) == 0 {
		return options, invalid("--keep: expected a folder that does not exist yet, beside --folder or --home, got %s", aai.CleanLabel(o.Keep, 200))
	}
	return options, nil
}

// views returns the folders to show in the session's home.
func (p *program) views(o cli.SessionOptions) ([]private.View, error) {
	home, err := p.homeFolder()
	if err != nil {
		return nil, err
	}
	views, err := private.ViewsOf(home, o.Home, o.Folders)
	if err != nil {
		return nil, invalid("%w", err)
	}
	return views, nil
}

// folderInSession returns the folder of this process, or its place in the session's home.
func (p *program) folderInSession(o cli.SessionOptions) string {
	home := environmentSnapshot(p.desktopEnviron)("HOME")
	dir, err := os.Getwd()
	views, failed := p.views(o)
	if err != nil || failed != nil {
		return home
	}
	return private.InSession(home, views, dir)
}

// checkRequirements returns an error that says which programs to install, or nil.
func checkRequirements(o private.Options) error {
	missing := private.MissingRequirements(o)
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
func (p *program) runIn(ctx context.Context, o cli.SessionOptions, command []string) error {
	path, err := exec.LookPath(command[0])
	if err != nil {
		return aai.Errorf(aai.AppNotFound, "the command cannot be run: %w", err)
	}
	words, dir := append([]string{path}, command[1:]...), p.folderInSession(o)
	// The last word of desktopEnter is the folder.
	words = append(append(slices.Clone(p.desktopEnter[:len(p.desktopEnter)-1]), dir), words...)
	cmd := exec.CommandContext(ctx, words[0], words[1:]...)
	cmd.Env, cmd.Stdin, cmd.Stdout, cmd.Stderr = p.desktopEnviron, p.in, p.out, p.err
	cmd.Cancel = func() error { return cmd.Process.Signal(syscall.SIGTERM) }
	cmd.WaitDelay = time.Second
	err = cmd.Run()
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
