package clipserver

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
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
// returns a channel that is closed when it is no longer there.
func Serve(ctx context.Context, in io.Reader, out io.Writer, clip any, own func(context.Context) (gone <-chan struct{}, err error)) error {
	if err := json.NewDecoder(in).Decode(clip); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, lifetime)
	defer cancel()
	gone, err := own(ctx)
	if err != nil {
		return err
	}
	if _, err := io.WriteString(out, readyLine); err != nil {
		return err
	}
	select {
	case <-gone:
	case <-ctx.Done():
	}
	return nil
}

// Start starts a process that serves the clip by Serve. stays is a phrase for messages that says how long.
func Start(ctx context.Context, cmd *exec.Cmd, clip any) (stays string, err error) {
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
