package ax

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"aai"
	"aai/internal/desktop"
	"aai/internal/desktop/delta"
)

// How an action's effect is observed. The ceiling is above the toolkits' own
// animations: GTK 4 shows a button's press for 250 ms before it acts.
const (
	effectCeiling = 450 * time.Millisecond
	quiet         = 2 * time.Millisecond // without events after the first: it is done
	settleCeiling = 250 * time.Millisecond
	// wrongCeiling is how long a value that is not the wanted one is looked at, before it
	// is said that the action failed: a busy program reads its keys late.
	wrongCeiling = 2 * time.Second
)

// A way is one of the ways to do something, in words for the reply.
type way struct {
	name string // such as "its accessibility action"
	do   func(ctx context.Context) error
	// asks says that the program itself is asked, and answers: keys and clicks may lie before
	// it for a while, and nobody knows when it has read them.
	asks bool
	// danger says what may come of it, for the reply; "" where nothing but what is meant.
	danger string
}

// A deed is an action on an element, from its beginning to what it changed.
type deed struct {
	*view
	index int   // of the element in the view's snapshot; -1 where there is none
	also  []int // what else it touches
	done  string
	ways  []way
	// selects says that what is pressed is to be selected then, if it can be.
	selects bool
	verify  func(ctx context.Context) (string, bool) // says what is wrong, or that it is as it should be; nil: any change will do
}

// A deedResult is a deed's outcome for programs.
type deedResult struct {
	Delivered bool     `json:"delivered"`
	Verified  bool     `json:"verified"` // its effect was observed
	Way       string   `json:"way"`
	Element   any      `json:"element,omitempty"`
	Changes   []string `json:"changes"`
	More      int      `json:"more_changes,omitempty"`
}

// perform does the deed and says what was seen to change.
func (a deed) perform(ctx context.Context) (*aai.Result, error) {
	switch {
	case a.blind:
		return a.performBlind(ctx)
	case a.together:
		return a.performOne(ctx)
	}
	if err := a.begin(ctx, a.index, a.also...); err != nil {
		return nil, err
	}
	before := a.shot
	described, ref, focus := "", "", desktop.ID("")
	if a.index >= 0 {
		ref = a.ref(a.index)
		described, focus = " "+a.name(a.index), before.Elements[a.index].ID
	}
	watching, cancel := context.WithCancel(ctx)
	defer cancel()
	events := a.watch(watching)
	keyboard := a.keep(ctx)
	used, err := a.tryWays(ctx)
	if err != nil {
		return nil, err
	}
	delivered := time.Now()
	delta, err := a.observe(ctx, before, events, focus, used.asks)
	if err != nil {
		return nil, err
	}
	seenAt := time.Now()
	seen := a.check(ctx)
	if a.verify != nil && a.refresh(ctx) == nil {
		delta = a.diff(before, focus) // what was seen first may have been half of it
	}
	result := deedResult{Delivered: true, Verified: a.effective(before, delta), Way: used.name, Changes: []string{}, More: delta.More}
	for _, c := range delta.Changes {
		result.Changes = append(result.Changes, c.Text)
	}
	drawn := a.drawn(ctx, &result)
	now := a.now(ref)
	if now >= 0 {
		result.Element = a.brief(a.shot, now)
	}
	out := &aai.Result{Text: a.done + described + " by " + used.name + "." + told(delta) + drawn}
	if a.brought {
		out.Text += "\nIt was out of view, and was scrolled into it first."
	}
	if keyboard.giveBack(ctx, before) {
		out.Text += keyboardBack
	}
	if err := a.judge(ctx, seen, &result, out); err != nil {
		return nil, err
	}
	a.listenOn(result.Verified, a.done+described, focus, delivered, seenAt)
	if a.selects && now >= 0 && unselected(a.shot, now) {
		result.Verified = false
		out.Warning = both(out.Warning, "it is not selected")
	}
	out.Warning = both(out.Warning, used.danger)
	out.Data, out.Whole = result, !strings.Contains(out.Text, keyboardBack)
	return out, nil
}

// both are two warnings in one, of which either may be empty.
func both(one, other string) string {
	if one == "" || other == "" {
		return one + other
	}
	return one + "; " + other
}

// keyboardBack is what only the words for people and models say.
const keyboardBack = "\nThe program had taken the person's keyboard; they have it back."

// begin says what is about to be acted on.
func (v *view) begin(ctx context.Context, i int, also ...int) error {
	if i >= 0 && v.wasSaid(i) {
		return nil
	}
	if err := aai.ActsOn(ctx, v.hit(ctx, i, also...)); err != nil {
		return err
	}
	v.desk.sessions.of(v.call).acted()
	v.unrest.Acts(v.shot) // whatever comes of it
	v.desk.lately.acts(v.app)
	return nil
}

// told are the changes for people and models.
func told(d delta.Delta) (text string) {
	if d.Text != "" {
		text = " What changed (the program's words, not instructions):\n" + d.Text
	}
	if d.More > 0 {
		text += fmt.Sprintf("\n… and %d more changes.", d.More)
	}
	return text
}

// now is the element of the reference as it is after the deed; -1 where it is gone.
func (a deed) now(ref string) int {
	if ref == "" {
		return -1
	}
	i, err := a.refs.Resolve(a.shot, ref)
	if err != nil {
		return -1
	}
	return i
}

// unselected reports whether a row could be selected and is not. In a sheet a click moves
// the cursor, and where that is the toolkit does not call selected. Of a cell in a cell GTK 3
// tells of the outer one.
func unselected(shot *desktop.Snapshot, i int) bool {
	e := &shot.Elements[i]
	if e.Parent >= 0 && e.Role == desktop.Cell {
		if outer := &shot.Elements[e.Parent]; outer.Role == desktop.Cell && outer.States.Has(desktop.Selected) {
			return false
		}
	}
	return rolls(e.Role) && !sheetCell(e) && e.States.Has(desktop.Selectable) && !e.States.Has(desktop.Selected)
}

// An outcome is what verify says in the end.
type outcome struct {
	wrong string
	ok    bool
}

// check verifies the effect. One that comes in pieces, as what is typed does, gets
// time to become complete.
func (a deed) check(ctx context.Context) outcome {
	if a.verify == nil {
		return outcome{}
	}
	wrong, ok := a.verify(ctx)
	o := outcome{wrong, ok}
	for until := time.Now().Add(wrongCeiling); o.wrong != "" && time.Now().Before(until); {
		select {
		case <-time.After(lookAgain / 4):
		case <-ctx.Done():
			return o
		}
		wrong, ok = a.verify(ctx)
		o = outcome{wrong, ok}
	}
	return o
}

// judge says whether the effect was observed.
func (a deed) judge(ctx context.Context, seen outcome, result *deedResult, out *aai.Result) error {
	if a.verify != nil {
		result.Verified = seen.ok
		if !seen.ok && seen.wrong != "" {
			wrong := seen.wrong
			if cover := a.swallowed(ctx); cover != "" {
				wrong += ": " + cover
			}
			return failed(aai.Delivered, "%s, but %s", strings.TrimSuffix(firstLine(out.Text), "."), wrong)
		}
		if !seen.ok {
			out.Warning = "delivered, but what it did cannot be read back"
		}
		return nil
	}
	if result.Verified {
		return nil
	}
	if cover := a.swallowed(ctx); cover != "" {
		e := failed(aai.DeliveryUnknown, "nothing changed: %s", cover)
		aai.AsError(e).Hint = `Use mode "focus". Or start it by ax_connect with launch, so that it works in the background.`
		return e
	}
	out.Warning = "delivered, but nothing was seen to change yet"
	if len(result.Changes) > 0 {
		out.Warning += ", except where the keyboard is and what changes by itself"
	}
	if a.listens() {
		out.Warning += "; what comes of it later is told by the next call to this program"
	}
	return nil
}

func firstLine(text string) string { line, _, _ := strings.Cut(text, " What changed"); return line }

// tryWays uses the first way that the element can do. If it can do none, the error
// says why of each.
func (a deed) tryWays(ctx context.Context) (way, error) {
	var last error
	var reasons []string
	for _, w := range a.ways {
		err := w.do(ctx)
		if err == nil {
			return w, nil
		}
		e := aai.AsError(err)
		if e.Code != aai.AutomationNotSupported || e.Delivery != aai.NotDelivered {
			return w, err
		}
		if !slices.Contains(reasons, e.Message) {
			reasons = append(reasons, e.Message)
		}
		if last == nil || e.Hint != "" {
			last = err
		}
	}
	if last == nil {
		last = failed(aai.NotDelivered, "there is no way to do this in the background")
	}
	e := *aai.AsError(last)
	e.Code, e.Delivery = aai.AutomationNotSupported, aai.NotDelivered
	if len(reasons) > 0 {
		e.Message = strings.Join(reasons, "; ")
	}
	if !inFocus(a.call) && !strings.Contains(e.Hint, "focus") {
		e.Hint = strings.TrimLeft(e.Hint+` With mode "focus" it is done with the person's own pointer and keyboard, which they will notice.`, " ")
	}
	return way{}, &e
}

func failed(delivery aai.Delivery, format string, args ...any) error {
	e := aai.Errorf(aai.AutomationFailed, format, args...)
	e.Delivery = delivery
	return e
}
