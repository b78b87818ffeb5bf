package recording

import (
	"context"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/automation/recorded"
	"github.com/gybob/aai-gateway/internal/desktop"
)

// finish turns the pending act into steps.
func (r *Recorder) finish(ctx context.Context) {
	if r.byEvents.Load() {
		r.finishBurst(context.WithoutCancel(ctx))
		return
	}
	a := r.pending
	if a == nil {
		return
	}
	r.pending = nil
	if a.typing {
		r.finishTyping(ctx, a)
		return
	}
	switch err := r.look(ctx); {
	case err == nil:
	case aai.AsError(err).Code == aai.AppNotRunning:
		r.current = &desktop.Snapshot{App: r.config.App} // it has ended, perhaps by this act
	default:
		r.current = a.before // nothing is known to have changed
	}
	switch {
	case a.unknown:
		r.finishUnknown(a)
	case a.button == 0:
		r.finishKey(a)
	default:
		r.finishClick(a)
	}
}

// finishTyping adds the text that the field has.
func (r *Recorder) finishTyping(ctx context.Context, a *act) {
	e := &a.before.Elements[a.index]
	r.takePicture(ctx, a)
	switch {
	case a.secret && r.secrets[a.id] && !e.States.Has(desktop.Protected):
		r.put(a, recorded.Step{ShowAgain: "the keyboard came to " + string(e.Role) + " in the middle of a text, so nothing of it was recorded"})
		return
	case a.secret:
		r.put(a, r.step(setTool, a.before, a.index, map[string]any{"value": "{{secret:" + secretName(r.config.App.ID, e) + "}}"}))
		return
	}
	if a.valueAt.Before(a.last) {
		r.readTyped(ctx, a)
	}
	switch {
	case a.secret: // it has become a field for passwords
		r.finishTyping(ctx, a)
	case a.value == e.Value && !a.late:
		if r.look(ctx) != nil || r.putChange(a) {
			return
		}
		if reason := r.untold(&burst{before: a.before}); reason != "" {
			r.add(a, recorded.Step{ShowAgain: reason})
		}
	default:
		step := r.step(setTool, a.before, a.index, map[string]any{"value": recorded.Escape(a.value)})
		query, _ := step.Args["query"].(string)
		r.expect(&step, query, map[string]any{"value": recorded.Escape(a.value)})
		r.put(a, step)
	}
}

// put adds a step, or replaces that of the last act if both set the value of the same element. A click on it before is no
// step: setting the value finds the element itself.
func (r *Recorder) put(a *act, s recorded.Step) {
	if l := r.clickOn(a.id); l != nil && s.Tool == setTool {
		r.replace(l.step, nil)
	}
	if l := r.last; l != nil && l.step > 0 && l.id == a.id && l.id != "" && s.Tool == setTool && r.steps[l.step-1] != nil && r.steps[l.step-1].Tool == setTool {
		s.Args["query"], s.Target = r.steps[l.step-1].Args["query"], r.steps[l.step-1].Target
		a.step, r.last = l.step, a
		r.keepPicture(a, &s)
		r.replace(a.step, &s)
		return
	}
	r.add(a, s)
}

// finishKey adds a key that was pressed in a text field, unless it only moved the focus.
func (r *Recorder) finishKey(a *act) {
	if moves := []string{"tab", "up", "down", "page_up", "page_down"}; slices.Contains(moves, a.chord.Key) && !hasEffect(a.before, r.current) {
		return
	}
	if opensBar(r.current) { // its items are found in the closed menu
		return
	}
	if s, is := r.setStep(a, a.index); is { // a number that the field has taken
		r.put(a, s)
		return
	}
	more := map[string]any{"key": a.chord.Key, "mode": "focus"}
	if len(a.chord.Modifiers) > 0 {
		var held []any
		for _, name := range a.chord.Modifiers {
			held = append(held, name)
		}
		more["modifiers"] = held
	}
	step := r.step(keyTool, a.before, a.index, more)
	r.expectEffect(&step, a, r.current)
	r.add(a, step)
}

// finishUnknown adds the effect of a key outside of text fields: which key it was is not recorded.
func (r *Recorder) finishUnknown(a *act) {
	if !hasEffect(a.before, r.current) {
		return
	}
	if r.putChange(a) {
		return
	}
	if a.inMenu {
		r.finishMenuKeys(a)
		return
	}
	if opensBar(r.current) { // its items are found in the closed menu
		return
	}
	if chosen := r.newlySelected(a); chosen >= 0 {
		step := r.step(clickTool, r.current, chosen, nil)
		query, _ := step.Args["query"].(string)
		r.expect(&step, query, map[string]any{"selected": true})
		r.add(a, step)
		return
	}
	r.add(a, recorded.Step{ShowAgain: "a key was pressed outside of text fields; which one is not recorded. Show this step with the pointer"})
}

// putChange adds the state, number or choice that an act at an unknown place has set, and reports whether there is one.
func (r *Recorder) putChange(a *act) bool {
	for i := range a.before.Elements {
		if s, is := r.setStep(a, i); is {
			a.index, a.id = i, a.before.Elements[i].ID
			r.put(a, s)
			return true
		}
	}
	return false
}

// clickOn returns the last act if it is a click on the element.
func (r *Recorder) clickOn(id desktop.ID) *act {
	if l := r.last; l != nil && l.step > 0 && l.id == id && id != "" && r.steps[l.step-1] != nil && r.steps[l.step-1].Tool == clickTool {
		return l
	}
	return nil
}

// newlySelected returns the only element that the act has selected; -1 if there is none.
func (r *Recorder) newlySelected(a *act) int {
	found := -1
	for i := range r.current.Elements {
		e := &r.current.Elements[i]
		was := a.before.Index(e.ID)
		if e.States.Has(desktop.Selected) && !e.Role.IsMenuItem() && e.Role != desktop.Menu && was >= 0 && !a.before.Elements[was].States.Has(desktop.Selected) {
			if found >= 0 {
				return -1
			}
			found = i
		}
	}
	return found
}

// setStep returns the step that sets the new state or number of an element; false if it has none.
func (r *Recorder) setStep(a *act, i int) (recorded.Step, bool) {
	was := &a.before.Elements[i]
	after := r.current.Index(was.ID)
	if after < 0 || r.isSecret(was) {
		return recorded.Step{}, false
	}
	now, value := &r.current.Elements[after], ""
	isBox := was.Role == desktop.Checkbox || was.Role == desktop.Switch || was.Role == desktop.Button && was.States.Has(desktop.Checkable)
	isNumber := was.Role == desktop.Slider || was.Role == desktop.Spinbutton
	isChoice := was.Role == desktop.Combobox && !now.States.Has(desktop.Expanded)
	switch {
	case isBox && valueOf(was) != valueOf(now), isNumber && was.Value != now.Value, isChoice && was.Value != now.Value && now.Value != "":
		value = valueOf(now)
	default:
		return recorded.Step{}, false
	}
	step := r.step(setTool, a.before, i, map[string]any{"value": recorded.Escape(value)})
	query, _ := step.Args["query"].(string)
	r.expect(&step, query, map[string]any{"value": recorded.Escape(value)})
	return step, true
}

// finishClick adds a click, or the value that it has set.
func (r *Recorder) finishClick(a *act) {
	if a.index < 0 {
		if !r.putChange(a) && (hasEffect(a.before, r.current) || a.button == 1) {
			r.add(a, recorded.Step{ShowAgain: "a place was clicked where the program reports no element"})
		}
		return
	}
	if r.choose(a) {
		return
	}
	e, effect := &a.before.Elements[a.index], hasEffect(a.before, r.current)
	for i := a.index; i >= 0 && a.button == 1; i = a.before.Elements[i].Parent {
		if s, is := r.setStep(a, i); is {
			r.put(a, s)
			return
		}
	}
	switch {
	case a.isDrag && (isText(e) || !effect): // text was selected
	case a.isDrag:
		r.add(a, recorded.Step{ShowAgain: "something was dragged from " + desktop.Describe(e)})
	case isText(e) && a.button == 1 && a.count == 1 && !effect: // it got the focus, as by each step there
	case opensMenu(a.before, a.index) && a.button == 1: // its items are found in the closed menu
	case !effect && !e.IsActionable(a.before.Elements[max(0, e.Parent)].Role):
	case e.Role == desktop.Canvas || e.Role == desktop.Terminal:
		if effect {
			r.add(a, recorded.Step{ShowAgain: "a place in a drawn " + string(e.Role) + " was clicked"})
		}
	default:
		r.addClick(a)
	}
}

func (r *Recorder) addClick(a *act) {
	more := map[string]any{}
	switch {
	case a.button == 3:
		more["click_type"], more["mode"] = "right", "focus"
	case a.button == 2:
		r.add(a, recorded.Step{ShowAgain: "the middle button was pressed"})
		return
	case a.count == 2:
		more["click_type"], more["mode"] = "double", "focus"
	case slices.Contains(a.modifiers, "ctrl"):
		more["select"] = "add"
	case slices.Contains(a.modifiers, "shift"):
		more["select"] = "range"
	}
	step := r.step(clickTool, a.before, a.index, more)
	r.expectEffect(&step, a, r.current)
	r.add(a, step)
}

// opensMenu reports whether the element is a menu of a menu bar.
func opensMenu(s *desktop.Snapshot, i int) bool {
	e := &s.Elements[i]
	if e.Role != desktop.Menu && (!e.Role.IsMenuItem() || e.End == i+1 && !e.States.HasAny(desktop.HasPopup|desktop.Expandable)) {
		return false
	}
	for p := e.Parent; p >= 0; p = s.Elements[p].Parent {
		if s.Elements[p].Role == desktop.Menubar {
			return true
		}
	}
	return false
}

// choose adds the choice of an item in a combo box in place of two clicks.
func (r *Recorder) choose(a *act) bool {
	item := &a.before.Elements[a.index]
	if a.button != 1 || !item.Role.IsSetMember() && item.Role != desktop.MenuItem || item.Name == "" {
		return false
	}
	box := -1
	for p := item.Parent; p >= 0; p = a.before.Elements[p].Parent {
		if a.before.Elements[p].Role == desktop.Combobox {
			box = p
		}
	}
	if l := r.last; box < 0 && l != nil && l.step > 0 && l.index >= 0 && l.before.Elements[l.index].Role == desktop.Combobox {
		if was := a.before.Index(l.id); was >= 0 {
			now := r.current.Index(l.id)
			if now >= 0 && (r.current.Elements[now].Value == item.Name || strings.HasPrefix(r.current.Elements[now].Name, item.Name)) {
				box = was
			}
		}
	}
	if box < 0 {
		return false
	}
	id := a.before.Elements[box].ID
	from := a
	if l := r.clickOn(id); l != nil {
		from = l // its query was made before the list opened
		r.replace(l.step, nil)
	}
	at := from.before.Index(id)
	if at < 0 {
		from, at = a, box
	}
	step := r.step(setTool, from.before, at, map[string]any{"value": recorded.Escape(item.Name)})
	if now := r.current.Index(id); now >= 0 && r.current.Elements[now].Value != "" {
		query, _ := step.Args["query"].(string)
		r.expect(&step, query, map[string]any{"value": recorded.Escape(r.current.Elements[now].Value)})
	}
	a.id, a.index, a.before = id, at, from.before
	r.add(a, step)
	return true
}

// hasEffect reports whether something has changed besides the focus.
func hasEffect(before, after *desktop.Snapshot) bool {
	if before.Version == after.Version {
		return false
	}
	const fleeting = desktop.Focused | desktop.Active | desktop.Busy
	shown := func(s *desktop.Snapshot) map[desktop.ID]*desktop.Element {
		found := map[desktop.ID]*desktop.Element{}
		for i, visible := range s.VisibleElements() {
			if e := &s.Elements[i]; visible && e.Role != desktop.Tooltip {
				found[e.ID] = e
			}
		}
		return found
	}
	was, now := shown(before), shown(after)
	if len(was) != len(now) {
		return true
	}
	for id, e := range was {
		o := now[id]
		if o == nil || o.States&^fleeting != e.States&^fleeting || o.Value != e.Value || o.Name != e.Name {
			return true
		}
	}
	return false
}
