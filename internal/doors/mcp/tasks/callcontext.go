package tasks

import (
	"context"
	"sync/atomic"
)

// A callContext is the context of a call. It follows the request's context until it is
// detached and outlives it. From then on it ends only when it is cancelled, and has none of
// the request's values: with them, the SDK would send the call's notifications to the
// request's answer, which has ended.
type callContext struct {
	context.Context
	cancel  context.CancelFunc
	request atomic.Pointer[context.Context]
	stop    func() bool // nil if the call never was attached
	release func()
}

// taskKey is the context key of a call's task.
type taskKey struct{}

// newCallContext returns a context for a call. It does not end with the request unless it is attached.
func (l *Layer) newCallContext(request context.Context) *callContext {
	base, release := l.continueContext(request, context.Background())
	ctx := &callContext{release: release}
	ctx.Context, ctx.cancel = context.WithCancel(base)
	return ctx
}

// attach makes the context end with the request, and adds its values.
func (l *callContext) attach(request context.Context) *callContext {
	l.request.Store(&request)
	l.stop = context.AfterFunc(request, l.cancel)
	return l
}

// end releases the context's resources, after the call.
func (l *callContext) end() {
	if l.stop != nil {
		l.stop()
	}
	l.cancel()
	l.release()
}

// detach separates the call from its request. It reports false if the request has ended already.
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

// taskOf returns the task of the context, or nil.
func taskOf(ctx context.Context) *task {
	t, _ := ctx.Value(taskKey{}).(*task)
	return t
}

// A mergedContext is cancelled with Context, and also has the values of another.
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
