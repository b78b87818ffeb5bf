package own

import (
	"context"
	"encoding/json"
	"strconv"
	"time"

	"aai"
	"aai/internal/journal"
)

// historyTool reads the journal.
type historyTool struct{ journal *journal.Journal }

func (h historyTool) list(ctx context.Context, call *aai.Call) (*aai.Result, error) {
	filter := journal.Filter{
		App: text(call, "app"), Tool: text(call, "tool"), Caller: text(call, "caller"), Result: text(call, "result"),
		Limit: number(call.Args["limit"]),
	}
	if since := text(call, "since"); since != "" {
		t, err := time.Parse(time.RFC3339, since)
		if err != nil {
			return nil, aai.Errorf(aai.InvalidParams, "since: expected a time as in RFC 3339: %w", err)
		}
		filter.Since = t
	}
	past, err := h.journal.History(ctx, filter)
	if err != nil {
		return nil, aai.Errorf(aai.AutomationFailed, "the history cannot be read: %w", err)
	}
	if past == nil {
		past = []journal.Past{}
	}
	return &aai.Result{Data: past}, nil
}

// number reads an integer that has passed a schema, in any form numbers come in.
func number(value any) int {
	switch n := value.(type) {
	case int:
		return n
	case float64:
		return int(n)
	case json.Number:
		i, err := strconv.Atoi(n.String())
		if err == nil {
			return i
		}
	}
	return 0
}
