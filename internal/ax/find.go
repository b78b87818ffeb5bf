package ax

import (
	"context"
	"time"

	"aai"
)

// findPatience is how long a query waits for something to appear.
const findPatience = 500 * time.Millisecond

func (d *desk) findTool() *aai.Tool {
	return spec{
		name: "ax_find", title: "Find UI element", effect: aai.Reads,
		returns: `"found": {"type": "boolean"}, "method": {"type": "string"}, "strategy": {"type": "string"}, ` + elementReturns + `,
			"position": ` + pairReturns + `, "size": ` + pairReturns + `,
			"enabled": {"type": "boolean"}, "focused": {"type": "boolean"}, "states": {"type": "array", "items": {"type": "string"}}`,
		description: "Find one element of a program's windows. The answer has a ref to use in place of a query.",
		params: appProp + `,` + queryProp + `,` + nthProp + `,
			"strategy": {"type": "string", "enum": ["auto", "exact", "contains", "regex", "role", "identifier", "xpath"], "default": "auto"}`,
		required: `["app", "query"]`,
		run: func(ctx context.Context, call *aai.Call) (*aai.Result, error) {
			return d.look(ctx, call, func(ctx context.Context, v *view) (*aai.Result, error) {
				m, err := v.locate(ctx, textArg(call, "query"))
				if err != nil {
					return nil, err
				}
				text := describe(v, m.index)
				if path := v.path(m.index); path != "" {
					text += " in " + path
				}
				return &aai.Result{Text: text, Data: struct {
					Found    bool   `json:"found"`
					Method   string `json:"method"`
					Strategy string `json:"strategy"`
					elementView
				}{true, "accessibility", string(m.strategy), v.brief(v.shot, m.index)}}, nil
			})
		},
	}.tool()
}
