package ax

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"aai"
	"aai/internal/desktop"
)

func (d *desk) assertTool() *aai.Tool {
	return spec{
		name: "ax_assert", title: "Assert element state", effect: aai.Reads,
		returns:     `"passed": {"type": "boolean"}, "failures": {"type": "array", "items": {"type": "object", "properties": {"property": {"type": "string"}}}}`,
		description: "Check what an element is like. Answers passed or what is otherwise.",
		params: appProp + `,` + queryProp + `,` + nthProp + `,
			"assertions": {"type": "object", "additionalProperties": false, "minProperties": 1, "properties": {
				"exists": {"type": "boolean"}, "enabled": {"type": "boolean"}, "focused": {"type": "boolean"},
				"checked": {"type": "boolean"}, "selected": {"type": "boolean"}, "visible": {"type": "boolean"},
				"value": {"type": "string"}, "title": {"type": "string"}, "role": {"type": "string"},
				"contains_text": {"type": "string"}}}`,
		required: `["app", "query", "assertions"]`,
		run:      func(ctx context.Context, call *aai.Call) (*aai.Result, error) { return d.look(ctx, call, assert) },
	}.tool()
}

// A mismatch is an assertion that does not hold.
type mismatch struct {
	Property string `json:"property"`
	Expected any    `json:"expected"`
	Actual   any    `json:"actual"`
}

func assert(ctx context.Context, v *view) (*aai.Result, error) {
	v.alsoHidden = true // it is there, whether it shows or not
	wanted, _ := v.call.Args["assertions"].(map[string]any)
	m, err := v.find(ctx, textArg(v.call, "query"))
	missing := err != nil && (aai.AsError(err).Code == aai.ElementNotFound || aai.AsError(err).Code == aai.StaleRef)
	if err != nil && !missing {
		return nil, err
	}
	wrong := []mismatch{}
	if missing {
		if n := v.unreadElements(); n > 0 && wanted["exists"] == false {
			e := failed(aai.NotDelivered, "it cannot be known whether it exists: %d elements of %s are not read, because they are too many", n, aai.CleanLabel(v.app.Name, 60))
			aai.AsError(e).Hint = "Scroll to where it would be, or filter the list, and ask again."
			return nil, e
		}
		if wanted["exists"] != false {
			wrong = append(wrong, mismatch{"exists", true, false})
		}
		return verdict(wrong), nil
	}
	e, err := v.read(ctx, v.shot.Elements[m.index].ID)
	if err != nil {
		return nil, err
	}
	actual := map[string]any{
		"exists": true, "visible": v.shot.Visible(m.index), "role": string(e.Role), "title": e.Name,
		"enabled": e.States.Has(desktop.Enabled), "focused": e.States.Has(desktop.Focused),
		"checked": e.States.Has(desktop.Checked), "selected": e.States.Has(desktop.Selected),
	}
	for _, property := range sortedKeys(wanted) {
		want := wanted[property]
		switch {
		case (property == "value" || property == "contains_text") && e.States.Has(desktop.Protected):
			return nil, aai.Errorf(aai.InvalidParams, "assertions.%s: what a password field holds is never read", property)
		case property == "contains_text":
			text, _ := want.(string)
			if !strings.Contains(e.Name+"\n"+e.Value+"\n"+e.Description, text) {
				wrong = append(wrong, mismatch{property, want, aai.CleanText(e.Name+" "+e.Value, maxText)})
			}
		case property == "value" && want != held(&e):
			wrong = append(wrong, mismatch{property, want, aai.CleanText(held(&e), maxText)})
		case property != "value" && want != actual[property]:
			wrong = append(wrong, mismatch{property, want, actual[property]})
		}
	}
	return verdict(wrong), nil
}

// unreadElements is how many elements the snapshot leaves out.
func (v *view) unreadElements() int {
	n := 0
	for i := range v.shot.Elements {
		n += v.shot.Elements[i].Unread
	}
	return n
}

func verdict(wrong []mismatch) *aai.Result {
	out := &aai.Result{Text: "passed", Whole: true, Data: map[string]any{"passed": len(wrong) == 0, "failures": wrong}}
	var lines []string
	for _, w := range wrong {
		lines = append(lines, fmt.Sprintf("%s: expected %v, got %v", w.Property, w.Expected, w.Actual))
	}
	if len(lines) > 0 {
		out.Text = "failed: " + strings.Join(lines, "; ")
	}
	return out
}

// sortedKeys gives a map an order, so that the same call has the same answer.
func sortedKeys(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }
