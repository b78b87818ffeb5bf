package x11

import (
	"context"
	"errors"
	"slices"

	"github.com/gybob/aai-gateway"
)

// The codes of events that report a window, beside changes of the window manager's properties; X11 protocol, section 11.
const (
	destroyNotify  = 17
	unmapNotify    = 18
	mapNotify      = 19
	firstExtension = 64 // the lowest code of an extension's event
)

// WatchWindows calls changed once it listens, and whenever a window is opened, closed, or gets the focus, until ctx or
// the connection ends. changed must not block.
func (d *Display) WatchWindows(ctx context.Context, changed func()) error {
	return d.watchRoot(ctx, changed, func(s *server) (*call, func([]byte) bool) {
		wanted := []xid{s.atoms["_NET_CLIENT_LIST"], s.atoms["_NET_ACTIVE_WINDOW"]}
		return selectEvents(s.root, propertyChange|substructureNotify), func(buf []byte) bool {
			e := parseEvent(buf)
			return e.code == propertyNotify && slices.Contains(wanted, e.property) ||
				slices.Contains([]byte{destroyNotify, unmapNotify, mapNotify}, e.code)
		}
	})
}

// WatchClipboard calls changed once it listens, and whenever a program copies something, until ctx or the connection
// ends. changed must not block.
func (d *Display) WatchClipboard(ctx context.Context, changed func()) error {
	return d.watchRoot(ctx, changed, func(s *server) (*call, func([]byte) bool) {
		if s.xfixes == 0 {
			return nil, nil
		}
		const selectSelectionInput, setOwner, destroyed, closed = 2, 1, 2, 4
		return command(s.xfixes, selectSelectionInput, s.root, s.atoms["CLIPBOARD"], uint32(setOwner|destroyed|closed)),
			func(buf []byte) bool { return buf[0]&0x7f >= firstExtension }
	})
}

// watchRoot opens a connection, selects events, and calls changed for those that isChange accepts.
func (d *Display) watchRoot(ctx context.Context, changed func(), choose func(*server) (selection *call, isChange func([]byte) bool)) error {
	events := make(chan []byte, 64)
	s, err := d.connect(ctx, func(buf []byte) {
		select {
		case events <- slices.Clone(buf):
		default: // the waiting ones already report a change
		}
	})
	if err != nil {
		return err
	}
	defer s.lose(errors.New("no longer needed"))
	selection, isChange := choose(s)
	if selection == nil {
		return notDeliveredError(aai.AutomationNotSupported, "the X server reports no changes of the clipboard")
	}
	if err := s.must(ctx, selection); err != nil {
		return wrapError("watching the screen", err)
	}
	changed()
	for {
		select {
		case buf := <-events:
			if isChange(buf) {
				changed()
			}
		case <-s.gone:
			return wrapError("watching the screen", s.lostError())
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
