package ax

import (
	"context"
	"strings"

	"aai"
	"aai/internal/ax/asked"
	"aai/internal/ax/scene"
)

func (d *desk) findTool() *aai.Tool {
	return spec{
		name: "ax_find", title: "Find UI element", effect: aai.Reads,
		returns: `"found": {"type": "boolean"}, "method": {"type": "string"}, "strategy": {"type": "string"}, ` + elementReturns + `,
			"position": ` + pairReturns + `, "size": ` + pairReturns + `,
			"enabled": {"type": "boolean"}, "focused": {"type": "boolean"}, "in": {"type": "string"}, "row": {"type": "string"}, "states": {"type": "array", "items": {"type": "string"}}`,
		description: "Find one element of a program's windows, in view or not. The answer has its ref, and what its row says.",
		params: appProp + `,` + queryProp + `,` + nthProp + `,
			"strategy": {"type": "string", "enum": ["auto", "exact", "contains", "regex", "role", "identifier", "xpath"], "default": "auto"}`,
		required: `["app", "query"]`,
		run: func(ctx context.Context, call *aai.Call) (*aai.Result, error) {
			return d.look(ctx, call, func(ctx context.Context, v *view) (*aai.Result, error) {
				v.Beyond = true
				m, err := v.Locate(ctx, asked.Text(call, "query"))
				if err != nil {
					return nil, err
				}
				row := v.Row(m.Index)
				return &aai.Result{Text: v.FoundText(m.Index, row), Whole: true, Data: struct {
					Found    bool   `json:"found"`
					Method   string `json:"method"`
					Strategy string `json:"strategy"`
					scene.ElementView
					In  string `json:"in,omitempty"`
					Row string `json:"row,omitempty"`
				}{true, "accessibility", string(m.Strategy), v.Brief(v.Shot, m.Index), strings.Join(v.Path(m.Index), " in "), row}}, nil
			})
		},
	}.tool()
}
