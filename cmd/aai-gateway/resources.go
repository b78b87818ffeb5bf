package main

import (
	"context"
	"maps"
	"slices"
	"strconv"
	"strings"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/builtin"
	"github.com/gybob/aai-gateway/internal/doors/mcp"
	"github.com/gybob/aai-gateway/internal/gui"
	"github.com/gybob/aai-gateway/internal/gui/eventlog"
	"github.com/gybob/aai-gateway/internal/gui/recording"
)

// Limits of the resources of the desktop.
const (
	resourceTokens   = 20_000 // of a tree
	resourceEvents   = 1_000
	subscribeTimeout = 10 * time.Second // for finding a program
)

const jsonMIME = "application/json"

// desktopResources returns the resources of running programs; nil without a desktop.
func desktopResources(desk *aai.App) []mcp.Resource {
	watcher, ok := gui.WatcherOf(desk)
	if !ok {
		return nil
	}
	all := slices.Concat(systemResources(watcher), programResources(watcher), recordingResources())
	for i := range all {
		all[i].IsPersonal, all[i].AudienceModel = true, all[i].Watch != nil || strings.Contains(all[i].URI, "{name}")
		if strings.Contains(all[i].URI, "recording/") {
			all[i].IsPersonal = false // to begin is to ask the person
		}
		if all[i].Watch != nil {
			all[i].Debounce, all[i].IsEachChangeNews = eventlog.FoldTime, true
		}
	}
	return all
}

// systemResources returns the resources of the whole desktop.
func systemResources(watcher *gui.Watcher) []mcp.Resource {
	call := func(app, tool string, args map[string]any) func(map[string]string) *aai.Call {
		return func(map[string]string) *aai.Call { return &aai.Call{App: app, Tool: tool, Args: args} }
	}
	follow := func(watch func(func()) func()) func(map[string]string, func()) (func(), error) {
		return func(_ map[string]string, changed func()) (func(), error) { return watch(changed), nil }
	}
	return []mcp.Resource{
		{
			URI: "axterminator://system/status", Name: "system-status", Title: "System Accessibility Status", MIME: jsonMIME, Priority: 0.9,
			Description: "Whether windows can be operated, the connected programs, version and security mode",
			Call:        call(aai.BuiltinApp, builtin.Status, nil),
		},
		{
			URI: "axterminator://apps", Name: "running-apps", Title: "Running Applications", MIME: jsonMIME, Priority: 0.7,
			Description: "The running programs, with their state and front window. Subscribe for programs and windows that come and go.",
			Call:        call(aai.DesktopApp, "ax_list_apps", nil), Watch: follow(watcher.Programs),
		},
		{
			URI: "axterminator://clipboard", Name: "clipboard", Title: "System Clipboard", MIME: jsonMIME, Priority: 0.3,
			Description: "The clipboard. Subscribe for what is copied.",
			Call:        call(aai.DesktopApp, "ax_clipboard", map[string]any{"action": "read"}), Watch: follow(watcher.Clipboard),
		},
	}
}

// recordingResources returns the resources that begin and end a recording of the person.
func recordingResources() []mcp.Resource {
	start := func(values map[string]string) *aai.Call {
		args := map[string]any{}
		if app, given := values["name"]; given {
			args["app"] = app
		}
		return &aai.Call{App: aai.DesktopApp, Tool: "ax_record", Args: args}
	}
	const about = "Read it to record what the person does, as steps for ax_workflow. The person is asked each time. "
	return []mcp.Resource{
		{
			URI: "axterminator://recording/start", Name: "recording-start", Title: "Start Recording", MIME: jsonMIME,
			Description: about + "In the only connected program.", Call: start,
		},
		{
			URI: "axterminator://recording/start?app={name}", Name: "recording-start-app", Title: "Start Recording a Program", MIME: jsonMIME,
			Description: about + "In the program.", Call: start,
		},
		{
			URI: "axterminator://recording/stop", Name: "recording-stop", Title: "Stop Recording", MIME: jsonMIME,
			Description: "Read it to end the recording and get its steps.",
			Call:        func(map[string]string) *aai.Call { return &aai.Call{App: aai.BuiltinApp, Tool: recording.StopTool} },
		},
	}
}

// programResources returns the resources of each running program.
func programResources(watcher *gui.Watcher) []mcp.Resource {
	call := func(tool string, more map[string]any) func(map[string]string) *aai.Call {
		return func(values map[string]string) *aai.Call {
			args := map[string]any{"app": values["name"]}
			maps.Copy(args, more)
			c := &aai.Call{App: aai.DesktopApp, Tool: tool, Args: args}
			for variable, arg := range map[string]string{"index": "window_index", "after": "after"} {
				if value, given := values[variable]; given {
					n, err := strconv.Atoi(value)
					if args[arg] = n; err != nil {
						c.RequestError = aai.Errorf(aai.InvalidParams, "%s: expected a number, as the list of windows or events has them", variable)
					}
				}
			}
			return c
		}
	}
	follow := func(topic eventlog.Topic) func(map[string]string, func()) (func(), error) {
		return func(values map[string]string, changed func()) (func(), error) {
			ctx, cancel := context.WithTimeout(context.Background(), subscribeTimeout)
			defer cancel()
			return watcher.Program(ctx, values["name"], topic, changed)
		}
	}
	tree, part := map[string]any{"format": "json", "budget_tokens": resourceTokens}, map[string]any{"format": "json", "max_depth": 1}
	return []mcp.Resource{
		{
			URI: "axterminator://app/{name}/tree", Check: call("ax_get_tree", part), Name: "app-element-tree", Title: "Application Element Tree", MIME: jsonMIME,
			Description: "The elements of a program's windows: roles, names, values. Subscribe for changes.",
			Call:        call("ax_get_tree", tree), Watch: follow(eventlog.Tree),
		},
		{
			URI: "axterminator://app/{name}/screenshot", Name: "app-screenshot", Title: "Application Screenshot", MIME: "image/png",
			Description: "A picture of a program's front window", Call: call("ax_screenshot", nil),
		},
		{
			URI: "axterminator://app/{name}/state", Name: "app-ui-state", Title: "Application UI State", MIME: jsonMIME,
			Description: "The windows, dialog, focused element and menus of a program. Subscribe for changes.",
			Call:        call("ax_get_state", nil), Watch: follow(eventlog.State),
		},
		{
			URI: "axterminator://app/{name}/window/{index}/tree", Name: "window-element-tree", Title: "Window Element Tree", MIME: jsonMIME,
			Description: "The elements of one window of a program, by its index", Check: call("ax_get_tree", part), Call: call("ax_get_tree", tree), Watch: follow(eventlog.Tree),
		},
		{
			URI: "axterminator://app/{name}/events", Name: "app-events", Title: "Application Event Stream", MIME: jsonMIME,
			Description: "What happened in a program since the first reading, numbered. Subscribe for new events.",
			Call:        call("ax_get_events", map[string]any{"limit": resourceEvents}), Check: call("ax_get_events", map[string]any{"limit": 1}), Watch: follow(eventlog.Events),
		},
		{
			URI: "axterminator://app/{name}/events/{after}", Name: "app-events-after", Title: "Application Events After a Number", MIME: jsonMIME,
			Description: "Up to 1,000 events of a program after the one with the number", Call: call("ax_get_events", map[string]any{"limit": resourceEvents}),
		},
	}
}
