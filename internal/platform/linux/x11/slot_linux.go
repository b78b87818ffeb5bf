package x11

import (
	"context"
	"sync/atomic"
	"time"
)

// closePatience is how long Close waits for a server that may stand still.
const closePatience = time.Second

// A closer is what a slot holds.
type closer interface {
	alive() bool
	shut(ctx context.Context)
}

// A slot holds a thing that is made at its first use, and made again after it
// broke.
type slot[T closer] struct {
	lock  chan struct{} // a mutex that can be waited for with a context
	value T
	full  bool
	users atomic.Int64 // who has said that it is not done yet
}

func newSlot[T closer]() *slot[T] { return &slot[T]{lock: make(chan struct{}, 1)} }

// get returns what is in the slot. What cannot be made is tried again next time.
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
		s.value.shut(ctx) // it may be worn out and not broken
		s.full = false
	}
	value, err := make(ctx)
	if err != nil {
		return nothing, err
	}
	s.value, s.full = value, true
	return value, nil
}

// hold is get for a thing that may be taken away when nobody holds it, and is made anew where
// it is not good any more then. Each hold ends with a release.
func (s *slot[T]) hold(ctx context.Context, good func(T) bool, make func(context.Context) (T, error)) (T, error) {
	s.drop(ctx, func(value T) bool { return !good(value) })
	s.users.Add(1)
	value, err := s.get(ctx, make)
	if err != nil {
		s.release()
	}
	return value, err
}

// release reports whether nobody holds the thing any more.
func (s *slot[T]) release() (idle bool) { return s.users.Add(-1) == 0 }

// drop ends the thing if nobody holds it and it may go.
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

// peek returns what is in the slot without making it. A slot that nobody uses is
// looked at also when the time is up.
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

// shut ends the connection when all is clean.
func (s *server) shut(ctx context.Context) {
	s.wait(ctx)
	s.lose(context.Canceled)
}

// alive reports whether the session can be used for more. One that has used up
// its names is replaced by a new one.
func (s *server) alive() bool { return s.conn.alive() && !s.spent() }
