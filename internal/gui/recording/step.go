package recording

import (
	"github.com/gybob/aai-gateway/internal/automation/recorded"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gui/fieldtext"
)

// The tools that steps call.
const (
	clickTool = "ax_click"
	setTool   = "ax_set_value"
	keyTool   = "ax_key_press"
	checkTool = "ax_assert"
)

// step returns a step about the snapshot's i'th element.
func (r *Recorder) step(tool string, s *desktop.Snapshot, i int, more map[string]any) recorded.Step {
	query := QueryFor(s, i)
	if query == "" {
		return recorded.Step{ShowAgain: "nothing tells " + desktop.Describe(&s.Elements[i]) + " from other elements"}
	}
	args := map[string]any{"app": r.config.App.ID, "query": query}
	for name, value := range more {
		args[name] = value
	}
	t := NewTarget(s, i)
	return recorded.Step{Tool: tool, Args: args, Target: &t}
}

// expect adds the check that the elements of the query have the properties.
func (r *Recorder) expect(s *recorded.Step, query string, assertions map[string]any) {
	if query == "" || s.Tool == "" {
		return
	}
	s.Check = map[string]any{
		"tool": checkTool, "args": map[string]any{"app": r.config.App.ID, "query": query, "assertions": assertions},
		"equals": map[string]any{"passed": true},
	}
}

// expectEffect adds a check for the effect of the click: the state of the element itself, or a window that has opened or
// closed.
func (r *Recorder) expectEffect(step *recorded.Step, a *act, after *desktop.Snapshot) {
	was := &a.before.Elements[a.index]
	if i := after.Index(was.ID); i >= 0 && step.Tool == clickTool {
		now := &after.Elements[i]
		query, _ := step.Args["query"].(string)
		switch {
		case was.States.Has(desktop.Checked) != now.States.Has(desktop.Checked):
			r.expect(step, query, map[string]any{"checked": now.States.Has(desktop.Checked)})
			return
		case !was.States.Has(desktop.Selected) && now.States.Has(desktop.Selected):
			r.expect(step, query, map[string]any{"selected": true})
			return
		}
	}
	for _, i := range topLevels(after) {
		if e := &after.Elements[i]; a.before.Index(e.ID) < 0 && e.Name != "" {
			r.expect(step, QueryFor(after, i), map[string]any{"exists": true})
			return
		}
	}
	for _, i := range topLevels(a.before) {
		if e := &a.before.Elements[i]; after.Index(e.ID) < 0 && e.Name != "" && step.Check == nil {
			r.expect(step, QueryFor(a.before, i), map[string]any{"exists": false})
		}
	}
}

// topLevels returns the visible windows, and the dialogs in them.
func topLevels(s *desktop.Snapshot) (found []int) {
	for i, visible := range s.VisibleElements() {
		if e := &s.Elements[i]; visible && (e.Parent < 0 && e.Role == desktop.Window || e.IsDialog()) {
			found = append(found, i)
		}
	}
	return found
}

// secretName returns the name of the person's secret that stands for a text that was typed into a field.
func secretName(app string, e *desktop.Element) string {
	name := recorded.Slug(e.Name)
	if name == "" {
		name = "password"
	}
	return recorded.Slug(app) + "-" + name
}

// valueOf returns an element's value as ax_assert compares it.
func valueOf(e *desktop.Element) string { return fieldtext.Value(e) }
