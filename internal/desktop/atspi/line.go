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
	// release ends what keeps the connection open whatever becomes of us; nil where
	// nothing does.
	release func()
}

// end closes the connection.
func (l *line) end() {
	l.conn.Close()
	if l.release != nil {
		l.release()
	}
}

const (
	// soon is within what time an act has opened what it opens.
	soon = 5 * time.Second
	// opened is after what time most acts have.
	opened = 300 * time.Millisecond
	// maxLines is how many are kept of one app.
	maxLines = 64
)

// over reports whether what the act opened is gone, by the app's windows now.
func (l *line) over(windows []desktop.ID) bool {
	return l.settledFor(windows) && time.Since(l.used) > soon || l.release == nil && !l.conn.Alive()
}

// settledFor reports whether there is no window that was not there before the act.
func (l *line) settledFor(windows []desktop.ID) bool {
	return !slices.ContainsFunc(windows, func(w desktop.ID) bool { return !slices.Contains(l.windows, w) })
}

// newLine makes the connection for one act. It is nil where the app has no socket of
// its own that can be reached.
func (p *program) newLine(ctx context.Context) (*line, error) {
	p.mu.Lock()
	address := p.address
	p.mu.Unlock()
	if address == "" {
		return nil, nil
	}
	windows, err := p.tops(ctx)
	if err != nil {
		return nil, err
	}
	p.leave(func(l *line) bool { return l.over(windows) })
	conn := p.dialPeer(ctx, address, soon)
	if conn == nil {
		return nil, nil
	}
	l := &line{conn: conn, used: time.Now(), windows: windows}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.lines = append(p.lines, l); len(p.lines) > maxLines {
		p.lines[0].end()
		p.lines = p.lines[1:]
	}
	return l, nil
}

// tops asks which windows the app has.
func (p *program) tops(ctx context.Context) (windows []desktop.ID, err error) {
	r := &round{}
	r.put(p.bus.ask.children, p.root, func(d *dbuswire.Decoder) {
		for _, w := range readRefs(d, p.sender) {
			windows = append(windows, w.id(p.sender))
		}
	})
	return windows, p.run(ctx, r)
}

// holdWhatOpened sees to it that the connection of an act that was made and opened a
// window stays open even if this process is killed.
func (p *program) holdWhatOpened(l *line) {
	ctx, cancel := context.WithTimeout(context.Background(), soon)
	defer cancel()
	windows, err := p.tops(ctx)
	p.mu.Lock()
	defer p.mu.Unlock()
	if !slices.Contains(p.lines, l) || err == nil && l.settledFor(windows) {
		return
	}
	p.hold(l)
}

// leave closes the connections of acts that are over.
func (p *program) leave(over func(*line) bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.lines = slices.DeleteFunc(p.lines, func(l *line) bool {
		ended := over(l)
		if ended {
			l.end()
		}
		return ended
	})
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
	})
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, l := range p.lines {
		p.hold(l)
		l.conn.Close()
	}
	p.lines = nil
}

// hold lets the connection stay open after us. The caller holds p.mu.
func (p *program) hold(l *line) {
	if p.bus.config.Hold == nil || l.release != nil || !l.conn.Alive() {
		return
	}
	file, err := l.conn.File()
	if err == nil {
		l.conn.Close() // nothing is said on it any more
		l.release, err = p.bus.config.Hold(file)
		_ = file.Close()
	}
	if err != nil {
		p.bus.config.Log.Warn("a connection to an app could not be kept open; if a dialog is open in it, it may hang", "app", p.app.ID, "error", err)
	}
}
