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

// A clip is served by who put it there. So that it does not end with the gateway, which a
// client may end at any time and the command line does at once, a process of its own
// serves it.

// clipLifetime is how long it does at most: what lies on a clipboard may be a secret.
const clipLifetime = 10 * time.Minute

// clipReadyLine is what the process says when the clip is on the clipboard.
const clipReadyLine = "kept\n"

// ServeClip reads a clip, puts it on the clipboard, says so, and serves it until something
// else is copied, ten minutes have passed or the screen is gone.
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

// serveClipInChild has a process keep the clip, and returns which.
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
		_ = cmd.Wait() // how it ends is its own business
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
