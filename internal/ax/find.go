package ax

import (
	"context"
	"slices"
	"strings"
	"time"

	"aai"
	"aai/internal/desktop/query"
)

// findPatience is how long a query waits for something to appear.
const findPatience = 500 * time.Millisecond

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
				v.beyond = true
				m, err := v.locate(ctx, textArg(call, "query"))
				if err != nil {
					return nil, err
				}
				row := v.row(m.index)
				return &aai.Result{Text: v.foundText(m.index, row), Whole: true, Data: struct {
					Found    bool   `json:"found"`
					Method   string `json:"method"`
					Strategy string `json:"strategy"`
					elementView
					In  string `json:"in,omitempty"`
					Row string `json:"row,omitempty"`
				}{true, "accessibility", string(m.strategy), v.brief(v.shot, m.index), strings.Join(v.path(m.index), " in "), row}}, nil
			})
		},
	}.tool()
}

// foundText is the element, what it is in and what stands with it.
func (v *view) foundText(i int, row string) string {
	text := describe(v, i)
	if !v.shot.Visible(i) && !v.shot.Beyond(i) { // which is said of it
		text += " out of view"
	}
	for _, part := range v.path(i) {
		text += " in " + part
	}
	if row != "" {
		text += "; its row: " + row
	}
	return text
}

// anywhere finds what the query means in view or, where nothing is there, out of it. What a
// dialog, a closed tab, window or menu hides is none of that.
func (v *view) anywhere(ctx context.Context, q *query.Query) (query.Found, bool) {
	found := q.Find(v.shot, query.Options{Root: -1, Hidden: true})
	seen := v.shot.Seen()
	if in := slices.DeleteFunc(slices.Clone(found.Matches), func(i int) bool { return !seen[i] }); len(in) > 0 {
		found.Matches = in
		return found, true
	}
	found.Matches = slices.DeleteFunc(slices.Clone(found.Matches), func(i int) bool { return v.hiddenBy(ctx, i) != "" })
	return found, len(found.Matches) > 0
}
