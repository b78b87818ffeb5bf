package ax

import (
	"context"
	"strings"
	"unicode/utf8"

	"aai"
	"aai/internal/ax/fault"
	"aai/internal/ax/operate"
	"aai/internal/desktop"
)

// strayed looks for another field that received the text, or its first character, where the
// element was not seen to receive it. That is a failure, also of a password, which cannot be read
// back. The other field gets back what it held if it holds exactly what was put there.
func (v *view) strayed(ctx context.Context, before *desktop.Snapshot, id desktop.ID, text string, out *aai.Result, err error) (*aai.Result, error) {
	e := aai.AsError(err)
	if done, is := resultData(out); text == "" || is && done.Verified || e != nil && e.Delivery == aai.NotDelivered || v.Refresh(ctx) != nil {
		return out, err
	}
	_, size := utf8.DecodeRuneInString(text)
	for j := range v.Shot.Elements {
		now, i := &v.Shot.Elements[j], before.Index(v.Shot.Elements[j].ID)
		if i < 0 || now.ID == id || !now.States.Has(desktop.Editable|desktop.Showing) || now.Value == before.Elements[i].Value {
			continue
		}
		was := before.Elements[i].Value
		exact := now.Value == text || now.Value == was+text || now.Value == text[:size] || now.Value == was+text[:size]
		if !exact && !strings.Contains(now.Value, text) {
			continue
		}
		name, told := v.Name(j), "which holds that still"
		if exact && v.putBack(ctx, j, was) == nil {
			told = "which holds again what it held"
		}
		return nil, fault.Failed(aai.Delivered, "the text went to %s, %s, and not to the element that was meant", name, told)
	}
	return out, err
}

// resultData returns the DeedResult of a reply, if it has one.
func resultData(out *aai.Result) (done operate.DeedResult, is bool) {
	if out != nil {
		done, is = out.Data.(operate.DeedResult)
	}
	return done, is
}

// putBack sets the value that a field had before a text strayed there.
func (v *view) putBack(ctx context.Context, i int, was string) error {
	now := v.Shot.Elements[i]
	back := *v.View
	back.Together = true
	a := operate.Deed{View: &back, Index: i, Verify: v.typed(i, now, was, true)}
	a.Ways = []operate.Way{v.ByAsking(i, "its editable text", desktop.Act{Verb: desktop.SetText, Text: was}), v.byTyping(i, was, true)}
	_, err := a.Perform(ctx)
	return err
}
