package ax

import (
	"cmp"
	"context"
	"slices"
	"strings"
	"time"
	"unicode"

	"aai"
	"aai/internal/desktop"
	"aai/internal/desktop/refs"
)

// aimPatience is how long it may take to find what a call is about.
const aimPatience = time.Second

// aim says what a call will hit, as far as that can be seen beforehand, and what the
// query says. Of a reference that has another name by now it is what the caller was told:
// that element is not acted upon. A program that the conversation has not been told of
// yet is not looked at for it: who may see it is decided first, and what is hit is judged
// when it is about to be.
func (d *desk) aim(ctx context.Context, call *aai.Call) aai.Hit {
	hit := said(call)
	if call.Target == nil || call.Target.PID == 0 {
		return hit
	}
	if call.Tool == windowTool {
		return d.windowHit(ctx, call)
	}
	known := d.sessions.of(call).knows(call.Target.PID)
	if known == nil {
		return hit
	}
	ctx, cancel := context.WithTimeout(ctx, aimPatience)
	defer cancel()
	_, err := d.glance(ctx, call, func(ctx context.Context, v *view) (*aai.Result, error) {
		v.silent, v.acting, v.surely, v.alsoMenus = true, true, true, true
		i, also, err := v.target(ctx)
		if err == nil {
			hit = v.hit(ctx, i, also...)
			return nil, nil
		}
		// What it is not, but likest to, is judged too; the call itself will say why.
		v.surely = false
		if i, also, err = v.target(ctx); err == nil {
			hit.Says = v.hit(ctx, i, also...).Says
		}
		return nil, err
	})
	if err != nil {
		d.log.Debug("what a call will hit is not known", "error", err)
		for _, text := range asked(call) {
			hit.Says = strings.TrimSpace(hit.Says + " " + known.Told(text))
		}
	}
	return hit
}

// asked are all queries of the call.
func asked(call *aai.Call) (queries []string) {
	for _, name := range []string{"query", "from_query", "to_query"} {
		if text := textArg(call, name); text != "" {
			queries = append(queries, text)
		}
	}
	for _, f := range fieldsOf(call) {
		queries = append(queries, f.query)
	}
	if submit := submitOf(call); submit != "" {
		queries = append(queries, submit)
	}
	return queries
}

// said is what the call itself says of what it will hit.
func said(call *aai.Call) aai.Hit {
	var says []string
	for _, text := range asked(call) {
		if !refs.Is(text) {
			says = append(says, text)
		}
	}
	hit := aai.Hit{Says: strings.TrimSpace(strings.Join(says, " "))}
	if chord, is := chordOf(call); is && destroys(chord) {
		hit.Key, hit.Destroys = chordText(chord), true
	}
	return hit
}

// target finds what the call is about: the element (-1: none), and what else it touches.
func (v *view) target(ctx context.Context) (i int, also []int, err error) {
	switch {
	case given(v.call, "fields"):
		return v.targets(ctx)
	case given(v.call, "key") && !given(v.call, "query"):
		return v.place(ctx), nil, nil
	case given(v.call, "from_query"), given(v.call, "from_x"):
		if i, err = v.end(ctx, "from"); err == nil {
			var to int
			to, err = v.end(ctx, "to")
			also = []int{to}
		}
		return i, also, err
	case given(v.call, "x"):
		return v.place(ctx), nil, nil
	}
	m := match{index: -1}
	switch query := textArg(v.call, "query"); {
	case query != "":
		m, err = v.find(ctx, query)
	case v.gives() != "":
		m, err = v.focused()
	}
	if err == nil && given(v.call, "value") {
		if option := v.option(m.index, textArg(v.call, "value")); option >= 0 {
			m.index = option
		}
	}
	return m.index, nil, err
}

// end is what is at an end of a drag.
func (v *view) end(ctx context.Context, end string) (int, error) {
	if query := textArg(v.call, end+"_query"); query != "" {
		m, err := v.find(ctx, query)
		return m.index, err
	}
	return v.under(ctx, end+"_"), nil
}

// place is what the call hits that names no element: what lies at its point, or has the
// keyboard; -1 where nothing is known.
func (v *view) place(ctx context.Context) int {
	switch {
	case given(v.call, "key"):
		return v.keyed(ctx)
	case given(v.call, "from_x"):
		return v.under(ctx, "from_")
	case given(v.call, "x"):
		return v.under(ctx, "")
	}
	return -1
}

// under is what lies at the call's point: what people do something with, or else whatever
// is to be seen there; -1 for nothing.
func (v *view) under(ctx context.Context, prefix string) int {
	at, err := v.spot(ctx, prefix)
	if err != nil {
		return -1
	}
	w, err := v.windowAt(ctx, at)
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

// gives is the text that the call gives the element.
func (v *view) gives() string { return textArg(v.call, "text") + textArg(v.call, "value") }

// option is the choice of that name in a list that is no field, or -1.
func (v *view) option(i int, name string) int {
	if i < 0 {
		return -1
	}
	for _, r := range v.radios(i) {
		if sameChoice(v.shot.Elements[r].Name, name) {
			return r
		}
	}
	switch e := &v.shot.Elements[i]; {
	case e.States.Has(desktop.Editable):
		return -1
	case e.Role == desktop.Combobox, e.Role == desktop.Listbox, e.Role == desktop.List, e.Role == desktop.Tablist:
		for c := i + 1; c < e.End; c++ {
			if o := &v.shot.Elements[c]; o.Role.InSet() && strings.EqualFold(strings.TrimSpace(o.Name), strings.TrimSpace(name)) {
				return c
			}
		}
	}
	return -1
}

// hit is what the call hits when it acts on the element (-1: on none): what people read
// there, and what a key may press beside it.
func (v *view) hit(ctx context.Context, i int, also ...int) aai.Hit {
	hit := said(v.call)
	var says []string
	if i < 0 {
		i = v.place(ctx)
	}
	pressed := also
	chord, key := chordOf(v.call)
	if key {
		says = v.reached(chord, i)
	}
	switch {
	case key && (isReturn(chord.Key) || isSpace(chord.Key)):
		if pressed = v.pressedBy(ctx, isSpace(chord.Key), i, false); len(pressed) > 0 {
			i = pressed[0]
		}
		hit.Unforeseen = len(pressed) == 0
	case key:
		hit.Unforeseen = !hit.Destroys
	default:
		pressed = slices.Concat([]int{i}, also, v.pressedByTyping(ctx, i))
		says = v.dropped(also)
		hit.Unforeseen = i < 0 || given(v.call, "x") && !v.shot.Elements[i].Role.Fires()
	}
	var names []string
	if given(v.call, "fields") { // people see the beginning of a long list
		slices.SortStableFunc(pressed, func(a, b int) int { return cmp.Compare(v.fires(b), v.fires(a)) })
	}
	for _, p := range pressed {
		if p < 0 {
			continue
		}
		says = append(says, v.readOn(p)...)
		if name := called(&v.shot.Elements[p]); name != "" && (len(names) < maxNames || given(v.call, "fields")) && !slices.Contains(names, name) {
			names = append(names, name)
		}
	}
	if i >= 0 {
		e := &v.shot.Elements[i]
		hit.Role, hit.ID = string(e.Role), aai.CleanLabel(e.Identifier, 40)
		if len(pressed) == 0 {
			names = []string{called(e)}
		}
		if top := v.shot.Window(i); top >= 0 && top != i {
			hit.Window = aai.CleanLabel(v.shot.Elements[top].Name, maxOnRecord)
		}
	}
	if i < 0 {
		hit.Window = v.frontTitle(ctx)
	}
	if given(v.call, "fields") {
		hit.Role, hit.ID = string(desktop.Form), ""
	}
	hit.Name = strings.Join(names, " / ")
	hit.Says = strings.Join(strings.Fields(strings.Join(append(says, hit.Says), " ")), " ")
	return hit
}

// fires is 1 for what fires, and 0 for what does not.
func (v *view) fires(i int) int {
	if i >= 0 && v.shot.Elements[i].Role.Fires() {
		return 1
	}
	return 0
}

// dropped says of each element that something is dragged onto it: to let go over what is
// called "Trash", or lies in what is, is another thing than to open it.
func (v *view) dropped(onto []int) (says []string) {
	for _, i := range onto {
		if i < 0 {
			continue
		}
		for _, text := range v.readOn(i) {
			if text = strings.TrimSpace(text); text != "" {
				says = append(says, "onto "+text)
			}
		}
	}
	return says
}

// maxNames is how many things are named where it cannot be told which of them is hit,
// maxOnRecord how many bytes of a name go on record, and maxRead how many elements in
// another are read.
const (
	maxNames    = 5
	maxOnRecord = 80
	maxRead     = 12
)

// called is what people call the element.
func called(e *desktop.Element) string {
	for _, name := range []string{e.Name, e.Description} {
		if name = strings.TrimSpace(aai.CleanLabel(name, maxOnRecord)); name != "" {
			return name
		}
	}
	return ""
}

// discards reports whether what stands in the place of a thing's words, the class of an icon
// or the file of its picture, is a bin: what is called so in words may be the bin's folder.
func discards(sign string) bool {
	for word := range strings.FieldsFuncSeq(strings.ToLower(sign), func(r rune) bool { return !unicode.IsLetter(r) }) {
		switch word {
		case "trash", "trashcan", "bin", "dustbin", "garbage", "rubbish", "wastebasket":
			return true
		}
	}
	return false
}

// readOn is what is to be read on the element, and in what fires.
func (v *view) readOn(i int) []string {
	e := &v.shot.Elements[i]
	says := []string{e.Name, e.Description}
	if e.Name == "" && discards(e.Description) {
		says = append(says, "delete")
	}
	if takesText(e) || e.Parent < 0 {
		return says
	}
	for c := i + 1; c < min(e.End, i+1+maxRead); c++ {
		says = append(says, v.shot.Elements[c].Name)
	}
	for up := e.Parent; up >= 0 && v.shot.Elements[up].Parent >= 0 && !v.shot.Elements[up].Role.Holds(); up = v.shot.Elements[up].Parent {
		says = append(says, v.shot.Elements[up].Name, v.shot.Elements[up].Description)
	}
	return says
}
