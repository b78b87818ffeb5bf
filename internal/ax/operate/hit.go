package operate

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"aai"
	"aai/internal/ax/asked"
	"aai/internal/ax/values"
	"aai/internal/desktop"
)

// Place is what the call hits that names no element: what lies at its point, or has the
// keyboard; -1 where nothing is known.
func (v *View) Place(ctx context.Context) int {
	switch {
	case asked.Given(v.Call, "key"):
		return v.keyed(ctx)
	case asked.Given(v.Call, "from_x"):
		return v.Under(ctx, "from_")
	case asked.Given(v.Call, "x"):
		return v.Under(ctx, "")
	}
	return -1
}

// Under is what lies at the call's point: what people do something with, or else whatever
// is to be seen there; -1 for nothing.
func (v *View) Under(ctx context.Context, prefix string) int {
	at, err := v.Spot(ctx, prefix)
	if err != nil {
		return -1
	}
	w, err := v.WindowAt(ctx, at)
	if err != nil {
		return -1
	}
	i, err := v.innermost(ctx, at, w, func(e *desktop.Element) bool { return e.Role.Interactive() })
	if err == nil && i < 0 {
		i, err = v.innermost(ctx, at, w, func(e *desktop.Element) bool { return e.Parent >= 0 })
	}
	if err != nil {
		return -1
	}
	return i
}

// Gives is the text that the call gives the element.
func (v *View) Gives() string { return asked.Text(v.Call, "text") + asked.Text(v.Call, "value") }

// Hit is what the call hits when it acts on the element (-1: on none): what people read
// there, and what a key may press beside it.
func (v *View) Hit(ctx context.Context, i int, also ...int) aai.Hit {
	hit := asked.Hit(v.Call)
	var says []string
	if i < 0 {
		i = v.Place(ctx)
	}
	pressed := also
	chord, key := asked.Chord(v.Call)
	if key {
		says = v.Reached(chord, i)
	}
	switch {
	case key && (asked.IsReturn(chord.Key) || asked.IsSpace(chord.Key)):
		if pressed = v.PressedBy(ctx, asked.IsSpace(chord.Key), i, false); len(pressed) > 0 {
			i = pressed[0]
		}
		hit.Unforeseen = len(pressed) == 0
	case key:
		hit.Unforeseen = !hit.Destroys
	default:
		pressed = slices.Concat([]int{i}, also, v.pressedByTyping(ctx, i))
		says = v.Dropped(also)
		hit.Unforeseen = i < 0 || asked.Given(v.Call, "x") && !v.Shot.Elements[i].Role.Fires()
	}
	var names []string
	if asked.Given(v.Call, "fields") { // people see the beginning of a long list
		slices.SortStableFunc(pressed, func(a, b int) int { return cmp.Compare(v.Fires(b), v.Fires(a)) })
	}
	for _, p := range pressed {
		if p < 0 {
			continue
		}
		says = append(says, v.ReadOn(p)...)
		if name := called(&v.Shot.Elements[p]); name != "" && (len(names) < maxNames || asked.Given(v.Call, "fields")) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if i >= 0 {
		e := &v.Shot.Elements[i]
		hit.Role, hit.ID = string(e.Role), aai.CleanLabel(e.Identifier, 40)
		if len(pressed) == 0 {
			names = []string{called(e)}
		}
		if top := v.Shot.Window(i); top >= 0 && top != i {
			hit.Window = aai.CleanLabel(v.Shot.Elements[top].Name, MaxOnRecord)
		}
	}
	if i < 0 {
		hit.Window = v.frontTitle(ctx)
	}
	if asked.Given(v.Call, "fields") {
		hit.Role, hit.ID = string(desktop.Form), ""
	}
	hit.Name = strings.Join(names, " / ")
	if secrets := v.Desk.Sessions.Of(v.Call).Secrets(); secrets != nil {
		hit.Name, hit.Window = secrets.Over(hit.Name), secrets.Over(hit.Window)
	}
	hit.Says = strings.Join(strings.Fields(strings.Join(append(says, hit.Says), " ")), " ")
	return v.losing(hit)
}

// losing is the hit, which destroys what was not saved where it reads a window anew that
// says that something in it was not.
func (v *View) losing(hit aai.Hit) aai.Hit {
	if !values.Unsaved(hit.Window) {
		return hit
	}
	chord, key := asked.Chord(v.Call)
	switch {
	case key && asked.Reloads(chord):
		hit.Key, hit.Destroys, hit.Unforeseen = asked.ChordText(chord), true, false
	case !key && v.Gives() == "" && values.Reloads(hit.Name):
		hit.Destroys = true
	}
	return hit
}

// maxNames is how many things are named where it cannot be told which of them is hit, and
// maxOnRecord how many bytes of a name go on record.
const (
	maxNames    = 5
	MaxOnRecord = 80
)

// called is what people call the element.
func called(e *desktop.Element) string {
	for _, name := range []string{e.Name, e.Description} {
		if name = strings.TrimSpace(aai.CleanLabel(name, MaxOnRecord)); name != "" {
			return name
		}
	}
	return ""
}
