package devtools

import (
	"context"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"syscall"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/process"
)

// FindChromium returns the path of an installed Chromium or of a browser made of it.
func FindChromium() (string, error) {
	for _, name := range []string{"chromium", "chromium-browser", "google-chrome-stable", "google-chrome", "microsoft-edge", "brave-browser", "vivaldi"} {
		if path, err := exec.LookPath(name); err == nil {
			return path, nil
		}
	}
	e := aai.Errorf(aai.AppNotFound, "no Chromium is installed")
	e.Delivery, e.Hint = aai.NotDelivered, "Install chromium, google-chrome or microsoft-edge."
	return "", e
}

// isInUse reports whether a running browser has the profile.
func isInUse(profile string) bool {
	holder := lockHolder(profile)
	return holder > 0 && isOwn(filepath.Join("/proc", strconv.Itoa(holder)))
}

// startWithPipe starts a browser that only this process can use, and that ends with it.
func (b *Browsers) startWithPipe(ctx context.Context, program string, environ []string, profile string, args []string) (*Browser, error) {
	cmd := exec.CommandContext(context.WithoutCancel(ctx), program, append(args, "--remote-debugging-pipe")...)
	cmd.Env = environ
	itsIn, in, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	out, itsOut, err := os.Pipe()
	if err != nil {
		_, _ = itsIn.Close(), in.Close()
		return nil, err
	}
	cmd.ExtraFiles = []*os.File{itsIn, itsOut} // it reads from 3 and writes to 4
	child, err := process.Start(cmd, process.Limits{})
	_, _ = itsIn.Close(), itsOut.Close()
	if err != nil {
		_, _ = in.Close(), out.Close()
		return nil, notStarted(program, err)
	}
	go func() { _, _ = io.Copy(io.Discard, child.Stdout) }()
	e := Endpoint{Name: filepath.Base(program), PID: child.PID(), Profile: profile, path: fmt.Sprintf("pipe-%d-%d", child.PID(), time.Now().UnixNano())}
	one, err := newBrowser(ctx, e, newPipe(in, out), b.listeners.Call)
	if err != nil {
		child.Stop(false)
		return nil, notStarted(program, err)
	}
	b.keep(one, child)
	return one, nil
}

// startWithPort starts a browser that outlives this process, and allows it to agents.
func (b *Browsers) startWithPort(ctx context.Context, program string, environ []string, profile string, args []string) (*Browser, error) {
	if err := os.Remove(filepath.Join(profile, portFile)); err != nil && !os.IsNotExist(err) {
		return nil, err
	}
	cmd := exec.CommandContext(context.WithoutCancel(ctx), program, append(args, "--remote-debugging-port=0")...)
	cmd.Env, cmd.SysProcAttr = environ, &syscall.SysProcAttr{Setsid: true}
	if err := cmd.Start(); err != nil {
		return nil, notStarted(program, err)
	}
	ended := make(chan error, 1)
	go func() { ended <- cmd.Wait() }()
	e := Endpoint{Name: filepath.Base(program), PID: cmd.Process.Pid, Profile: profile}
	for {
		if e.readPortFile() {
			if err := b.Connect(ctx, e); err != nil {
				return nil, err
			}
			b.mu.Lock()
			defer b.mu.Unlock()
			return b.open[e.ID()], nil
		}
		select {
		case err := <-ended:
			return nil, notStarted(program, fmt.Errorf("it has ended: %w", err))
		case <-ctx.Done():
			return nil, notStarted(program, ctx.Err())
		case <-time.After(20 * time.Millisecond):
		}
	}
}

func notStarted(program string, err error) error {
	e := aai.Errorf(aai.AutomationFailed, "%s did not start: %w", program, err)
	e.Delivery, e.Hint = aai.NotDelivered, "Start it at a terminal to see why; as root it does not run."
	return e
}
