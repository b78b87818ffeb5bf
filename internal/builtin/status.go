package builtin

import (
	"context"
	"runtime"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/answer"
)

// Status is the name of the tool that describes the gateway and its desktop.
const Status = "status"

// statusTool describes the gateway, and its desktop by the desktop's own tools.
func (s Dependencies) statusTool() *aai.Tool {
	tool := readTool(Status, "Say whether windows can be operated here, and list the connected programs, the version and the security mode", noParams, s.status)
	tool.Returns = aai.Schema{Source: answer.SchemaOf[answer.Status]()}
	return tool
}

func (s Dependencies) status(ctx context.Context, call *aai.Call) (*aai.Result, error) {
	status := answer.Status{ServerVersion: s.Version, ProtocolVersion: s.ProtocolVersion, Platform: runtime.GOOS + ", " + runtime.GOARCH, VLMBackend: "none", ConnectedApps: []string{}}
	if s.Modes != nil {
		status.SecurityMode = s.Modes.Current().String()
	}
	if s.CheckDesktop == nil || s.SessionInfo == nil {
		return &aai.Result{Data: status}, nil
	}
	check, err := dataOf(ctx, s.CheckDesktop, call)
	if err != nil {
		return nil, err
	}
	session, err := dataOf(ctx, s.SessionInfo, call)
	if err != nil {
		return nil, err
	}
	status.AccessibilityEnabled, _ = check["enabled"].(bool)
	status.ConnectedApps, _ = session["connected_apps"].([]string)
	status.UptimeSeconds, _ = session["uptime_seconds"].(int)
	return &aai.Result{Data: status}, nil
}

// dataOf runs a reading tool of the desktop for the caller of another call, and returns its data.
func dataOf(ctx context.Context, run aai.Action, call *aai.Call) (map[string]any, error) {
	result, err := run(ctx, &aai.Call{Caller: call.Caller, App: aai.DesktopApp})
	if err != nil {
		return nil, err
	}
	data, _ := result.Data.(map[string]any)
	return data, nil
}
