package builtin

import (
	"context"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/answer"
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

	statsParams = `{"type": "object", "additionalProperties": false, "properties": {
		"app": {"type": "string"}, "tool": {"type": "string"}, "caller": {"type": "string"},
		"since": {"type": "string", "format": "date-time"}, "until": {"type": "string", "format": "date-time"},
		"by": {"type": "string", "enum": ["tool", "app"], "description": "A row for each tool, or for each app"}}}`
)

// statsTool counts calls in the journal.
type statsTool struct{ journal *audit.Journal }

func (s statsTool) count(ctx context.Context, call *aai.Call) (*aai.Result, error) {
	filter, err := filterOf(call)
	if err != nil {
		return nil, err
	}
	rows, err := s.journal.ToolStats(ctx, filter, text(call, "by") == "app")
	if err != nil {
		return nil, aai.Errorf(aai.AutomationFailed, "the calls cannot be counted: %w", err)
	}
	all := answer.Stats[answer.ToolStats]{Rows: append([]answer.ToolStats{}, rows...)}
	for _, row := range rows {
		all.Calls += row.Calls
		all.Failures += row.Failures
		if all.Since.IsZero() || row.First.Before(all.Since) {
			all.Since = row.First
		}
	}
	return &aai.Result{Data: all}, nil
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
	all := answer.Stats[answer.PeriodStats]{Rows: append([]answer.PeriodStats{}, rows...)}
	for _, row := range rows {
		all.Calls += row.Calls
		all.Failures += row.Failures
	}
	return &aai.Result{Data: all}, nil
}
