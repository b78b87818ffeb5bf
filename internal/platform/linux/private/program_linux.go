package private

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"time"
)

// A Command describes how to start a program.
type Command struct {
	Name     string // looked up in the session's PATH, unless it contains a slash
	Args     []string
	Env      []string   // in addition to the session's; these take precedence
	Files    []*os.File // from descriptor 3 on
	Graceful bool       // End sends SIGTERM before SIGKILL
}

// A Program runs in a session. It is the leader of its own process group.
type Program struct {
	PID  int
	Name string

	log      string
	graceful bool
	done     chan struct{}
	err      error // of its end; valid after done
}

// Start starts a program. Its output goes to a file, see [Program.Output].
func (s *Session) Start(c Command) (*Program, error) {
	path, err := s.LookPath(c.Name)
	if err != nil {
		return nil, err
	}
	p := &Program{Name: filepath.Base(c.Name), graceful: c.Graceful, done: make(chan struct{})}
	p.log = s.Path("log", fmt.Sprintf("%d-%s", len(s.started)+1, p.Name))
	log, err := os.OpenFile(p.log, os.O_CREATE|os.O_WRONLY|os.O_APPEND, 0o600)
	if err != nil {
		return nil, err
	}
	defer log.Close() //nolint:errcheck // the program has its own
	// It ends with the session, and with no context: the end of other programs may need it.
	words := append(append(s.Enter(s.Home), path), c.Args...)
	cmd := exec.CommandContext(context.Background(), words[0], words[1:]...)
	cmd.Env = append(append([]string{}, s.Env...), c.Env...)
	cmd.Dir, cmd.Stdout, cmd.Stderr, cmd.ExtraFiles = s.Home, log, log, c.Files
	cmd.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	p.PID = cmd.Process.Pid
	s.started = append(s.started, p)
	go func() {
		p.err = cmd.Wait()
		close(p.done)
	}()
	return p, nil
}

// LookPath finds a program in the session's PATH, as Start does. The gateway's own PATH
// may lead to another program.
func (s *Session) LookPath(name string) (string, error) {
	if strings.Contains(name, "/") {
		return name, nil
	}
	for _, dir := range filepath.SplitList(s.Getenv("PATH")) {
		file := filepath.Join(dir, name)
		if info, err := os.Stat(file); err == nil && info.Mode().IsRegular() && info.Mode()&0o111 != 0 {
			return file, nil
		}
	}
	return "", fmt.Errorf("there is no %s in %s", name, s.Getenv("PATH"))
}

// Output returns the program's output so far, at most its last 64 KiB. It is safe for
// concurrent use.
func (p *Program) Output() string {
	const most = 64 << 10
	text, err := os.ReadFile(p.log)
	if err != nil {
		return err.Error()
	}
	return string(text[max(0, len(text)-most):])
}

// Done returns a channel that is closed when the program has ended.
func (p *Program) Done() <-chan struct{} { return p.done }

// AwaitEnd waits until the program has ended, and returns the result of exec.Cmd.Wait.
func (p *Program) AwaitEnd() error {
	<-p.done
	return p.err
}

// endError returns the error for a program that has ended unexpectedly.
func (p *Program) endError() error {
	if err := p.AwaitEnd(); err != nil {
		return fmt.Errorf("%s has ended: %w\n%s", p.Name, err, p.Output())
	}
	return fmt.Errorf("%s has ended\n%s", p.Name, p.Output())
}

// Running reports whether the program has not ended.
func (p *Program) Running() bool {
	select {
	case <-p.done:
		return false
	default:
		return true
	}
}

// Signal sends a signal to the program and its process group.
func (p *Program) Signal(signal syscall.Signal) error {
	if !p.Running() {
		return p.endError()
	}
	return syscall.Kill(-p.PID, signal)
}

// End ends the program and its process group, and waits until the program is gone. The
// program may have ended before.
func (p *Program) End() error {
	// Sway loses a signal that it gets before it waits for some.
	for late := time.Now().Add(patience); p.graceful && p.Running() && time.Now().Before(late); {
		_ = syscall.Kill(p.PID, syscall.SIGTERM) // it may have ended just now
		select {
		case <-p.done:
		case <-time.After(200 * time.Millisecond):
		}
	}
	if !p.Running() {
		return nil
	}
	if err := syscall.Kill(-p.PID, syscall.SIGKILL); err != nil && !errors.Is(err, syscall.ESRCH) {
		return fmt.Errorf("%s cannot be ended: %w", p.Name, err)
	}
	<-p.done
	return nil
}

// Await waits until ready returns true. It fails after two minutes or when the program
// ends.
func (p *Program) Await(ctx context.Context, what string, ready func() bool) error {
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	for !ready() {
		select {
		case <-p.done:
			return fmt.Errorf("it never came to this: %s: %w", what, p.endError())
		case <-ctx.Done():
			return fmt.Errorf("%s: it is still not so: %s: %w", p.Name, what, ctx.Err())
		case <-time.After(5 * time.Millisecond):
		}
	}
	return nil
}
