package mcp

import (
	"context"
	"fmt"
	"strings"
	"time"

	"github.com/gybob/aai-gateway"
)

// stateTool reports the kind of window that a program shows, its state and next steps.
const stateTool = "ax_get_state"

// stateTimeout limits the wait for a program's state: a prompt and a completion are whole without it.
const stateTimeout = time.Second

// programState is the part of the result of ax_get_state that prompts and completions use.
type programState struct {
	State       string   `json:"detected_state"`
	Pattern     string   `json:"detected_pattern"`
	Areas       []string `json:"areas"`
	Suggestions []struct {
		Tool  string `json:"tool"`
		Query string `json:"query"`
	} `json:"suggestions"`
}

// programState returns the state of a running program, as far as the caller may read it without a question. The zero state
// means that it is unknown.
func (d *Door) programState(ctx context.Context, caller aai.Caller, name string) programState {
	var state programState
	if name == "" {
		return state
	}
	ctx, cancel := context.WithTimeout(ctx, stateTimeout)
	defer cancel()
	d.readDesktop(ctx, caller, stateTool, map[string]any{"app": name}, &state)
	return state
}

// line returns a line of a prompt with the kind of window in front and its next steps, or "". Names of elements are JSON
// strings, so that they cannot pass for a step.
func (s programState) line() string {
	if s.Pattern == "" {
		return ""
	}
	var steps []string
	for _, one := range s.Suggestions {
		step := one.Tool
		if one.Query != "" {
			step += " " + quoted(aai.CleanLabel(one.Query, 80))
		}
		steps = append(steps, step)
	}
	line := fmt.Sprintf("app_name shows a window of the kind %s now; its state is %s.", aai.CleanLabel(s.Pattern, 40), aai.CleanLabel(s.State, 40))
	if len(steps) > 0 {
		line += " Possible next steps there: " + strings.Join(steps, ", ") + "."
	}
	return line + "\n"
}
