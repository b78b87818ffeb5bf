package gui

import (
	"cmp"
	"context"
	"slices"
	"strings"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gui/fieldtext"
	"github.com/gybob/aai-gateway/internal/gui/params"
	"github.com/gybob/aai-gateway/internal/gui/snapview"
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

// keyTarget returns the focused element of the window that receives keys, or -1.
func (v *view) keyTarget(ctx context.Context) int {
	top := v.frontTopLevel(ctx)
	if top < 0 {
		if m, err := v.focused(); err == nil {
			return m.index
		}
		return -1
	}
	return v.KeyboardWithin(top+1, v.Snapshot.Elements[top].End)
}

// pressedBy returns the indexes of the elements that the Return key may press, or the Space key if space
// is set: buttons of dialogs in front, the element with index focused (-1: unknown), and default buttons.
// In a dialog without a known default, any button counts. soon adds disabled buttons, which typed text
// may enable before.
func (v *view) pressedBy(ctx context.Context, space bool, focused int, soon bool) []int {
	return append(v.pressedBefore(ctx, space, focused, soon), v.pressedAt(ctx, space, focused, soon)...)
}

// pressedBefore returns the elements that return or space may press in dialogs in front of the
// focus, if known. In the background Chromium reports the page as focused, and not its question.
func (v *view) pressedBefore(ctx context.Context, space bool, focused int, soon bool) (pressed []int) {
	var before []int
	tops := []int{v.frontTopLevel(ctx)}
	switch {
	case focused >= 0:
		tops[0] = v.Snapshot.WindowOf(focused)
	case tops[0] < 0: // it may be any window
		tops = v.Snapshot.Children(-1)
		before = slices.DeleteFunc(v.Snapshot.Children(-1), func(top int) bool { return !snapview.IsDialog(&v.Snapshot.Elements[top]) || !v.Snapshot.IsVisible(top) })
	}
	for _, top := range tops {
		before = append(before, v.DialogsOutsidePage(top, focused)...)
		if modal := v.modal(ctx, top); modal >= 0 && !slices.Contains(before, modal) {
			before = append(before, modal)
		}
	}
	for _, dialog := range before {
		pressed = append(pressed, v.pressedIn(ctx, dialog, space, soon)...)
	}
	return pressed
}

// pressedIn returns the elements that return or space may press in a dialog. These are those of its
// focused element, else its buttons, or the dialog itself if it has none.
func (v *view) pressedIn(ctx context.Context, dialog int, space, soon bool) []int {
	if i := v.KeyboardWithin(dialog+1, v.Snapshot.Elements[dialog].End); i >= 0 {
		return v.pressedAt(ctx, space, i, soon)
	}
	if answers := v.dialogButtons(dialog, soon); len(answers) > 0 {
		return answers
	}
	return []int{dialog}
}

// dialogButtons returns the buttons of the dialog, default buttons first: after a tab another one
// may have the focus.
func (v *view) dialogButtons(dialog int, soon bool) []int {
	answers := v.Buttons(dialog, false, soon)
	slices.SortStableFunc(answers, func(a, b int) int { return v.byDefault(b) - v.byDefault(a) })
	return answers
}

// byDefault returns 1 for a default button, else 0.
func (v *view) byDefault(i int) int {
	if v.Snapshot.Elements[i].States.Has(desktop.Default) {
		return 1
	}
	return 0
}

// pressedAt is pressedBy without the dialogs in front.
func (v *view) pressedAt(ctx context.Context, space bool, focused int, soon bool) []int {
	role, writes := desktop.Generic, false
	if focused >= 0 {
		e := &v.Snapshot.Elements[focused]
		role, writes = e.Role, e.States.Has(desktop.Multiline) || e.Role == desktop.Terminal
	}
	var pressed []int
	switch {
	case role == desktop.Button || role.IsMenuItem() || space && role.IsPressable():
		return []int{focused}
	case writes, space && focused >= 0 && snapview.TakesText(&v.Snapshot.Elements[focused]):
		return nil // the text goes there
	case focused >= 0 && !snapview.TakesText(&v.Snapshot.Elements[focused]):
		if pressed = []int{focused}; space {
			return pressed
		}
	}
	within := v.FormOrDialogOf(focused)
	if within < 0 && focused < 0 {
		if top := v.frontTopLevel(ctx); top >= 0 && snapview.IsDialog(&v.Snapshot.Elements[top]) {
			within = top
		}
	}
	if space || focused < 0 && within >= 0 {
		return v.dialogButtons(within, soon)
	}
	top := v.frontTopLevel(ctx)
	if focused >= 0 {
		top = v.Snapshot.WindowOf(focused)
	}
	byDefault := v.Buttons(top, true, soon)
	if focused >= 0 { // a browser's own field presses nothing of a page, nor does one page press a button of another
		byDefault = slices.DeleteFunc(byDefault, func(i int) bool { return v.document(i) != v.document(focused) })
	}
	if len(byDefault) > 0 {
		return append(pressed, byDefault...)
	}
	return append(pressed, v.Buttons(within, false, soon)...)
}

// pressedByTyping returns the elements that the call's text may press when typed into the element.
// A line end in a single-line field acts as return; after a tab it may press any button.
func (v *view) pressedByTyping(ctx context.Context, i int) []int {
	text := v.inputText()
	if params.Bool(v.call, "submit") {
		text += "\n"
	}
	if i < 0 {
		return nil
	}
	var pressed []int
	if strings.ContainsAny(text, " \n\r\t") {
		pressed = v.pressedBefore(ctx, !strings.ContainsAny(text, "\n\r"), i, true)
	}
	return append(pressed, v.pressedByText(ctx, text, i)...)
}

// pressedByText returns the elements that a text may press when typed into the element.
func (v *view) pressedByText(ctx context.Context, text string, i int) []int {
	if !strings.ContainsAny(text, "\n\r\t") || !v.app.IsBrowser && fieldtext.IsSheetCell(&v.Snapshot.Elements[i]) { // they lead to other cells
		return nil
	}
	if _, after, tab := strings.Cut(text, "\t"); tab && strings.ContainsAny(after, " \n\r") {
		return v.Buttons(v.Snapshot.WindowOf(i), false, true) // in some multiline fields a tab leads out, too
	}
	if !strings.ContainsAny(text, "\n\r") || !snapview.TakesText(&v.Snapshot.Elements[i]) || v.Snapshot.Elements[i].States.Has(desktop.Multiline) && !params.Bool(v.call, "submit") {
		return nil
	}
	if v.Snapshot.Elements[i].States.Has(desktop.Multiline) { // return sends a message
		return v.nearbyButtons(i)
	}
	return v.pressedAt(ctx, false, i, true)
}

// nearbyButtons returns the buttons of the smallest part of the window that contains the element
// and a button; of a whole page, the nearest ones.
func (v *view) nearbyButtons(i int) []int {
	for up := v.Snapshot.Elements[i].Parent; up >= 0; up = v.Snapshot.Elements[up].Parent {
		found := v.Buttons(up, false, true)
		if v.Snapshot.Elements[up].Role == desktop.Document {
			after, _ := slices.BinarySearch(found, i)
			return found[max(0, after-nextButtons):min(len(found), after+nextButtons)]
		}
		if len(found) > 0 {
			return found
		}
	}
	return nil
}

// nextButtons is how many buttons before a page's field, and after it, may send its content.
const nextButtons = 3

// document returns the document that contains the element, or -1.
func (v *view) document(i int) int {
	for i = v.Snapshot.Elements[i].Parent; i >= 0 && v.Snapshot.Elements[i].Role != desktop.Document; {
		i = v.Snapshot.Elements[i].Parent
	}
	return i
}
