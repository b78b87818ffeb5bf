package wayland

import (
	"context"
	"sync"
	"time"

	"github.com/gybob/aai-gateway"
)

// arrival is the time for programs to notice the first pointer or keyboard of a seat: until then they lose its input.
// A seat with the person's devices needs none.
const arrival = 600 * time.Millisecond

// Capabilities of wl_seat.
const (
	hasPointer  = 1 << 0
	hasKeyboard = 1 << 1
)

// devices are the gateway's virtual pointer and keyboard on the person's seat. They stay as long as the connection,
// since programs notice a new device late.
type devices struct {
	loading  sync.Mutex // held while one is made
	seat     uint32
	pointer  uint32
	keyboard uint32
	keymap   string // of the keyboard

	mu           sync.Mutex
	capabilities uint32 // of the seat
}

// theSeat returns the seat; the caller holds loading.
func (c *conn) theSeat(ctx context.Context) (uint32, error) {
	s := &c.devices
	if s.seat != 0 {
		return s.seat, nil
	}
	g, ok := c.offered("wl_seat")
	if !ok {
		return 0, unsupported("the compositor has no seat", "")
	}
	id, err := c.bindName(ctx, "wl_seat", g.name, 1, func(opcode uint16, e *reader) {
		if opcode == 0 {
			s.mu.Lock()
			defer s.mu.Unlock()
			s.capabilities = e.Uint()
		}
	})
	if err == nil {
		err = c.sync(ctx)
	}
	if err == nil {
		s.seat = id
	}
	return id, err
}

// seatHas reports whether the seat has capabilities.
func (c *conn) seatHas(ctx context.Context, capabilities uint32) (bool, error) {
	s := &c.devices
	s.loading.Lock()
	_, err := c.theSeat(ctx)
	s.loading.Unlock()
	s.mu.Lock()
	defer s.mu.Unlock()
	return s.capabilities&capabilities == capabilities, err
}

// device returns a virtual device of the seat, and makes it at the first call.
func (c *conn) device(ctx context.Context, kind string, version uint32, hint string, capability uint32, made *uint32, args func(seat, id uint32) []any) (uint32, error) {
	const create = 0
	s := &c.devices
	s.loading.Lock()
	defer s.loading.Unlock()
	if *made != 0 {
		return *made, nil
	}
	manager, ok, err := c.bind(ctx, kind, version)
	if err == nil && !ok {
		err = unsupported("the compositor offers no "+kind, hint)
	}
	if err != nil {
		return 0, err
	}
	seat, err := c.theSeat(ctx)
	if err != nil {
		return 0, err
	}
	s.mu.Lock()
	is := s.capabilities&capability != 0
	s.mu.Unlock()
	id := c.add(nil)
	if err = c.send(ctx, manager, create, args(seat, id)...); err == nil {
		err = c.sync(ctx)
	}
	if err != nil {
		return 0, err
	}
	*made = id
	if !is {
		return id, aai.Sleep(ctx, arrival)
	}
	return id, nil
}
