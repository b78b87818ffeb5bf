package atspi

import (
	"context"
	"slices"
	"time"

	"github.com/gybob/aai-gateway/internal/dbus/wire"
	"github.com/gybob/aai-gateway/internal/desktop"
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
type actConn struct {
	conn     *wire.Conn
	openedAt time.Time
	windows  []desktop.ID // of the app, before the act
	// release ends what keeps the connection open whatever becomes of us; nil where
	// nothing does.
	release func()
}

// end closes the connection.
func (l *actConn) end() {
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
	// maxActConns is how many are kept of one app.
	maxActConns = 64
)

// isDone reports whether what the act opened is gone, by the app's windows now.
func (l *actConn) isDone(windows []desktop.ID) bool {
	return l.settledFor(windows) && time.Since(l.openedAt) > soon || l.release == nil && !l.conn.IsAlive()
}

// settledFor reports whether there is no window that was not there before the act.
func (l *actConn) settledFor(windows []desktop.ID) bool {
	return !slices.ContainsFunc(windows, func(w desktop.ID) bool { return !slices.Contains(l.windows, w) })
}

// newActConn makes the connection for one act. It is nil where the app has no socket of
// its own that can be reached.
func (p *program) newActConn(ctx context.Context) (*actConn, error) {
	p.mu.Lock()
	address := p.address
	p.mu.Unlock()
	if address == "" {
		return nil, nil
	}
	windows, err := p.topWindows(ctx)
	if err != nil {
		return nil, err
	}
	p.closeActConns(func(l *actConn) bool { return l.isDone(windows) })
	conn := p.dialPeer(ctx, address, soon)
	if conn == nil {
		return nil, nil
	}
	l := &actConn{conn: conn, openedAt: time.Now(), windows: windows}
	p.mu.Lock()
	defer p.mu.Unlock()
	if p.actConns = append(p.actConns, l); len(p.actConns) > maxActConns {
		p.actConns[0].end()
		p.actConns = p.actConns[1:]
	}
	return l, nil
}

// topWindows asks which windows the app has.
func (p *program) topWindows(ctx context.Context) (windows []desktop.ID, err error) {
	r := &batch{}
	r.add(p.bus.requests.children, p.root, func(d *wire.Decoder) {
		for _, w := range readRefs(d, p.sender) {
			windows = append(windows, w.id(p.sender))
		}
	})
	return windows, p.run(ctx, r)
}

// keepOpenIfOpened sees to it that the connection of an act that was made and opened a
// window stays open even if this process is killed.
func (p *program) keepOpenIfOpened(l *actConn) {
	ctx, cancel := context.WithTimeout(context.Background(), soon)
	defer cancel()
	windows, err := p.topWindows(ctx)
	p.mu.Lock()
	defer p.mu.Unlock()
	if !slices.Contains(p.actConns, l) || err == nil && l.settledFor(windows) {
		return
	}
	p.keepOpen(l)
}

// closeActConns closes the connections of acts that are over.
func (p *program) closeActConns(over func(*actConn) bool) {
	p.mu.Lock()
	defer p.mu.Unlock()
	p.actConns = slices.DeleteFunc(p.actConns, func(l *actConn) bool {
		ended := over(l)
		if ended {
			l.end()
		}
		return ended
	})
}

// releaseActConns gives up the connections of all acts: nobody here will speak to the app any
// more. Those of which it is not known that they are over stay open after us.
func (p *program) releaseActConns() {
	var windows []desktop.ID
	known := p.cache.Last()
	if known != nil {
		for _, top := range known.Children(-1) {
			windows = append(windows, known.Elements[top].ID)
		}
	}
	p.closeActConns(func(l *actConn) bool {
		l.openedAt = time.Time{}
		return known != nil && l.isDone(windows)
	})
	p.mu.Lock()
	defer p.mu.Unlock()
	for _, l := range p.actConns {
		p.keepOpen(l)
		l.conn.Close()
	}
	p.actConns = nil
}

// keepOpen lets the connection stay open after us. The caller holds p.mu.
func (p *program) keepOpen(l *actConn) {
	if p.bus.config.KeepOpen == nil || l.release != nil || !l.conn.IsAlive() {
		return
	}
	file, err := l.conn.File()
	if err == nil {
		l.conn.Close() // nothing is said on it any more
		l.release, err = p.bus.config.KeepOpen(file)
		_ = file.Close()
	}
	if err != nil {
		p.bus.config.Log.Warn("a connection to an app could not be kept open; if a dialog is open in it, it may hang", "app", p.app.ID, "error", err)
	}
}
