package introspect

import (
	"encoding/json"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/catalog"
	"github.com/gybob/aai-gateway/internal/dbus/wire"
)

// actions proposes tools for the actions of a program's menus and shortcuts.
func (d *drafter) actions(o *object) {
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

// action proposes an action of org.gtk.Actions: a switch is set, other actions are activated.
func (d *drafter) action(o *object, a *action, where string) {
	r := d.recipe(o, gtkActions)
	own := snake(a.Name)
	p := proposal{rank: rankAction, candidateNames: []string{own, where + "_" + own}}
	if a.Label != "" {
		p.rank = rankOwn
	}
	p.plainDescription = padDescription(phrase(a.Name) + ", an action of the " + where)
	p.declared = catalog.ToolDeclaration{Params: noParams(), Returns: emptyResultSchema(), Description: p.plainDescription}
	if a.Label != "" {
		p.declared.Description = padDescription(`"` + a.Label + `", an action of the ` + where)
	}
	var params []string
	switch {
	case a.Param == "" && a.State == "b":
		p.candidateNames = []string{"set_" + own, "set_" + where + "_" + own}
		p.plainDescription = padDescription("Switch on or off: " + phrase(a.Name) + ", of the " + where)
		p.declared.Description = p.plainDescription
		if a.Label != "" {
			p.declared.Description = padDescription(`Switch "` + a.Label + `" of the ` + where + " on or off")
		}
		params = []string{"value"}
		p.declared.Params = json.RawMessage(`{"type":"object","properties":{"value":{"type":"boolean","description":"true is on"}},"required":["value"],"additionalProperties":false}`)
		r.Method, r.Args = "SetState", constants(a.Name, valueSchema("b"), map[string]any{})
	case a.Param == "":
		r.Method, r.Args = "Activate", constants(a.Name, []any{}, map[string]any{})
	default:
		t, err := wire.ParseType(a.Param)
		if err != nil {
			return
		}
		params = []string{"value"}
		if p.declared.Params, err = objectSchema(params, []*schemaText{parameterOf(t, listChoices(a.Choices))},
			params); err != nil {
			return
		}
		r.Method, r.Args = "Activate", constants(a.Name, []any{valueSchema(a.Param)}, map[string]any{})
	}
	d.propose(p, aai.Destroys, r, params)
}

// listChoices describes the menu's choices for an action.
func listChoices(choices []choice) string {
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

// maxParameter limits a parameter's description for agents.
const maxParameter = 190

// valueSchema returns the parameter "value" as a variant of a D-Bus type.
func valueSchema(signature string) map[string]any {
	return map[string]any{"signature": signature, "value": "${value}"}
}

// actionState proposes a tool that reads the states of switches and choices.
func (d *drafter) actionState(o *object, states []string, where string) {
	slices.Sort(states)
	about := &schemaText{Type: "string", Description: "The action", Enum: states}
	params, err := objectSchema([]string{"action"}, []*schemaText{about}, []string{"action"})
	if err != nil {
		return
	}
	r := d.recipe(o, gtkActions)
	r.Method, r.Args = "Describe", constants("${action}")
	p := proposal{rank: rankOwnRead, candidateNames: []string{where + "_state", where + "_action_state"}}
	p.plainDescription = padDescription("Get the state of a switch or choice of the " + where +
		": whether it can be used now, the type it takes, and a list with its state")
	p.declared = catalog.ToolDeclaration{
		Params: params, Description: p.plainDescription,
		Returns: json.RawMessage(`{"type":"array","items":[{"type":"boolean"},{"type":"string"},{"type":"array"}],"minItems":3,"maxItems":3}`),
	}
	d.propose(p, aai.Reads, r, []string{"action"})
}

// kdeAction proposes an action of a KDE window.
func (d *drafter) kdeAction(o *object, a *action) {
	r := d.recipe(o, kdeWindow)
	r.Method, r.Args = "activateAction", constants(a.Name)
	own := snake(a.Name)
	p := proposal{rank: rankAction, candidateNames: []string{own, "window_" + own},
		plainDescription: padDescription(phrase(a.Name) + ", an action of the window")}
	p.declared = catalog.ToolDeclaration{Params: noParams(), Returns: json.RawMessage(`{"type":"boolean"}`),
		Description: p.plainDescription}
	if a.Label != "" {
		p.declared.Description = padDescription(`"` + a.Label + `", an action of the window`)
	}
	d.propose(p, aai.Destroys, r, nil)
}
