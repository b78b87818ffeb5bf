package wayland

import (
	"context"
	"errors"
	"net"
)

// WatchWindows implements desktop.Changes: by events of sway, or of the X server.
func (s *Session) WatchWindows(ctx context.Context, changed func()) error {
	if s.isAlone() || s.listsWindows(ctx) {
		return s.wayland.watchWindows(ctx, changed)
	}
	return s.x11.WatchWindows(ctx, changed)
}

// WatchClipboard implements desktop.Changes.
func (s *Session) WatchClipboard(ctx context.Context, changed func()) error {
	if s.isAlone() || s.wayland.IsOffered() && s.wayland.hasClipboard(ctx) {
		return s.wayland.watchClipboard(ctx, changed)
	}
	return s.x11.WatchClipboard(ctx, changed)
}

func (d *Display) watchWindows(ctx context.Context, changed func()) error {
	m, err := d.manager(ctx)
	if err != nil {
		return err
	}
	s, ok := m.(*sway)
	if !ok {
		return unsupported("the compositor reports no changes of windows", "")
	}
	return s.watch(ctx, changed)
}

// watch calls changed once it listens, and for every event of windows and workspaces.
func (s *sway) watch(ctx context.Context, changed func()) error {
	const subscribe = 2
	socket, err := new(net.Dialer).DialContext(ctx, "unix", s.path)
	if err != nil {
		return err
	}
	defer func() { _ = socket.Close() }()
	defer context.AfterFunc(ctx, func() { _ = socket.Close() })()
	if err := writeSway(socket, subscribe, `["window","workspace"]`); err != nil {
		return err
	}
	for { // the first message is the answer
		if _, err := readSway(socket); err != nil {
			return errors.Join(ctx.Err(), err)
		}
		changed()
	}
}

func (d *Display) watchClipboard(ctx context.Context, changed func()) error {
	c, err := d.connect(ctx)
	if err != nil {
		return err
	}
	if c.dataControl() == "" {
		return unsupported("the compositor reports no changes of the clipboard", "")
	}
	const destroy = 1
	news := make(chan struct{}, 1)
	_, device, err := c.clipDevice(ctx, func(opcode uint16, e *reader) {
		const offered, selection = 0, 1
		switch opcode {
		case offered:
			id := e.Uint()
			c.handle(id, func(uint16, *reader) {})
			go func() { // the reading goroutine must not wait
				_ = c.send(context.WithoutCancel(ctx), id, destroy)
				c.forget(id)
			}()
		case selection:
			select {
			case news <- struct{}{}:
			default:
			}
		}
	})
	if err != nil {
		return err
	}
	defer func() { _ = c.send(context.WithoutCancel(ctx), device, destroy) }()
	changed()
	for {
		select {
		case <-news:
			changed()
		case <-c.gone:
			return errors.New("the connection to the compositor has ended")
		case <-ctx.Done():
			return ctx.Err()
		}
	}
}
