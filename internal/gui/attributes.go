package gui

import (
	"context"
	"fmt"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gui/fieldtext"
	"github.com/gybob/aai-gateway/internal/gui/guierr"
	"github.com/gybob/aai-gateway/internal/gui/params"
)

// withElement finds the element of the call, reads it again, and passes it to f.
func (d *engine) withElement(ctx context.Context, call *aai.Call, f func(v *view, i int, e *desktop.Element) *aai.Result) (*aai.Result, error) {
	return d.withView(ctx, call, func(ctx context.Context, v *view) (*aai.Result, error) {
		v.includeMenus = true
		m, err := v.locate(ctx, params.String(call, "query"))
		if err != nil {
			return nil, err
		}
		e, err := v.readComplete(ctx, &m.index)
		if err != nil {
			return nil, err
		}
		return f(v, m.index, &e), nil
	})
}

// readComplete reads an element again, and derives a missing value from its children. For a sheet's
// cell it reads the sheet, and updates the cell's index.
func (v *view) readComplete(ctx context.Context, at *int) (desktop.Element, error) {
	i := *at
	if e := v.snapshot.Elements[i]; fieldtext.IsSheetCell(&e) {
		is := v.trackElement(i)
		now, err := v.cellReader(i, e)(ctx)
		if *at = is(); err == nil && *at < 0 {
			err = guierr.Failed("", "it disappeared while it was read")
		}
		return now, err
	}
	e, err := v.read(ctx, v.snapshot.Elements[i].ID)
	if err != nil || e.Value != "" || e.States.Has(desktop.Protected) {
		return e, err
	}
	if parts := v.dateTimeParts(i); len(parts) > 0 {
		held, err := v.partValues(ctx, parts)
		if err != nil {
			return e, err
		}
		e.Value = v.formatDateTime(parts, held)
	} else if e.Role == desktop.Combobox && !e.States.Has(desktop.Editable) {
		e.Value = v.comboValue(i)
	} else if e.Role == desktop.Listbox {
		e.Value = strings.Join(v.chosen(i), ", ")
	} else if e.Role == desktop.Group && e.States.Has(desktop.Editable) {
		e.Value, err = v.paragraphs(ctx, i)
	}
	return e, err
}

// chosen returns the names of the selected options of a list.
func (v *view) chosen(list int) (names []string) {
	for _, i := range v.options(list) {
		if e := &v.snapshot.Elements[i]; e.States.Has(desktop.Selected) {
			names = append(names, e.Name)
		}
	}
	return names
}

// paragraphs returns the text of an element that consists of paragraphs, such as a sheet's cell in
// edit mode.
func (v *view) paragraphs(ctx context.Context, i int) (string, error) {
	var lines []string
	for _, e := range v.snapshot.Elements[i+1 : v.snapshot.Elements[i].End] {
		if e.Role != desktop.Paragraph || e.States.Has(desktop.Protected) {
			continue
		}
		now, err := v.read(ctx, e.ID)
		if err != nil {
			return "", err
		}
		lines = append(lines, now.Value)
	}
	return strings.Join(lines, "\n"), nil
}

func (d *engine) getAttributesTool() spec {
	return spec{
		name: "ax_get_attributes", title: "Get all element attributes", effect: aai.Reads,
		returns: elementReturns + `, "description": {"type": "string"}, "identifier": {"type": "string"}, "path": {"type": "string"},
			"states": {"type": "array", "items": {"type": "string"}}, "actions": {"type": "array", "items": {"type": "string"}}, "frame": {"type": "object"},
			"position_in_set": {"type": "integer"}, "set_size": {"type": "integer"}, "minimum": {"type": "number"}, "maximum": {"type": "number"}`,
		description: "Read all attributes of one element, afresh.",
		params:      appProp + `,` + queryProp + `,` + nthProp, required: `["app", "query"]`,
		run: func(ctx context.Context, call *aai.Call) (*aai.Result, error) {
			return d.withElement(ctx, call, func(v *view, i int, e *desktop.Element) *aai.Result {
				return &aai.Result{Data: attributes(v, i, e)}
			})
		},
	}
}

// attributes returns all attributes of an element as data.
func attributes(v *view, i int, e *desktop.Element) map[string]any {
	out := map[string]any{
		"element_ref": v.ref(i), "role": string(e.Role), "title": aai.CleanLabel(e.Name, fieldtext.MaxText), "value": fieldtext.FullText(e),
		"description": aai.CleanLabel(e.Description, fieldtext.MaxText), "identifier": aai.CleanLabel(e.Identifier, fieldtext.MaxText),
		"states": e.States.Words(), "actions": append([]string{}, e.Actions...), "path": strings.Join(v.path(i), " in "),
		"frame": map[string]int{"x": e.Frame.X, "y": e.Frame.Y, "w": e.Frame.W, "h": e.Frame.H},
	}
	if e.Size > 0 {
		out["position_in_set"], out["set_size"] = e.Pos, e.Size
	}
	if e.Min != e.Max {
		out["minimum"], out["maximum"] = e.Min, e.Max
	}
	return out
}

func (d *engine) getValueTool() spec {
	return spec{
		name: "ax_get_value", title: "Get element value", effect: aai.Reads,
		returns:     `"found": {"type": "boolean"}, ` + elementReturns,
		description: "Read the whole value of one element, afresh.",
		params:      appProp + `,` + queryProp + `,` + nthProp, required: `["app", "query"]`,
		run: func(ctx context.Context, call *aai.Call) (*aai.Result, error) {
			return d.withElement(ctx, call, func(v *view, i int, e *desktop.Element) *aai.Result {
				name, ref := v.name(i), v.ref(i)
				value, warning := fieldtext.FullText(e), ""
				if inside := v.snapshot.Elements[i].End > i+1 && !e.Role.IsTextual(); !holdsValue(e) && (value == "" || inside) {
					next := ""
					if value, next = v.contents(ctx, i); next != "" {
						warning = "the text is too long for one reply; it goes on in " + next + ": call again with that as query"
					}
				}
				return &aai.Result{
					Text: fmt.Sprintf("%s has the value %q", name, value), DataComplete: true, Warning: warning,
					Data: map[string]any{
						"found": true, "value": value, "role": string(e.Role),
						"title": aai.CleanLabel(e.Name, fieldtext.MaxText), "element_ref": ref,
					},
				}
			})
		},
	}
}

// isTypedText reports whether the element's value is typed text, which may be a secret. The name of
// an option, a number and a check mark are not.
func (v *view) isTypedText(i int) bool {
	e := &v.snapshot.Elements[i]
	switch e.Role {
	case desktop.Checkbox, desktop.Switch, desktop.Radio, desktop.Slider, desktop.Spinbutton, desktop.Scrollbar, desktop.Listbox, desktop.List, desktop.Tablist:
		return false
	case desktop.Combobox:
		return e.States.Has(desktop.Editable)
	}
	return len(v.dateTimeParts(i)) == 0 && len(v.radios(i)) == 0
}
