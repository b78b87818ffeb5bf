package cli_test

import (
	"context"
	"encoding/json"

	"github.com/gybob/aai-gateway"
)

// workflowTools are the gateway's own tools for workflows; they return their arguments.
func (w *world) workflowTools() []*aai.Tool {
	open := schema(`{}`, anything)
	asked := func(_ context.Context, call *aai.Call) (*aai.Result, error) {
		b, err := json.Marshal(call.Args)
		return &aai.Result{Text: call.Tool + " " + string(b)}, err
	}
	files, runs := []map[string]any{}, []map[string]any{}
	if !w.noClients {
		files = append(files, map[string]any{"name": "tidy", "params": []string{"folder", "days"}, "description": "Tidies up.", "file": "/w/tidy.json"})
		runs = append(runs,
			map[string]any{"run": "c1", "workflow": "tidy", "state": "interrupted", "at": "step 2 of 3", "began": "2026-01-02T03:04:05Z", "caller": "mcp:agent"},
			map[string]any{"run": "c0", "workflow": "tidy", "state": "done", "at": "step 3 of 3", "began": "2026-01-02T03:04:05Z", "caller": "mcp:agent"})
	}
	return []*aai.Tool{
		{Name: "workflow_list", Returns: rows("", "name:workflow", "params", "description", "file"), Run: respond(&aai.Result{Data: files})},
		{Name: "workflow_runs", Returns: rows("", "run", "workflow", "state", "at", "began:began:date-time", "caller"), Run: respond(&aai.Result{Data: runs})},
		{Name: "workflow_show", Params: open, Run: asked},
		{Name: "workflow_resume", Params: open, Run: asked},
		{Name: "workflow_rollback", Params: open, Run: asked},
		{Name: "workflow_file", Params: open, Run: asked},
	}
}
