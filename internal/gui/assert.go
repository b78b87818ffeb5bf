package gui

import (
	"context"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/query"
	"github.com/gybob/aai-gateway/internal/gateway"
	"github.com/gybob/aai-gateway/internal/gui/fieldtext"
	"github.com/gybob/aai-gateway/internal/gui/guierr"
	"github.com/gybob/aai-gateway/internal/gui/params"
)

func (d *engine) assertTool() spec {
	return spec{
		name: "ax_assert", title: "Assert element state", effect: aai.Reads,
		returns:     `"passed": {"type": "boolean"}, "failures": {"type": "array", "items": {"type": "object", "properties": {"property": {"type": "string"}}}}`,
		description: "Check an element's state. Returns passed, or the differences.",
		params: appProp + `,` + queryProp + `,` + nthProp + `,
			"assertions": {"type": "object", "additionalProperties": false, "minProperties": 1, "properties": {
				"exists": {"type": "boolean"}, "enabled": {"type": "boolean"}, "focused": {"type": "boolean"},
				"checked": {"type": "boolean"}, "selected": {"type": "boolean"}, "visible": {"type": "boolean"},
				"value": {"type": "string"}, "title": {"type": "string"}, "role": {"type": "string"},
				"contains_text": {"type": "string"}}}`,
		required: `["app", "query", "assertions"]`, secret: []string{"assertions.value", "assertions.contains_text"}, // it may be a password
		run: func(ctx context.Context, call *aai.Call) (*aai.Result, error) { return d.withView(ctx, call, assert) },
	}
}

// mismatch is an assertion that does not hold.
type mismatch struct {
	Property string `json:"property"`
	Expected any    `json:"expected"`
	Actual   any    `json:"actual"`
}

func assert(ctx context.Context, v *view) (*aai.Result, error) {
	v.includeHidden = true // exists includes hidden elements
	wanted, _ := v.call.Args["assertions"].(map[string]any)
	m, err := v.find(ctx, params.String(v.call, "query"))
	missing := err != nil && (aai.AsError(err).Code == aai.ElementNotFound || aai.AsError(err).Code == aai.StaleRef)
	if err != nil && !missing {
		return nil, err
	}
	wrong := []mismatch{}
	if missing {
		if wanted["exists"] != false {
			wrong = append(wrong, mismatch{"exists", true, false})
		} else if err := v.uncertainError(); err != nil {
			return nil, err
		}
		return verdict(wrong), nil
	}
	e, err := v.readComplete(ctx, &m.index)
	if err != nil {
		return nil, err
	}
	if !e.States.Has(desktop.Protected) {
		gateway.MarkNotSecret(ctx, "assertions.value")
		gateway.MarkNotSecret(ctx, "assertions.contains_text")
	}
	actual := map[string]any{
		"exists": true, "visible": v.snapshot.IsVisible(m.index), "role": string(e.Role), "title": e.Name,
		"enabled": e.States.Has(desktop.Enabled), "focused": e.States.Has(desktop.Focused),
		"checked": e.States.Has(desktop.Checked), "selected": e.States.Has(desktop.Selected),
	}
	for _, property := range sortedKeys(wanted) {
		want := wanted[property]
		switch {
		case (property == "value" || property == "contains_text") && e.States.Has(desktop.Protected):
			return nil, aai.Errorf(aai.InvalidParams, "assertions.%s: the value of a password field is never read", property)
		case property == "contains_text":
			text, _ := want.(string)
			if !strings.Contains(e.Name+"\n"+e.Value+"\n"+e.Description, text) {
				wrong = append(wrong, mismatch{property, want, aai.CleanText(e.Name+" "+e.Value, fieldtext.MaxText)})
			}
		case property == "value" && want != fieldtext.Value(&e):
			wrong = append(wrong, mismatch{property, want, aai.CleanText(fieldtext.Value(&e), fieldtext.MaxText)})
		case property == "role":
			if word, _ := want.(string); !query.HasRole(&e, word) {
				wrong = append(wrong, mismatch{property, want, actual[property]})
			}
		case property != "value" && want != actual[property]:
			wrong = append(wrong, mismatch{property, want, actual[property]})
		}
	}
	return verdict(wrong), nil
}

// uncertainError returns an error if the snapshot omits elements, so that the absence of an element
// is uncertain; else nil.
func (v *view) uncertainError() error {
	n := v.unreadElements()
	if n == 0 {
		return nil
	}
	e := guierr.Failed(aai.NotDelivered, "its existence is unknown: %d elements of %s are not read, because they are too many", n, aai.CleanLabel(v.app.Name, 60))
	aai.AsError(e).Hint = "Scroll to its expected place, or filter the list, and call again."
	return e
}

func verdict(wrong []mismatch) *aai.Result {
	out := &aai.Result{Text: "passed", DataComplete: true, Data: map[string]any{"passed": len(wrong) == 0, "failures": wrong}}
	var lines []string
	for _, w := range wrong {
		lines = append(lines, fmt.Sprintf("%s: expected %v, got %v", w.Property, w.Expected, w.Actual))
	}
	if len(lines) > 0 {
		out.Text = "failed: " + strings.Join(lines, "; ")
	}
	return out
}

// sortedKeys returns the keys in a fixed order, so that the same call has the same reply.
func sortedKeys(m map[string]any) []string { return slices.Sorted(maps.Keys(m)) }
