package builtin

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/answer"
	"github.com/gybob/aai-gateway/internal/audit"
	"github.com/gybob/aai-gateway/internal/audit/kept"
)

// Story is the name of the tool that returns all records of one call.
const Story = "story"

const (
	storyParams = `{"type": "object", "additionalProperties": false, "properties": {
		"call": {"type": "string", "minLength": 1, "description": "Its id"}}, "required": ["call"]}`

	forgetParams = `{"type": "object", "additionalProperties": false, "minProperties": 1, "properties": {
		"call": {"type": "string", "minLength": 1, "description": "The id of one call"},
		"app": {"type": "string", "minLength": 1, "description": "All of an app"},
		"all": {"type": "boolean", "enum": [true]}}}`
)

// ForgetResults is the name of the tool that deletes kept results.
const ForgetResults = "history_forget"

// historyTool reads the journal and the kept results.
type historyTool struct {
	journal     *audit.Journal
	keptResults *kept.ResultStore
}

// withResult adds the kept result of a call to its trace. It omits a result that does not match
// the digest in the journal.
func (h historyTool) withResult(ctx context.Context, t *answer.Trace) *answer.Trace {
	kept, err := h.keptResults.Get(ctx, t.Call.Call)
	recorded := func(s answer.TraceStep) bool { return kept != nil && s.KeptDigest == kept.SHA256 }
	switch {
	case err != nil:
		t.MissingReason = aai.CleanLabel(err.Error(), 300)
	case kept == nil:
	case !slices.ContainsFunc(t.Steps, recorded):
		t.MissingReason = "what is kept is not what is on record"
	default:
		t.Answer = kept.Content
	}
	return t
}

// forget deletes kept results. It does not change the journal.
func (h historyTool) forget(ctx context.Context, call *aai.Call) (*aai.Result, error) {
	all, _ := call.Args["all"].(bool)
	id, app := text(call, "call"), text(call, "app")
	if all == (id != "" || app != "") || id != "" && app != "" {
		return nil, aai.Errorf(aai.InvalidParams, "expected one of call, app and all")
	}
	n, err := h.keptResults.Forget(ctx, id, app)
	if err != nil {
		return nil, aai.Errorf(aai.AutomationFailed, "%d answers were deleted, and not all: %w", n, err)
	}
	return &aai.Result{Text: fmt.Sprintf("What is kept of %d answers is deleted. The calls are still on record.", n), Data: answer.Forgotten{Forgotten: n}}, nil
}

func (h historyTool) list(ctx context.Context, call *aai.Call) (*aai.Result, error) {
	filter, err := filterOf(call)
	if err != nil {
		return nil, err
	}
	past, err := h.journal.History(ctx, filter)
	switch {
	case ctx.Err() != nil:
		return nil, ctx.Err() // the caller has cancelled
	case err != nil:
		return nil, aai.Errorf(aai.AutomationFailed, "the history cannot be read: %w", err)
	}
	if past == nil {
		past = []answer.CallRecord{}
	}
	return &aai.Result{Data: past}, nil
}

// story returns the trace of one call.
func (h historyTool) story(ctx context.Context, call *aai.Call) (*aai.Result, error) {
	id := text(call, "call")
	story, err := h.journal.Trace(ctx, id)
	if err != nil {
		return nil, aai.Errorf(aai.AutomationFailed, "the history cannot be read: %w", err)
	}
	if story == nil {
		e := aai.Errorf(aai.InvalidParams, "call: no call %q is on record", aai.CleanLabel(id, 60))
		e.Hint = "The history lists the calls with their ids: aai-gateway history"
		return nil, e
	}
	return &aai.Result{Data: h.withResult(ctx, story)}, nil
}

// filterOf returns the filter that the arguments of a call specify.
func filterOf(call *aai.Call) (audit.Filter, error) {
	filter := audit.Filter{
		App: text(call, "app"), Tool: text(call, "tool"), Caller: text(call, "caller"), Result: text(call, "result"),
		Call: text(call, "call"), Before: text(call, "before"), Parent: text(call, "parent"), Text: text(call, "text"),
	}
	filter.Limit, _ = aai.WholeNumber(call.Args["limit"])
	if looks, given := call.Args["looks"].(bool); given {
		filter.ExcludePageReads = !looks
	}
	for name, at := range map[string]*time.Time{"since": &filter.Since, "until": &filter.Until} {
		given := text(call, name)
		if given == "" {
			continue
		}
		t, err := time.Parse(time.RFC3339, given)
		if err != nil {
			return filter, aai.Errorf(aai.InvalidParams, "%s: expected a time as in RFC 3339: %w", name, err)
		}
		*at = t
	}
	return filter, nil
}
