package tasks

import (
	"context"
	"crypto/rand"
	"encoding/json"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// A status says how far a task has come. The words are those of the protocol.
type status string

const (
	working       status = "working"
	inputRequired status = "input_required"
	completed     status = "completed"
	failed        status = "failed"
	cancelled     status = "cancelled"
)

func (s status) isFinal() bool { return s == completed || s == failed || s == cancelled }

// pollInterval is how often a client should look after a task.
const pollInterval = time.Second

// A task is a call of a tool that may outlast its request.
type task struct {
	id      string
	owner   string
	form    form
	ttl     time.Duration
	created time.Time
	ctx     *callContext
	notify  func(json.RawMessage) // nil where nobody takes notifications

	finished  chan struct{} // closed when the status is final
	workDone  chan struct{} // closed when the work has ended, too
	forgotten chan struct{} // closed when the task is forgotten

	// What follows is guarded by the lock of the store.
	number    uint64 // in the order they were made; 0 for a call that is no task
	hasAnswer bool   // its request has the result, so it never becomes a task
	expiry    *time.Timer
	status    status
	message   string
	updated   time.Time
	result    json.RawMessage
	failure   *jsonrpc.Error

	openQuestions  mcp.InputRequestMap // what the client is asked, in the extension's form
	inputResponses mcp.InputResponseMap
	allAnswered    chan struct{} // closed when all of open is answered
	openRequests   int           // requests to the client that have no answer, in the core's form
	streams        []context.Context
	attached       chan struct{} // closed when a stream is added
}

// newTask returns a task that nobody can find yet.
func newTask(ctx *callContext, owner string, form form, ttl time.Duration) *task {
	now := time.Now()
	return &task{
		id: rand.Text(), owner: owner, form: form, ttl: ttl, created: now, updated: now, ctx: ctx,
		finished: make(chan struct{}), workDone: make(chan struct{}), forgotten: make(chan struct{}),
		status: working, message: "The call is running.", attached: make(chan struct{}),
	}
}

func (t *task) cancel() { t.ctx.cancel() }

// set moves a task on and tells the client. A final status stays as it is. The
// lock of the store is held.
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

// stamp is a time as the protocol has it.
func stamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z07:00") }
