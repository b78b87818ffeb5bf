package generate

import (
	"encoding/json"
	"slices"
	"strings"

	"aai"
	"aai/internal/catalog"
	"aai/internal/dbuswire"
)

// actions proposes tools for what is in the menus and behind the keys of a program.
func (d *drafting) actions(o *object) {
	where := "app"
	if below := lastElement(o.Path[:max(strings.LastIndex(o.Path, "/"), 0)]); below == "window" {
		where = "window"
	}
	var states []string
	for _, a := range o.Actions {
		if a.State != "" {
			states = append(states, a.Name)
		}
		d.action(o, &a, where)
	}
	if len(states) > 0 {
		d.actionState(o, states, where)
	}
	for _, a := range o.Main {
		d.kdeAction(o, &a)
	}
}

// action proposes one of org.gtk.Actions: a switch is set, everything else is activated.
func (d *drafting) action(o *object, a *action, where string) {
	r := d.recipe(o, gtkActions)
	own := snake(a.Name)
	p := proposal{rank: rankAction, names: []string{own, where + "_" + own}}
	if a.Label != "" {
		p.rank = rankOwn
	}
	p.plain = described(phrase(a.Name) + ", an action of the " + where)
	p.declared = catalog.Declared{Params: noParams(), Returns: nothing(), Description: p.plain}
	if a.Label != "" {
		p.declared.Description = described(`"` + a.Label + `", an action of the ` + where)
	}
	var params []string
	switch {
	case a.Param == "" && a.State == "b":
		p.names = []string{"set_" + own, "set_" + where + "_" + own}
		p.plain = described("Switch on or off: " + phrase(a.Name) + ", of the " + where)
		p.declared.Description = p.plain
		if a.Label != "" {
			p.declared.Description = described(`Switch "` + a.Label + `" of the ` + where + " on or off")
		}
		params = []string{"value"}
		p.declared.Params = json.RawMessage(`{"type":"object","properties":{"value":{"type":"boolean","description":"true is on"}},"required":["value"],"additionalProperties":false}`)
		r.Method, r.Args = "SetState", constants(a.Name, typed("b"), map[string]any{})
	case a.Param == "":
		r.Method, r.Args = "Activate", constants(a.Name, []any{}, map[string]any{})
	default:
		t, err := dbuswire.ParseType(a.Param)
		if err != nil {
			return
		}
		params = []string{"value"}
		if p.declared.Params, err = objectSchema(params, []*schemaText{parameterOf(t, offered(a.Choices))}, params); err != nil {
			return
		}
		r.Method, r.Args = "Activate", constants(a.Name, []any{typed(a.Param)}, map[string]any{})
	}
	d.propose(p, aai.Destroys, r, params)
}

// offered says what the menus give an action.
func offered(choices []choice) string {
	var words []string
	for _, c := range choices {
		if c.Label == "" || strings.EqualFold(c.Label, c.Value) {
			words = append(words, c.Value)
		} else {
			words = append(words, c.Value+" ("+c.Label+")")
		}
	}
	if len(words) == 0 {
		return ""
	}
	return aai.CleanLabel("In the menu: "+strings.Join(words, ", "), maxParameter)
}

// maxParameter is how much of a parameter's description is shown to agents.
const maxParameter = 190

// typed is the parameter "value" as a variant of a D-Bus type.
func typed(signature string) map[string]any {
	return map[string]any{"signature": signature, "value": "${value}"}
}

// actionState proposes what tells the states of switches and choices.
func (d *drafting) actionState(o *object, states []string, where string) {
	slices.Sort(states)
	about := &schemaText{Type: "string", Description: "The action", Enum: states}
	params, err := objectSchema([]string{"action"}, []*schemaText{about}, []string{"action"})
	if err != nil {
		return
	}
	r := d.recipe(o, gtkActions)
	r.Method, r.Args = "Describe", constants("${action}")
	p := proposal{rank: rankOwnRead, names: []string{where + "_state", where + "_action_state"}}
	p.plain = described("Tell the state of a switch or choice of the " + where + ": whether it can be used now, the type it takes, and a list with its state")
	p.declared = catalog.Declared{
		Params: params, Description: p.plain,
		Returns: json.RawMessage(`{"type":"array","items":[{"type":"boolean"},{"type":"string"},{"type":"array"}],"minItems":3,"maxItems":3}`),
	}
	d.propose(p, aai.Reads, r, []string{"action"})
}

// kdeAction proposes an action of a window of KDE.
func (d *drafting) kdeAction(o *object, a *action) {
	r := d.recipe(o, kdeWindow)
	r.Method, r.Args = "activateAction", constants(a.Name)
	own := snake(a.Name)
	p := proposal{rank: rankAction, names: []string{own, "window_" + own}, plain: described(phrase(a.Name) + ", an action of the window")}
	p.declared = catalog.Declared{Params: noParams(), Returns: json.RawMessage(`{"type":"boolean"}`), Description: p.plain}
	if a.Label != "" {
		p.declared.Description = described(`"` + a.Label + `", an action of the window`)
	}
	d.propose(p, aai.Destroys, r, nil)
}
