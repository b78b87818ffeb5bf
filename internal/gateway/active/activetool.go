package active

import (
	"context"
	"encoding/json"
	"fmt"
	"hash/fnv"
	"path/filepath"
	"slices"
	"strconv"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/schema"
)

// ActiveToolName is the name of the tool that lists active calls.
const ActiveToolName = "running"

const (
	activeParams = `{"type": "object", "additionalProperties": false, "properties": {
		"after": {"type": "string", "description": "The version of an earlier answer: wait until it is another one"},
		"wait": {"type": "number", "minimum": 0, "maximum": 30, "default": 0, "description": "For how many seconds at most"}}}`

	activeReturns = `{"type": "object", "required": ["calls", "stops", "version"], "properties": {
		"calls": {"type": "array", "items": {"type": "object", "additionalProperties": false, "properties": {
			"since": {"type": "string", "format": "date-time", "title": "since"}, "caller": {"type": "string", "title": "caller"},
			"app": {"type": "string", "title": "app"}, "tool": {"type": "string", "title": "tool"},
			"target": {"type": "string", "title": "target"}, "stage": {"type": "string", "title": "stage", "enum": ["finding", "deciding", "asking", "waiting", "recording", "running"]},
			"message": {"type": "string", "title": "progress"}, "call": {"type": "string", "title": "call"},
			"identity": {"type": "string", "title": "identity"}, "on": {"type": "string"},
			"done": {"type": "number"}, "total": {"type": "number"}, "parent": {"type": "string"}, "door": {"type": "string"}, "process": {"type": "integer"}}}},
		"stops": {"type": "array", "items": {"type": "object", "properties": {
			"call": {"type": "string"}, "caller": {"type": "string"}, "at": {"type": "string", "format": "date-time"}, "door": {"type": "string"}}}},
		"unreadable": {"type": "string", "description": "Why the stop list cannot be read; everything is stopped then"},
		"more": {"type": "integer"}, "version": {"type": "string"}}}`
)

// activeResult is the answer of the tool.
type activeResult struct {
	Calls []PublishedCall `json:"calls"`
	// Stops lists the active stops; one without a scope stops everything. It omits stops of ended
	// calls, which stay in force because the call may be repeated.
	Stops []Stop `json:"stops"`
	// Unreadable is the reason why the stops are unknown, or "".
	Unreadable string `json:"unreadable,omitempty"`
	Omitted    int    `json:"more,omitempty"`
	Version    string `json:"version"`
}

// NewActiveTool returns the tool that lists the active calls of all gateways that publish in the
// folder, and the stops.
func NewActiveTool(folder string, stopped *StopList) *aai.Tool {
	t := activeLister{folder, stopped}
	return &aai.Tool{
		Name: ActiveToolName, Description: "List the active and the stopped calls of all gateways",
		Params: schema.MustParse(activeParams), Returns: aai.Schema{Source: json.RawMessage(activeReturns)},
		Effect: aai.Reads, Assess: aai.Always(aai.Assessment{EffectInherent: true, AllowUnaudited: true}), Limits: aai.Limits{Timeout: time.Minute}, Run: t.list,
	}
}

type activeLister struct {
	folder  string
	stopped *StopList
}

func (t activeLister) list(ctx context.Context, call *aai.Call) (*aai.Result, error) {
	after, _ := call.Args["after"].(string)
	wait := seconds(call.Args["wait"])
	if after == "" || wait == 0 {
		return t.now()
	}
	changes := watchFolders(t.folder, filepath.Dir(t.stopped.Path()))
	defer changes.close()
	waiting, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		result, err := t.now()
		if err != nil || waiting.Err() != nil || result.Data.(activeResult).Version != after { //nolint:forcetypeassert // now made it
			return result, err
		}
		changes.waitForChange(waiting)
	}
}

// seconds converts a JSON number of seconds.
func seconds(value any) time.Duration {
	n, err := strconv.ParseFloat(fmt.Sprint(value), 64)
	if err != nil || n <= 0 {
		return 0
	}
	return time.Duration(n * float64(time.Second))
}

func (t activeLister) now() (*aai.Result, error) {
	rows, more, err := ListActive(t.folder)
	if err != nil {
		return nil, aai.Errorf(aai.AutomationFailed, "the active calls cannot be read: %w", err)
	}
	a := activeResult{Calls: append([]PublishedCall{}, rows...), Stops: []Stop{}, Omitted: more}
	stops, err := t.stopped.Stops()
	if err != nil {
		a.Unreadable, a.Stops = aai.CleanLabel(err.Error(), 300), []Stop{{}}
	} else {
		for _, s := range stops {
			if s.Call == "" || more > 0 || a.isActive(s.Call) {
				a.Stops = append(a.Stops, s)
			}
		}
	}
	text, err := json.Marshal(a)
	if err != nil {
		return nil, err
	}
	sum := fnv.New64a()
	_, _ = sum.Write(text) // a hash never returns an error
	a.Version = strconv.FormatUint(sum.Sum64(), 36)
	return &aai.Result{Data: a}, nil
}

// isActive reports whether the call, or one that it made, is active.
func (a activeResult) isActive(call string) bool {
	return slices.ContainsFunc(a.Calls, func(r PublishedCall) bool { return r.Call == call || r.Parent == call })
}
