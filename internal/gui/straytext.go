package gui

import (
	"context"
	"strings"
	"unicode/utf8"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gui/guierr"
	"github.com/gybob/aai-gateway/internal/gui/operate"
)

// findStrayText looks for another field that received the text, or its first character, where the
// element was not seen to receive it. That is a failure, also of a password, which cannot be read
// back. The other field gets back what it held if it holds exactly what was put there.
func (v *callView) findStrayText(ctx context.Context, before *desktop.Snapshot, id desktop.ID, text string, out *aai.Result, err error) (*aai.Result, error) {
	e := aai.AsError(err)
	if done, is := resultData(out); text == "" || is && done.Verified || e != nil && e.Delivery == aai.NotDelivered || v.Refresh(ctx) != nil {
		return out, err
	}
	_, size := utf8.DecodeRuneInString(text)
	for j := range v.Snapshot.Elements {
		now, i := &v.Snapshot.Elements[j], before.Index(v.Snapshot.Elements[j].ID)
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
		return nil, guierr.Failed(aai.Delivered, "the text went to %s, %s, and not to the element that was meant", name, told)
	}
	return out, err
}

// resultData returns the DeedResult of a reply, if it has one.
func resultData(out *aai.Result) (done operate.ActionResult, is bool) {
	if out != nil {
		done, is = out.Data.(operate.ActionResult)
	}
	return done, is
}

// putBack sets the value that a field had before a text strayed there.
func (v *callView) putBack(ctx context.Context, i int, was string) error {
	now := v.Snapshot.Elements[i]
	back := *v.View
	back.Batched = true
	a := operate.Action{View: &back, Index: i, Verify: v.verifyTyped(i, now, was, true)}
	a.Techniques = []operate.Technique{v.ByAccessibility(i, "its editable text", desktop.Act{Verb: desktop.SetText, Text: was}), v.byTyping(i, was, true)}
	_, err := a.Execute(ctx)
	return err
}
