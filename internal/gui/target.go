package gui

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

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
	return v.targetAt(ctx, at, w)
}

// targetAt returns the interactive element at the point of the window, or else any element visible there; -1 for none.
func (v *view) targetAt(ctx context.Context, at desktop.Point, w desktop.WindowInfo) int {
	i, err := v.innermost(ctx, at, w, isInteractive)
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
		says = v.textsPressedBy(chord, i)
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
		says = v.dropTexts(also)
		typed, typesKeys := v.textsPressedByKeys(i)
		says = append(says, typed...)
		hit.UnknownEffect = i < 0 || typesKeys || params.Has(v.call, "x") && !v.snapshot.Elements[i].Role.IsPressable()
	}
	var names []string
	if params.Has(v.call, "fields") { // people see only the beginning of a long list
		slices.SortStableFunc(pressed, func(a, b int) int { return cmp.Compare(v.pressableRank(b), v.pressableRank(a)) })
	}
	for _, p := range pressed {
		if p < 0 {
			continue
		}
		says = append(says, v.readableTexts(p)...)
		if name := displayName(&v.snapshot.Elements[p]); name != "" && (len(names) < maxNames || params.Has(v.call, "fields")) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if i >= 0 {
		e := &v.snapshot.Elements[i]
		hit.Role, hit.ID = string(e.Role), aai.CleanLabel(e.Identifier, 40)
		if len(pressed) == 0 {
			names = []string{displayName(e)}
		}
		if top := v.snapshot.WindowOf(i); top >= 0 && top != i {
			hit.Window = aai.CleanLabel(v.snapshot.Elements[top].Name, maxRecordedName)
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
	return v.markUnsavedLoss(v.withWord(hit))
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

// pressableRank returns 1 for a pressable element, and else 0, as a sort key.
func (v *view) pressableRank(i int) int {
	if i >= 0 && v.snapshot.Elements[i].Role.IsPressable() {
		return 1
	}
	return 0
}

// dropTexts returns the texts of drop targets with the prefix "onto": a drop on "Trash" differs
// from opening it.
func (v *view) dropTexts(onto []int) (says []string) {
	for _, i := range onto {
		if i < 0 {
			continue
		}
		for _, text := range v.readableTexts(i) {
			if text = strings.TrimSpace(text); text != "" {
				says = append(says, "onto "+text)
			}
		}
	}
	return says
}

// maxRead limits how many descendants of an element are read.
const maxRead = 12

// isTrashIcon reports whether an icon class or image file, in place of a label, is a trash can. A
// text label may also name the trash folder.
func isTrashIcon(sign string) bool {
	for word := range strings.FieldsFuncSeq(strings.ToLower(sign), func(r rune) bool { return !unicode.IsLetter(r) }) {
		switch word {
		case "bin", "dustbin", "garbage", "rubbish", "wastebasket":
			return true
		}
		if strings.Contains(word, "trash") { // trashcan, TrashIcon
			return true
		}
	}
	return false
}

// readableTexts returns the readable texts on the element and its containers.
func (v *view) readableTexts(i int) []string {
	e := &v.snapshot.Elements[i]
	says := []string{e.Name, e.Description}
	if e.Name == "" && isTrashIcon(e.Description) {
		says = append(says, "delete")
	}
	if desktop.IsBlank(e.Name) && e.Role.IsPressable() || e.States.Has(desktop.Placed) { // a name by place is not the element's own
		says = append(says, e.Identifier)
	}
	if takesText(e) || e.Parent < 0 {
		return says
	}
	for c := i + 1; c < min(e.End, i+1+maxRead); c++ {
		says = append(says, v.snapshot.Elements[c].Name)
		if desktop.IsBlank(e.Name) {
			says = append(says, v.snapshot.Elements[c].Description)
		}
	}
	if e.Role.IsPressable() && lexicon.IsAffirmative(e.Name) {
		says = append(says, v.promptText(i)...)
	}
	for up := e.Parent; up >= 0 && v.snapshot.Elements[up].Parent >= 0 && !v.snapshot.Elements[up].Role.IsRefContainer(); up = v.snapshot.Elements[up].Parent {
		says = append(says, v.containerName(up, i), v.snapshot.Elements[up].Description)
	}
	return says
}

// containerName returns the name of a container of the element. If its name consists of its
// content, the names of other pressable elements are removed: "Place order" beside "Save draft".
func (v *view) containerName(up, i int) string {
	outer := &v.snapshot.Elements[up]
	if !outer.Role.IsTextual() && !outer.Role.IsSetMember() {
		return outer.Name
	}
	name := outer.Name
	for c := up + 1; c < min(outer.End, up+1+8*maxRead) && name != ""; c++ {
		if e := &v.snapshot.Elements[c]; (e.End <= i || c >= v.snapshot.Elements[i].End) && e.Role.IsPressable() && e.Name != "" {
			name = strings.Replace(name, e.Name, "·", 1)
		}
	}
	return name
}

// promptText returns the text of the dialog or form that the element answers: name, headings and
// sentences, or all text if it has no fields. Labels of fields do not count: "Format" may be a
// paper's. Outside of both it returns the sentence before the element.
func (v *view) promptText(i int) (says []string) {
	within := v.formOrDialogOf(i)
	if within < 0 {
		return v.sentenceBefore(i)
	}
	asks := &v.snapshot.Elements[within]
	says = []string{asks.Name, asks.Description}
	bare := !v.hasFields(within)
	for c := within + 1; c < min(asks.End, within+1+4*maxRead); c++ {
		e := &v.snapshot.Elements[c]
		for _, text := range []string{e.Name, e.Value} {
			if e.Role.IsTextual() && (bare || e.Role == desktop.Heading || sentence(text)) {
				says = append(says, text)
			}
		}
		if takesText(e) && (sentence(e.Name) || len(strings.Fields(e.Name)) > 3) { // the question of a page's prompt is the name of its field
			says = append(says, e.Name)
		}
	}
	return says
}

// hasFields reports whether the element contains something to fill in or choose. A single check box
// does not count: it means "do not ask again".
func (v *view) hasFields(within int) bool {
	boxes := 0
	for i := within + 1; i < v.snapshot.Elements[within].End; i++ {
		switch e := &v.snapshot.Elements[i]; {
		case e.Role == desktop.Checkbox || e.Role == desktop.Radio || e.Role == desktop.Switch:
			boxes++
		case e.Role == desktop.Listbox || e.Role.IsInputOrItem() && e.Role != desktop.Link:
			return true
		}
	}
	return boxes > 1
}

// sentenceBefore returns the nearest sentence before the element, with at most other buttons
// between them.
func (v *view) sentenceBefore(i int) []string {
	const near = 8
	for c := i - 1; c >= max(0, i-near); c-- {
		e := &v.snapshot.Elements[c]
		switch {
		case e.Role.IsTextual() && sentence(e.Name) && !v.fires(c):
			return []string{e.Name}
		case e.Role.IsInteractive() && !e.Role.IsPressable():
			return nil
		}
	}
	return nil
}

// fires reports whether the element is pressable, or inside a pressable one.
func (v *view) fires(i int) bool {
	for ; i >= 0; i = v.snapshot.Elements[i].Parent {
		if v.snapshot.Elements[i].Role.IsPressable() {
			return true
		}
	}
	return false
}

// sentence reports whether a text ends like a sentence.
func sentence(text string) bool {
	last, _ := utf8.DecodeLastRuneInString(strings.TrimRight(text, " \u00a0\n\"'”’»)"))
	return strings.ContainsRune(".!?…。！？؟।", last)
}
