package clipserver

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os/exec"
	"syscall"
	"time"
)

// lifetime limits the process that serves a clip, since a clip may contain a secret.
const lifetime = 10 * time.Minute

// readyLine is the line that the process writes once it owns the clipboard.
const readyLine = "kept\n"

// patience limits the start of the process.
const patience = 10 * time.Second

// Serve reads a clip from in, calls own, writes to out that the process has the clipboard, and returns after another
// program copied something, after ten minutes, or when the screen is gone. own puts the clip on the clipboard, and
// returns a channel that reports another clip, and one of the end of the screen.
func Serve(ctx context.Context, in io.Reader, out io.Writer, clip any, own func(context.Context) (replaced, gone <-chan struct{}, err error)) error {
	if err := json.NewDecoder(in).Decode(clip); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, lifetime)
	defer cancel()
	replaced, gone, err := own(ctx)
	if err != nil {
		return err
	}
	if _, err := io.WriteString(out, readyLine); err != nil {
		return err
	}
	select {
	case <-replaced:
	case <-gone:
	case <-ctx.Done():
	}
	return nil
}

// Put puts a clip on the clipboard: in a process that command starts, and by own in this one if command is nil or the
// process fails. stays is a phrase for messages that says how long the clip stays.
func Put(ctx context.Context, command func() *exec.Cmd, log *slog.Logger, clip any, own func(context.Context) error) (stays string, err error) {
	if command != nil {
		if stays, err = start(ctx, command(), clip); err == nil {
			return stays, nil
		}
		log.Warn("no process keeps the clipboard", "error", err)
	}
	return "as long as the gateway runs, which keeps it", own(ctx)
}

// start starts a process that serves the clip by Serve.
func start(ctx context.Context, cmd *exec.Cmd, clip any) (stays string, err error) {
	text, err := json.Marshal(clip)
	if err != nil {
		return "", err
	}
	cmd.Stdin, cmd.Dir = bytes.NewReader(text), "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return "", err
	}
	if err := cmd.Start(); err != nil {
		return "", err
	}
	said := make(chan error, 1)
	go func() {
		line, err := bufio.NewReader(out).ReadString('\n')
		if err == nil && line != readyLine {
			err = fmt.Errorf("it says %q", line)
		}
		said <- err
		_ = cmd.Wait() // its exit status does not matter
	}()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	select {
	case err = <-said:
	case <-ctx.Done():
		err = ctx.Err()
	}
	if err != nil {
		return "", errors.Join(err, cmd.Process.Kill())
	}
	return fmt.Sprintf("for %s at most: a process of the gateway (%d) keeps it", lifetime, cmd.Process.Pid), nil
}
