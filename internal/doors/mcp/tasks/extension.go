package tasks

import (
	"context"
	"encoding/json"
	"maps"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gybob/aai-gateway"
)

// The form of the extension io.modelcontextprotocol/tasks (SEP-2663).

// rawResponses are answers that are not decoded yet: an invalid one must not spoil the
// others.
type rawResponses map[string]json.RawMessage

// An extensionTask is a task in the extension's form.
type extensionTask struct {
	ResultType     string `json:"resultType"`
	TaskID         string `json:"taskId"`
	Status         status `json:"status"`
	StatusMessage  string `json:"statusMessage,omitempty"`
	CreatedAt      string `json:"createdAt"`
	LastUpdatedAt  string `json:"lastUpdatedAt"`
	TTLMs          int64  `json:"ttlMs"`
	PollIntervalMs int64  `json:"pollIntervalMs"`
}

// asExtension converts the task. The caller holds the lock of the store.
func (t *task) asExtension(resultType string) extensionTask {
	return extensionTask{
		ResultType: resultType, TaskID: t.id, Status: t.status, StatusMessage: t.message,
		CreatedAt: stamp(t.created), LastUpdatedAt: stamp(t.updated),
		TTLMs: t.ttl.Milliseconds(), PollIntervalMs: pollInterval.Milliseconds(),
	}
}

type (
	createExtensionResult struct {
		mcp.ResultBase
		extensionTask
	}
	detailedResult struct {
		mcp.ResultBase
		extensionTask

		Result        json.RawMessage     `json:"result,omitempty"`
		Error         *wireError          `json:"error,omitempty"`
		InputRequests mcp.InputRequestMap `json:"inputRequests,omitempty"`
	}
	wireError struct {
		Code    int64           `json:"code"`
		Message string          `json:"message"`
		Data    json.RawMessage `json:"data,omitempty"`
	}
	acknowledgement struct {
		mcp.ResultBase

		ResultType string `json:"resultType"`
	}
)

func acknowledged() mcp.Result { return &acknowledgement{ResultType: "complete"} }

// missingExtension is the error for a client that does not declare the extension.
func missingExtension() error {
	return &jsonrpc.Error{
		Code: mcp.CodeMissingRequiredClientCapabilities, Message: "the client does not declare the extension " + extensionID,
		Data: json.RawMessage(`{"requiredCapabilities":{"extensions":{"` + extensionID + `":{}}}}`),
	}
}

// callExtension calls a tool for a client of this form. It returns the result if the call
// ends soon or soon needs an answer from the client, and else a task.
func (l *Layer) callExtension(ctx context.Context, req *mcp.CallToolRequest, next mcp.MethodHandler) (mcp.Result, error) {
	t := newTask(l.newCallContext(ctx).attach(ctx), l.ownerOf(ctx, req.Session), extension, l.store.limits.TTL)
	direct := make(chan roundResult, 1)
	l.begin(t, req, next, direct)
	patience := time.NewTimer(l.syncTimeout)
	defer patience.Stop()
	select {
	case e := <-direct:
		return e.result, e.err
	case <-patience.C:
	}
	if l.store.makeTask(t) {
		return l.createdExtension(t), nil
	}
	e := <-direct // it is no task, so it ends when its request does
	return e.result, e.err
}

func (l *Layer) createdExtension(t *task) mcp.Result {
	l.store.mu.Lock()
	defer l.store.mu.Unlock()
	return &createExtensionResult{extensionTask: t.asExtension("task")}
}

// answerExtension answers a method about tasks.
func (l *Layer) answerExtension(ctx context.Context, method string, req *mcp.ServerRequest[*params], asked *params) (mcp.Result, error) {
	switch method {
	case "tasks/get", "tasks/update", "tasks/cancel":
	default:
		return nil, methodNotFound()
	}
	if !declares(req) {
		return nil, missingExtension()
	}
	t := l.store.find(l.ownerOf(ctx, req.Session), extension, asked.TaskID)
	if t == nil {
		return nil, unknownTask()
	}
	switch method {
	case "tasks/update":
		return l.update(t, asked.InputResponses)
	case "tasks/cancel":
		l.store.mu.Lock()
		defer l.store.mu.Unlock()
		t.set(cancelled, "The task was cancelled by request.")
		t.cancel()
		return acknowledged(), nil
	}
	return l.detailed(t), nil
}

func (l *Layer) detailed(t *task) mcp.Result {
	l.store.mu.Lock()
	defer l.store.mu.Unlock()
	d := &detailedResult{extensionTask: t.asExtension("complete")}
	switch t.status {
	case completed:
		d.Result = t.result
	case failed:
		if t.failure != nil {
			d.Error = &wireError{t.failure.Code, t.failure.Message, t.failure.Data}
		}
	case inputRequired:
		d.InputRequests = maps.Clone(t.openQuestions)
	case working, cancelled:
	}
	return d
}

// update passes on the answers to the questions of a task. It ignores answers to other
// questions.
func (l *Layer) update(t *task, sent json.RawMessage) (mcp.Result, error) {
	var responses rawResponses
	if json.Unmarshal(sent, &responses) != nil {
		return nil, invalid("inputResponses: expected an object of answers")
	}
	l.store.mu.Lock()
	open := maps.Clone(t.openQuestions)
	l.store.mu.Unlock()
	answers := make(mcp.InputResponseMap)
	for name, raw := range responses {
		if _, asked := open[name]; !asked {
			continue
		}
		var answer mcp.InputResponseMap
		one, err := json.Marshal(rawResponses{name: raw})
		if err != nil || json.Unmarshal(one, &answer) != nil {
			return nil, invalid("inputResponses: the answer to %q is no result of an elicitation, a sampling or a list of roots", aai.CleanLabel(name, 60))
		}
		answers[name] = answer[name]
	}
	l.store.reply(t, answers)
	return acknowledged(), nil
}
