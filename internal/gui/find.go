package gui

import (
	"context"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/gui/params"
	"github.com/gybob/aai-gateway/internal/gui/snapview"
)

func (d *engine) findTool() *aai.Tool {
	return spec{
		name: "ax_find", title: "Find UI element", effect: aai.Reads,
		returns: `"found": {"type": "boolean"}, "method": {"type": "string"}, "strategy": {"type": "string"}, ` + elementReturns + `,
			"position": ` + pairReturns + `, "size": ` + pairReturns + `,
			"enabled": {"type": "boolean"}, "focused": {"type": "boolean"}, "in": {"type": "string"}, "row": {"type": "string"}, "states": {"type": "array", "items": {"type": "string"}}`,
		description: "Find one element of a program's windows, in view or not. Returns its ref and the text of its row.",
		params: appProp + `,` + queryProp + `,` + nthProp + `,
			"strategy": {"type": "string", "enum": ["auto", "exact", "contains", "regex", "role", "identifier", "xpath"], "default": "auto"}`,
		required: `["app", "query"]`,
		run: func(ctx context.Context, call *aai.Call) (*aai.Result, error) {
			return d.withView(ctx, call, func(ctx context.Context, v *view) (*aai.Result, error) {
				v.includeOffscreen = true
				m, err := v.locate(ctx, params.String(call, "query"))
				if err != nil {
					return nil, err
				}
				row := v.Row(m.index)
				return &aai.Result{Text: v.FoundText(m.index, row), DataComplete: true, Data: struct {
					Found    bool   `json:"found"`
					Method   string `json:"method"`
					Strategy string `json:"strategy"`
					snapview.ElementView
					In  string `json:"in,omitempty"`
					Row string `json:"row,omitempty"`
				}{true, "accessibility", string(m.strategy), v.Summarize(v.Snapshot, m.index), strings.Join(v.Path(m.index), " in "), row}}, nil
			})
		},
	}.tool()
}
