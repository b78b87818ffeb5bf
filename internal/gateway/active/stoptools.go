package active

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/answer"
	"github.com/gybob/aai-gateway/internal/schema"
)

// Names of the gateway's own tools that stop calls and allow them again. A stop only takes rights away,
// so it needs no authentication; a start gives them back.
const (
	StopToolName  = "stop"
	StartToolName = "start"
)

const stopParams = `{"type": "object", "additionalProperties": false, "properties": {
	"call": {"type": "string", "minLength": 1, "maxLength": 100, "description": "Only this call, by its id, and the calls that it makes"},
	"caller": {"type": "string", "minLength": 1, "maxLength": 4000, "description": "Only the calls of this caller, by its identity; mcp: for all agents that have none"}}}`

// Tools returns the tools that stop calls, and that let stopped calls run again.
func (h *StopList) Tools() []*aai.Tool {
	return []*aai.Tool{
		{
			Name: StopToolName, Description: "Stop everything that runs, a caller's calls or one call, until it is started again",
			Params: schema.MustParse(stopParams), Effect: aai.Changes, Assess: aai.Always(aai.Assessment{AllowUnaudited: true}), Run: h.runStop,
		},
		{
			Name: StartToolName, Description: "Let stopped calls run again: the named ones, or without a name those of a stop of everything, not single stops",
			Params: schema.MustParse(stopParams), Effect: aai.Changes, Precheck: h.precheckStart, Run: h.runStart,
		},
	}
}

// stopFromCall returns the stop that the arguments describe: of a call, a caller, or everything.
func stopFromCall(call *aai.Call) (s answer.Stop, err error) {
	s.Call, _ = call.Args["call"].(string)
	s.Caller, _ = call.Args["caller"].(string)
	if s.Call != "" && s.Caller != "" {
		e := aai.Errorf(aai.InvalidParams, "call and caller are given; expected one of them, or neither for everything")
		e.Delivery = aai.NotDelivered
		return s, e
	}
	return s, nil
}

func (h *StopList) runStop(ctx context.Context, call *aai.Call) (*aai.Result, error) {
	s, err := stopFromCall(call)
	if err != nil {
		return nil, err
	}
	s.At, s.Door = time.Now().UTC(), call.Caller.Door
	if err := h.Add(ctx, s); err != nil {
		if e, is := errors.AsType[*aai.Error](err); is {
			return nil, e
		}
		e := aai.Errorf(aai.AutomationFailed, "it could not be stopped: %w", err)
		e.Hint = "Stop everything, for which an empty file is enough: " + h.cfg.Path
		return nil, e
	}
	s.Caller = callerKey(s.Caller)
	return &aai.Result{Data: map[string]any{"stopped": s}}, nil
}

func (h *StopList) runStart(ctx context.Context, call *aai.Call) (*aai.Result, error) {
	s, err := stopFromCall(call)
	if err != nil {
		return nil, err
	}
	ended, err := h.Remove(ctx, matchesStop(s))
	if err != nil {
		e := aai.Errorf(aai.AutomationFailed, "it could not be started again: %w", err)
		e.Hint = "Remove the file " + h.cfg.Path
		return nil, e
	}
	if ended == nil {
		ended = []answer.Stop{}
	}
	left, err := h.Stops()
	if err != nil {
		left = []answer.Stop{{}}
	}
	return &aai.Result{Data: map[string]any{"started": ended, "stopped": append([]answer.Stop{}, left...)}, NoOp: len(ended) == 0}, nil
}

// matchesStop returns a function that selects the stops to end: those with the scope of s. A
// start of everything leaves stops of single callers and calls, which the person made separately.
func matchesStop(s answer.Stop) func(answer.Stop) bool {
	if who := callerKey(s.Caller); who != "" {
		s.Caller = who
	}
	return func(other answer.Stop) bool { return sameScope(other, s) }
}

// precheckStart returns an error if no stop matches, so that no person is asked.
func (h *StopList) precheckStart(_ context.Context, call *aai.Call) error {
	s, err := stopFromCall(call)
	if err != nil {
		return err
	}
	stops, bad := h.Stops()
	if bad != nil {
		stops = []answer.Stop{{}}
	}
	if slices.ContainsFunc(stops, matchesStop(s)) {
		return nil
	}
	e := aai.Errorf(aai.InvalidParams, "none of these calls is stopped")
	e.Hint = "Stopped calls: aai-gateway running"
	if len(stops) > 0 {
		one := stops[max(0, slices.IndexFunc(stops, func(s answer.Stop) bool { return s.Call == "" }))]
		e = aai.Errorf(aai.InvalidParams, "that is not stopped; %s is", one)
		e.Hint = "To start that again: " + one.StartCommand()
		if len(stops) > 1 {
			e.Hint += ". All stopped calls: aai-gateway running"
		}
	}
	e.Delivery = aai.NotDelivered
	return e
}

// Path returns the path of the file with the stops.
func (h *StopList) Path() string { return h.cfg.Path }
