package x11

import (
	"bufio"
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"syscall"
	"time"

	"github.com/gybob/aai-gateway/internal/desktop"
)

// The owner of a clip must serve it to other programs. A separate process serves it, so
// that the clip outlives the gateway: a client may end the gateway at any time, and a
// command ends at once.

// clipLifetime limits the process that serves a clip, since a clip may contain a secret.
const clipLifetime = 10 * time.Minute

// clipReadyLine is the line that the process writes once it owns the clipboard.
const clipReadyLine = "kept\n"

// ServeClip reads a clip from in, puts it on the clipboard, writes clipReadyLine to out,
// and serves the clip. It returns when another program copies something, after ten
// minutes, or when the X server is gone.
func (d *Display) ServeClip(ctx context.Context, in io.Reader, out io.Writer) error {
	var clip desktop.Clip
	if err := json.NewDecoder(in).Decode(&clip); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, clipLifetime)
	defer cancel()
	if err := d.ownClip(ctx, clip); err != nil {
		return err
	}
	if _, err := io.WriteString(out, clipReadyLine); err != nil {
		return err
	}
	c, err := d.clipper(ctx)
	if err != nil {
		return err
	}
	select {
	case <-c.lost:
	case <-c.gone:
	case <-ctx.Done():
	}
	return nil
}

// serveClipInChild starts a process that serves the clip, and returns its PID.
func (d *Display) serveClipInChild(ctx context.Context, clip desktop.Clip) (pid int, err error) {
	text, err := json.Marshal(clip)
	if err != nil {
		return 0, err
	}
	cmd := d.config.ClipServer()
	cmd.Stdin, cmd.Dir = bytes.NewReader(text), "/"
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true}
	out, err := cmd.StdoutPipe()
	if err != nil {
		return 0, err
	}
	if err := cmd.Start(); err != nil {
		return 0, err
	}
	said := make(chan error, 1)
	go func() {
		line, err := bufio.NewReader(out).ReadString('\n')
		if err == nil && line != clipReadyLine {
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
		return 0, errors.Join(err, cmd.Process.Kill())
	}
	return cmd.Process.Pid, nil
}
