package atspi

import (
	"context"
	"time"

	"github.com/gybob/aai-gateway/internal/dbus/wire"
)

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
	case up.role == roleTable && habits.pressesOtherRows && a.p.roleOfParent(ctx, up) == roleTable:
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

// roleOfParent returns the role of the node's parent; 0 if there is none that answers.
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
