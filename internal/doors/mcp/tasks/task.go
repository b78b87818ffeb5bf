package tasks

import (
	"context"
	"crypto/rand"
	"encoding/json"
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
