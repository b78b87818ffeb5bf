package tasks

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"runtime/debug"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/gateway"
)

// A roundResult is the outcome of one round of a call.
type roundResult struct {
	result mcp.Result
	err    error
}

// begin runs the call in a new goroutine. It sends the outcome of the first round to direct
// if the call is not a task by then.
func (l *Layer) begin(t *task, req *mcp.CallToolRequest, next mcp.MethodHandler, direct chan<- roundResult) {
	ctx := context.WithValue(t.ctx, taskKey{}, t)
	if t.form == core { // it is a task from the beginning
		ctx = gateway.WithBackgroundTimeout(ctx, t.ttl)
	}
	go func() {
		defer close(t.workDone)
		defer t.ctx.end()
		first := l.callHandler(ctx, req, next)
		if l.store.markAnswered(t) {
			direct <- first
			return
		}
		l.continueTask(ctx, t, req, next, first)
	}()
}

// continueTask runs a task from the end of its first round to its end.
func (l *Layer) continueTask(ctx context.Context, t *task, req *mcp.CallToolRequest, next mcp.MethodHandler, last roundResult) {
	defer func() {
		if p := recover(); p != nil {
			l.store.finish(t, storedResult{failure: l.panicError(p)})
		}
	}()
	for round := 1; ; round++ {
		asked, state := questions(t, last)
		if asked == nil {
			break
		}
		answers, err := l.store.ask(t, round, asked)
		if err != nil {
			last = roundResult{err: err}
			break
		}
		req = nextRound(req, answers, state)
		last = l.callHandler(ctx, req, next)
	}
	l.store.finish(t, l.encode(t, last))
}

// callHandler runs the handler once. It converts a panic to an error of this call.
func (l *Layer) callHandler(ctx context.Context, req *mcp.CallToolRequest, next mcp.MethodHandler) (e roundResult) {
	defer func() {
		if p := recover(); p != nil {
			e = roundResult{err: l.panicError(p)}
		}
	}()
	e.result, e.err = next(ctx, "tools/call", req)
	if e.result == nil && e.err == nil {
		e.err = &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "the call ended without a result"}
	}
	return e
}

func (l *Layer) panicError(p any) *jsonrpc.Error {
	l.log.Error("panic in a task", "panic", fmt.Sprint(p), "stack", string(debug.Stack()))
	return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "the gateway failed at this call; others are not affected"}
}

// markAnswered reports whether the call is not a task, and keeps it from becoming one.
func (s *store) markAnswered(t *task) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t.number == 0 {
		t.hasAnswer = true
	}
	return t.hasAnswer
}

// makeTask converts a running call to a task. It reports false if the call or its request
// has ended, or there is no room.
func (s *store) makeTask(t *task) bool {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t.hasAnswer || s.checkRoom(t.owner) != nil || !t.ctx.detach() {
		return false
	}
	s.insert(t)
	return true
}

// questions returns the questions of a round in the extension's form, or nil if the round
// has a result. (In the core's form the SDK sends questions to the client itself.)
func questions(t *task, e roundResult) (mcp.InputRequestMap, string) {
	result, ok := e.result.(*mcp.CallToolResult)
	if e.err != nil || !ok || t.form != extension || len(result.InputRequests) == 0 {
		return nil, ""
	}
	return result.InputRequests, result.RequestState
}

// maxRounds limits the rounds of questions of one call.
const maxRounds = 10

// ask publishes the questions in the task, and waits until all of them are answered. The
// answers have the names of the questions. For the client the round is part of the name,
// because a name may not be reused during the life of a task.
func (s *store) ask(t *task, round int, asked mcp.InputRequestMap) (mcp.InputResponseMap, error) {
	if round > maxRounds {
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "the call asked too often"}
	}
	s.mu.Lock()
	complete := make(chan struct{})
	t.openQuestions, t.inputResponses, t.allAnswered = make(mcp.InputRequestMap, len(asked)), make(mcp.InputResponseMap, len(asked)), complete
	for name, question := range asked {
		t.openQuestions[inRound(round, name)] = question
	}
	t.set(inputRequired, "The call waits for an answer.")
	s.mu.Unlock()
	select {
	case <-complete:
	case <-t.ctx.Done():
		return nil, t.ctx.Err()
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	answers := make(mcp.InputResponseMap, len(asked))
	for name := range asked {
		answers[name] = t.inputResponses[inRound(round, name)]
	}
	t.openQuestions, t.inputResponses = nil, nil
	return answers, nil
}

func inRound(round int, name string) string { return fmt.Sprintf("%d.%s", round, name) }

// reply stores answers to open questions, and lets the call continue after the last one.
func (s *store) reply(t *task, answers mcp.InputResponseMap) {
	s.mu.Lock()
	defer s.mu.Unlock()
	if t.status != inputRequired {
		return
	}
	for name, answer := range answers {
		if _, open := t.openQuestions[name]; open {
			t.inputResponses[name] = answer
			delete(t.openQuestions, name)
			t.updated = time.Now()
		}
	}
	if len(t.openQuestions) == 0 && t.set(working, "The call is running.") {
		close(t.allAnswered)
	}
}

// nextRound returns the request of the next round.
func nextRound(req *mcp.CallToolRequest, answers mcp.InputResponseMap, state string) *mcp.CallToolRequest {
	params := *req.Params
	params.Meta = maps.Clone(params.Meta)
	params.InputResponses, params.RequestState = answers, state
	next := *req
	next.Params = &params
	return &next
}

// storedResult is the outcome of a call in stored form.
type storedResult struct {
	result  json.RawMessage // nil if there is only a failure
	isError bool
	summary string // of an error
	failure *jsonrpc.Error
}

// encode converts the outcome to its stored form. A value that cannot be encoded is a
// failure of the call.
func (l *Layer) encode(t *task, e roundResult) storedResult {
	if e.err != nil {
		return storedResult{failure: asWireError(e.err)}
	}
	k := storedResult{}
	if called, ok := e.result.(*mcp.CallToolResult); ok {
		if k.isError = called.IsError; k.isError {
			k.summary = firstText(called)
		}
		if t.form == core {
			related := *called
			related.Meta = relatedTo(t, related.Meta)
			e.result = &related
		}
	}
	var err error
	if k.result, err = json.Marshal(e.result); err != nil {
		l.log.Error("the result of a task cannot be written as JSON", "cause", err)
		return storedResult{failure: &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "the result cannot be written as JSON"}}
	}
	return k
}

// finish sets the final status of the task for its form. A cancelled task stays cancelled;
// tasks/result nevertheless returns how far the call has come.
func (s *store) finish(t *task, k storedResult) {
	s.mu.Lock()
	defer s.mu.Unlock()
	t.failure, t.openQuestions = k.failure, nil
	if k.result != nil && (t.form == core || t.status != cancelled) {
		s.keep(t, k)
	}
	switch {
	case k.failure != nil:
		t.set(failed, "The call failed: "+aai.CleanLabel(k.failure.Message, maxMessage))
	case k.isError && t.form == core:
		t.set(failed, "The call failed: "+k.summary)
	case k.isError:
		t.set(completed, "The call ended with an error: "+k.summary)
	default:
		t.set(completed, "The call is done.")
	}
}

// maxMessage limits the error text in a status, in bytes; the result has all of it.
const maxMessage = 300

// firstText returns the first line of a result's text.
func firstText(result *mcp.CallToolResult) string {
	for _, content := range result.Content {
		if text, ok := content.(*mcp.TextContent); ok {
			line, _, _ := strings.Cut(text.Text, "\n")
			return aai.CleanLabel(line, maxMessage)
		}
	}
	return "it gives no reason"
}

// tooLarge returns the result that replaces one without room.
func tooLarge(t *task, size int, isError bool) json.RawMessage {
	result := &mcp.CallToolResult{IsError: isError, Content: []mcp.Content{&mcp.TextContent{Text: fmt.Sprintf(
		"The call has run to its end, but its result of %d bytes is larger than the limit for stored results. "+
			"Do not repeat a call that changes something: check its effect.", size)}}}
	if t.form == core {
		result.Meta = relatedTo(t, nil)
	}
	b, err := json.Marshal(result)
	if err != nil {
		return nil // it is plain text
	}
	return b
}

// asWireError converts an error for clients: one without a code is the gateway's.
func asWireError(err error) *jsonrpc.Error {
	if wire, ok := errors.AsType[*jsonrpc.Error](err); ok {
		return wire
	}
	if errors.Is(err, context.Canceled) {
		return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "the call was cancelled"}
	}
	return &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: err.Error()}
}
