package tasks

import (
	"context"
	"sync/atomic"
)

// A leash is the context of a call: that of its request, until the call is let go
// and outlives it. From then on it ends only when it is cancelled, and has none
// of the request's values: with them, the SDK would send the news of the call to
// where the answer of the request went, and nobody reads there any more.
type leash struct {
	context.Context
	cancel  context.CancelFunc
	request atomic.Pointer[context.Context]
	stop    func() bool // nil if the call never was a part of one
	release func()
}

// taskKey is what the task of a call is found by in its context.
type taskKey struct{}

// leash returns the context of a call that is let go already.
func (l *Layer) leash(request context.Context) *leash {
	base, release := l.carry(request, context.Background())
	ctx := &leash{release: release}
	ctx.Context, ctx.cancel = context.WithCancel(base)
	return ctx
}

// to makes the call a part of the request.
func (l *leash) to(request context.Context) *leash {
	l.request.Store(&request)
	l.stop = context.AfterFunc(request, l.cancel)
	return l
}

// end releases what the context holds, after the call.
func (l *leash) end() {
	if l.stop != nil {
		l.stop()
	}
	l.cancel()
	l.release()
}

// letGo reports whether the call can outlive its request: not if that has ended.
func (l *leash) letGo() bool {
	if !l.stop() {
		return false
	}
	l.request.Store(nil)
	return true
}

// Value implements context.Context.
func (l *leash) Value(key any) any {
	if value := l.Context.Value(key); value != nil {
		return value
	}
	if request := l.request.Load(); request != nil {
		return (*request).Value(key)
	}
	return nil
}

// taskOf returns the task that the context is of, or nil.
func taskOf(ctx context.Context) *task {
	t, _ := ctx.Value(taskKey{}).(*task)
	return t
}

// A guided context is cancelled like the one, and has the values of the other.
type guided struct {
	context.Context
	values context.Context
}

// Value implements context.Context.
func (g guided) Value(key any) any {
	if value := g.Context.Value(key); value != nil {
		return value
	}
	return g.values.Value(key)
}
