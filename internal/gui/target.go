package gui

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gui/params"
	"github.com/gybob/aai-gateway/internal/lexicon"
)

// implicitTarget returns the target of a call without an element: the element at its point, or the
// focused one; -1 if unknown.
func (v *view) implicitTarget(ctx context.Context) int {
	switch {
	case params.Has(v.call, "key"):
		return v.keyTarget(ctx)
	case params.Has(v.call, "from_x"):
		return v.targetAtPoint(ctx, "from_")
	case params.Has(v.call, "x"):
		return v.targetAtPoint(ctx, "")
	}
	return -1
}

// targetAtPoint returns the interactive element at the call's point, or else any element visible
// there; -1 for none.
func (v *view) targetAtPoint(ctx context.Context, prefix string) int {
	at, err := v.resolvePoint(ctx, prefix)
	if err != nil {
		return -1
	}
	w, err := v.windowAt(ctx, at)
	if err != nil {
		return -1
	}
	i, err := v.innermost(ctx, at, w, func(e *desktop.Element) bool { return e.Role.IsInteractive() })
	if err == nil && i < 0 {
		i, err = v.innermost(ctx, at, w, func(e *desktop.Element) bool { return e.Parent >= 0 })
	}
	if err != nil {
		return -1
	}
	return i
}

// inputText returns the text that the call enters into the element.
func (v *view) inputText() string {
	return params.String(v.call, "text") + params.String(v.call, "value")
}

// targetElement describes the target of a call on the element (-1: on none) for the gates. It
// also names the elements in also, and those that a key or typed text may press.
func (v *view) targetElement(ctx context.Context, i int, also ...int) aai.TargetElement {
	hit := params.TargetElement(v.call)
	var says []string
	if i < 0 {
		i = v.implicitTarget(ctx)
	}
	pressed := also
	chord, key := params.Chord(v.call)
	if key {
		says = v.TextsPressedBy(chord, i)
	}
	switch {
	case key && (params.IsReturn(chord.Key) || params.IsSpace(chord.Key)):
		if pressed = v.pressedBy(ctx, params.IsSpace(chord.Key), i, false); len(pressed) > 0 {
			i = pressed[0]
		}
		hit.UnknownEffect = len(pressed) == 0
	case key:
		hit.UnknownEffect = !hit.Irreversible
	default:
		pressed = slices.Concat([]int{i}, also, v.pressedByTyping(ctx, i))
		says = v.DropTexts(also)
		hit.UnknownEffect = i < 0 || params.Has(v.call, "x") && !v.Snapshot.Elements[i].Role.IsPressable()
	}
	var names []string
	if params.Has(v.call, "fields") { // people see only the beginning of a long list
		slices.SortStableFunc(pressed, func(a, b int) int { return cmp.Compare(v.PressableRank(b), v.PressableRank(a)) })
	}
	for _, p := range pressed {
		if p < 0 {
			continue
		}
		says = append(says, v.ReadableTexts(p)...)
		if name := displayName(&v.Snapshot.Elements[p]); name != "" && (len(names) < maxNames || params.Has(v.call, "fields")) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if i >= 0 {
		e := &v.Snapshot.Elements[i]
		hit.Role, hit.ID = string(e.Role), aai.CleanLabel(e.Identifier, 40)
		if len(pressed) == 0 {
			names = []string{displayName(e)}
		}
		if top := v.Snapshot.WindowOf(i); top >= 0 && top != i {
			hit.Window = aai.CleanLabel(v.Snapshot.Elements[top].Name, maxRecordedName)
		}
	}
	if i < 0 {
		hit.Window = v.frontTitle(ctx)
	}
	if params.Has(v.call, "fields") {
		hit.Role, hit.ID = string(desktop.Form), ""
	}
	hit.Name = strings.Join(names, " / ")
	if secrets := v.engine.Sessions.For(v.call).SecretRedactor(); secrets != nil {
		hit.Name, hit.Window = secrets.Redact(hit.Name), secrets.Redact(hit.Window)
	}
	hit.AllText = strings.Join(strings.Fields(strings.Join(append(says, hit.AllText), " ")), " ")
	return v.markUnsavedLoss(hit)
}

// markUnsavedLoss marks the target as irreversible if it reloads a window with unsaved changes in
// its title.
func (v *view) markUnsavedLoss(hit aai.TargetElement) aai.TargetElement {
	if !lexicon.IsUnsavedTitle(hit.Window) {
		return hit
	}
	chord, key := params.Chord(v.call)
	switch {
	case key && params.IsReloadChord(chord):
		hit.Key, hit.Irreversible, hit.UnknownEffect = params.FormatChord(chord), true, false
	case !key && v.inputText() == "" && lexicon.IsReloadLabel(hit.Name):
		hit.Irreversible = true
	}
	return hit
}

// maxNames limits the names of a target that is one of several elements. maxRecordedName is the
// maximum length of a recorded name in bytes.
const (
	maxNames        = 5
	maxRecordedName = 80
)

// displayName returns the name of the element for people.
func displayName(e *desktop.Element) string {
	for _, name := range []string{e.Name, e.Description} {
		if name = strings.TrimSpace(aai.CleanLabel(name, maxRecordedName)); name != "" {
			return name
		}
	}
	return ""
}
