package gui

import (
	"cmp"
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/desktop/query"
	"github.com/gybob/aai-gateway/internal/desktop/refs"
	"github.com/gybob/aai-gateway/internal/gui/fieldtext"
	"github.com/gybob/aai-gateway/internal/gui/guierr"
	"github.com/gybob/aai-gateway/internal/gui/params"
)

// fieldOf returns the field that takes a text for element i, which the query matched: the field inside an editable combo
// box, around a label that is its whole text, or out of view with the name of a label that is in view. It returns i if there is none.
func (v *view) fieldOf(ctx context.Context, i int, text string) int {
	if field := v.comboField(i); field >= 0 {
		return field
	}
	role := v.snapshot.Elements[i].Role
	if role != desktop.Label && role != desktop.Text {
		return i
	}
	up := v.nonLayoutAncestor(v.snapshot.Elements[i].Parent)
	if up >= 0 && v.snapshot.Elements[up].Role == desktop.Textbox && v.snapshot.Elements[up].Value == v.snapshot.Elements[i].Name {
		return up
	}
	if refs.Is(text) || params.Int(v.call, "nth", 0) > 0 {
		return i
	}
	return v.fieldOutOfView(ctx, i, text)
}

// fieldOutOfView returns the only element out of view that the query matches and that is filled in; i if there is none.
func (v *view) fieldOutOfView(ctx context.Context, i int, text string) int {
	q, err := query.Parse(text, query.Strategy(cmp.Or(params.String(v.call, "strategy"), "auto")))
	if err != nil {
		return i
	}
	is := v.trackElement(i)
	v.readOffscreen(ctx)
	found := v.outOfView(q.FindForAction(v.snapshot, query.Options{Root: -1, Hidden: true}).Matches)
	found = slices.DeleteFunc(found, func(f int) bool {
		e := &v.snapshot.Elements[f]
		return e.Role != desktop.Combobox && e.Role != desktop.Slider && (!takesText(e) || e.States.Has(desktop.ReadOnly)) || e.Parent >= 0 && v.comboField(e.Parent) == f
	})
	if len(found) != 1 {
		return is()
	}
	return cmp.Or(max(v.comboField(found[0]), 0), found[0])
}

// comboField returns the field for free text inside an editable combo box, or -1.
func (v *view) comboField(i int) int {
	box := &v.snapshot.Elements[i]
	if box.Role != desktop.Combobox || box.States.Has(desktop.Editable) {
		return -1
	}
	field := -1
	for c := i + 1; c < box.End; c++ {
		switch e := &v.snapshot.Elements[c]; {
		case e.Role != desktop.Textbox && e.Role != desktop.Searchbox && e.Role != desktop.Terminal:
		case !e.States.HasAny(desktop.Showing|desktop.Offscreen) || e.States.Has(desktop.ReadOnly):
		case field >= 0:
			return -1
		default:
			field = c
		}
	}
	return field
}

// boxOfField returns the editable combo box around its field i in a toolkit that activates options by keys alone, such
// as Qt; else -1.
func (v *view) boxOfField(i int) int {
	box := v.snapshot.Elements[i].Parent
	if !v.app.SelectsWithoutCurrent || box < 0 || v.comboField(box) != i {
		return -1
	}
	return box
}

// setBoxField sets the text of an editable combo box. Outside of dialogs, where return may press a button, it presses
// return after the name of an option, which chooses that; the keys of the closed list would choose others on the way.
func (v *view) setBoxField(ctx context.Context, i int, value string) (*aai.Result, error) {
	chooses := len(v.optionsNamed(v.boxOfField(i), value)) == 1 && v.formOrDialogOf(i) < 0
	if chooses && !fieldtext.SameChoice(v.snapshot.Elements[i].Value, value) {
		field := v.trackElement(i)
		out, err := v.typeAndSend(ctx, i, value, true)
		if done, is := resultOf(out); is && field() >= 0 && fieldtext.SameChoice(v.snapshot.Elements[field()].Value, value) {
			done.Verified = true // the option was chosen, whether or not the window shows more
			out.Data, out.Warning = done, ""
		}
		return out, err
	}
	out, err := v.setText(ctx, i, value)
	if err == nil && !out.NoOp {
		out.Warning = guierr.JoinWarnings(out.Warning, "the program may act on the text only after return: ax_type with submit presses it")
	}
	return out, err
}

// resultOf returns the data of an action's result; false if there is none.
func resultOf(out *aai.Result) (actionResult, bool) {
	if out == nil {
		return actionResult{}, false
	}
	done, is := out.Data.(actionResult)
	return done, is
}

// typesInto reports whether the call enters a text or keys into the element of the query.
func typesInto(call *aai.Call, query string) bool {
	switch call.Tool {
	case setValueName, "ax_type", keyPressName:
		return true
	case "ax_fill":
		return query != params.Submit(call)
	}
	return false
}

// comboChoice is the selection of an option in a closed combo box. Qt ignores the selection in its
// list, and opening the list would grab the person's keyboard. The keys that step through a closed
// list work in the background.
type comboChoice struct {
	*view
	box     desktop.ID
	was     string // the box's option before
	options []string
	want    string
	passed  *[]string // the box's options on the way
}

// newComboChoice returns the choice of the option in the combo box.
func (v *view) newComboChoice(set, option int) comboChoice {
	c := comboChoice{view: v, box: v.snapshot.Elements[set].ID, was: v.snapshot.Elements[set].Value, want: v.snapshot.Elements[option].Name, passed: new([]string)}
	for i := set + 1; i < v.snapshot.Elements[set].End; i++ {
		if e := &v.snapshot.Elements[i]; e.Role.IsSetMember() {
			c.options = append(c.options, e.Name)
		}
	}
	return c
}

// withVerification wraps a technique so that it fails as unsupported if the box still has its old
// option after effectCeiling.
func (c comboChoice) withVerification(w technique) technique {
	do := w.do
	w.do = func(ctx context.Context) error {
		if err := do(ctx); err != nil {
			return err
		}
		if now, err := c.awaitChange(ctx, c.was, effectCeiling); err == nil && now.Value == c.was {
			return c.notChosenError("does not change by " + w.name)
		}
		return nil // verify judges the effect later
	}
	return w
}

func (c comboChoice) notChosenError(what string) error {
	return &aai.Error{Code: aai.AutomationNotSupported, Delivery: aai.NotDelivered, Message: fmt.Sprintf("combobox at %q %s", aai.CleanLabel(c.was, 60), what)}
}

// awaitChange waits until the box has another option than was, or opens, and returns it.
func (c comboChoice) awaitChange(ctx context.Context, was string, within time.Duration) (desktop.Element, error) {
	var now desktop.Element
	_, err := c.pollUntil(ctx, within, func() (_ bool, err error) {
		now, err = c.backend.Tree.Read(ctx, c.app, c.box)
		return now.Value != was || now.States.Has(desktop.Expanded), err
	})
	return now, err
}

// byArrowKeys returns a technique that focuses the box and steps to the option.
func (c comboChoice) byArrowKeys(set int) technique {
	return c.byKeys(set, func(ctx context.Context, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) error {
		from, to, err := c.places()
		if err != nil {
			return err
		}
		if err := c.focusWithoutPress(ctx, set, input, seat, w); err != nil {
			return err
		}
		key := "down"
		switch {
		case to == 0:
			key = "home"
		case to == len(c.options)-1:
			key = "end"
		case to < from:
			key = "up"
		}
		return c.steps(ctx, key, func(key string) error { return input.Key(ctx, seat, w.ID, desktop.Chord{Key: key}) })
	})
}

// places returns the positions of the current and the wanted option; an error if either is
// ambiguous or too far.
func (c comboChoice) places() (from, to int, err error) {
	from, to = -1, -1
	for i, option := range c.options {
		if option == c.was {
			if from >= 0 {
				return 0, 0, c.notChosenError("has several options of this name")
			}
			from = i
		}
		if option == c.want && to < 0 {
			to = i
		}
	}
	if from < 0 {
		return 0, 0, c.notChosenError("shows none of its options")
	}
	if max(from-to, to-from) > maxSteps {
		return 0, 0, c.notChosenError(fmt.Sprintf("is more than %d options away", maxSteps))
	}
	return from, to, nil
}

// steps presses the key until the box has the option. If the key passes it, as it does with a
// disabled option, steps restores the old option.
func (c comboChoice) steps(ctx context.Context, key string, press func(key string) error) error {
	from, to, err := c.places()
	if err != nil {
		return err
	}
	for range maxSteps {
		now, err := c.step(ctx, key, press)
		if err != nil || now == c.want {
			return err
		}
		*c.passed = append(*c.passed, now)
		if at := slices.Index(c.options, now); at < 0 || key == "home" || key == "end" || at < min(from, to) || at > max(from, to) {
			break
		}
	}
	return c.revert(ctx, press)
}

// step presses the key and returns the box's new option.
func (c comboChoice) step(ctx context.Context, key string, press func(key string) error) (string, error) {
	was, err := c.backend.Tree.Read(ctx, c.app, c.box)
	if err != nil {
		return "", err
	}
	if err := press(key); err != nil {
		return "", err
	}
	now, err := c.awaitChange(ctx, was.Value, wrongCeiling)
	switch {
	case err != nil:
		return "", err
	case now.States.Has(desktop.Expanded): // its list would grab the keyboard
		_ = press("escape")
		return "", c.choiceError("its list opens at the key %q", key)
	case now.Value == was.Value:
		return "", c.choiceError("the key %q leaves it at %q", key, aai.CleanLabel(was.Value, 60))
	}
	return now.Value, nil
}

// revert restores the old option, and returns an error that the keys went past the wanted one.
func (c comboChoice) revert(ctx context.Context, press func(key string) error) error {
	at := c.was
	if n := len(*c.passed); n > 0 {
		at = (*c.passed)[n-1]
	}
	for range maxSteps {
		i, was := slices.Index(c.options, at), slices.Index(c.options, c.was)
		if i < 0 || i == was {
			break
		}
		key := "down"
		if i > was {
			key = "up"
		}
		now, err := c.step(ctx, key, press)
		if err != nil {
			return err
		}
		if *c.passed = append(*c.passed, now); (slices.Index(c.options, now) > was) != (i > was) && now != c.was {
			return c.choiceError("the keys go past %q, which may be disabled; its value is now %q, no longer %q", aai.CleanLabel(c.want, 60), aai.CleanLabel(now, 60), aai.CleanLabel(c.was, 60))
		}
		at = now
	}
	return c.choiceError("the keys go past %q, which may be disabled; its value is %q again", aai.CleanLabel(c.want, 60), aai.CleanLabel(at, 60))
}

// choiceError returns the error for a box that did not reach the option. Its program has seen the
// options on the way.
func (c comboChoice) choiceError(format string, args ...any) error {
	e := *aai.AsError(guierr.Failed(aai.Delivered, "option %q was not chosen: "+format, append([]any{aai.CleanLabel(c.want, 60)}, args...)...))
	e.Message += strings.ReplaceAll(c.passedText(), "\n", ". ")
	e.Hint = openListHint
	return &e
}

// passedText reports the options on the way, because the program has seen each of them.
func (c comboChoice) passedText() string {
	switch n := len(*c.passed); {
	case n == 0:
		return ""
	case n > maxCandidates:
		return fmt.Sprintf("\nIt passed %d other options on the way, and its program received each.", n)
	}
	var names []string
	for _, name := range *c.passed {
		names = append(names, fmt.Sprintf("%q", aai.CleanLabel(name, 60)))
	}
	return "\nIt passed " + strings.Join(names, ", ") + " on the way, and its program received each."
}
