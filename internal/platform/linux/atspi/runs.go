package atspi

import (
	"context"
	"strings"
	"time"

	"github.com/gybob/aai-gateway/internal/dbus/wire"
)

// nests is after how long without an answer it is asked whether a program runs a dialog;
// quiet is how long an answer that came first may take to reach who waits for it.
const (
	nests = 300 * time.Millisecond
	quiet = 50 * time.Millisecond
)

// call makes the call. What runs a dialog of Qt's (QDialog::exec) answers when that has
// been closed; where the program answers what was asked later on the same connection, it
// has got the call and is at it, and there is neither an answer nor an error.
func (a *actor) call(ctx context.Context, conn *wire.Conn, q *request, to ref) (*wire.Message, error) {
	if q.member != doAction || a.p.currentTraits().toolkit != qt {
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
	case <-time.After(nests):
	}
	_, later := conn.Call(ctx, a.p.bus.requests.children.to(a.p.root))
	select {
	case r := <-come:
		return r.answer, r.err
	case <-time.After(quiet):
		if later == nil {
			return nil, nil
		}
	}
	r := <-come
	return r.answer, r.err
}

// misdirectedPress says what the program would do instead if it were asked to press the node; "" if
// it does what is meant.
func (a *actor) misdirectedPress(ctx context.Context, action string) string {
	up, toolkit := a.n.parent, a.p.currentTraits().toolkit
	switch {
	case up == nil:
	case up.role == roleTable && toolkit == qt && a.p.roleOfParent(ctx, up) == roleTable:
		// The view in a QCalendarWidget: it selects the day, and the calendar's date stays.
		return "the calendar would keep its date"
	case up.role == roleTree && toolkit == qt:
		// It selects the row of the view that has the item's number among its siblings.
		return "another row would be selected"
	case action == "" && a.n.states.has(stateEditable) && (a.n.role == roleText || a.n.role == roleEntry || a.n.role == roleSpinButton) && strings.EqualFold(toolkit, "gtk"):
		// The one action of a GtkEntry: a form is sent, LibreOffice goes to the cell that its
		// name box names. Who wants that says so.
		return "it would be as if return was pressed in it"
	case a.n.role == roleIcon && (up.role == roleText || up.role == roleEntry) && strings.EqualFold(toolkit, "gtk"):
		// The icon of a GtkEntry: its handler gets an event without a window. Thunar ends.
		return "the program may end of it"
	}
	return ""
}

// roleOfParent is the role of what the node is in; 0 if it is in nothing that answers.
func (p *program) roleOfParent(ctx context.Context, n *node) roleNumber {
	above := &node{}
	r := &batch{}
	p.askParent(r, n.ref, &above.ref)
	if p.run(ctx, r) != nil || above.none() || above.ref == p.root {
		return 0
	}
	r = &batch{}
	p.askSelf(r, above)
	if p.run(ctx, r) != nil {
		return 0
	}
	return above.role
}
