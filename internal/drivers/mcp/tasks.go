package mcp

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	sdk "github.com/modelcontextprotocol/go-sdk/mcp"

	"github.com/gybob/aai-gateway"
)

// Times of a server's task.
const (
	minPoll     = 50 * time.Millisecond
	maxPoll     = 5 * time.Second
	defaultPoll = 500 * time.Millisecond
	cancelTime  = 2 * time.Second
)

// requiresTask reports whether the server runs calls of the tool only as tasks.
func (d definition) requiresTask() bool { return d.Execution.TaskSupport == "required" }

// serverTask is the state of a task at the server.
type serverTask struct {
	ID            string  `json:"taskId"`
	Status        string  `json:"status"`
	StatusMessage string  `json:"statusMessage"`
	PollInterval  float64 `json:"pollInterval"` // milliseconds
}

type replacedKey struct{}

// A replacedRequest replaces a request on its way to the server: the SDK's client has no requests for
// tasks.
type replacedRequest struct {
	method string
	params any
}

// replace returns the request to send for m.
func replace(ctx context.Context, m *jsonrpc.Request) (*jsonrpc.Request, error) {
	r, is := ctx.Value(replacedKey{}).(*replacedRequest)
	if !is || !m.ID.IsValid() || m.Method != "tools/call" {
		return m, nil
	}
	params, err := json.Marshal(r.params)
	if err != nil {
		return nil, err
	}
	other := *m
	other.Method, other.Params = r.method, params
	return &other, nil
}

// request sends a request that the SDK's client does not have, and returns its result.
func (s *session) request(ctx context.Context, method string, params any) (*rawResult, error) {
	ctx, kept := withRawResult(context.WithValue(ctx, replacedKey{}, &replacedRequest{method, params}))
	defer s.wire.forget(kept)
	if _, err := s.client.CallTool(ctx, &sdk.CallToolParams{Name: method}); err != nil && kept.result == nil {
		return nil, err
	}
	return kept, nil
}

// callTask is callTool for a tool that runs as a task. It cancels the task if ctx ends before.
func (s *session) callTask(ctx context.Context, params *sdk.CallToolParams, kept *rawResult) (result *sdk.CallToolResult, odd string, err error) {
	if s.wire == nil {
		return nil, "", undeliveredError(aai.AutomationNotSupported, "",
			"the MCP server of %s runs the tool %s only as a task, which the gateway cannot start over HTTP", s.app, params.Name)
	}
	args := params.Arguments
	if given, is := args.(map[string]any); args == nil || is && given == nil {
		args = map[string]any{}
	}
	taken, err := s.request(ctx, "tools/call", map[string]any{"name": params.Name, "arguments": args, "_meta": params.Meta,
		"task": map[string]any{}})
	if err != nil {
		return nil, "", err
	}
	var begun struct{ Task serverTask }
	if wrong := json.Unmarshal(taken.result, &begun); wrong != nil {
		return nil, "", s.unreadableAnswer(taken.result, wrong)
	}
	if begun.Task.ID != "" {
		if taken, err = s.awaitTask(ctx, begun.Task); err != nil {
			return nil, "", err
		}
	}
	*kept = *taken
	if result, odd = readResult(kept.result); result == nil {
		return nil, "", s.unreadableAnswer(kept.result, errors.New("it has no content"))
	}
	return result, odd, nil
}

// awaitTask polls a task until it has ended, and returns its result.
func (s *session) awaitTask(ctx context.Context, task serverTask) (*rawResult, error) {
	id := map[string]any{"taskId": task.ID}
	for task.Status == "working" || task.Status == "submitted" {
		pause := time.Duration(task.PollInterval) * time.Millisecond
		if pause == 0 {
			pause = defaultPoll
		}
		select {
		case <-ctx.Done():
			return nil, s.cancelTask(ctx, id)
		case <-time.After(min(max(pause, minPoll), maxPoll)):
		}
		kept, err := s.request(ctx, "tasks/get", id)
		if ctx.Err() != nil {
			return nil, s.cancelTask(ctx, id)
		}
		if err != nil {
			return nil, err
		}
		if wrong := json.Unmarshal(kept.result, &task); wrong != nil {
			return nil, s.unreadableAnswer(kept.result, wrong)
		}
	}
	// The result of a task that waits for input comes after its question, which the SDK answers.
	kept, err := s.request(ctx, "tasks/result", id)
	if ctx.Err() != nil {
		return nil, s.cancelTask(ctx, id)
	}
	return kept, err
}

// cancelTask asks the server to cancel a task, and returns the reason.
func (s *session) cancelTask(ctx context.Context, id any) error {
	short, cancel := context.WithTimeout(context.WithoutCancel(ctx), cancelTime)
	defer cancel()
	_, _ = s.request(short, "tasks/cancel", id) // it may have ended meanwhile
	return ctx.Err()
}
