package gui

import (
	"context"
	"fmt"
	"slices"
	"strings"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gui/guierr"
	"github.com/gybob/aai-gateway/internal/gui/operate"
	"github.com/gybob/aai-gateway/internal/gui/snapview"
)

// A choosing is an option on its way into a combo box that has its list closed. Qt's takes
// what is selected in its list for nothing, and opening the list would take the person's
// keyboard: it grabs it. The keys that go through a closed list do it in the background.
type comboChoice struct {
	*callView
	box     desktop.ID
	was     string // what the box stood at
	options []string
	want    string
	passed  *[]string // what it stood at on the way
}

// newComboChoice is the choice of the option in the combo box.
func (v *callView) newComboChoice(set, option int) comboChoice {
	c := comboChoice{callView: v, box: v.Snapshot.Elements[set].ID, was: v.Snapshot.Elements[set].Value, want: v.Snapshot.Elements[option].Name, passed: new([]string)}
	for i := set + 1; i < v.Snapshot.Elements[set].End; i++ {
		if e := &v.Snapshot.Elements[i]; e.Role.IsSetMember() {
			c.options = append(c.options, e.Name)
		}
	}
	return c
}

// withVerification is the way, but one that cannot do it where the box stands at what it stood at when
// it has had its time.
func (c comboChoice) withVerification(w operate.Technique) operate.Technique {
	do := w.Do
	w.Do = func(ctx context.Context) error {
		if err := do(ctx); err != nil {
			return err
		}
		if now, err := c.awaitChange(ctx, c.was, operate.EffectCeiling); err == nil && now.Value == c.was {
			return c.notChosenError("takes no choice by " + w.Name)
		}
		return nil // what came of it is judged in the end
	}
	return w
}

func (c comboChoice) notChosenError(what string) error {
	return &aai.Error{Code: aai.AutomationNotSupported, Delivery: aai.NotDelivered, Message: fmt.Sprintf("combobox at %q %s", aai.CleanLabel(c.was, 60), what)}
}

// awaitChange waits until the box stands at another option than was, and returns it.
func (c comboChoice) awaitChange(ctx context.Context, was string, within time.Duration) (desktop.Element, error) {
	var now desktop.Element
	_, err := c.PollUntil(ctx, within, func() (_ bool, err error) {
		now, err = c.Backend.Tree.Read(ctx, c.App, c.box)
		return now.Value != was || now.States.Has(desktop.Expanded), err
	})
	return now, err
}

// byKeys is a way that gives the box its window's keyboard and goes to the option.
func (c comboChoice) byKeys(set int) operate.Technique {
	return c.ByKeys(set, func(ctx context.Context, input desktop.Input, seat desktop.Seat, w desktop.WindowInfo) error {
		from, to, err := c.places()
		if err != nil {
			return err
		}
		if err := c.FocusWithoutPress(ctx, set, input, seat, w); err != nil {
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

// places are where the box stands in its list and where it is to; an error where that
// cannot be told.
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
		return 0, 0, c.notChosenError("does not stand at one of its options")
	}
	if max(from-to, to-from) > maxSteps {
		return 0, 0, c.notChosenError(fmt.Sprintf("is more than %d options away", maxSteps))
	}
	return from, to, nil
}

// steps presses the key until the box stands at the option. Where the key goes past it, as it
// does with what cannot be chosen, the box is put back.
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

// step presses the key and returns what the box stands at then, which is another option.
func (c comboChoice) step(ctx context.Context, key string, press func(key string) error) (string, error) {
	was, err := c.Backend.Tree.Read(ctx, c.App, c.box)
	if err != nil {
		return "", err
	}
	if err := press(key); err != nil {
		return "", err
	}
	now, err := c.awaitChange(ctx, was.Value, operate.WrongCeiling)
	switch {
	case err != nil:
		return "", err
	case now.States.Has(desktop.Expanded): // its list would keep the keyboard
		_ = press("escape")
		return "", c.choiceError("its list opens at the key %q", key)
	case now.Value == was.Value:
		return "", c.choiceError("the key %q leaves it at %q", key, aai.CleanLabel(was.Value, 60))
	}
	return now.Value, nil
}

// revert makes the box stand at what it stood at, and says in an error that it went past the option.
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
			return c.choiceError("the keys go past %q, which may be disabled; it stands at %q now and no more at %q", aai.CleanLabel(c.want, 60), aai.CleanLabel(now, 60), aai.CleanLabel(c.was, 60))
		}
		at = now
	}
	return c.choiceError("the keys go past %q, which may be disabled; it stands at %q again", aai.CleanLabel(c.want, 60), aai.CleanLabel(at, 60))
}

// choiceError is the error of a box that was not brought to the option, whose program heard of what
// it stood at.
func (c comboChoice) choiceError(format string, args ...any) error {
	e := *aai.AsError(guierr.Failed(aai.Delivered, "option %q was not chosen: "+format, append([]any{aai.CleanLabel(c.want, 60)}, args...)...))
	e.Message += strings.ReplaceAll(c.passedText(), "\n", ". ")
	e.Hint = openListHint
	return &e
}

// passedText is what a reply says of what the box stood at meanwhile: its program heard of each.
func (c comboChoice) passedText() string {
	switch n := len(*c.passed); {
	case n == 0:
		return ""
	case n > snapview.MaxCandidates:
		return fmt.Sprintf("\nIt stood at %d other options on the way, one after the other, and its program heard of each.", n)
	}
	var names []string
	for _, name := range *c.passed {
		names = append(names, fmt.Sprintf("%q", aai.CleanLabel(name, 60)))
	}
	return "\nIt stood at " + strings.Join(names, ", ") + " on the way, and its program heard of each."
}
