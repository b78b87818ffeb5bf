package tasks

import (
	"context"
	"sync/atomic"
)

// A leash is the context of a call: that of its request, until the call is let go
// and outlives it. From then on it ends only when it is cancelled, and has none
// of the request's values: with them, the SDK would send the news of the call to
// where the answer of the request went, and nobody reads there any more.
type callContext struct {
	context.Context
	cancel  context.CancelFunc
	request atomic.Pointer[context.Context]
	stop    func() bool // nil if the call never was a part of one
	release func()
}

// taskKey is what the task of a call is found by in its context.
type taskKey struct{}

// newCallContext returns the context of a call that is let go already.
func (l *Layer) newCallContext(request context.Context) *callContext {
	base, release := l.continueContext(request, context.Background())
	ctx := &callContext{release: release}
	ctx.Context, ctx.cancel = context.WithCancel(base)
	return ctx
}

// attach makes the call a part of the request.
func (l *callContext) attach(request context.Context) *callContext {
	l.request.Store(&request)
	l.stop = context.AfterFunc(request, l.cancel)
	return l
}

// end releases what the context holds, after the call.
func (l *callContext) end() {
	if l.stop != nil {
		l.stop()
	}
	l.cancel()
	l.release()
}

// detach reports whether the call can outlive its request: not if that has ended.
func (l *callContext) detach() bool {
	if !l.stop() {
		return false
	}
	l.request.Store(nil)
	return true
}

// Value implements context.Context.
func (l *callContext) Value(key any) any {
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
type mergedContext struct {
	context.Context
	values context.Context
}

// Value implements context.Context.
func (g mergedContext) Value(key any) any {
	if value := g.Context.Value(key); value != nil {
		return value
	}
	return g.values.Value(key)
}
