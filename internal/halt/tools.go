package halt

import (
	"context"
	"errors"
	"slices"
	"time"

	"aai"
	"aai/internal/schema"
)

// The tools of the gateway's own app. To stop takes rights away from whoever acts and
// gives none, so nobody has to prove that they want it; to start again gives them back.
const (
	StopTool  = "stop"
	StartTool = "start"
)

const whichParams = `{"type": "object", "additionalProperties": false, "properties": {
	"call": {"type": "string", "minLength": 1, "maxLength": 100, "description": "Only this call, by its id, and the calls that it makes"},
	"caller": {"type": "string", "minLength": 1, "maxLength": 4000, "description": "Only the calls of this caller, by its identity; mcp: for all agents that have none"}}}`

// Tools returns the tools that stop and start.
func (h *Halt) Tools() []*aai.Tool {
	return []*aai.Tool{
		{
			Name: StopTool, Description: "Stop everything that runs, a caller's calls or one call, until it is started again",
			Params: schema.MustParse(whichParams), Effect: aai.Changes, Unrecorded: true, Run: h.stop,
		},
		{
			Name: StartTool, Description: "Let calls run again that were stopped: what is named, or without a name what a stop of everything stopped, and no single stop beside it",
			Params: schema.MustParse(whichParams), Effect: aai.Changes, Vain: h.vain, Run: h.start,
		},
	}
}

// named is what a call names: a call, a caller, or neither.
func named(call *aai.Call) (s Stop, err error) {
	s.Call, _ = call.Args["call"].(string)
	s.Caller, _ = call.Args["caller"].(string)
	if s.Call != "" && s.Caller != "" {
		e := aai.Errorf(aai.InvalidParams, "call and caller are given; expected one of them, or neither for everything")
		e.Delivery = aai.NotDelivered
		return s, e
	}
	return s, nil
}

func (h *Halt) stop(ctx context.Context, call *aai.Call) (*aai.Result, error) {
	s, err := named(call)
	if err != nil {
		return nil, err
	}
	s.At, s.Door = time.Now().UTC(), call.Caller.Door
	if err := h.Stop(ctx, s); err != nil {
		if e, is := errors.AsType[*aai.Error](err); is {
			return nil, e
		}
		e := aai.Errorf(aai.AutomationFailed, "it could not be stopped: %w", err)
		e.Hint = "Stop everything, for which an empty file is enough: " + h.cfg.Path
		return nil, e
	}
	s.Caller = whom(s.Caller)
	return &aai.Result{Data: map[string]any{"stopped": s}}, nil
}

func (h *Halt) start(ctx context.Context, call *aai.Call) (*aai.Result, error) {
	s, err := named(call)
	if err != nil {
		return nil, err
	}
	ended, err := h.Start(ctx, meant(s))
	if err != nil {
		e := aai.Errorf(aai.AutomationFailed, "it could not be started again: %w", err)
		e.Hint = "Remove the file " + h.cfg.Path
		return nil, e
	}
	if ended == nil {
		ended = []Stop{}
	}
	left, err := h.Stops()
	if err != nil {
		left = []Stop{{}}
	}
	return &aai.Result{Data: map[string]any{"started": ended, "stopped": append([]Stop{}, left...)}, Idle: len(ended) == 0}, nil
}

// meant are the stops that a start names: without a name that of everything, and not those of
// single callers and calls beside it, which the person made each for itself.
func meant(s Stop) func(Stop) bool {
	if who := whom(s.Caller); who != "" {
		s.Caller = who
	}
	return func(other Stop) bool { return other.same(s) }
}

// vain says why to start would come to nothing: then nobody is asked about it.
func (h *Halt) vain(_ context.Context, call *aai.Call) error {
	s, err := named(call)
	if err != nil {
		return err
	}
	stops, bad := h.Stops()
	if bad != nil {
		stops = []Stop{{}}
	}
	if slices.ContainsFunc(stops, meant(s)) {
		return nil
	}
	e := aai.Errorf(aai.InvalidParams, "nothing of that is stopped")
	e.Hint = "What is stopped: aai-gateway running"
	if len(stops) > 0 {
		one := stops[max(0, slices.IndexFunc(stops, func(s Stop) bool { return s.Call == "" }))]
		e = aai.Errorf(aai.InvalidParams, "that is not stopped; %s is", one)
		e.Hint = "To let that run again: " + one.again()
		if len(stops) > 1 {
			e.Hint += ". All that is stopped: aai-gateway running"
		}
	}
	e.Delivery = aai.NotDelivered
	return e
}

// Path is the file that says what is stopped.
func (h *Halt) Path() string { return h.cfg.Path }
