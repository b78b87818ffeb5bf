package gui

import (
	"context"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/gybob/aai-gateway"
	"github.com/gybob/aai-gateway/internal/desktop"
	"github.com/gybob/aai-gateway/internal/gui/guierr"
)

// findStrayText looks for another field that received a part of the text where the element was not
// seen to receive all of it. That is a failure, also of a password, which cannot be read back.
// The other field gets its former value back if it holds exactly the text that was put there; the
// element itself does not, because keys for it may stray again.
func (v *view) findStrayText(ctx context.Context, before *desktop.Snapshot, id desktop.ID, text string, out *aai.Result, err error) error {
	done, is := resultData(out)
	unsent := err != nil && aai.AsError(err).Delivery == aai.NotDelivered
	if read := v.refresh(ctx) == nil; !read || unsent || text == "" || is && done.Verified {
		return nil
	}
	if i := v.snapshot.Index(id); i >= 0 {
		v.keepSecret(i, text) // some fields hide their text only once they have the focus
	}
	for j := range v.snapshot.Elements {
		now, i := &v.snapshot.Elements[j], before.Index(v.snapshot.Elements[j].ID)
		if i < 0 || now.ID == id || !now.States.Has(desktop.Editable|desktop.Showing) || now.Value == before.Elements[i].Value {
			continue
		}
		was := before.Elements[i].Value
		added := insertedText(was, now.Value)
		exact := isPartOf(now.Value, text) || isPartOf(added, text) || now.States.Has(desktop.Focused) && strings.Contains(text, added)
		if !exact && !strings.Contains(now.Value, text) {
			continue
		}
		if exact && v.isSecret(id) {
			v.engine.Sessions.For(v.call).AddSecret(added)
		}
		name, told := v.name(j), "which still has it"
		if exact && v.putBack(ctx, j, was) == nil {
			told = "which has its former value again"
		}
		return guierr.Failed(aai.Delivered, "the text went to %s, %s, instead of the target element", name, told)
	}
	return nil
}

// isPartOf reports whether the value is the first character of the text, or two or more characters that
// stand in it.
func isPartOf(value, text string) bool {
	_, size := utf8.DecodeRuneInString(text)
	return value == text[:size] || utf8.RuneCountInString(value) >= 2 && strings.Contains(text, value)
}

// insertedText returns the part of the new value that is not in the old one.
func insertedText(was, now string) string {
	for was != "" && now != "" {
		_, n := utf8.DecodeRuneInString(was)
		if !strings.HasPrefix(now, was[:n]) {
			break
		}
		was, now = was[n:], now[n:]
	}
	for was != "" && now != "" {
		_, n := utf8.DecodeLastRuneInString(was)
		if !strings.HasSuffix(now, was[len(was)-n:]) {
			break
		}
		was, now = was[:len(was)-n], now[:len(now)-n]
	}
	return now
}

// isSecret reports whether the element is a password field.
func (v *view) isSecret(id desktop.ID) bool {
	i := v.snapshot.Index(id)
	return i >= 0 && v.snapshot.Elements[i].States.Has(desktop.Protected)
}

// resultData returns the actionResult of a reply, if it has one.
func resultData(out *aai.Result) (done actionResult, is bool) {
	if out != nil {
		done, is = out.Data.(actionResult)
	}
	return done, is
}

// putBack restores the value that a field had before it received a stray text.
func (v *view) putBack(ctx context.Context, i int, was string) error {
	now := v.snapshot.Elements[i]
	back := *v
	back.batched = true
	a := action{view: &back, index: i, verify: v.verifyTyped(i, now, was, true)}
	a.techniques = []technique{v.byAccessibility(i, "its editable text", desktop.Act{Verb: desktop.SetText, Text: was}), v.byTyping(i, was, true)}
	_, err := a.execute(ctx)
	return err
}

// keepSecret notes the text as a secret of the conversation if it is meant for a password field. A
// tab or return in a field of one line leads on to other fields, so in a window with a password field each part
// behind one is noted.
func (v *view) keepSecret(i int, text string) {
	secrets := v.engine.Sessions.For(v.call)
	if v.snapshot.Elements[i].States.Has(desktop.Protected) {
		secrets.AddSecret(text)
	}
	if v.snapshot.Elements[i].States.Has(desktop.Multiline) {
		return
	}
	parts := strings.FieldsFunc(text, func(r rune) bool { return r == '\t' || r == '\n' || r == '\r' })
	if len(parts) < 2 || !slices.ContainsFunc(v.snapshot.Elements, func(e desktop.Element) bool { return e.States.Has(desktop.Protected) }) {
		return
	}
	for _, part := range parts[1:] {
		secrets.AddSecret(part)
	}
}
