package mcp_test

import (
	"context"
	"encoding/json"
	"errors"
	"time"

	"github.com/modelcontextprotocol/go-sdk/jsonrpc"
	"github.com/modelcontextprotocol/go-sdk/mcp"

	door "github.com/gybob/aai-gateway/internal/doors/mcp"
	"github.com/gybob/aai-gateway/internal/doors/mcp/tasks"
)

// suitePatience is the SyncTimeout of the door under test: less than the duration of the suite's tools
// that must become tasks, and much more than that of the others.
const suitePatience = 150 * time.Millisecond

// longerThanPatience is longer than the patience.
const longerThanPatience = 3 * suitePatience

// addConformanceTasks adds the tools that the suite of the tasks extension calls.
func addConformanceTasks(d *door.Door) {
	addTools(d.Server(), map[string]handler{
		"greet": func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			var in struct{ Name string }
			if err := json.Unmarshal(req.Params.Arguments, &in); err != nil {
				return nil, err
			}
			return answered("Hello, %s!", in.Name)
		},
		"slow_compute": func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			var in struct{ Seconds float64 }
			if err := json.Unmarshal(req.Params.Arguments, &in); err != nil {
				return nil, err
			}
			return pause(ctx, time.Duration(in.Seconds*float64(time.Second)), "computed")
		},
		"failing_job": after(longerThanPatience, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			failed := &mcp.CallToolResult{}
			failed.SetError(errors.New("the job failed"))
			return failed, nil
		}),
		"protocol_error_job": after(longerThanPatience, func(context.Context, *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			panic("the job panics")
		}),
		"confirm_delete": whenTask(func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			if answer := filled(req.Params.InputResponses, "confirm"); answer != nil {
				return answered("deleted: %v", answer["confirm"])
			}
			return asking("", mcp.InputRequestMap{"confirm": asksFor("Delete it?", `"confirm":{"type":"boolean"}`)})
		}),
		"multi_input": whenTask(func(_ context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			if len(req.Params.InputResponses) == 2 {
				return answered("both answered")
			}
			return asking("", mcp.InputRequestMap{"first": asksName(), "second": asksFor("Sure?", `"confirm":{"type":"boolean"}`)})
		}),
		"test_tool_with_task": func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
			name := filledText(req.Params.InputResponses, "user_name", "name")
			if name == "" {
				return asking("", mcp.InputRequestMap{"user_name": asksName()})
			}
			return pause(ctx, longerThanPatience, "Hello, "+name)
		},
	})
}

// conformanceSupport returns the task support of the suite's tools.
func conformanceSupport(tool string) tasks.Support {
	return map[string]tasks.Support{
		"greet": tasks.Forbidden, "slow_compute": tasks.Optional, "failing_job": tasks.Required, "protocol_error_job": tasks.Optional,
		"confirm_delete": tasks.Optional, "multi_input": tasks.Optional, "test_tool_with_task": tasks.Required,
	}[tool]
}

// after delays a tool.
func after(while time.Duration, run handler) handler {
	return func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if _, err := pause(ctx, while, ""); err != nil {
			return nil, &jsonrpc.Error{Code: jsonrpc.CodeInternalError, Message: "cancelled"}
		}
		return run(ctx, req)
	}
}

// whenTask lets a tool ask only after its call has become a task.
func whenTask(run handler) handler {
	later := after(longerThanPatience, run)
	return func(ctx context.Context, req *mcp.CallToolRequest) (*mcp.CallToolResult, error) {
		if len(req.Params.InputResponses) > 0 {
			return run(ctx, req)
		}
		return later(ctx, req)
	}
}
