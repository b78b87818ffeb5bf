package own

import (
	"context"
	"encoding/json"
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

// number reads an integer that has passed a schema, in the forms that numbers
// have after it. Zero stands for none.
func number(value any) int {
	switch n := value.(type) {
	case int64:
		return int(n)
	case float64:
		return int(n)
	case json.Number:
		f, _ := n.Float64() // such as 1e2, which is an integer too
		return int(f)
	}
	return 0
}
