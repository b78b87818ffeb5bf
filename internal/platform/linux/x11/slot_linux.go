package x11

import (
	"context"
	"sync/atomic"
	"time"
)

// closePatience is the time that Close waits for a server that may hang.
const closePatience = time.Second

// A closer is a value in a slot.
type closer interface {
	alive() bool
	shut(ctx context.Context)
}

// A slot holds a value that is created at its first use, and again after it broke.
type slot[T closer] struct {
	lock  chan struct{} // a mutex that supports waiting with a context
	value T
	full  bool
	users atomic.Int64 // the number of current holders
}

func newSlot[T closer]() *slot[T] { return &slot[T]{lock: make(chan struct{}, 1)} }

// get returns the value, and creates it if necessary. After a failure the next call tries again.
func (s *slot[T]) get(ctx context.Context, make func(context.Context) (T, error)) (T, error) {
	var nothing T
	select {
	case s.lock <- struct{}{}:
		defer func() { <-s.lock }()
	case <-ctx.Done():
		return nothing, ctx.Err()
	}
	if s.full && s.value.alive() {
		return s.value, nil
	}
	if s.full {
		s.value.shut(ctx) // it may be used up rather than broken
		s.full = false
	}
	value, err := make(ctx)
	if err != nil {
		return nothing, err
	}
	s.value, s.full = value, true
	return value, nil
}

// hold is get for a value that may be dropped while it has no holder. It creates the value
// again if good returns false for it. Each hold must end with a release.
func (s *slot[T]) hold(ctx context.Context, good func(T) bool, make func(context.Context) (T, error)) (T, error) {
	s.drop(ctx, func(value T) bool { return !good(value) })
	s.users.Add(1)
	value, err := s.get(ctx, make)
	if err != nil {
		s.release()
	}
	return value, err
}

// release reports whether the value has no holder any more.
func (s *slot[T]) release() (idle bool) { return s.users.Add(-1) == 0 }

// drop closes the value if it has no holder and mayGo returns true.
func (s *slot[T]) drop(ctx context.Context, mayGo func(T) bool) {
	select {
	case s.lock <- struct{}{}:
		defer func() { <-s.lock }()
	case <-ctx.Done():
		return
	}
	if s.full && s.users.Load() == 0 && mayGo(s.value) {
		s.value.shut(ctx)
		s.full = false
	}
}

// peek returns the value without creating it. It returns false without a value, or if the
// deadline passes while another goroutine uses the slot.
func (s *slot[T]) peek(ctx context.Context) (value T, ok bool) {
	select {
	case s.lock <- struct{}{}:
	default:
		select {
		case s.lock <- struct{}{}:
		case <-ctx.Done():
			return value, false
		}
	}
	defer func() { <-s.lock }()
	return s.value, s.full
}

func (s *slot[T]) close(ctx context.Context) {
	if value, ok := s.peek(ctx); ok {
		value.shut(ctx)
	}
}

// shut ends the connection after all cleanups.
func (s *server) shut(ctx context.Context) {
	s.wait(ctx)
	s.lose(context.Canceled)
}

// alive reports whether the connection can be used further. A connection that has used up
// its IDs is replaced by a new one.
func (s *server) alive() bool { return s.conn.alive() && !s.spent() }
