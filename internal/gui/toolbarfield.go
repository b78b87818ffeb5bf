package gui

import (
	"context"
	"fmt"
	"regexp"
	"strings"
	"time"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gui/fieldtext"
	"github.com/gybob/aai-gateway/internal/gui/guierr"
)

// setToolbarField sets the field of a tool bar box, and activates it as return would: the text
// alone has no effect.
func (v *view) setToolbarField(ctx context.Context, field int, value string) (*aai.Result, error) {
	id := v.Snapshot.Elements[field].ID
	before, err := v.read(ctx, id)
	if err != nil {
		return nil, err
	}
	if isSameMeasure(before.Value, value) {
		return v.alreadySetResult(field), nil
	}
	if measure.MatchString(before.Value) && !measure.MatchString(value) { // the box would take the minimum and still show the words
		return nil, aai.Errorf(aai.InvalidParams, "value: the box expects a measure, such as %q, got %q", aai.CleanLabel(before.Value, 20), aai.CleanLabel(value, 100))
	}
	keyboard := v.guardKeyboard(ctx)
	a := action{view: v, index: field, doneText: "Set", techniques: []technique{{
		name: "its editable text and its accessibility action", viaAccessibility: true,
		do: func(ctx context.Context) error {
			if v.backend.Actor == nil {
				return guierr.Unsupported("actions on elements")
			}
			if err := v.backend.Actor.Execute(ctx, v.app, id, desktop.Act{Verb: desktop.SetText, Text: value}); err != nil {
				return err
			}
			if err := v.backend.Actor.Execute(ctx, v.app, id, desktop.Act{Verb: desktop.Press, Action: "activate"}); err != nil {
				return guierr.Failed(aai.Delivered, "the text was set, but not accepted: %s", aai.AsError(err).Message)
			}
			keyboard.awaitGrab(ctx) // the focus moves on to the document
			return nil
		},
	}}}
	var bare time.Time // since when it shows the measure as set
	unread := false    // the accepted value is unknown
	a.verify = func(ctx context.Context) (string, bool) {
		now, err := v.backend.Tree.Read(ctx, v.app, id)
		switch {
		case err != nil:
			return "", false
		case !isSameMeasure(now.Value, value):
			return fmt.Sprintf("its value is now %q", aai.CleanLabel(now.Value, 100)), false
		case !measure.MatchString(value) || now.Value != value:
			return "", true
		case bare.IsZero():
			bare = time.Now()
		}
		if time.Since(bare) < rewritesWithin {
			return "it does not show the accepted value", false
		}
		unread = true
		return "", false
	}
	done, err := a.execute(ctx)
	if unread && err == nil {
		done.Warning = "the box shows the value as it was set, which it also does if it accepts another number, such as its maximum: look at the effect"
	}
	return done, err
}

// rewritesWithin limits the wait until a measure is shown with its unit, which proves the accepted
// value. LibreOffice does not always show it.
const rewritesWithin = 2 * effectCeiling

// measure matches a number, with or without a unit.
var measure = regexp.MustCompile(`^[+-]?[\d.,]+\s?(\pL{1,3}|%|")?$`)

// isSameMeasure reports whether a box with the text holds the value: the box adds the unit to a
// number, as in "12 pt".
func isSameMeasure(shows, value string) bool {
	shows, value = fieldtext.Normalize(shows), fieldtext.Normalize(value)
	number, unit, _ := strings.Cut(shows, " ")
	return shows == value || unit != "" && number == value && strings.Trim(value, "0123456789.,") == ""
}
