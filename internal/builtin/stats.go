package builtin

import (
	"context"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/audit"
)

// Names of the statistics tools.
const (
	Stats  = "stats"
	Totals = "totals"
)

const (
	totalsParams = `{"type": "object", "additionalProperties": false, "properties": {
		"app": {"type": "string"}, "tool": {"type": "string"}, "caller": {"type": "string"}, "result": {"type": "string", "description": "ok, or an error code"},
		"since": {"type": "string", "format": "date-time"}, "until": {"type": "string", "format": "date-time"},
		"looks": ` + looksParam + `,
		"by": {"type": "string", "enum": ["hour", "day"], "default": "day"}}}`

	totalsRows = `{"type": "object", "properties": {"calls": {"type": "integer"}, "failures": {"type": "integer"},
		"rows": {"type": "array", "items": {"type": "object", "additionalProperties": false, "properties": {
		"start": {"type": "string", "format": "date-time", "title": "from"},
		"calls": {"type": "integer", "title": "calls"}, "failures": {"type": "integer", "title": "failed"},
		"p50_ms": {"type": "number", "title": "p50 ms"}, "p95_ms": {"type": "number", "title": "p95 ms"}}}}}}`

	statsParams = `{"type": "object", "additionalProperties": false, "properties": {
		"app": {"type": "string"}, "tool": {"type": "string"}, "caller": {"type": "string"},
		"since": {"type": "string", "format": "date-time"}, "until": {"type": "string", "format": "date-time"},
		"by": {"type": "string", "enum": ["tool", "app"], "description": "A row for each tool, or for each app"}}}`

	statsRows = `{"type": "object", "properties": {"since": {"type": "string", "format": "date-time"},
		"calls": {"type": "integer"}, "failures": {"type": "integer"},
		"rows": {"type": "array", "items": {"type": "object", "additionalProperties": false, "properties": {
		"app": {"type": "string", "title": "app"}, "tool": {"type": "string", "title": "tool"},
		"calls": {"type": "integer", "title": "calls"}, "failures": {"type": "integer", "title": "failed"},
		"p50_ms": {"type": "number", "title": "p50 ms"}, "p95_ms": {"type": "number", "title": "p95 ms"},
		"first": {"type": "string", "format": "date-time"}, "last": {"type": "string", "format": "date-time", "title": "last"}}}}}}`
)

// statsTool counts calls in the journal.
type statsTool struct{ journal *audit.Journal }

// stats is the result of statsTool.count.
type stats struct {
	Since    time.Time         `json:"since,omitzero"` // time of the first counted call
	Calls    int               `json:"calls"`
	Failures int               `json:"failures"`
	Rows     []audit.ToolStats `json:"rows"`
}

func (s statsTool) count(ctx context.Context, call *aai.Call) (*aai.Result, error) {
	filter, err := filterOf(call)
	if err != nil {
		return nil, err
	}
	rows, err := s.journal.ToolStats(ctx, filter, text(call, "by") == "app")
	if err != nil {
		return nil, aai.Errorf(aai.AutomationFailed, "the calls cannot be counted: %w", err)
	}
	answer := stats{Rows: rows}
	if rows == nil {
		answer.Rows = []audit.ToolStats{}
	}
	for _, row := range rows {
		answer.Calls += row.Calls
		answer.Failures += row.Failures
		if answer.Since.IsZero() || row.First.Before(answer.Since) {
			answer.Since = row.First
		}
	}
	return &aai.Result{Data: answer}, nil
}

// totals is the result of statsTool.totals.
type totals struct {
	Calls    int                 `json:"calls"`
	Failures int                 `json:"failures"`
	Rows     []audit.PeriodStats `json:"rows"` // oldest first, without periods that have no calls
}

func (s statsTool) totals(ctx context.Context, call *aai.Call) (*aai.Result, error) {
	filter, err := filterOf(call)
	if err != nil {
		return nil, err
	}
	rows, err := s.journal.PeriodStats(ctx, filter, text(call, "by") != "hour", time.Local)
	if err != nil {
		return nil, aai.Errorf(aai.AutomationFailed, "the calls cannot be counted: %w", err)
	}
	answer := totals{Rows: rows}
	if rows == nil {
		answer.Rows = []audit.PeriodStats{}
	}
	for _, row := range rows {
		answer.Calls += row.Calls
		answer.Failures += row.Failures
	}
	return &aai.Result{Data: answer}, nil
}
