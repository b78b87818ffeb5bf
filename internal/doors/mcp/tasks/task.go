package tasks

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"sync/atomic"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A status is the state of a task, in the protocol's words.
type status string

const (
	working       status = "working"
	inputRequired status = "input_required"
	completed     status = "completed"
	failed        status = "failed"
	cancelled     status = "cancelled"
)

func (s status) isFinal() bool { return s == completed || s == failed || s == cancelled }

// pollInterval is the recommended interval for a client to poll a task.
const pollInterval = time.Second

// A task is a tool call that may outlast its request.
type task struct {
	id      string
	owner   string
	form    form
	ttl     time.Duration
	created time.Time
	ctx     *callContext
	notify  func(json.RawMessage) // nil if there are no notifications

	finished  chan struct{} // closed when the status is final
	workDone  chan struct{} // closed when the work has ended, too
	forgotten chan struct{} // closed when the task is forgotten

	// The lock of the store guards the following fields.
	number    uint64 // in the order of creation; 0 for a call that is no task
	hasAnswer bool   // its request has the result, so it never becomes a task
	expiry    *time.Timer
	status    status
	message   string
	updated   time.Time
	result    json.RawMessage
	failure   *jsonrpc.Error

	openQuestions  mcp.InputRequestMap // open questions to the client, in the extension's form
	inputResponses mcp.InputResponseMap
	allAnswered    chan struct{} // closed when openQuestions are all answered
	openRequests   int           // unanswered requests to the client, in the core's form
	streams        []context.Context
	attached       chan struct{} // closed when a stream is added
}

// newTask returns a task that is not in the store yet.
func newTask(ctx *callContext, owner string, form form, ttl time.Duration) *task {
	now := time.Now()
	return &task{
		id: rand.Text(), owner: owner, form: form, ttl: ttl, created: now, updated: now, ctx: ctx,
		finished: make(chan struct{}), workDone: make(chan struct{}), forgotten: make(chan struct{}),
		status: working, message: "The call is running.", attached: make(chan struct{}),
	}
}

func (t *task) cancel() { t.ctx.cancel() }

// set changes the status and notifies the client. It reports false for a final status,
// which stays. The caller holds the lock of the store.
func (t *task) set(now status, message string) bool {
	if t.status.isFinal() {
		return false
	}
	t.status, t.message, t.updated = now, message, time.Now()
	if now.isFinal() {
		close(t.finished)
	}
	if t.notify != nil && t.form == core {
		if b, err := json.Marshal(statusNotification(t)); err == nil {
			t.notify(b)
		}
	}
	return true
}

// stamp formats a time for the protocol.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z07:00") }

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
