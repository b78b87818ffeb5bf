package running

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"aai"
	"aai/internal/halt"
	"aai/internal/schema"
)

// ToolName is the tool that says what runs.
const ToolName = "running"

const (
	params = `{"type": "object", "additionalProperties": false, "properties": {
		"after": {"type": "string", "description": "The version of an earlier answer: wait until it is another one"},
		"wait": {"type": "number", "minimum": 0, "maximum": 30, "default": 0, "description": "For how many seconds at most"}}}`

	returns = `{"type": "object", "required": ["calls", "stops", "version"], "properties": {
		"calls": {"type": "array", "items": {"type": "object", "additionalProperties": false, "properties": {
			"since": {"type": "string", "format": "date-time", "title": "since"}, "caller": {"type": "string", "title": "caller"},
			"app": {"type": "string", "title": "app"}, "tool": {"type": "string", "title": "tool"},
			"target": {"type": "string", "title": "target"}, "stage": {"type": "string", "title": "stage", "enum": ["finding", "deciding", "asking", "waiting", "recording", "running"]},
			"message": {"type": "string", "title": "progress"}, "call": {"type": "string", "title": "call"},
			"identity": {"type": "string", "title": "identity"}, "on": {"type": "string"},
			"done": {"type": "number"}, "total": {"type": "number"}, "parent": {"type": "string"}, "door": {"type": "string"}, "process": {"type": "integer"}}}},
		"stops": {"type": "array", "items": {"type": "object", "properties": {
			"call": {"type": "string"}, "caller": {"type": "string"}, "at": {"type": "string", "format": "date-time"}, "door": {"type": "string"}}}},
		"unreadable": {"type": "string", "description": "Why nobody knows what is stopped: then everything is"},
		"more": {"type": "integer"}, "version": {"type": "string"}}}`
)

// answer is what the tool answers.
type answer struct {
	Calls []Row `json:"calls"`
	// Stops are what is stopped; one that names nothing stops everything. That of a call which
	// has ended is none of it, though it stays: the call may be made again.
	Stops []halt.Stop `json:"stops"`
	// Unreadable says why nobody knows what is stopped; "": it is known.
	Unreadable string `json:"unreadable,omitempty"`
	More       int    `json:"more,omitempty"`
	Version    string `json:"version"`
}

// Tool returns the tool that says what runs in the gateways that tell in the folder, and
// what is stopped.
func Tool(folder string, stopped *halt.Halt) *aai.Tool {
	t := lister{folder, stopped}
	return &aai.Tool{
		Name: ToolName, Description: "Say which calls are under way in all gateways, and what is stopped",
		Params: schema.MustParse(params), Returns: aai.Schema{Source: json.RawMessage(returns)},
		Effect: aai.Reads, Natural: true, Unrecorded: true, Timeout: time.Minute, Run: t.list,
	}
}

type lister struct {
	folder  string
	stopped *halt.Halt
}

func (t lister) list(ctx context.Context, call *aai.Call) (*aai.Result, error) {
	after, _ := call.Args["after"].(string)
	wait := seconds(call.Args["wait"])
	if after == "" || wait == 0 {
		return t.now()
	}
	changes := awaiting(t.folder, filepath.Dir(t.stopped.Path()))
	defer changes.close()
	waiting, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		result, err := t.now()
		if err != nil || waiting.Err() != nil || result.Data.(answer).Version != after { //nolint:forcetypeassert // now made it
			return result, err
		}
		changes.change(waiting)
	}
}

// seconds reads a number of JSON.
func seconds(value any) time.Duration {
	n, err := strconv.ParseFloat(fmt.Sprint(value), 64)
	if err != nil || n <= 0 {
		return 0
	}
	return time.Duration(n * float64(time.Second))
}

func (t lister) now() (*aai.Result, error) {
	rows, more, err := List(t.folder)
	if err != nil {
		return nil, aai.Errorf(aai.AutomationFailed, "what runs cannot be read: %w", err)
	}
	a := answer{Calls: append([]Row{}, rows...), Stops: []halt.Stop{}, More: more}
	stops, err := t.stopped.Stops()
	if err != nil {
		a.Unreadable, a.Stops = aai.CleanLabel(err.Error(), 300), []halt.Stop{{}}
	} else {
		for _, s := range stops {
			if s.Call == "" || more > 0 || a.under(s.Call) {
				a.Stops = append(a.Stops, s)
			}
		}
	}
	text, err := json.Marshal(a)
	if err != nil {
		return nil, err
	}
	sum := fnv.New64a()
	_, _ = sum.Write(text) // a hash takes everything
	a.Version = strconv.FormatUint(sum.Sum64(), 36)
	return &aai.Result{Data: a}, nil
}

// under reports whether the call, or one that it made, is under way.
func (a answer) under(call string) bool {
	return slices.ContainsFunc(a.Calls, func(r Row) bool { return r.Call == call || r.Parent == call })
}
