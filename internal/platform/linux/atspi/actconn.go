package atspi

import (
	"context"
	"slices"
	"time"

	"github.com/gybob/aai-gateway/internal/dbus/wire"
	"github.com/gybob/aai-gateway/internal/desktop"
)

// An action may last longer than its answer: GTK 3 runs a dialog inside the handler of the message that
// opened it (gtk_dialog_run), and finishes the message when the dialog closes. Until then any traffic on
// the same connection, even its end, hangs the app at the next key press, and its unsaved data is lost. The
// cause is atk-bridge: it reports the key to the registry, waits for the answer in a nested loop, and in
// this loop dispatches every readable connection, including the blocked one. Therefore each action uses its
// own connection to the app, which stays silent until the windows that the action opened are closed.

// An actConn is a connection to an app's own socket that carried one action.
type actConn struct {
	conn     *wire.Conn
	openedAt time.Time
	windows  []desktop.ID // of the app, before the action
	// release ends the process that keeps the connection open even if the gateway ends; nil if there is
	// none.
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
	// soon is the time within which an action has certainly opened its window.
	soon = 5 * time.Second
	// opened is the time after which most actions have opened their window.
	opened = 300 * time.Millisecond
	// maxActConns is the maximum number of connections that are kept per app.
	maxActConns = 64
)

// isDone reports whether the connection can be closed: the app has closed it, or no window that opened
// since the action is left. windows are the app's current ones.
func (l *actConn) isDone(windows []desktop.ID) bool {
	return l.settledFor(windows) && time.Since(l.openedAt) > soon || l.release == nil && !l.conn.IsAlive()
}

// settledFor reports whether each of the windows existed before the action.
func (l *actConn) settledFor(windows []desktop.ID) bool {
	return !slices.ContainsFunc(windows, func(w desktop.ID) bool { return !slices.Contains(l.windows, w) })
}

// newActConn opens the connection for one action. It returns nil if the app has no socket of its own that
// can be reached.
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

// topWindows reads the list of the app's windows.
func (p *program) topWindows(ctx context.Context) (windows []desktop.ID, err error) {
	r := &batch{}
	r.add(p.bus.requests.children, p.root, func(d *wire.Decoder) {
		for _, w := range readRefs(d, p.sender) {
			windows = append(windows, w.id(p.sender))
		}
	})
	return windows, p.run(ctx, r)
}

// keepOpenIfOpened keeps the connection open, even if this process is killed, if its action opened a
// window.
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

// closeActConns closes the connections for which over returns true.
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

// releaseActConns releases the connections of all actions when the gateway no longer uses the app.
// Connections whose action may be unfinished stay open after this process ends.
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

// keepOpen keeps the connection open after this process ends. The caller holds p.mu.
func (p *program) keepOpen(l *actConn) {
	if p.bus.config.KeepOpen == nil || l.release != nil || !l.conn.IsAlive() {
		return
	}
	file, err := l.conn.File()
	if err == nil {
		l.conn.Close() // no more messages are sent on it
		l.release, err = p.bus.config.KeepOpen(file)
		_ = file.Close()
	}
	if err != nil {
		p.bus.config.Log.Warn("a connection to an app could not be kept open; if a dialog is open in it, it may hang", "app", p.app.ID, "error", err)
	}
}

// dialogProbeDelay is the time without an answer after which the program is checked for a running dialog.
// answerGrace is how long an answer that arrived first may take to reach its receiver.
const (
	dialogProbeDelay = 300 * time.Millisecond
	answerGrace      = 50 * time.Millisecond
)

// call makes the call. A handler that runs a Qt dialog (QDialog::exec) answers only when the dialog is
// closed. If the program answers a later query on the same connection, it is still executing the call, and
// call returns neither an answer nor an error.
func (a *actor) call(ctx context.Context, conn *wire.Conn, q *request, to ref) (*wire.Message, error) {
	if q.member != doAction || !a.p.profile().pressBlocks {
		return conn.Call(ctx, q.to(to))
	}
	type reply struct {
		answer *wire.Message
		err    error
	}
	come := make(chan reply, 1)
	go func() {
		answer, err := conn.Call(ctx, q.to(to))
		come <- reply{answer, err}
	}()
	select {
	case r := <-come:
		return r.answer, r.err
	case <-time.After(dialogProbeDelay):
	}
	_, later := conn.Call(ctx, a.p.bus.requests.children.to(a.p.root))
	select {
	case r := <-come:
		return r.answer, r.err
	case <-time.After(answerGrace):
		if later == nil {
			return nil, nil
		}
	}
	r := <-come
	return r.answer, r.err
}

// misdirectedPress describes the different effect that pressing the node would have in this program; "" if
// a press works as expected.
func (a *actor) misdirectedPress(ctx context.Context, action string) string {
	up, habits := a.n.parent, a.p.profile()
	switch {
	case up == nil:
	case up.role == roleTable && habits.pressesOtherRows && a.p.parentOf(ctx, up).role == roleTable:
		// In a QCalendarWidget's view, a press selects the day, but the calendar's date stays.
		return "the calendar would keep its date"
	case up.role == roleTree && habits.pressesOtherRows:
		// Qt selects the row of the view with the item's index among its siblings.
		return "another row would be selected"
	case action == "" && a.n.states.has(stateEditable) && (a.n.role == roleText || a.n.role == roleEntry || a.n.role == roleSpinButton) && habits.entryPressReturns:
		// The only action of a GtkEntry activates it: a form is sent, LibreOffice goes to the cell in its
		// name box. A caller that wants this names the action.
		return "it would be as if return was pressed in it"
	case a.n.role == roleIcon && (up.role == roleText || up.role == roleEntry) && habits.entryPressReturns:
		// For the icon of a GtkEntry, the handler gets an event without a window. Thunar crashes.
		return "the program may end of it"
	}
	return ""
}

// parentOf reads the role and the states of the node's parent; an empty node if there is none that answers.
func (p *program) parentOf(ctx context.Context, n *node) *node {
	above := &node{}
	r := &batch{}
	p.askParent(r, n.ref, &above.ref)
	if p.run(ctx, r) != nil || above.none() || above.ref == p.root {
		return &node{}
	}
	r = &batch{}
	p.askSelf(r, above)
	if p.run(ctx, r) != nil {
		return &node{}
	}
	return above
}
