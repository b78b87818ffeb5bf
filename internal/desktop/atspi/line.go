package atspi

import (
	"context"
	"slices"
	"time"

	"aai/internal/dbuswire"
	"aai/internal/desktop"
)

// An act may last longer than its answer: GTK 3 runs a dialog in the middle of the
// message that asked for it (gtk_dialog_run), and goes on with the message when the
// dialog is closed. Whatever comes over the same connection until then, even its end,
// hangs the app at the next key that anybody presses, with what was not saved in it:
// atk-bridge tells the registry of the key, waits for the answer in a loop of its own,
// and there takes up each connection on which there is something, also the one that
// it is in the middle of. So each act has a connection of its own to the app, on which
// there is silence until what the act opened is gone.

// A line is a connection to an app's own socket over which one act went.
type line struct {
	conn    *dbuswire.Conn
	used    time.Time
	windows []desktop.ID // of the app, before the act
}

const (
	// soon is within what time an act has opened what it opens.
	soon = 5 * time.Second
	// maxLines is how many are kept of one app.
	maxLines = 64
)

// over reports whether what the act opened is gone, by the app's windows now.
func (l *line) over(windows []desktop.ID) bool {
	for _, w := range windows {
		if !slices.Contains(l.windows, w) {
			return false
		}
	}
	return time.Since(l.used) > soon || !l.conn.Alive()
}

// newLine makes the connection for one act. It is nil where the app has no socket of
// its own that can be reached.
func (p *program) newLine(ctx context.Context) (*dbuswire.Conn, error) {
	p.mu.Lock()
	address := p.address
	p.mu.Unlock()
	if address == "" {
		return nil, nil
	}
	var windows []desktop.ID
	r := &round{}
	r.put(p.bus.ask.children, p.root, func(d *dbuswire.Decoder) {
		for _, w := range readRefs(d, p.sender) {
			windows = append(windows, w.id(p.sender))
		}
	})
	if err := p.run(ctx, r); err != nil {
		return nil, err
	}
	p.leave(func(l *line) bool { return l.over(windows) }, maxLines-1)
	conn := p.dialPeer(ctx, address, soon)
	if conn == nil {
		return nil, nil
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lines = append(p.lines, &line{conn, time.Now(), windows})
	return conn, nil
}

// leave closes the connections of acts that are over, and keeps no more of the others
// than so many.
func (p *program) leave(over func(*line) bool, most int) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lines = slices.DeleteFunc(p.lines, func(l *line) bool {
		ended := over(l)
		if ended {
			l.conn.Close()
		}
		return ended
	})
	for len(p.lines) > max(most, 0) {
		p.hold(p.lines[0])
		p.lines = p.lines[1:]
	}
}

// leaveAll gives up the connections of all acts: nobody here will speak to the app any
// more. Those of which it is not known that they are over stay open after us.
func (p *program) leaveAll() {
	var windows []desktop.ID
	known := p.mirror.Last()
	if known != nil {
		for _, top := range known.Children(-1) {
			windows = append(windows, known.Elements[top].ID)
		}
	}
	p.leave(func(l *line) bool {
		l.used = time.Time{}
		return known != nil && l.over(windows)
	}, 0)
}

// hold closes our end of a connection without its other end seeing it.
func (p *program) hold(l *line) {
	defer l.conn.Close()
	if p.bus.config.Hold == nil || !l.conn.Alive() {
		return
	}
	file, err := l.conn.File()
	if err == nil {
		err = p.bus.config.Hold(file)
		_ = file.Close()
	}
	if err != nil {
		p.bus.config.Log.Warn("a connection to an app could not be kept open; if a dialog is open in it, it may hang", "app", p.app.ID, "error", err)
	}
}
