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
	"github.com/gybob/aai-gateway/internal/answer"
	"github.com/gybob/aai-gateway/internal/schema"
)

// ActiveToolName is the name of the tool that lists active calls.
const ActiveToolName = "running"

const (
	activeParams = `{"type": "object", "additionalProperties": false, "properties": {
		"after": {"type": "string", "description": "The version of an earlier answer: wait until it is another one"},
		"wait": {"type": "number", "minimum": 0, "maximum": 30, "default": 0, "description": "For how many seconds at most"}}}`
)

// activeCalls is the answer of the tool.
type activeCalls = answer.ActiveCalls[answer.ActiveCall]

// NewActiveTool returns the tool that lists the active calls of all gateways that publish in the
// folder, the stops and the leases.
func NewActiveTool(folder string, stopped *StopList, leases *LeaseStore) *aai.Tool {
	t := activeLister{folder, stopped, leases}
	return &aai.Tool{
		Name: ActiveToolName, Description: "List the active and the stopped calls of all gateways",
		Params: schema.MustParse(activeParams), Returns: aai.Schema{Source: answer.SchemaOf[activeCalls]()},
		Effect: aai.Reads, Assess: aai.Always(aai.Assessment{EffectInherent: true, AllowUnaudited: true}), Limits: aai.Limits{Timeout: time.Minute}, Run: t.list,
	}
}

type activeLister struct {
	folder  string
	stopped *StopList
	leases  *LeaseStore
}

func (t activeLister) list(ctx context.Context, call *aai.Call) (*aai.Result, error) {
	after, _ := call.Args["after"].(string)
	wait := seconds(call.Args["wait"])
	if after == "" || wait == 0 {
		return t.now()
	}
	changes := watchFolders(t.folder, filepath.Dir(t.stopped.Path()), t.leases.Folder)
	defer changes.close()
	waiting, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	for {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		result, err := t.now()
		if err != nil || waiting.Err() != nil || result.Data.(activeCalls).Version != after { //nolint:forcetypeassert // now made it
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
	a := activeCalls{Calls: append([]answer.ActiveCall{}, rows...), Stops: []answer.Stop{}, Leases: t.leases.List(nil, nil), Omitted: more}
	stops, err := t.stopped.Stops()
	if err != nil {
		a.Unreadable, a.Stops = aai.CleanLabel(err.Error(), 300), []answer.Stop{{}}
	} else {
		for _, s := range stops {
			if s.Call == "" || more > 0 || isActive(a, s.Call) {
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
func isActive(a activeCalls, call string) bool {
	return slices.ContainsFunc(a.Calls, func(r answer.ActiveCall) bool { return r.Call == call || r.Parent == call })
}
