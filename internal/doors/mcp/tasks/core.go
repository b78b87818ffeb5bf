package tasks

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"maps"
	"math"
	"strconv"
	"strings"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"
)

// The form of the core of version 2025-11-25 (basic/utilities/tasks).

// relatedTask is the key of _meta for the task of a message.
const relatedTask = "io.modelcontextprotocol/related-task"

func relatedTo(t *task, meta mcp.Meta) mcp.Meta {
	meta = maps.Clone(meta)
	if meta == nil {
		meta = mcp.Meta{}
	}
	meta[relatedTask] = map[string]string{"taskId": t.id}
	return meta
}

// A coreTask is a task in the core's form. TTL and poll interval are in milliseconds.
type coreTask struct {
	TaskID        string `json:"taskId"`
	Status        status `json:"status"`
	StatusMessage string `json:"statusMessage,omitempty"`
	CreatedAt     string `json:"createdAt"`
	LastUpdatedAt string `json:"lastUpdatedAt"`
	TTL           int64  `json:"ttl"`
	PollInterval  int64  `json:"pollInterval"`
}

// asCore converts the task. The caller holds the lock of the store.
func (t *task) asCore() coreTask {
	return coreTask{
		TaskID: t.id, Status: t.status, StatusMessage: t.message, CreatedAt: stamp(t.created), LastUpdatedAt: stamp(t.updated),
		TTL: t.ttl.Milliseconds(), PollInterval: pollInterval.Milliseconds(),
	}
}

type (
	coreInitializeResult struct {
		*mcp.InitializeResult

		Capabilities coreCapabilities `json:"capabilities"`
	}
	coreCapabilities struct {
		*mcp.ServerCapabilities

		Tasks json.RawMessage `json:"tasks"`
	}
	coreTools struct {
		*mcp.ListToolsResult

		Tools []coreTool `json:"tools"`
	}
	coreTool struct {
		*mcp.Tool

		Execution *execution `json:"execution,omitempty"`
	}
	execution struct {
		TaskSupport Support `json:"taskSupport"`
	}
	createCoreResult struct {
		mcp.ResultBase

		Task coreTask `json:"task"`
	}
	coreTaskResult struct {
		mcp.ResultBase
		coreTask
	}
	listCoreResult struct {
		mcp.ResultBase

		Tasks      []coreTask `json:"tasks"`
		NextCursor string     `json:"nextCursor,omitempty"`
	}
	// An encodedResult is the encoded result of a call.
	encodedResult struct {
		mcp.ResultBase

		encoded json.RawMessage
	}
)

// MarshalJSON implements json.Marshaler.
func (r *encodedResult) MarshalJSON() ([]byte, error) { return r.encoded, nil }

func newCoreInitializeResult(r *mcp.InitializeResult) mcp.Result {
	return &coreInitializeResult{InitializeResult: r, Capabilities: coreCapabilities{
		ServerCapabilities: r.Capabilities, Tasks: json.RawMessage(`{"list":{},"cancel":{},"requests":{"tools":{"call":{}}}}`),
	}}
}

// newCoreTools adds to each tool whether its calls may be tasks.
func newCoreTools(r *mcp.ListToolsResult, support func(string) Support) mcp.Result {
	list := &coreTools{ListToolsResult: r, Tools: make([]coreTool, len(r.Tools))}
	for i, tool := range r.Tools {
		list.Tools[i].Tool = tool
		if s := support(tool.Name); s == Optional || s == Required {
			list.Tools[i].Execution = &execution{s}
		}
	}
	return list
}

func statusNotification(t *task) any {
	return map[string]any{"jsonrpc": "2.0", "method": "notifications/tasks/status", "params": t.asCore()}
}

// immediateResponse is the key for a text that a model may get while the call runs.
const immediateResponse = "io.modelcontextprotocol/model-immediate-response"

// callCore makes a task of a call of this form; wanted is the "task" of its request.
func (l *Layer) callCore(ctx context.Context, req *mcp.CallToolRequest, next mcp.MethodHandler, wanted json.RawMessage) (mcp.Result, error) {
	ttl, err := l.readTTL(wanted)
	if err != nil {
		return nil, err
	}
	t := newTask(l.newCallContext(ctx), l.ownerOf(ctx, req.Session), core, ttl)
	t.notify = notifierOf(ctx)
	if err := l.store.add(t); err != nil {
		t.ctx.end()
		return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: err.Error()}
	}
	l.endWithSession(ctx, req.Session, t.owner)
	created := l.createdCore(t) // before anything can change it
	l.begin(t, req, next, nil)
	return created, nil
}

func (l *Layer) createdCore(t *task) mcp.Result {
	l.store.mu.Lock()
	defer l.store.mu.Unlock()
	created := &createCoreResult{Task: t.asCore()}
	created.Meta = mcp.Meta{immediateResponse: "The call runs in the background as task " + t.id +
		". Its result comes later; do not make the same call again."}
	return created
}

// readTTL parses the lifetime of a task that a client requests.
func (l *Layer) readTTL(wanted json.RawMessage) (time.Duration, error) {
	var task struct {
		TTL *float64 `json:"ttl"`
	}
	if string(wanted) == "null" || json.Unmarshal(wanted, &task) != nil {
		return 0, invalid("task: expected an object, with ttl in milliseconds or without it")
	}
	if task.TTL == nil {
		return l.store.limits.TTL, nil
	}
	if *task.TTL < 0 {
		return 0, invalid("task.ttl: expected milliseconds, got %v", *task.TTL)
	}
	most := float64(l.store.limits.MaxTTL.Milliseconds())
	return l.store.limits.clampTTL(time.Duration(math.Min(*task.TTL, most)) * time.Millisecond), nil
}

// answerCore answers a method about tasks.
func (l *Layer) answerCore(ctx context.Context, method, owner string, asked *params) (mcp.Result, error) {
	switch method {
	case "tasks/list":
		return l.listCore(owner, asked.Cursor)
	case "tasks/get", "tasks/result", "tasks/cancel":
	default:
		return nil, methodNotFound()
	}
	t := l.store.find(owner, core, asked.TaskID)
	if t == nil {
		return nil, unknownTask()
	}
	switch method {
	case "tasks/result":
		return l.resultCore(ctx, t)
	case "tasks/cancel":
		return l.cancelCore(t)
	}
	l.store.mu.Lock()
	defer l.store.mu.Unlock()
	return &coreTaskResult{coreTask: t.asCore()}, nil
}

func (l *Layer) cancelCore(t *task) (mcp.Result, error) {
	l.store.mu.Lock()
	defer l.store.mu.Unlock()
	if !t.set(cancelled, "The task was cancelled by request.") {
		return nil, invalid("the task cannot be cancelled: its status %q is final", t.status)
	}
	t.cancel()
	return &coreTaskResult{coreTask: t.asCore()}, nil
}

// cancelWait is the time for which tasks/result waits for the report of a cancelled call:
// whether it has changed something.
const cancelWait = time.Second

// resultCore waits for the end of the task, and answers as the call would have been
// answered. While it waits, its request can carry requests to the client.
func (l *Layer) resultCore(ctx context.Context, t *task) (mcp.Result, error) {
	defer l.store.attach(t, ctx)()
	select {
	case <-t.finished:
	case <-t.forgotten:
		return nil, unknownTask()
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	select {
	case <-t.workDone:
	case <-time.After(cancelWait): // only a cancelled task is finished before its work is done
	case <-ctx.Done():
		return nil, ctx.Err()
	}
	l.store.mu.Lock()
	defer l.store.mu.Unlock()
	switch {
	case l.store.byID[t.id] != t:
		return nil, unknownTask()
	case t.failure != nil:
		return nil, t.failure
	case t.result == nil:
		return &mcp.CallToolResult{
			Meta: relatedTo(t, nil), IsError: true,
			Content: []mcp.Content{&mcp.TextContent{Text: "The task was cancelled. It may have run in part."}},
		}, nil
	}
	return &encodedResult{encoded: t.result}, nil
}

// pageSize is the number of tasks on a page of tasks/list.
const pageSize = 50

func (l *Layer) listCore(owner string, cursor any) (mcp.Result, error) {
	after, err := readCursor(cursor)
	if err != nil {
		return nil, err
	}
	page, more := l.store.page(owner, core, after, pageSize)
	list := &listCoreResult{Tasks: make([]coreTask, len(page))}
	l.store.mu.Lock()
	defer l.store.mu.Unlock()
	for i, t := range page {
		list.Tasks[i] = t.asCore()
	}
	if more {
		list.NextCursor = newCursor(page[len(page)-1].number)
	}
	return list, nil
}

const cursorPrefix = "after:"

func newCursor(number uint64) string {
	return base64.RawURLEncoding.EncodeToString(fmt.Append(nil, cursorPrefix, number))
}

func readCursor(cursor any) (uint64, error) {
	if cursor == nil || cursor == "" {
		return 0, nil
	}
	text, _ := cursor.(string)
	b, err := base64.RawURLEncoding.DecodeString(text)
	digits, ok := strings.CutPrefix(string(b), cursorPrefix)
	number, noNumber := strconv.ParseUint(digits, 10, 64)
	if err != nil || !ok || noNumber != nil {
		return 0, invalid("cursor: expected the nextCursor of a list")
	}
	return number, nil
}
