package gui

import (
	"context"
	"encoding/json"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/automation/recorded"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gui/params"
	"github.com/gybob/aai-gateway/internal/gui/recording"
)

// relocateTimeout limits the wait for an element that was recorded: the act before may still be opening its window.
const relocateTimeout = findTimeout * 4

// relocated is the element of a recorded step, as data.
type relocated struct {
	Query   string `json:"query"`   // finds it
	Healed  bool   `json:"healed"`  // it was renamed or moved
	Element string `json:"element"` // as it is now
}

func (d *engine) relocateTool() spec {
	return spec{
		name: "ax_relocate", title: "Find a recorded element", effect: aai.Reads, unlisted: true,
		returns:     `"query": {"type": "string"}, "healed": {"type": "boolean"}, "element": {"type": "string"}`,
		description: "Find the element of a recorded step again: by its query, or else by role, name, path and neighbours.",
		params: appProp + `,` + queryProp + `,
			"target": {"type": "object", "description": "The element as it was recorded"}`,
		required: `["app", "query", "target"]`,
		run: func(ctx context.Context, call *aai.Call) (*aai.Result, error) {
			return d.withView(ctx, call, relocate)
		},
	}
}

// relocate returns a query for the recorded element.
func relocate(ctx context.Context, v *view) (*aai.Result, error) {
	var t recorded.Target
	source, err := json.Marshal(v.call.Args["target"])
	if err == nil {
		err = json.Unmarshal(source, &t)
	}
	if err != nil || t.Role == "" {
		return nil, aai.Errorf(aai.InvalidParams, "target: expected the description of an element, with its role, as a recording has it")
	}
	text := params.String(v.call, "query")
	v.includeMenus, v.certainOnly = true, true
	for wait := v.newAdaptiveWait(relocateTimeout); ; {
		m, err := v.findWithOffscreen(ctx, text)
		if err == nil && recording.IsSame(v.snapshot, m.index, t) {
			return relocatedResult(text, v.snapshot, m.index, false), nil
		}
		if err != nil && aai.AsError(err).Code == aai.InvalidParams {
			return nil, err
		}
		if !wait.awaitChange(ctx) {
			break
		}
		if err := v.refresh(ctx); err != nil {
			return nil, err
		}
	}
	found, isClear := recording.Candidates(v.snapshot, t)
	if !isClear {
		return nil, v.notRelocated(t, found)
	}
	i := found[0].Index
	now := recording.QueryFor(v.snapshot, i)
	if now == "" {
		now = v.ref(i)
	}
	return relocatedResult(now, v.snapshot, i, true), nil
}

func relocatedResult(query string, s *desktop.Snapshot, i int, healed bool) *aai.Result {
	r := relocated{query, healed, desktop.Describe(&s.Elements[i])}
	return &aai.Result{Text: r.Element + " by " + r.Query, Data: r, DataComplete: true}
}

// notRelocated returns the error for a recorded element that is not there, or may be one of several.
func (v *view) notRelocated(t recorded.Target, found []recording.Candidate) error {
	was := desktop.Describe(&desktop.Element{Role: desktop.Role(t.Role), Name: t.Name, Identifier: t.Identifier})
	if len(found) == 0 {
		e := aai.Errorf(aai.ElementNotFound, "%s was recorded and is not there, nor anything like it", was)
		e.Delivery, e.Hint = aai.NotDelivered, "Bring the program into the state in which it was recorded, or record this part again."
		return e
	}
	var indexes []int
	var names []string
	for _, c := range found {
		if indexes = append(indexes, c.Index); c.Score > found[0].Score-recording.MinLead {
			names = append(names, v.name(c.Index))
		}
	}
	e := aai.Errorf(aai.AmbiguousTarget, "%s was recorded; it may be %s now, and nothing decides", was, strings.Join(names, " or "))
	e.Delivery, e.Hint = aai.NotDelivered, "Correct the query of this step, or record this part again."
	setCandidates(e, v.candidates(indexes), len(indexes))
	return e
}
